"""Rows of one scope in sorted, persistent blocks: the state of in-process backends.

A `Tables` never changes; `apply` returns a new one that shares all untouched blocks.
So a snapshot is a reference, and a commit becomes visible by one assignment.
"""

# ruff: noqa: SLF001 - a state fills in the state that follows it
from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_core.schema.commits import Commit, Recorded
from uaix_core.schema.relations import BY_KEY, Keep, Key, Ref, values_of
from uaix_core.store.advance import Ask, Find, Found
from uaix_core.store.log import Log, Logged
from uaix_core.store.seal import genesis
from uaix_core.store.sorted_rows import SortedRows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from uaix_core.schema.commits import Mark
    from uaix_core.schema.relations import Relation
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.store.advance import Advance
    from uaix_core.store.reading import Scan
    from uaix_core.values.ids import ScopeId


class Tables:
    """All rows of one scope and its chain, as they are at one place of it."""

    __slots__ = (
        "_length",
        "_log",
        "_maps",
        "_orders",
        "mark",
        "schema",
        "scope",
        "work",
    )

    def __init__(
        self, schema: Schema, scope: ScopeId, before: Tables | None = None
    ) -> None:
        self.schema = schema
        self.scope = scope
        if before is None:
            self.mark = genesis(scope)
            self.work = 0
            self._maps: dict[tuple[str, str], SortedRows] = {}
            # Shared by all states of a scope: each sees the first _length entries.
            self._log = Log()
            self._length = 0
            self._orders: dict[str, list[tuple[str, Callable[[Row], Key]]]] = {
                r.name: [(path, values_of(order)) for path, order in r.orders.items()]
                for r in schema.relations.values()
            }
        else:
            self.mark, self.work = before.mark, before.work
            self._maps, self._orders = before._maps, before._orders
            self._log, self._length = before._log, before._length

    @classmethod
    def restored(
        cls,
        schema: Schema,
        scope: ScopeId,
        mark: Mark,
        maps: Mapping[tuple[str, str], SortedRows],
        log: Log,
    ) -> Tables:
        """The state of HISTORY and VIEW rows that were kept elsewhere."""
        new = cls(schema, scope)
        new._maps = dict(maps)
        new._log, new._length, new.mark = log, mark.seq, mark
        return new

    def maps(self, *keeps: Keep) -> Iterator[tuple[Relation, str, SortedRows]]:
        """The rows of the relations of these kinds, in the order of each path."""
        for relation in self.schema.kept(*keeps):
            for path in relation.orders:
                rows = self._maps.get((relation.name, path))
                if rows is not None:
                    yield relation, path, rows

    @property
    def log(self) -> Log:
        """The log, whose entries beyond the seq of `mark` are none of this state."""
        return self._log

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

    def all(self, relation: str, path: str = BY_KEY) -> Iterator[Row]:
        """Every row of a relation in the order of a path."""
        rows = self._maps.get((relation, path))
        for _key, row in rows.rising((), beyond=False) if rows is not None else ():
            yield row

    def answer(self, ask: Ask) -> Found:
        """Answer the questions of `advance`."""
        rows = {ref: row for ref in ask.rows if (row := self.get(ref)) is not None}
        return Found(rows, {find: self.find(find) for find in ask.finds})

    def digest_at(self, seq: int) -> str:
        """The chain digest of a past commit."""
        return self._log.entry(seq - 1).mark.digest

    def commits(self, after: int = 0) -> Iterator[Recorded]:
        """The commits in view with a seq above ``after``, rows as they are now."""
        for i in range(max(after, 0), self._length):
            entry = self._log.entry(i)
            rows = (self.get(ref) for ref in entry.adds)
            commit = Commit(
                self.scope,
                entry.mark.recorded_at,
                adds=tuple(row for row in rows if row is not None),
                erases=entry.erases,
            )
            mark = entry.mark
            yield Recorded(mark.seq, mark.recorded_at, mark.digest, commit)

    def apply(self, change: Advance) -> Tables:
        """The state after a change; this one stays as it is."""
        erased = [
            self.schema.relation(ref.relation).erased(row)
            for ref in change.erased
            if (row := self.get(ref)) is not None
        ]
        seq = change.mark.seq
        adds = [self.schema.of(row).stamped(row, seq) for row in change.adds]
        new = self.with_rows((*adds, *erased, *change.puts), change.drops)
        if change.mark.seq > self.mark.seq:
            refs = tuple(self.schema.of(row).ref(row) for row in adds)
            entry = Logged(change.mark, refs, change.recorded.commit.erases)
            self._log.put(self._length, [entry])
            new._length = self._length + 1
        new.mark, new.work = change.mark, change.work
        return new

    def without_views(self) -> Tables:
        """The state with every VIEW emptied, to rebuild them."""
        new = Tables(self.schema, self.scope, self)
        views = {relation.name for relation in self.schema.kept(Keep.VIEW)}
        new._maps = {at: rows for at, rows in self._maps.items() if at[0] not in views}
        return new

    def with_rows(self, puts: Iterable[Row], drops: Iterable[Ref]) -> Tables:
        """The state with these rows put and these names gone."""
        changed: dict[str, dict[Ref, Row | None]] = {}
        for ref in drops:
            changed.setdefault(ref.relation, {})[ref] = None
        for row in puts:
            relation = self.schema.of(row)
            changed.setdefault(relation.name, {})[relation.ref(row)] = row
        new = Tables(self.schema, self.scope, self)
        new._maps = dict(self._maps)
        for name, rows in changed.items():
            before = [old for ref in rows if (old := self.get(ref)) is not None]
            standing = [row for row in rows.values() if row is not None]
            for path, order in self._orders[name]:
                table = self._maps.get((name, path)) or SortedRows([], [])
                added = {order(row): row for row in standing}
                gone = [key for old in before if (key := order(old)) not in added]
                new._maps[name, path] = table.changed(added, gone)
        return new
