"""Laws of the persistent sorted map behind in-process backends."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from uaix_core.store import sorted_rows
from uaix_core.store.sorted_rows import SortedRows, Stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from uaix_core.schema.relations import Key
    from uaix_core.schema.rows import Row
    from uaix_core.store.sorted_rows import Block

    Step = tuple[dict[tuple[int, int], int], set[tuple[int, int]]]

EVERY_KEY = [(i, j) for i in range(5) for j in range(5)]
KEYS = st.sampled_from(EVERY_KEY)
STEPS = st.lists(
    st.tuples(st.dictionaries(KEYS, st.integers()), st.sets(KEYS, max_size=6)),
    max_size=12,
)
#: Keys that come one by one in any order, which alone makes many blocks.
SINGLY = st.permutations(EVERY_KEY).map(
    lambda keys: [({key: 0}, set()) for key in keys]
)
LIVES = st.one_of(STEPS, st.builds(lambda first, then: first + then, SINGLY, STEPS))
STARTS = st.one_of(st.just(()), st.tuples(st.integers(-1, 5)), KEYS)

#: Rows in a full block where a test tells how many there are in each.
DOZEN = 12


def as_rows(pairs: dict[tuple[int, int], int]) -> dict[Key, Row]:
    """The map holds whatever it is given; small integers stand for rows here."""
    return cast("dict[Key, Row]", pairs)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of four rows, so that a few keys make many of them."""
    monkeypatch.setattr(sorted_rows, "_FULL", 4)


