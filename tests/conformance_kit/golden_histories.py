"""The golden histories of the kit: run this to write their files again.

They are checked in, and a test compares: a file that changes is a change of what
stores must do, or a fault of the oracle.
"""

from __future__ import annotations

import json
from pathlib import Path

import uaix_conformance
from uaix_conformance import golden
from uaix_conformance.examples import (
    OTHER,
    commit,
    entry,
    expect,
    fact,
    job,
    lease,
    note,
    note_ref,
    vector,
)
from uaix_conformance.strategies import INSTANTS, INTEGERS, JSONS, NASTY
from uaix_core.schema.relations import Ref
from uaix_core.values.instants import FOREVER

FOLDER = Path(uaix_conformance.__file__).parent / "golden"


def basics():
    """Adds, puts, drops, expects right and wrong, two scopes."""
    return [
        commit(note(0, text="a b", title="x"), fact(0), at=10),
        commit(puts=[job(0, due_at=5), entry("a", value="1")], at=99),
        commit(note(1, text="b"), expects=[expect("note", ("t0", 0), 1)], at=3),
        commit(note(2), expects=[expect("latest", ("t0",), 1)], at=11),
        commit(note(0), at=12),
        commit(note(2, title="x"), at=12),
        commit(note(0, title="x"), fact(0), fact(1), scope=OTHER, at=-1),
        commit(fact(1, sure=True), puts=[job(1)], drops=[Ref("job", (False, 0))]),
        commit(puts=[job(1, due_at=7)], expects=[expect("job", (False, 1), 2)]),
        commit(puts=[job(1, due_at=8)], expects=[expect("job", (False, 1), 2)]),
        commit(fact(2, "s1"), expects=[expect("head", ("s0",), 3)], at=FOREVER),
        commit(fact(3), at=0),
    ]


def erasures():
    """Erasures, what they take along, views that go back, keys that stay taken."""
    return [
        commit(*(note(n, text=f"w w{n % 2}", title=f"t{n}") for n in range(5))),
        commit(puts=[lease(n, holder=h) for n in range(3) for h in ("h0", "h1")]),
        commit(puts=[vector(n, text=f"w{n}") for n in range(3)]),
        commit(erases=[note_ref(4), note_ref(1)], at=4),
        commit(erases=[note_ref(4), note_ref(9)], at=4),
        commit(note(4), at=5),
        commit(note(5, title="t1", text=""), erases=[note_ref(3)], at=5),
        commit(erases=[note_ref(5), note_ref(2)], puts=[lease(2), lease(0)], at=6),
        commit(note(0, "t1", title="t0"), at=7),
        commit(note(0, "t1", title="t0"), erases=[note_ref(0)], at=7),
    ]


def values():
    """Texts, integers, instants, JSON and bytes at every edge."""
    return [
        commit(
            *(note(i, "text", text=t, title=f"{i}{t}") for i, t in enumerate(NASTY)),
            puts=[entry(t, group=t[:1], value=t) for t in NASTY],
        ),
        commit(
            *(fact(n, value=j) for n, j in zip(INTEGERS, JSONS, strict=False)),
            *(
                note(n, "int", noted_at=at)
                for n, at in zip(INTEGERS, INSTANTS, strict=False)
            ),
            puts=[job(i, due_at=at) for i, at in enumerate(INSTANTS)],
            at=INSTANTS[0],
        ),
        commit(
            *(note(i, "json", extra=j, meta=j) for i, j in enumerate(JSONS)),
            at=INSTANTS[-1],
        ),
        commit(
            note(0, "bytes", data=bytes(range(256))),
            note(1, "bytes", data=b"\0"),
            note(2, "bytes", data=b""),
        ),
    ]


HISTORIES = {"basics": basics, "erasures": erasures, "values": values}


def text_of(name):
    """The text of one golden file."""
    make = HISTORIES[name]
    return json.dumps(golden.history(make.__doc__, make()), indent=1) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in HISTORIES:
        (FOLDER / f"{name}.json").write_text(text_of(name), encoding="utf-8")
