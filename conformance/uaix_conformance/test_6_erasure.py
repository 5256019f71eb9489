"""Group 6: bodies, what an erasure takes, and what stays."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from uaix_conformance.comparison import (
    commits,
    contents,
    every,
    exact,
    exacts,
    get,
    place_of,
    refused,
    rows,
)
from uaix_conformance.examples import (
    OTHER,
    SCOPE,
    changed,
    commit,
    entry,
    fact,
    job,
    lease,
    note,
    note_ref,
    vector,
)
from uaix_conformance.oracle import without_body
from uaix_conformance.schema import KIT, NOTE, ROOMS
from uaix_conformance.sealing import first_digest, sealed_digest
from uaix_core.schema.commits import Recorded
from uaix_core.schema.relations import Keep, Relation
from uaix_core.schema.rows import Id, Int, Row, row
from uaix_core.schema.schema import Room, Schema
from uaix_core.store.port import Capability
from uaix_core.values.errors import CallerError, ConflictError, IntegrityError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_conformance.harness import Site
    from uaix_core.store.port import Store


@pytest.mark.clause("6.1")
def test_an_erased_row_keeps_all_but_its_body(store: Store) -> None:
    """Key, header and body digest stay; salt and every body field read as None."""
    written = note(1, extra="[1]", text="a", data=b"\1", meta="1", title="t")
    store.append(commit(note(0), written, note(2)))
    store.append(commit(erases=[note_ref(1)]))

    expected = without_body(NOTE, NOTE.stamped(written, 1))
    came = get(store, SCOPE, "note", "t0", 1)
    assert exact(expected) == exact(came)
    assert written.body_digest == getattr(came, "body_digest", None)


@pytest.mark.clause("6.1")
@pytest.mark.parametrize("path", list(NOTE.orders))
def test_an_erased_row_keeps_its_place(store: Store, path: str) -> None:
    """On every path the row stands where it stood."""
    store.append(
        commit(
            *(
                note(n, kind=kind, pinned=n % 2 == 0, noted_at=-n)
                for n, kind in enumerate(("see", "ask", "say", "Say-so"))
            )
        )
    )
    before = [NOTE.key_of(row) for row in rows(store, SCOPE, "note", path)]
    store.append(commit(erases=[note_ref(1), note_ref(2)]))

    assert before == [NOTE.key_of(row) for row in rows(store, SCOPE, "note", path)]


@pytest.mark.clause("6.2")
def test_commits_yield_the_row_without_its_body(store: Store) -> None:
    """The adding commit comes back erased, its place and digest unchanged."""
    store.append(commit(note(0, text="x"), fact(), note(1, text="y")))
    (before,) = commits(store, SCOPE)
    store.append(commit(erases=[note_ref(1)]))
    after = commits(store, SCOPE)[0]

    assert place_of(before) == place_of(after)
    one, two, three = before.commit.adds
    assert exacts([one, two, without_body(NOTE, three)]) == exacts(after.commit.adds)


@pytest.mark.clause("6.3")
def test_no_verb_shows_an_erased_body(store: Store) -> None:
    """Neither rows, views, rows about it nor commits show anything of the body."""
    secret = note(0, text="only-here too", title="only-here", data=b"only-here")
    store.append(commit(secret, note(1, text="too"), note(2, text="z", title="z")))
    store.append(commit(puts=[vector(0, text="only-here"), lease(0)]))
    store.append(commit(erases=[note_ref(0)]))

    assert "only-here" not in repr(contents(store, SCOPE))
    with store.snapshot(SCOPE) as snapshot:
        for relation in KIT.relations.values():
            for path in relation.orders:
                assert "only-here" not in repr(
                    exacts(every(snapshot, relation.name, path))
                )
        assert snapshot.get("tally", ("only-here",)) is None
        assert {} == snapshot.get_many("title", [("t0", 0)])
    assert [("too", 1), ("z", 1)] == [
        (getattr(r, "word", ""), getattr(r, "count", 0))
        for r in rows(store, SCOPE, "tally")
    ]


@pytest.mark.clause("6.4")
def test_an_erase_is_a_commit_of_the_chain(store: Store) -> None:
    """It takes a seq, moves the head, and comes back with relation and key."""
    store.append(commit(note(0), note(1)))
    came = store.append(commit(erases=[note_ref(1), note_ref(0)], at=9))
    kept = commits(store, SCOPE)[1]

    assert 2 == came.seq == kept.seq
    assert place_of(came) == place_of(kept)
    assert ((), (note_ref(1), note_ref(0))) == (kept.commit.adds, kept.commit.erases)
    with store.snapshot(SCOPE) as snapshot:
        assert (2, came.digest) == (snapshot.position, snapshot.head)


@pytest.mark.clause("6.5")
def test_erasing_nothing_changes_no_row(store: Store) -> None:
    """An absent row and one that is erased already are left as they are."""
    store.append(commit(note(0, text="a"), note(1, text="b"), puts=[lease(7)]))
    store.append(commit(erases=[note_ref(1)]))
    store.append(commit(puts=[lease(1, holder="late"), vector(1)]))
    before = contents(store, SCOPE)
    came = store.append(commit(erases=[note_ref(1), note_ref(7), note_ref(0, "no")]))
    after = contents(store, SCOPE)

    assert 3 == came.seq
    assert {name: before[name] for name in KIT.relations} == {
        name: after[name] for name in KIT.relations
    }
    assert before["#commits"] == after["#commits"][:-1]


@pytest.mark.clause("6.6")
def test_an_erased_key_stays_taken(store: Store) -> None:
    """The same row and another under its key are both refused, later and at once."""
    store.append(commit(note(0, text="a")))
    store.append(commit(erases=[note_ref(0)]))

    error = refused(store, ConflictError, commit(note(0, text="a")))
    assert error.current is not None
    assert getattr(error.current, "text", "") is None
    refused(store, ConflictError, commit(note(1), note(0, text="b")))


@pytest.mark.clause("6.7")
def test_an_erasure_takes_along_what_is_about_the_row(store: Store) -> None:
    """WORK and CACHE rows about the row go, whichever way they name it."""
    store.append(
        commit(note(0, text="a"), note(1, text="b"), note(0, "t1", text="c"), fact())
    )
    store.append(
        commit(
            puts=[
                *(lease(0, holder=f"h{n}") for n in range(3)),
                *(vector(0, model=f"m{n}") for n in range(3)),
                lease(1),
                vector(1),
                lease(0, "t1"),
                vector(0, "t1"),
                job(0),
                entry("a"),
            ]
        )
    )
    before = contents(store, SCOPE)
    store.append(commit(erases=[note_ref(0)]))
    after = contents(store, SCOPE)

    assert [("t0", 1), ("t1", 0)] == [
        (getattr(r, "topic", ""), getattr(r, "number", 0))
        for name in ("lease",)
        for r in rows(store, SCOPE, name)
    ]
    assert 2 == len(rows(store, SCOPE, "vector"))
    for name in ("fact", "head", "job", "entry"):
        assert before[name] == after[name]
    assert before["note"][1:] == after["note"][1:]


@pytest.mark.clause("6.7")
def test_what_one_commit_puts_about_a_row_it_erases_goes_too(store: Store) -> None:
    """Neither a new row about it nor a standing one put again is left."""
    store.append(commit(note(0, text="a"), puts=[lease(0), vector(0)]))
    store.append(
        commit(
            puts=[lease(0, until=9), lease(0, holder="new"), vector(0), lease(1)],
            erases=[note_ref(0)],
        )
    )

    assert [1] == [getattr(r, "number", None) for r in rows(store, SCOPE, "lease")]
    assert [] == rows(store, SCOPE, "vector")


@row
class Pin(Row):
    """WORK about a note that its key does not name, so it may move to another."""

    name: Id
    topic: Id
    number: Int


PIN = Relation(
    "pin",
    Pin,
    ("name",),
    keep=Keep.WORK,
    paths={"by_note": ("topic", "number")},
    about="note",
)


@pytest.mark.clause("6.7")
def test_a_row_that_moves_away_in_the_same_commit_stays(site: Site) -> None:
    """Put again about another row, it is no longer about the one that goes."""
    store = site.open(Schema(*ROOMS, Room("pins", (PIN,))))
    store.append(commit(note(0, text="a"), note(1, text="b")))
    store.append(commit(puts=[Pin(name, "t0", 0) for name in ("goes", "moves")]))
    store.append(commit(puts=[Pin("moves", "t0", 1)], erases=[note_ref(0)]))

    with store.snapshot(SCOPE) as snapshot:
        for path in PIN.orders:
            (pin,) = snapshot.scan("pin", path, limit=9)
            assert ("moves", 1, 2) == (pin.name, pin.number, pin.version)  # type: ignore[attr-defined]


@pytest.mark.clause("6.7")
def test_an_erasure_stays_in_its_scope(store: Store) -> None:
    """The same key of another scope keeps its body and what is about it."""
    for scope in (SCOPE, OTHER):
        store.append(commit(note(0, text="a"), puts=[lease(0), vector(0)], scope=scope))
    before = contents(store, OTHER)
    store.append(commit(erases=[note_ref(0)]))

    assert before == contents(store, OTHER)


#: What may be wrong with a body, beside a digest that is right for it.
_SPOILT: dict[str, dict[str, object]] = {
    "no title": {"title": None},
    "no text": {"text": None},
    "no data": {"data": None},
    "no meta": {"meta": None},
    "no salt": {"salt": None},
    "a salt alone": dict.fromkeys(("title", "text", "data", "meta")),
    "another text": {"text": "b"},
    "another title": {"title": "a"},
    "other data": {"data": b"b"},
    "another salt": {"salt": b"s" * 16},
    "another digest": {"body_digest": "0" * 64},
    "moved text": {"title": "a", "text": ""},
}


@pytest.mark.clause("6.9")
@pytest.mark.parametrize("spoilt", [*_SPOILT, "no body"])
def test_a_new_row_brings_the_body_of_its_digest(store: Store, spoilt: str) -> None:
    """Half a body, none, and one of another digest are refused."""
    gone: dict[str, object] = dict.fromkeys((*NOTE.body, "salt"))
    broken = changed(note(1, text="a"), **_SPOILT.get(spoilt, gone))

    refused(store, CallerError, commit(note(0), broken))
    assert 1 == store.append(commit(note(1, text="a"))).seq


@pytest.mark.clause("6.10")
@pytest.mark.parametrize("spoilt", _SPOILT)
def test_a_replayed_body_is_that_of_its_digest(store: Store, spoilt: str) -> None:
    """The chain covers the digest alone, so half a body would hide behind it."""
    written = note(1, text="a")
    broken = commit(note(0), changed(written, **_SPOILT[spoilt]))
    digest = sealed_digest(KIT, broken, 1, 0, first_digest(SCOPE))
    refused(store, IntegrityError, Recorded(1, 0, digest, broken))

    whole = commit(note(0), written)
    digest = sealed_digest(KIT, whole, 1, 0, first_digest(SCOPE))
    assert 1 == store.append(Recorded(1, 0, digest, whole)).seq


_TEXT = "quetzal-riddle-7Hd0aPq2 and a tail"
_TITLE = "narwhal-title-Zx81mV4"
_META = '"okapi-meta-Lk33TbR9"'
_DATA = b"\xfe\xff\x00\x81walrus\x90-bytes-\xc3\x28-Uw5\xff\x13"
_CACHED = "ibex-cached-Pq77sKd1"


def _forms(data: bytes, text: str | None = None) -> Iterator[tuple[str, bytes]]:
    """The ways in which bytes may lie in a file."""
    yield "raw", data
    if text is not None:
        yield "UTF-16LE", text.encode("utf-16-le")
        yield "UTF-16BE", text.encode("utf-16-be")
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for offset in range(3):
            whole = encode(b"\0" * offset + data)
            # The first and last characters also depend on what stands beside.
            yield f"base64 at {offset}", whole[(0, 2, 3)[offset] :].rstrip(b"=")[:-1]


def _found(site: Site, secrets: dict[str, bytes | str]) -> list[str]:
    """Which secrets lie in which files, and how."""
    files = site.readable()
    return [
        f"{name} lies {form} in {file}"
        for name, secret in secrets.items()
        for form, needle in _forms(
            secret if isinstance(secret, bytes) else secret.encode(),
            secret if isinstance(secret, str) else None,
        )
        for file, content in files
        if needle in content
    ]


@pytest.mark.clause("6.8")
@pytest.mark.requires(Capability.FILES)
@pytest.mark.parametrize("around", [0, 40], ids=["alone", "among others"])
def test_no_file_holds_what_was_erased(site: Site, around: int) -> None:
    """After an erase the bytes are in no file, after closing and after reopening."""
    store = site.open()
    secret = note(0, text=_TEXT, title=_TITLE, meta=_META, data=_DATA)
    assert secret.salt is not None
    secrets: dict[str, bytes | str] = {
        "text": _TEXT,
        "word": _TEXT.split(" ", maxsplit=1)[0],
        "title": _TITLE,
        "meta": _META,
        "data": _DATA,
        "cache": _CACHED,
        "salt": secret.salt,
    }
    others = [note(n + 1, text=f"other {n}", data=b"x" * 500) for n in range(around)]
    store.append(commit(*others[: around // 2], secret, *others[around // 2 :]))
    store.append(commit(puts=[vector(0, text=_CACHED, data=_DATA), lease(0)]))
    store = site.reopen(store) if Capability.DURABLE in store.capabilities else store
    store.append(commit(note(99, text="later")))
    store.append(commit(erases=[note_ref(0)]))
    store.close()
    assert [] == _found(site, secrets)

    store = site.open()
    with store.snapshot(SCOPE) as snapshot:
        assert len(others) + 2 == len(every(snapshot, "note"))
    store.close()
    assert [] == _found(site, secrets)


@pytest.mark.clause("6.8")
@pytest.mark.requires(Capability.FILES)
def test_the_search_sees_what_was_not_erased(site: Site) -> None:
    """Without an erase the same search finds the text: the law above is no accident."""
    store = site.open()
    store.append(commit(note(0, text=_TEXT)))
    store.close()

    assert [] != _found(site, {"text": _TEXT})