@pytest.fixture
def dozens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a dozen rows."""
    monkeypatch.setattr(sorted_rows, "_FULL", DOZEN)


def build(
    steps: Iterable[Step], rows: SortedRows | None = None
) -> tuple[SortedRows, dict[tuple[int, int], int]]:
    """The map after some changes, and a plain dict after the same."""
    rows, model = rows or SortedRows([], []), dict[tuple[int, int], int]()
    for puts, drops in steps:
        rows = rows.changed(as_rows(puts), drops)
        for key in drops:
            model.pop(key, None)
        model |= puts
    return rows, model


def held(block: Block | Stored) -> Block:
    """The rows of a block, wherever they are."""
    return block.block() if isinstance(block, Stored) else block


def pairs_of(rows: SortedRows) -> list[tuple[Key, Row]]:
    return list(rows.rising((), beyond=False))


def full_blocks(count: int) -> SortedRows:
    """A map of full blocks, with the even numbers as keys."""
    keys = [(n,) for n in range(0, 2 * count * DOZEN, 2)]
    cuts = [keys[at : at + DOZEN] for at in range(0, len(keys), DOZEN)]
    blocks = cast("list[Block]", [(cut, list(range(DOZEN))) for cut in cuts])
    return SortedRows(blocks, [cut[-1] for cut in cuts])


def sizes(rows: SortedRows) -> list[int]:
    return [len(held(block)[0]) for _top, block in rows.blocks()]


def elsewhere(rows: SortedRows) -> tuple[SortedRows, list[int]]:
    """The same map with each block stored, and the numbers of those that were read."""
    blocks = [held(block) for _top, block in rows.blocks()]
    read: list[int] = []

    def reading(data: memoryview) -> Block:
        read.append(data[0])
        return blocks[data[0]]

    stored = [Stored(memoryview(bytes([n])), reading) for n in range(len(blocks))]
    return SortedRows(stored, [top for top, _block in rows.blocks()]), read


def holding(rows: SortedRows, keys: Sequence[Key]) -> list[int]:
    """The numbers of the blocks that hold some of these keys."""
    return [
        n
        for n, (_top, block) in enumerate(rows.blocks())
        if not set(keys).isdisjoint(held(block)[0])
    ]


@given(LIVES)
def test_get_equals_a_dict(steps) -> None:  # type: ignore[no-untyped-def]
    """After any changes each key, and one of none, gives what a dict would give."""
    rows, model = build(steps)

    for key in [(-1, 0), *EVERY_KEY, (5, 0)]:
        assert model.get(key) == rows.get(key)


@example([(dict.fromkeys(EVERY_KEY, 0), set())], (3,), True)
@given(LIVES, STARTS, st.booleans())
def test_walks_equal_a_sorted_list(steps, start, beyond) -> None:  # type: ignore[no-untyped-def]
    """Walking from any start, in either direction, gives the sorted list from there."""
    rows, model = build(steps)
    n = len(start)

    up = [k for k in sorted(model) if k[:n] > start or (not beyond and k[:n] == start)]
    down = [
        k for k in sorted(model) if k[:n] < start or (not beyond and k[:n] == start)
    ]
    assert [(k, model[k]) for k in up] == list(rows.rising(start, beyond=beyond))
    assert [(k, model[k]) for k in down[::-1]] == list(
        rows.falling(start, beyond=beyond)
    )


@given(LIVES, STEPS)
def test_a_map_never_changes(before, after) -> None:  # type: ignore[no-untyped-def]
    """Later changes are not seen by who holds an earlier map."""
    rows, _model = build(before)
    seen, tops = pairs_of(rows), [top for top, _block in rows.blocks()]
    build(after, rows)

    assert seen == pairs_of(rows)
    assert tops == [top for top, _block in rows.blocks()]


@given(LIVES)
def test_blocks_are_never_empty_nor_overfull(steps) -> None:  # type: ignore[no-untyped-def]
    """Each block holds one to four rows, and is listed under its last key."""
    rows, _model = build(steps)

    for top, block in rows.blocks():
        keys, values = held(block)
        assert 1 <= len(keys) == len(values) <= 4
        assert keys[-1] == top


@given(LIVES, st.dictionaries(KEYS, st.integers()), st.sets(KEYS))
def test_at_once_or_one_by_one_is_the_same(steps, puts, drops) -> None:  # type: ignore[no-untyped-def]
    """A change gives the rows that its parts give, whichever way it was carried out."""
    rows, _model = build(steps)
    parts = [({}, {key}) for key in drops] + [({key: puts[key]}, ()) for key in puts]
    singly = rows
    for some, gone in parts:
        singly = singly.changed(as_rows(some), gone)

    assert pairs_of(singly) == pairs_of(rows.changed(as_rows(puts), drops))


@given(LIVES, KEYS)
def test_a_block_is_read_once_and_when_it_is_looked_into(steps, key) -> None:  # type: ignore[no-untyped-def]
    """A look at a key reads the block where it stands or would stand, and only once."""
    rows, model = build(steps)
    stored, read = elsewhere(rows)
    data = [block.data[0] for _top, block in stored.blocks()]
    assert list(range(len(data))) == data
    assert [] == read

    for _again in range(2):
        assert model.get(key) == stored.get(key)
        above = [n for n, (top, _block) in enumerate(rows.blocks()) if top >= key]
        assert above[:1] == read


@given(LIVES, STARTS, st.booleans(), st.integers(1, 6))
def test_a_walk_reads_no_block_in_vain(steps, start, beyond, count) -> None:  # type: ignore[no-untyped-def]
    """Rising reads the blocks of the rows it gives; falling at most one block more."""
    rows, _model = build(steps)
    stored, read = elsewhere(rows)
    up = list(islice(stored.rising(start, beyond=beyond), count))
    assert holding(rows, [key for key, _row in up]) == read

    stored, read = elsewhere(rows)
    down = list(islice(stored.falling(start, beyond=beyond), count))
    wanted = holding(rows, [key for key, _row in down])[::-1]
    assert wanted == read[len(read) - len(wanted) :]
    assert len(read) - len(wanted) in (0, 1)


@pytest.mark.usefixtures("dozens")
def test_a_small_change_shares_the_blocks_that_it_does_not_touch() -> None:
    """One row put and one dropped copy two blocks."""
    rows = full_blocks(5)
    new = rows.changed(cast("dict[Key, Row]", {(2 * DOZEN,): -1}), [(0,)])

    is_shared = [
        before is after
        for (_, before), (_, after) in zip(rows.blocks(), new.blocks(), strict=True)
    ]
    assert [False, False, True, True, True] == is_shared


@pytest.mark.usefixtures("dozens")
def test_a_small_change_may_empty_a_map_and_fill_it_again() -> None:
    """Rows that are put when all others have gone are the only ones."""
    rows = full_blocks(1)
    gone = [key for key, _row in pairs_of(rows)]
    new = rows.changed(cast("dict[Key, Row]", {(1,): 1, (3,): 3}), gone)

    assert [((1,), 1), ((3,), 3)] == pairs_of(new)
    assert [((3,), ([(1,), (3,)], [1, 3]))] == list(new.blocks())


@pytest.mark.usefixtures("dozens")
def test_rising_rows_fill_their_blocks() -> None:
    """What comes after all others splits no block in two halves."""
    rows = full_blocks(6)
    keys = [(1000 + n,) for n in reversed(range(17))]
    new = rows.changed(cast("dict[Key, Row]", dict.fromkeys(keys, 0)), ())

    assert [DOZEN] * 7 + [5] == sizes(new)


@pytest.mark.usefixtures("dozens")
def test_a_row_amid_a_full_block_halves_it() -> None:
    """Both parts can take as many rows again."""
    for key in (1, 9, 21):
        new = full_blocks(1).changed(cast("dict[Key, Row]", {(key,): 0}), ())
        assert [6, 7] == sizes(new)


@pytest.mark.usefixtures("dozens")
def test_a_quarter_of_new_rows_lays_all_out_anew() -> None:
    """Then blocks are three quarters full; below a quarter they stay as they are."""
    rows = full_blocks(5)
    many = cast("dict[Key, Row]", {(1000 + n,): 0 for n in range(15)})
    fewer = dict(list(many.items())[:14])

    assert [9] * 8 + [3] == sizes(rows.changed(many, ()))
    assert [DOZEN] * 6 + [2] == sizes(rows.changed(fewer, ()))
