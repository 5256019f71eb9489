"""Reads of one scope over one connection."""

# ruff: noqa: S608 - texts are made of quoted names; every value is bound

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from uaix_backends.tabular.damage import check_stored
from uaix_core.schema.codec import key_in
from uaix_core.schema.commits import Commit, Mark, Recorded
from uaix_core.schema.relations import BY_KEY, Ref
from uaix_core.store.advance import Ask, Find, Found
from uaix_core.store.seal import genesis
from uaix_core.values.errors import CallerError, IntegrityError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from psycopg import Cursor

    from uaix_backends.postgres.layout import Layout, Table
    from uaix_backends.postgres.statements import Statements
    from uaix_core.schema.relations import Key
    from uaix_core.schema.rows import Row
    from uaix_core.store.reading import Scan
    from uaix_core.values.ids import ScopeId

    #: A table, a path, how many values of it, and prefixes of so many values.
    _Many = tuple[Table, str, int, Sequence[Key]]
    #: A commit as its table has it: seq, recorded_at, digest, count of adds, erases.
    _Entry = tuple[Any, ...]

#: At most so many commits, and rows of them, are held while commits are read.
_COMMITS = 256
_ADDS = 256


class ScopeRows:
    """What one scope holds, as the transaction of a connection shows it.

    A scope that nobody wrote to has no number, and all reads of it find nothing.
    """

    __slots__ = ("layout", "mark", "number", "scope", "statements", "work")

    def __init__(self, statements: Statements, layout: Layout, scope: ScopeId) -> None:
        self.statements = statements
        self.layout = layout
        self.scope = scope
        self.number: int | None = None
        self.work = 0
        self.mark = genesis(scope)

    @classmethod
    def read(cls, statements: Statements, layout: Layout, scope: ScopeId) -> ScopeRows:
        """The scope as it is."""
        rows = cls(statements, layout, scope)
        rows._take(statements.execute(_scope_text(layout), (scope.text,)))
        return rows

    @classmethod
    def locked(
        cls,
        statements: Statements,
        layout: Layout,
        scope: ScopeId,
        begin: Callable[[], object],
    ) -> ScopeRows:
        """The scope with its row locked until the transaction ends; made if missing.

        Whatever is read afterwards at READ COMMITTED is what the last writer left.
        ``begin`` begins the transaction, in the same round trip.
        """
        rows = cls(statements, layout, scope)
        lock = f"{_scope_text(layout)} FOR UPDATE"
        with statements.batch():
            begin()
            found = statements.execute(lock, (scope.text,))
        rows._take(found)
        if rows.number is None:
            mark = rows.mark
            values = (scope.text, mark.seq, mark.recorded_at, mark.digest, 0)
            with statements.batch():
                statements.execute(
                    f"INSERT INTO {layout.names.scope} "
                    "(scope, seq, recorded_at, digest, work) "
                    "VALUES (%s, %s, %s, %s, %s) ON CONFLICT (scope) DO NOTHING",
                    values,
                )
                found = statements.execute(lock, (scope.text,))
            rows._take(found)
        return rows

    def _take(self, cursor: Cursor[tuple[Any, ...]]) -> None:
        found = cursor.fetchone()
        if found is not None:
            self.number, self.work, *mark = found
            self.mark = Mark(*mark)

    def execute(self, text: str, values: Sequence[Any]) -> list[Any]:
        """All results of a statement, in the binary form."""
        return self.statements.execute(text, values).fetchall()

    def get(self, table: Table, key: Key) -> Row | None:
        """The row of a key."""
        found = self.execute(table.get, (self.number, *table.bound(BY_KEY, key)))
        return table.one(found[0]) if found else None

    def scan(self, scan: Scan) -> list[Row]:
        """The rows of a checked scan."""
        table = self.layout.tables[scan.relation.name]
        text = table.scan(
            scan.path, len(scan.prefix), len(scan.after), reverse=scan.reverse
        )
        prefix = table.bound(scan.path, scan.prefix)
        return table.rows(
            self.execute(text, (self.number, *prefix, *scan.after, scan.limit))
        )

    def many(
        self, table: Table, path: str, count: int, prefixes: Sequence[Key]
    ) -> list[Row]:
        """The rows whose path begins with one of these prefixes of ``count`` values."""
        (found,) = self._all_of([(table, path, count, prefixes)])
        return found

    def _all_of(self, asked: Sequence[_Many]) -> list[list[Row]]:
        """The answers to many questions like `many`, in one round trip."""
        if self.number is None:
            return [[] for _ in asked]
        cursors = []
        with self.statements.batch() if len(asked) > 1 else nullcontext():
            for table, path, count, prefixes in asked:
                arrays = [[prefix[at] for prefix in prefixes] for at in range(count)]
                text = table.many(path, count)
                cursors.append(self.statements.execute(text, (*arrays, self.number)))
        return [
            table.rows(cursor.fetchall())
            for cursor, (table, *_) in zip(cursors, asked, strict=True)
        ]

    def answer(self, ask: Ask) -> Found:
        """Answer the questions of `advance`, in one round trip."""
        keys: dict[str, list[Key]] = {}
        for ref in ask.rows:
            keys.setdefault(ref.relation, []).append(ref.key)
        paths: dict[tuple[str, str, int], list[Key]] = {}
        for find in ask.finds:
            shape = (find.relation, find.path, len(find.prefix))
            paths.setdefault(shape, []).append(find.prefix)
        tables = self.layout.tables
        asked: list[_Many] = [
            (tables[name], BY_KEY, len(tables[name].relation.key), wanted)
            for name, wanted in keys.items()
        ]
        asked += [
            (tables[name], path, count, wanted)
            for (name, path, count), wanted in paths.items()
        ]
        answers = self._all_of(asked)
        rows: dict[Ref, Row] = {}
        finds: dict[Find, list[Row]] = {find: [] for find in ask.finds}
        for number, (table, path, count, _) in enumerate(asked):
            name = table.relation.name
            if number < len(keys):
                key_of = table.relation.key_of
                rows.update((Ref(name, key_of(r)), r) for r in answers[number])
                continue
            start_of = table.path_of(path, count)
            for row in answers[number]:
                finds[Find(name, path, start_of(row))].append(row)
        return Found(rows, finds)

    def digest_at(self, seq: int) -> str:
        """The chain digest of a past commit."""
        text = (
            f"SELECT digest FROM {self.layout.names.commit} "
            "WHERE scope_no = %s AND seq = %s"
        )
        found = self.execute(text, (self.number, seq))
        return found[0][0] if found else ""

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
            results = self.execute(table.ledger, bounds)
            rows = table.rows(values[1:] for values in results)
            for values, row in zip(results, rows, strict=True):
                check_stored(table.relation, row)
                adds[row.version].append((values[0], row))
        return [self._recorded(entry, adds[entry[0]]) for entry in log]

    def _entries(self, after: int) -> list[_Entry]:
        """The next entries of the log, without a gap, at least one."""
        text = (
            "SELECT seq, recorded_at, digest, adds, erases "
            f"FROM {self.layout.names.commit} "
            "WHERE scope_no = %s AND seq > %s ORDER BY scope_no, seq LIMIT %s"
        )
        log: list[_Entry] = []
        count = 0
        entry: _Entry
        for entry in self.execute(text, (self.number, after, _COMMITS)):
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


def _scope_text(layout: Layout) -> str:
    return (
        "SELECT scope_no, work, seq, recorded_at, digest "
        f"FROM {layout.names.scope} WHERE scope = %s"
    )
