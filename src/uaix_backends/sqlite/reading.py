"""Reads of one scope over one connection, and the snapshot made of them."""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, Any

from uaix_backends.sqlite.damage import all_of, one_of
from uaix_backends.tabular.damage import check_stored
from uaix_core.schema.codec import key_in
from uaix_core.schema.commits import Commit, Mark, Recorded
from uaix_core.schema.relations import BY_KEY, Ref
from uaix_core.store.advance import Ask, Find, Found
from uaix_core.store.seal import genesis
from uaix_core.values.errors import CallerError, IntegrityError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from uaix_backends.sqlite.hosts import Statements
    from uaix_backends.sqlite.layout import Layout, Table
    from uaix_core.schema.relations import Key
    from uaix_core.schema.rows import Row
    from uaix_core.store.reading import Scan
    from uaix_core.values.ids import ScopeId

    #: A commit as its table has it: seq, recorded_at, digest, count of adds, erases.
    _Entry = tuple[Any, ...]

#: How many prefixes one statement takes; what fills less than half goes one by one.
_PLACES = (512, 64)
#: At most so many commits, and rows of them, are held while commits are read.
_COMMITS = 256
_ADDS = 256

_SCOPE = (
    "SELECT +scope_no, +work, +seq, +recorded_at, +digest FROM uaix_scope "
    "WHERE scope = ?"
)
_LOG = (
    "SELECT +seq, +recorded_at, +digest, +adds, +erases FROM uaix_commit "
    "WHERE scope_no = ? AND seq > ? ORDER BY seq LIMIT ?"
)


class ScopeRows:
    """What one scope holds, as the transaction of a connection shows it.

    A scope that nobody wrote to has no number, and all reads of it find nothing. What
    is stored and can't be read is an `IntegrityError` (``storage.row``).
    """

    __slots__ = ("connection", "execute", "layout", "mark", "number", "scope", "work")

    def __init__(self, connection: Statements, layout: Layout, scope: ScopeId) -> None:
        self.connection = connection
        self.execute = connection.execute
        self.layout = layout
        self.scope = scope
        found = one_of(connection.execute(_SCOPE, (scope.text,)), scope.text)
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
        return table.rows(all_of(self.execute(text, values), table.relation.name))

    def many(
        self, table: Table, path: str, count: int, prefixes: Sequence[Key]
    ) -> list[Row]:
        """The rows whose path begins with one of these prefixes of ``count`` values."""
        rows: list[Row] = []
        if self.number is None:
            return rows
        at = 0
        what = table.relation.name
        for places in _PLACES:
            text = table.many(path, count, places)
            while len(prefixes) - at > places // 2:
                bound = list(chain.from_iterable(prefixes[at : at + places]))
                bound += [None] * (places * count - len(bound))
                found = self.execute(text, (*bound, self.number))
                rows += table.rows(all_of(found, what))
                at += places
        text = table.scan(path, count, 0, reverse=False, limit=False)
        for prefix in prefixes[at:]:
            found = self.execute(text, (self.number, *prefix))
            rows += table.rows(all_of(found, what))
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
        text = "SELECT +digest FROM uaix_commit WHERE scope_no = ? AND seq = ?"
        found = one_of(self.execute(text, (self.number, seq)), self._place(seq))
        return found[0] if found else ""

    def _place(self, seq: int) -> str:
        """How a commit is named in messages."""
        return f"{self.scope.text}#{seq}"

    def commits(self, after: int) -> Iterator[list[Recorded]]:
        """The commits above ``after``, some at a time.

        Every value and the digest of every body is checked.

        Raises:
            IntegrityError: ``storage.chain`` when something is missing,
                ``storage.row`` when something is damaged.

        """
        at = after
        while at < self.mark.seq:
            try:
                part = self._commits(at)
            except (CallerError, LookupError, TypeError, ValueError) as error:
                # Nothing but stored values is looked at there, so they are damaged.
                raise IntegrityError(
                    "a stored commit can't be read",
                    code="storage.row",
                    path=self._place(at + 1),
                ) from error
            yield part
            at = part[-1].seq

    def _commits(self, after: int) -> list[Recorded]:
        log = self._entries(after)
        adds: dict[int, list[tuple[int, Row]]] = {entry[0]: [] for entry in log}
        bounds = (self.number, log[0][0], log[-1][0])
        for table in self.layout.history:
            relation = table.relation
            results = all_of(self.execute(table.ledger, bounds), relation.name)
            rows = table.rows(values[1:] for values in results)
            for values, row in zip(results, rows, strict=True):
                check_stored(relation, row)
                adds[row.version].append((values[0], row))
        return [self._recorded(entry, adds[entry[0]]) for entry in log]

    def _entries(self, after: int) -> list[_Entry]:
        """The next entries of the log, without a gap, at least one."""
        log: list[_Entry] = []
        count = 0
        found = self.execute(_LOG, (self.number, after, _COMMITS))
        entry: _Entry
        for entry in all_of(found, self._place(after + 1)):
            count += entry[3]
            if (log and count > _ADDS) or entry[0] != after + len(log) + 1:
                break
            log.append(entry)
        if not log:
            raise IntegrityError(
                "a commit is missing",
                code="storage.chain",
                path=self._place(after + 1),
            )
        return log

    def _recorded(self, entry: _Entry, adds: list[tuple[int, Row]]) -> Recorded:
        seq, recorded_at, digest, count, erases = entry
        if len(adds) != count:
            raise IntegrityError(
                "a row of a commit is missing",
                code="storage.chain",
                path=self._place(seq),
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
