"""What the operations do to a store: commits made of the kit's rows, and readings.

A list is the chain of the facts of one subject: each names the one before it, and the
versioned head of the subject names the last. So an append is a new revision on the
head that was seen, and a fork would show.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from uaix_conformance.examples import commit, expect, fact, job, lease, note, vector
from uaix_conformance.histories.marks import mark, marked, marked_bytes
from uaix_conformance.rows import Fact, Head, Job, Latest, Note
from uaix_conformance.schema import KIT
from uaix_core.schema.relations import Ref
from uaix_core.values.errors import ConflictError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from uaix_core.schema.commits import Commit, Expect
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot, Store
    from uaix_core.values.ids import ScopeId

#: More facts than one list ever has.
_LONGEST: Final = 1_000

#: Each captured note has one local row about it in each of these relations.
ABOUT: Final = ("lease", "vector")

_RECEIPT: Final = "receipt"


def walked(snapshot: Snapshot, name: str) -> tuple[list[int], Head | None]:
    """The numbers of a list along its revisions, oldest first, and its head."""
    head = snapshot.get("head", (name,))
    found = snapshot.scan("fact", "by_subject", (name,), limit=_LONGEST)
    facts = {row.at: row for row in found if isinstance(row, Fact)}
    numbers: list[int] = []
    at = head.at if isinstance(head, Head) else None
    # A walk in a circle comes to an end too.
    while at is not None and len(numbers) <= len(facts):
        numbers.append(at)
        here = facts.get(at)
        at = json.loads(here.value or "{}").get("before") if here else None
    return numbers[::-1], head if isinstance(head, Head) else None


def _receipt(token: int) -> Fact:
    return fact(subject=f"{_RECEIPT}-{token}", sure=True)


def is_receipt(row: Fact) -> bool:
    """Whether a fact belongs to no list."""
    return row.subject.startswith(_RECEIPT)


def append_to(
    store: Store,
    scope: ScopeId,
    lists: Mapping[str, Sequence[int]],
    also: Iterable[str],
    came: dict[str, Any],
) -> None:
    """Append to lists on the heads that were seen; ``also`` is only relied on."""
    came["seq"] = store.append(_extended(store, scope, lists, also, came)).seq


def append_once(
    store: Store,
    scope: ScopeId,
    lists: Mapping[str, Sequence[int]],
    came: dict[str, Any],
) -> None:
    """The same with a receipt, which refuses the commit when it is there already."""
    receipt = _receipt(min(number for numbers in lists.values() for number in numbers))
    try:
        extended = _extended(store, scope, lists, (), came, receipt)
        came["seq"] = store.append(extended).seq
    except ConflictError as error:
        there = error.current
        if error.key != KIT.of(receipt).key_of(receipt) or not isinstance(there, Fact):
            raise
        # What was seen now is not what the commit relied on then.
        del came["saw"]
        came["seq"] = there.version


def _extended(
    store: Store,
    scope: ScopeId,
    lists: Mapping[str, Sequence[int]],
    also: Iterable[str],
    came: dict[str, Any],
    *receipts: Fact,
) -> Commit:
    saw: dict[str, list[int]] = {}
    expects: list[Expect] = []
    adds: list[Row] = [*receipts]
    with store.snapshot(scope) as snapshot:
        for name in (*lists, *also):
            saw[name], head = walked(snapshot, name)
            expects.append(expect("head", (name,), head.version if head else 0))
    came["saw"] = saw
    for name, numbers in lists.items():
        before, size = saw[name][-1] if saw[name] else None, len(saw[name])
        for number in numbers:
            size += 1
            value = {"before": before, "mark": mark(number)}
            text = json.dumps(value, separators=(",", ":"), sort_keys=True)
            adds.append(fact(size, name, at=number, value=text))
            before = number
    return commit(*adds, scope=scope, expects=expects)


def _note(topic: str, number: int) -> Note:
    text = mark(number)
    return note(
        number,
        topic,
        noted_at=number,
        title=text,
        text=text,
        meta=f'"{text}"',
        data=text.encode(),
    )


def capture(
    store: Store,
    scope: ScopeId,
    notes: Mapping[str, Sequence[int]],
    came: dict[str, Any],
    expects: Iterable[Expect] = (),
) -> None:
    """Add notes whose bodies hold their marks, with local rows about them."""
    places = [(topic, number) for topic, numbers in notes.items() for number in numbers]
    puts: list[Row] = []
    for topic, number in places:
        text = mark(number)
        puts += (
            vector(number, topic, text=text, data=text.encode()),
            lease(number, topic),
        )
    adds = [_note(topic, number) for topic, number in places]
    added = commit(*adds, scope=scope, puts=puts, expects=expects)
    came["seq"] = store.append(added).seq


def supersede(
    store: Store,
    scope: ScopeId,
    notes: Mapping[str, Sequence[int]],
    came: dict[str, Any],
) -> None:
    """Add notes to topics whose latest notes are still those that were seen."""
    came["saw"] = {}
    expects = []
    with store.snapshot(scope) as snapshot:
        for topic in notes:
            latest = snapshot.get("latest", (topic,))
            seen = latest if isinstance(latest, Latest) else None
            came["saw"][topic] = seen.number if seen else None
            expects.append(expect("latest", (topic,), seen.version if seen else 0))
    capture(store, scope, notes, came, expects)


def erase(
    store: Store, scope: ScopeId, refs: Iterable[Ref], came: dict[str, Any]
) -> None:
    """Erase bodies."""
    came["seq"] = store.append(commit(scope=scope, erases=refs)).seq


def put_job(
    store: Store, scope: ScopeId, seat: int, number: int, came: dict[str, Any]
) -> None:
    """Put the local job of a seat, and see which work number it was given."""
    row = job(seat, due_at=number, payload=f'"{mark(number)}"')
    store.append(commit(scope=scope, puts=[row]))
    with store.snapshot(scope) as snapshot:
        came["jobs"] = jobs_of([snapshot.get("job", (False, seat))])


def drop_job(store: Store, scope: ScopeId, seat: int) -> None:
    """Drop the local job of a seat."""
    store.append(commit(scope=scope, drops=[Ref("job", (False, seat))]))


def jobs_of(rows: Iterable[Row | None]) -> dict[str, tuple[int, int]]:
    """The jobs by seat: the number each was put with, and its work number."""
    jobs = [row for row in rows if isinstance(row, Job)]
    return {f"job{row.number}": (row.due_at, row.version) for row in jobs}


def shown_by(rows: Iterable[Row]) -> set[int]:
    """The numbers whose marks stand in any text or bytes of rows."""
    found: set[int] = set()
    for row in rows:
        for name in KIT.of(row).fields:
            value = getattr(row, name)
            if isinstance(value, str):
                found.update(marked(value))
            elif isinstance(value, bytes):
                found |= marked_bytes(value)
    return found
