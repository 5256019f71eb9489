"""Group 10, continued: which bounds a scan takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from uaix_conformance.examples import (
    SCOPE,
    commit,
    entry,
    fact,
    job,
    note,
)
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from uaix_core.store.port import Store


@pytest.mark.clause("10.7")
def test_a_prefix_as_long_as_the_order_is_the_longest(store: Store) -> None:
    """One value more than the order has fields is refused."""
    store.append(commit(note(0), puts=[job(0)]))
    with store.snapshot(SCOPE) as snapshot:
        assert 1 == len(snapshot.scan("note", "key", ("t0", 0), limit=1))
        with pytest.raises(CallerError):
            snapshot.scan("note", "key", ("t0", 0, 0), limit=1)
        assert 1 == len(snapshot.scan("job", "by_due", (0, False, 0), limit=1))
        with pytest.raises(CallerError):
            snapshot.scan("job", "by_due", (0, False, 0, 0), limit=1)


@pytest.mark.clause("10.9")
@pytest.mark.parametrize(
    ("relation", "path", "values"),
    [
        ("note", "key", (0,)),
        ("note", "key", ("t0", "0")),
        ("note", "key", ("not an id",)),
        ("note", "key", ("t0", None)),
        ("note", "by_kind", ("unheard-of",)),
        ("note", "by_kind", ("say", "0")),
        ("note", "by_pin", (0,)),
        ("fact", "key", (2**63,)),
        ("fact", "key", (0, False, True)),
        ("entry", "key", ("\ud800",)),
    ],
)
def test_a_place_of_other_kinds_is_refused(
    store: Store, relation: str, path: str, values: tuple[Any, ...]
) -> None:
    """Whether it stands in the prefix, in after, or across the two."""
    store.append(commit(note(0), fact(0), puts=[entry("a")]))
    with store.snapshot(SCOPE) as snapshot:
        for cut in range(len(values) + 1):
            with pytest.raises(CallerError):
                snapshot.scan(
                    relation,
                    path,
                    values[:cut],
                    after=values[cut:] or None,
                    limit=1,
                )


@pytest.mark.clause("10.7")
def test_after_is_neither_empty_nor_too_long(store: Store) -> None:
    """An empty `after`, and one longer than the fields that follow, are refused."""
    store.append(commit(note(0), note(1)))
    with store.snapshot(SCOPE) as snapshot:
        assert 1 == len(snapshot.scan("note", "key", after=("t0", 0), limit=9))
        assert 1 == len(snapshot.scan("note", "key", ("t0",), after=(0,), limit=9))
        for prefix, after in (
            ((), ()),
            (("t0",), ()),
            ((), ("t0", 0, 0)),
            (("t0",), (0, 0)),
            (("t0", 0), (0,)),
        ):
            with pytest.raises(CallerError):
                snapshot.scan("note", "key", prefix, after=after, limit=9)


@pytest.mark.clause("10.8")
def test_after_a_row_that_is_gone_goes_on_from_its_place(store: Store) -> None:
    """A page may begin after a row that was dropped since, or never stood."""
    store.append(commit(puts=[entry(name) for name in "ace"]))
    with store.snapshot(SCOPE) as snapshot:
        for after, up, down in (
            ("b", ["c", "e"], ["a"]),
            ("", ["a", "c", "e"], []),
            ("z", [], ["e", "c", "a"]),
            ("C", ["a", "c", "e"], []),
        ):
            for reverse, expected in ((False, up), (True, down)):
                found = snapshot.scan(
                    "entry", "key", after=(after,), reverse=reverse, limit=9
                )
                assert expected == [getattr(r, "name", None) for r in found]
