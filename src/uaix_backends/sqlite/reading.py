"""Reads of one scope over one connection, and the snapshot made of them."""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, Any

from uaix_core.schema.codec import key_in
from uaix_core.schema.commits import Commit, Mark, Recorded
from uaix_core.schema.relations import BY_KEY, Ref
from uaix_core.store.advance import Ask, Find, Found
from uaix_core.store.seal import genesis
from uaix_core.values.errors import IntegrityError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import apsw

    from uaix_backends.sqlite.layout import Layout, Table
    from uaix_core.schema.relations import Key
    from uaix_core.schema.rows import Row
    from uaix_core.store.reading import Scan
    from uaix_core.values.ids import ScopeId

#: How many prefixes one statement takes; what fills less than half goes one by one.
_PLACES = (512, 64)
#: At most so many commits, and rows of them, are held while commits are read.
_COMMITS = 256
_ADDS = 256

_SCOPE = (
    "SELECT scope_no, work, seq, recorded_at, digest FROM uaix_scope WHERE scope = ?"
)
_LOG = (
    "SELECT seq, recorded_at, digest, adds, erases FROM uaix_commit "
    "WHERE scope_no = ? AND seq > ? ORDER BY seq LIMIT ?"
)


class ScopeRows:
    """What one scope holds, as the transaction of a connection shows it.

    A scope that nobody wrote to has no number, and all reads of it find nothing.
    """

    __slots__ = ("connection", "execute", "layout", "mark", "number", "scope", "work")

    def __init__(
        self, connection: apsw.Connection, layout: Layout, scope: ScopeId
    ) -> None:
        self.connection = connection
        self.execute = connection.execute
        self.layout = layout
        self.scope = scope
        found = connection.execute(_SCOPE, (scope.text,)).fetchone()
        self.number: int | None = None
        self.work = 0
        if found is None:
            self.mark = genesis(scope)
        else:
            self.number, self.work, *mark = found
            self.mark = Mark(*mark)

    def scan(self, scan: Scan) -> list[Row]:
        """The rows of a checked scan."""
        table = self.layout.tables[scan.relation.name]
        text = table.scan(
            scan.path, len(scan.prefix), len(scan.after), reverse=scan.reverse
        )
        values = (self.number, *scan.prefix, *scan.after, scan.limit)
        return table.rows(self.execute(text, values).fetchall())

    def many(
        self, table: Table, path: str, count: int, prefixes: Sequence[Key]
    ) -> list[Row]:
        """The rows whose path begins with one of these prefixes of ``count`` values."""
        rows: list[Row] = []
        if self.number is None:
            return rows
        at = 0
        for places in _PLACES:
            text = table.many(path, count, places)
            while len(prefixes) - at > places // 2:
                bound = list(chain.from_iterable(prefixes[at : at + places]))
                bound += [None] * (places * count - len(bound))
                rows += table.rows(self.execute(text, (*bound, self.number)).fetchall())
                at += places
        text = table.scan(path, count, 0, reverse=False, limit=False)
        for prefix in prefixes[at:]:
            rows += table.rows(self.execute(text, (self.number, *prefix)).fetchall())
        return rows

    def answer(self, ask: Ask) -> Found:
        """Answer the questions of `advance`."""
        keys: dict[str, list[Key]] = {}
        for ref in ask.rows:
            keys.setdefault(ref.relation, []).append(ref.key)
        rows: dict[Ref, Row] = {}
        for name, wanted in keys.items():
            table = self.layout.tables[name]
            key_of = table.relation.key_of
            for row in self.many(table, BY_KEY, len(table.relation.key), wanted):
                rows[Ref(name, key_of(row))] = row
        paths: dict[tuple[str, str, int], list[Key]] = {}
        for find in ask.finds:
            shape = (find.relation, find.path, len(find.prefix))
            paths.setdefault(shape, []).append(find.prefix)
        finds: dict[Find, list[Row]] = {find: [] for find in ask.finds}
        for (name, path, count), wanted in paths.items():
            table = self.layout.tables[name]
            start_of = table.path_of(path, count)
            for row in self.many(table, path, count, wanted):
                finds[Find(name, path, start_of(row))].append(row)
        return Found(rows, finds)

    def digest_at(self, seq: int) -> str:
        """The chain digest of a past commit."""
        text = "SELECT digest FROM uaix_commit WHERE scope_no = ? AND seq = ?"
        found = self.execute(text, (self.number, seq)).fetchone()
        return found[0] if found else ""

    def commits(self, after: int) -> Iterator[list[Recorded]]:
        """The commits above ``after``, some at a time."""
        at = after
        while at < self.mark.seq:
            part = self._commits(at)
            if not part or part[0].seq != at + 1:
                raise IntegrityError(
                    "a commit is missing",
                    code="storage.chain",
                    path=f"{self.scope.text}#{at + 1}",
                )
            yield part
            at = part[-1].seq

    def _commits(self, after: int) -> list[Recorded]:
        log: list[tuple[Any, ...]] = []
        count = 0
        found = self.execute(_LOG, (self.number, after, _COMMITS))
        entry: tuple[Any, ...]
        for entry in found.fetchall():
            count += entry[3]
            if log and count > _ADDS:
                break
            log.append(entry)
        if not log:
            return []
        adds: dict[int, list[tuple[int, Row]]] = {entry[0]: [] for entry in log}
        bounds = (self.number, log[0][0], log[-1][0])
        for table in self.layout.history:
            results: list[Any] = self.execute(table.ledger, bounds).fetchall()
            rows = table.rows(values[1:] for values in results)
            for values, row in zip(results, rows, strict=True):
                adds[row.version].append((values[0], row))
        return [self._recorded(entry, adds[entry[0]]) for entry in log]

    def _recorded(
        self, entry: tuple[Any, ...], adds: list[tuple[int, Row]]
    ) -> Recorded:
        seq, recorded_at, digest, count, erases = entry
        if len(adds) != count:
            raise IntegrityError(
                "a row of a commit is missing",
                code="storage.chain",
                path=f"{self.scope.text}#{seq}",
            )
        adds.sort(key=lambda pair: pair[0])
        relation = self.layout.schema.relation
        gone = [
            Ref(name, key_in(relation(name), key))
            for name, key in json.loads(erases or "[]")
        ]
        commit = Commit(
            self.scope, recorded_at, adds=[row for _ord, row in adds], erases=gone
        )
        return Recorded(seq, recorded_at, digest, commit)
