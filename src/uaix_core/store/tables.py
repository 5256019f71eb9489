"""Rows of one scope in sorted, persistent blocks: the state of in-process backends.

A `Tables` never changes; `apply` returns a new one that shares all untouched blocks.
So a snapshot is a reference, and a commit becomes visible by one assignment.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import attrs

from uaix_core.schema.commits import Commit, Mark, Recorded
from uaix_core.schema.relations import BY_KEY, Keep, Key, Ref, values_of
from uaix_core.store.advance import Ask, Find, Found
from uaix_core.store.seal import genesis

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.store.advance import Advance
    from uaix_core.store.reading import Scan
    from uaix_core.values.ids import ScopeId

#: Rows in a block before it is split in two. Copying a block of pointers this long
#: costs less than one row object.
_FULL = 256


class Sorted:
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

    def changed(self, puts: Mapping[Key, Row], drops: Iterable[Key]) -> Sorted:
        """A new map with these rows put and these keys gone."""
        new = Sorted(list(self._blocks), list(self._tops))
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
        at = min(
            find(self._tops, start, key=lambda k: k[:n]), len(self._tops) - 1
        )
        for b in range(at, -1, -1):
            keys, rows = self._blocks[b]
            i = len(keys)
            if b == at:
                i = find(keys, start, key=lambda k: k[:n])
            if i:
                yield from zip(keys[i - 1 :: -1], rows[i - 1 :: -1], strict=True)


@attrs.frozen
class Logged:
    """One commit of the log: its place and the names of its rows."""

    mark: Mark
    adds: tuple[Ref, ...]
    erases: tuple[Ref, ...]


class Tables:
    """All rows of one scope and its chain, as they are at one place of it."""

    __slots__ = ("_length", "_log", "_maps", "_orders", "mark", "schema", "scope", "work")

    def __init__(self, schema: Schema, scope: ScopeId) -> None:
        self.schema = schema
        self.scope = scope
        self.mark = genesis(scope)
        self.work = 0
        self._maps: dict[tuple[str, str], Sorted] = {}
        # Shared by all states of a scope: each sees the first _length entries.
        self._log: list[Logged] = []
        self._length = 0
        self._orders: dict[str, list[tuple[str, Callable[[Row], Key]]]] = {
            r.name: [(path, values_of(order)) for path, order in r.orders.items()]
            for r in schema.relations.values()
        }

    def _copy(self) -> Tables:
        new = object.__new__(Tables)
        for name in Tables.__slots__:
            setattr(new, name, getattr(self, name))
        new._maps = dict(self._maps)
        return new

    def get(self, ref: Ref) -> Row | None:
        """The row of this name."""
        rows = self._maps.get((ref.relation, BY_KEY))
        return rows.get(ref.key) if rows is not None else None

    def scan(self, scan: Scan) -> list[Row]:
        """The rows of a checked scan."""
        rows = self._maps.get((scan.relation.name, scan.path))
        if rows is None:
            return []
        start = scan.prefix + scan.after
        walk = rows.falling if scan.reverse else rows.rising
        n, found = len(scan.prefix), []
        for key, row in walk(start, beyond=bool(scan.after)):
            if key[:n] != scan.prefix:
                break
            found.append(row)
            if len(found) == scan.limit:
                break
        return found

    def find(self, find: Find) -> list[Row]:
        """All rows whose path begins with these values."""
        rows = self._maps.get((find.relation, find.path))
        n, found = len(find.prefix), []
        for key, row in rows.rising(find.prefix, beyond=False) if rows else ():
            if key[:n] != find.prefix:
                break
            found.append(row)
        return found

    def all(self, relation: str) -> Iterator[Row]:
        """Every row of a relation in the order of its key."""
        rows = self._maps.get((relation, BY_KEY))
        for _key, row in rows.rising((), beyond=False) if rows is not None else ():
            yield row

    def answer(self, ask: Ask) -> Found:
        """Answer the questions of `advance`."""
        rows = {ref: row for ref in ask.rows if (row := self.get(ref)) is not None}
        return Found(rows, {find: self.find(find) for find in ask.finds})

    def digest_at(self, seq: int) -> str:
        """The chain digest of a past commit."""
        return self._log[seq - 1].mark.digest

    def commits(self, after: int = 0) -> Iterator[Recorded]:
        """The commits in view with a seq above ``after``, rows as they are now."""
        for i in range(max(after, 0), self._length):
            entry = self._log[i]
            rows = (self.get(ref) for ref in entry.adds)
            commit = Commit(
                self.scope,
                entry.mark.recorded_at,
                adds=[row for row in rows if row is not None],
                erases=entry.erases,
            )
            mark = entry.mark
            yield Recorded(mark.seq, mark.recorded_at, mark.digest, commit)

    def apply(self, change: Advance) -> Tables:
        """The state after a change; this one stays as it is."""
        new = self._copy()
        erased = [
            self.schema.relation(ref.relation).erased(row)
            for ref in change.erased
            if (row := self.get(ref)) is not None
        ]
        new._change((*change.adds, *erased, *change.puts), change.drops)
        if change.mark.seq > self.mark.seq:
            commit = change.recorded.commit
            adds = tuple(self.schema.of(row).ref(row) for row in change.adds)
            # A failed write may have left an entry beyond the length: overwrite it.
            del self._log[self._length :]
            self._log.append(Logged(change.mark, adds, commit.erases))
            new._length += 1
        new.mark = change.mark
        new.work = change.work
        return new

    def without_views(self) -> Tables:
        """The state with every VIEW emptied, to rebuild them."""
        new = self._copy()
        for relation in self.schema.kept(Keep.VIEW):
            for path in relation.orders:
                new._maps.pop((relation.name, path), None)
        return new

    def with_views(self, puts: Sequence[Row], drops: Sequence[Ref]) -> Tables:
        """The state with these VIEW rows put and dropped."""
        new = self._copy()
        new._change(puts, drops)
        return new

    def _change(self, puts: Sequence[Row], drops: Sequence[Ref]) -> None:
        changed: dict[str, dict[Ref, Row | None]] = {}
        for ref in drops:
            changed.setdefault(ref.relation, {})[ref] = None
        for row in puts:
            relation = self.schema.of(row)
            changed.setdefault(relation.name, {})[relation.ref(row)] = row
        for name, rows in changed.items():
            before = [old for ref in rows if (old := self.get(ref)) is not None]
            standing = [row for row in rows.values() if row is not None]
            for path, order in self._orders[name]:
                table = self._maps.get((name, path)) or Sorted([], [])
                added = {order(row): row for row in standing}
                gone = [k for old in before if (k := order(old)) not in added]
                self._maps[name, path] = table.changed(added, gone)
