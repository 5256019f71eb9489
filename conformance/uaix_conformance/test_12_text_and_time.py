"""Group 12: what goes in comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from uaix_conformance import strategies as draw
from uaix_conformance.comparison import commits, get, refused, rows
from uaix_conformance.examples import (
    SCOPE,
    changed,
    commit,
    entry,
    fact,
    job,
    note,
    vector,
)
from uaix_conformance.reducers import words_of
from uaix_conformance.strategies import (
    INSTANTS,
    INTEGERS,
    JSONS,
    NASTY,
    UNSTORABLE,
)
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Callable

    from uaix_conformance.harness import Site
    from uaix_core.store.port import Store


def _fields(store: Store, relation: str, *names: str) -> list[tuple[Any, ...]]:
    """These fields of all rows, in the order of the key."""
    return [
        tuple(getattr(row, name) for name in names)
        for row in rows(store, SCOPE, relation)
    ]


@pytest.mark.clause("12.1")
def test_nasty_texts_come_back(store: Store) -> None:
    """In bodies, in cached rows, in keys, in views and in commits."""
    texts = [*NASTY, "x" * 100_000, "".join(NASTY)]
    store.append(
        commit(
            *(note(n, text=t, title=f"{n}{t}"[:200]) for n, t in enumerate(texts)),
            puts=[entry(t[:200], group=t[:200], value=t) for t in texts[:-2]],
        )
    )

    assert [(n, t) for n, t in enumerate(texts)] == _fields(
        store, "note", "number", "text"
    )
    assert texts == [
        getattr(r, "text", None) for r in commits(store, SCOPE)[0].commit.adds
    ]
    assert sorted((t, t, t) for t in NASTY) == _fields(
        store, "entry", "name", "group", "value"
    )
    words = {word for n, t in enumerate(texts) for word in words_of(note(n, text=t))}
    assert sorted((word,) for word in words) == _fields(store, "tally", "word")
    assert [(f"{n}{t}"[:200],) for n, t in enumerate(texts)] == _fields(
        store, "title", "title"
    )


@pytest.mark.clause("12.1")
@pytest.mark.drawn
def test_any_text_comes_back(new_site: Callable[[], Site]) -> None:
    """Any text without NUL and lone surrogates, in a body and as a key."""

    # Many rows in one commit are many examples at the price of one.
    @settings(
        max_examples=draw.examples_of(0.1),
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(draw.storable_texts(), min_size=1, max_size=20, unique=True))
    def check(texts: list[str]) -> None:
        store = new_site().open()
        store.append(
            commit(
                *(note(n, text=text) for n, text in enumerate(texts)),
                puts=[entry(text, value=text) for text in texts],
            )
        )
        assert texts == [text for (text,) in _fields(store, "note", "text")]
        assert [(t, t) for t in sorted(texts)] == _fields(
            store, "entry", "name", "value"
        )
        store.close()

    check()


@pytest.mark.clause("12.2")
@pytest.mark.parametrize("text", UNSTORABLE, ids=ascii)
def test_unstorable_text_is_refused_everywhere(store: Store, text: str) -> None:
    """In a body, in a cached value, in a key, and inside JSON."""
    store.append(commit(note(9)))
    json_text = f'"{text}"'
    for broken in (
        commit(note(0), changed(note(1), text=text)),
        commit(changed(note(1), title=text)),
        commit(changed(note(1), extra=json_text)),
        commit(changed(note(1), meta=json_text)),
        commit(fact(), puts=[entry("a", value=text)]),
        commit(fact(), puts=[entry(text)]),
        commit(fact(), puts=[entry("a", group=text)]),
        commit(fact(), puts=[entry("a", extra=json_text)]),
        commit(fact(), puts=[vector(0, text=text)]),
        commit(fact(), puts=[job(0, payload=json_text)]),
        commit(fact(value=json_text)),
    ):
        refused(store, CallerError, broken)


@pytest.mark.clause("12.3")
def test_bytes_come_back_unchanged(store: Store) -> None:
    """All 256 values, in order and alone, NUL among them, and long ones."""
    blobs = [
        bytes(range(256)),
        *(bytes([b]) for b in (0, 10, 13, 34, 39, 92, 127, 128, 255)),
        b"\0" * 1_000,
        b"\xff" * 70_001,
        "text".encode("utf-16"),
    ]
    store.append(
        commit(
            *(note(n, data=blob) for n, blob in enumerate(blobs)),
            puts=[vector(n, data=blob) for n, blob in enumerate(blobs)],
        )
    )

    assert blobs == [blob for (blob,) in _fields(store, "note", "data")]
    assert blobs == [blob for (blob,) in _fields(store, "vector", "data")]
    assert {bytes} == {type(blob) for (blob,) in _fields(store, "note", "data")}


@pytest.mark.clause("12.3", "6.1")
def test_an_empty_body_is_a_body(store: Store) -> None:
    """Empty text and empty bytes come back as such, and the row is not erased."""
    store.append(
        commit(
            note(0, text="", title="", data=b"", meta='""'),
            puts=[entry("", value="", data=b""), vector(0, text="", data=b"")],
        )
    )

    assert [("", "", b"", '""')] == _fields(
        store, "note", "text", "title", "data", "meta"
    )
    assert all(salt is not None for (salt,) in _fields(store, "note", "salt"))
    assert [("", b"")] == _fields(store, "entry", "value", "data")
    assert [("", b"")] == _fields(store, "vector", "text", "data")


@pytest.mark.clause("12.4")
def test_instants_come_back_to_the_microsecond(store: Store) -> None:
    """From the earliest to FOREVER, in every keeping and as recorded instants."""
    store.append(
        commit(
            *(note(n, noted_at=at) for n, at in enumerate(INSTANTS)),
            *(fact(n, at=at) for n, at in enumerate(INSTANTS)),
            puts=[job(n, due_at=at) for n, at in enumerate(INSTANTS)],
            at=INSTANTS[0],
        )
    )
    for n, at in enumerate(INSTANTS):
        store.append(commit(fact(n, "t"), at=at))

    for relation, field in (("note", "noted_at"), ("job", "due_at")):
        assert list(INSTANTS) == [at for (at,) in _fields(store, relation, field)]
    assert sorted(INSTANTS) == [
        at for at, subject in _fields(store, "fact", "at", "subject") if subject == "s0"
    ]
    assert [INSTANTS[0], *INSTANTS] == [r.recorded_at for r in commits(store, SCOPE)]


@pytest.mark.clause("12.5")
def test_integers_come_back_exactly(store: Store) -> None:
    """At both ends of 64 bits and on either side of 2**53, in key, header and view."""
    store.append(
        commit(
            *(fact(n, f"s{i:02}") for i, n in enumerate(INTEGERS)),
            *(note(n) for n in INTEGERS),
            puts=[entry(f"{i:02}", size=n) for i, n in enumerate(INTEGERS)],
        )
    )

    assert list(INTEGERS) == [n for (n,) in _fields(store, "fact", "size")]
    assert list(INTEGERS) == [n for (n,) in _fields(store, "note", "number")]
    assert list(INTEGERS) == [n for (n,) in _fields(store, "entry", "size")]
    assert list(INTEGERS) == [n for (n,) in _fields(store, "head", "size")]
    assert {int} == {type(n) for (n,) in _fields(store, "head", "size")}
    for n in INTEGERS:
        assert get(store, SCOPE, "note", "t0", n) is not None


@pytest.mark.clause("12.6")
def test_json_comes_back_as_the_same_text(store: Store) -> None:
    """Character by character: lists in order, and what looks alike told apart."""
    store.append(
        commit(
            *(note(n, extra=text, meta=text) for n, text in enumerate(JSONS)),
            *(fact(n, value=text) for n, text in enumerate(JSONS)),
            puts=[job(n, payload=text) for n, text in enumerate(JSONS)],
        )
    )

    assert [(t, t) for t in JSONS] == _fields(store, "note", "extra", "meta")
    assert [(t,) for t in JSONS] == _fields(store, "fact", "value")
    assert [(t,) for t in JSONS] == _fields(store, "job", "payload")
