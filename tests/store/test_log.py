"""Laws of the log that the states of a scope share."""

from __future__ import annotations

import pytest

from uaix_core.schema.commits import Mark
from uaix_core.store.log import Log, Logged, StoredEntries

SIZE = 3


def logged(number: int, *, digest: str = "") -> Logged:
    return Logged(Mark(number + 1, number, digest), (), ())


def parts_of(count: int, read: list[int]) -> list[StoredEntries]:
    """This many entries in parts of three; the numbers of those read are noted."""

    def reading(data: memoryview) -> list[Logged]:
        read.append(data[0])
        return [logged(n) for n in range(data[0], min(data[0] + SIZE, count))]

    return [
        StoredEntries(memoryview(bytes([at])), min(SIZE, count - at), reading)
        for at in range(0, count, SIZE)
    ]


@pytest.mark.parametrize("stored", range(2 * SIZE + 2))
@pytest.mark.parametrize("added", range(3))
def test_entries_have_one_count_wherever_they_stand(stored: int, added: int) -> None:
    """Stored or put, each entry is found under its index."""
    log = Log(parts_of(stored, []))
    for at in range(stored, stored + added):
        log.put(at, [logged(at)])
    every = range(stored + added)

    assert [logged(at) for at in every] == [log.entry(at) for at in every]


def test_a_part_is_read_once_and_when_an_entry_of_it_is_asked_for() -> None:
    """Nobody reads what nobody looks at; who writes parts again takes their bytes."""
    read: list[int] = []
    log = Log(parts_of(8, read))
    assert [0, 3, 6] == [part.data[0] for part in log.parts]
    assert [] == read

    for at in (4, 5, 3):
        assert logged(at) == log.entry(at)
        assert [3] == read


@pytest.mark.parametrize("stored", [0, 2])
def test_what_is_put_takes_the_place_of_all_from_there(stored: int) -> None:
    """Entries that a failed write has left don't come back behind the next one."""
    log = Log(parts_of(stored, []))
    log.put(stored, [logged(stored + n) for n in range(4)])
    log.put(stored + 1, [logged(stored + 1, digest="other")])

    assert logged(stored) == log.entry(stored)
    assert logged(stored + 1, digest="other") == log.entry(stored + 1)
    with pytest.raises(IndexError):
        log.entry(stored + 2)
