"""Laws of the persistent sorted map behind in-process backends."""

from collections.abc import Iterable
from itertools import islice
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uaix_core.schema.relations import Key
from uaix_core.schema.rows import Row
from uaix_core.store import sorted_rows
from uaix_core.store.sorted_rows import SortedRows

KEYS = st.tuples(st.integers(0, 4), st.integers(0, 4))
STEPS = st.lists(
    st.tuples(st.dictionaries(KEYS, st.integers()), st.sets(KEYS, max_size=6)),
    max_size=12,
)
STARTS = st.one_of(st.just(()), st.tuples(st.integers(-1, 5)), KEYS)


def as_rows(pairs: dict[tuple[int, int], int]) -> dict[Key, Row]:
    """The map holds whatever it is given; small integers stand for rows here."""
    return cast("dict[Key, Row]", pairs)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of four rows, so that a few keys make many of them."""
    monkeypatch.setattr(sorted_rows, "_FULL", 4)


def build(
    steps: Iterable[tuple[dict[tuple[int, int], int], set[tuple[int, int]]]],
) -> tuple[SortedRows, dict[tuple[int, int], int]]:
    """The map after some changes, and a plain dict after the same."""
    rows, model = SortedRows([], []), dict[tuple[int, int], int]()
    for puts, drops in steps:
        rows = rows.changed(as_rows(puts), drops)
        for key in drops:
            model.pop(key, None)
        model |= puts
    return rows, model


@given(STEPS, KEYS)
def test_get_equals_a_dict(steps, key) -> None:  # type: ignore[no-untyped-def]
    """After any changes each key gives what a dict would give."""
    rows, model = build(steps)

    assert model.get(key) == rows.get(key)


@given(STEPS, STARTS, st.booleans())
def test_walks_equal_a_sorted_list(steps, start, beyond) -> None:  # type: ignore[no-untyped-def]
    """Walking from any start, in either direction, gives the sorted list from there."""
    rows, model = build(steps)
    n = len(start)

    up = [k for k in sorted(model) if k[:n] > start or (not beyond and k[:n] == start)]
    down = [
        k for k in sorted(model) if k[:n] < start or (not beyond and k[:n] == start)
    ]
    assert up == [k for k, _row in rows.rising(start, beyond=beyond)]
    assert down[::-1] == [k for k, _row in rows.falling(start, beyond=beyond)]


@given(STEPS, STEPS)
def test_a_map_never_changes(before, after) -> None:  # type: ignore[no-untyped-def]
    """Later changes are not seen by who holds an earlier map."""
    rows, _model = build(before)
    seen = list(rows.rising((), beyond=False))
    for puts, drops in after:
        rows.changed(as_rows(puts), drops)

    assert seen == list(rows.rising((), beyond=False))


def test_a_walk_begins_without_reading_all() -> None:
    """Taking the first rows of a walk touches the first block only."""
    rows, _model = build([({(i, j): i for i in range(5) for j in range(5)}, set())])

    assert [(3, 0), (3, 1)] == [
        k for k, _r in islice(rows.rising((3,), beyond=False), 2)
    ]
