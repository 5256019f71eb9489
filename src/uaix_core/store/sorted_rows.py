"""A persistent sorted map of rows: changing it gives a new one that shares its blocks.

Used by `uaix_core.store.tables`. Two levels are enough: a list of blocks that is
copied whole (one pointer a block) and blocks of a bounded size that are copied when
touched. A block may be `Stored` elsewhere until somebody looks into it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from uaix_core.schema.relations import Key
    from uaix_core.schema.rows import Row

    #: Keys in rising order, and their rows.
    Block = tuple[list[Key], list[Row]]

#: Rows in a block before it is split in two. Copying a block of pointers this long
#: costs less than one row object.
_FULL = 256


class Stored:
    """A block that is read when somebody first looks into it, and kept then.

    Args:
        data: the bytes that it is read from; whoever writes the block again may take
            them as they are.
        read: gives the block of these bytes.

    """

    __slots__ = ("_block", "_read", "data")

    def __init__(self, data: memoryview, read: Callable[[memoryview], Block]) -> None:
        self.data = data
        self._read = read
        self._block: Block | None = None

    def block(self) -> Block:
        """The block."""
        found = self._block
        if found is None:
            found = self._block = self._read(self.data)
        return found


class SortedRows:
    """An immutable sorted map in two levels: blocks of (keys, rows) and their tops."""

    __slots__ = ("_blocks", "_tops")

    def __init__(self, blocks: Sequence[Block | Stored], tops: list[Key]) -> None:
        self._blocks = list(blocks)
        self._tops = tops

    def blocks(self) -> Iterator[tuple[Key, Block | Stored]]:
        """The last key of each block, and the block, in order."""
        return zip(self._tops, self._blocks, strict=True)

    def _block(self, at: int) -> Block:
        found = self._blocks[at]
        return found.block() if isinstance(found, Stored) else found

    def get(self, key: Key) -> Row | None:
        """The row under exactly this key."""
        at = bisect_left(self._tops, key)
        if at == len(self._tops):
            return None
        keys, rows = self._block(at)
        # The last key of the block is not below this one, so there is an i-th.
        i = bisect_left(keys, key)
        return rows[i] if keys[i] == key else None

    def changed(self, puts: Mapping[Key, Row], drops: Iterable[Key]) -> SortedRows:
        """A new map with these rows put and these keys gone."""
        if 4 * len(puts) >= len(self._blocks) * _FULL:
            return self._merged(puts, drops)
        new = SortedRows(self._blocks, list(self._tops))
        for key in drops:
            new._drop(key)
        for key in sorted(puts):
            new._put(key, puts[key])
        return new

    def _merged(self, puts: Mapping[Key, Row], drops: Iterable[Key]) -> SortedRows:
        """As `changed`, at once: what so many rows would cost one by one is more."""
        pairs: dict[Key, Row] = {}
        for at in range(len(self._blocks)):
            pairs.update(zip(*self._block(at), strict=True))
        for key in drops:
            pairs.pop(key, None)
        pairs.update(puts)
        keys = sorted(pairs)
        # Not quite full, so that the next rows don't split each of them.
        size = _FULL - _FULL // 4
        cuts = [keys[start : start + size] for start in range(0, len(keys), size)]
        blocks = [(cut, [pairs[key] for key in cut]) for cut in cuts]
        return SortedRows(blocks, [cut[-1] for cut in cuts])

    def _put(self, key: Key, row: Row) -> None:
        if not self._tops:
            self._blocks.append(([key], [row]))
            self._tops.append(key)
            return
        at = min(bisect_left(self._tops, key), len(self._tops) - 1)
        keys, rows = self._block(at)
        i = bisect_left(keys, key)
        rows = rows.copy()
        if i < len(keys) and keys[i] == key:
            rows[i] = row
            self._blocks[at] = (keys, rows)
            return
        keys = keys.copy()
        keys.insert(i, key)
        rows.insert(i, row)
        if len(keys) <= _FULL:
            self._blocks[at] = (keys, rows)
            self._tops[at] = keys[-1]
            return
        # Rows mostly arrive in rising order: then the left block stays nearly full.
        cut = len(keys) - 1 if i == len(keys) - 1 else len(keys) // 2
        self._blocks[at : at + 1] = [
            (keys[:cut], rows[:cut]),
            (keys[cut:], rows[cut:]),
        ]
        self._tops[at : at + 1] = [keys[cut - 1], keys[-1]]

    def _drop(self, key: Key) -> None:
        at = bisect_left(self._tops, key)
        if at == len(self._tops):
            return
        keys, rows = self._block(at)
        i = bisect_left(keys, key)
        if keys[i] != key:
            return
        keys, rows = keys.copy(), rows.copy()
        del keys[i], rows[i]
        if keys:
            self._blocks[at] = (keys, rows)
            self._tops[at] = keys[-1]
        else:
            del self._blocks[at], self._tops[at]

    def rising(self, start: Key, *, beyond: bool) -> Iterator[tuple[Key, Row]]:
        """Pairs from ``start`` on; ``beyond`` skips keys that begin with it."""
        n = len(start)
        find = bisect_right if beyond else bisect_left
        at = find(self._tops, start, key=lambda k: k[:n])
        if at == len(self._tops):
            return
        i = find(self._block(at)[0], start, key=lambda k: k[:n])
        for b in range(at, len(self._tops)):
            keys, rows = self._block(b)
            yield from zip(keys[i:], rows[i:], strict=True)
            i = 0

    def falling(self, start: Key, *, beyond: bool) -> Iterator[tuple[Key, Row]]:
        """Pairs from ``start`` backwards; ``beyond`` skips keys that begin with it."""
        if not self._tops:
            return
        n = len(start)
        find = bisect_left if beyond else bisect_right
        at = min(find(self._tops, start, key=lambda k: k[:n]), len(self._tops) - 1)
        keys, rows = self._block(at)
        i = find(keys, start, key=lambda k: k[:n])
        yield from zip(keys[:i][::-1], rows[:i][::-1], strict=True)
        for b in range(at - 1, -1, -1):
            keys, rows = self._block(b)
            yield from zip(keys[::-1], rows[::-1], strict=True)
