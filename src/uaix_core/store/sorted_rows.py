"""A persistent sorted map of rows: changing it gives a new one that shares its blocks.

Used by `uaix_core.store.tables`. Two levels are enough: a list of blocks that is
copied whole (one pointer a block) and blocks of a bounded size that are copied when
touched.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from uaix_core.schema.relations import Key
    from uaix_core.schema.rows import Row

#: Rows in a block before it is split in two. Copying a block of pointers this long
#: costs less than one row object.
_FULL = 256


class SortedRows:
    """An immutable sorted map in two levels: blocks of (keys, rows) and their tops."""

    __slots__ = ("_blocks", "_tops")

    def __init__(
        self, blocks: list[tuple[list[Key], list[Row]]], tops: list[Key]
    ) -> None:
        self._blocks = blocks
        self._tops = tops

    def get(self, key: Key) -> Row | None:
        """The row under exactly this key."""
        at = bisect_left(self._tops, key)
        if at == len(self._tops):
            return None
        keys, rows = self._blocks[at]
        i = bisect_left(keys, key)
        return rows[i] if i < len(keys) and keys[i] == key else None

    def changed(self, puts: Mapping[Key, Row], drops: Iterable[Key]) -> SortedRows:
        """A new map with these rows put and these keys gone."""
        new = SortedRows(list(self._blocks), list(self._tops))
        for key in drops:
            new._drop(key)
        for key in sorted(puts):
            new._put(key, puts[key])
        return new

    def _put(self, key: Key, row: Row) -> None:
        if not self._tops:
            self._blocks.append(([key], [row]))
            self._tops.append(key)
            return
        at = min(bisect_left(self._tops, key), len(self._tops) - 1)
        keys, rows = self._blocks[at]
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
        keys, rows = self._blocks[at]
        i = bisect_left(keys, key)
        if i == len(keys) or keys[i] != key:
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
        tops = self._tops
        at = (
            bisect_right(tops, start, key=lambda k: k[:n])
            if beyond
            else bisect_left(tops, start, key=lambda k: k[:n])
        )
        for b in range(at, len(tops)):
            keys, rows = self._blocks[b]
            i = 0
            if b == at:
                find = bisect_right if beyond else bisect_left
                i = find(keys, start, key=lambda k: k[:n])
            yield from zip(keys[i:], rows[i:], strict=True)

    def falling(self, start: Key, *, beyond: bool) -> Iterator[tuple[Key, Row]]:
        """Pairs from ``start`` backwards; ``beyond`` skips keys that begin with it."""
        n = len(start)
        find = bisect_left if beyond else bisect_right
        at = min(find(self._tops, start, key=lambda k: k[:n]), len(self._tops) - 1)
        for b in range(at, -1, -1):
            keys, rows = self._blocks[b]
            i = len(keys)
            if b == at:
                i = find(keys, start, key=lambda k: k[:n])
            if i:
                yield from zip(keys[i - 1 :: -1], rows[i - 1 :: -1], strict=True)
