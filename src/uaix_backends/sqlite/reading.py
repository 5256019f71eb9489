"""Reads of one scope over one connection, and the snapshot made of them."""

from __future__ import annotations

import json
from itertools import chain
from os import getpid
from typing import TYPE_CHECKING, Any

import apsw

from uaix_backends.sqlite.connection import translated
from uaix_core.schema.codec import key_in
from uaix_core.schema.commits import Commit, Mark, Recorded
from uaix_core.schema.relations import BY_KEY, Ref
from uaix_core.store.advance import Ask, Find, Found
from uaix_core.store.reading import check_get, check_get_many, check_scan
from uaix_core.store.seal import genesis
from uaix_core.values.errors import ClosedError, IntegrityError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

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


class SqliteSnapshot:
    """The port's `Snapshot` over the read transaction of one connection."""

    __slots__ = ("_path", "_pid", "_rows")

    def __init__(self, rows: ScopeRows, path: str) -> None:
        self._rows: ScopeRows | None = rows
        self._path = path
        self._pid = getpid()

    def _live(self) -> ScopeRows:
        rows = self._rows
        if rows is None or getpid() != self._pid:
            raise self._refusal()
        return rows

    def _refusal(self) -> ClosedError:
        if self._rows is None:
            return ClosedError("the snapshot is closed", code="snapshot.closed")
        return ClosedError(
            "the snapshot was opened in another process", code="store.forked"
        )

    @property
    def position(self) -> int:
        """See `uaix_core.store.port.Snapshot.position`."""
        return self._live().mark.seq

    @property
    def head(self) -> str:
        """See `uaix_core.store.port.Snapshot.head`."""
        return self._live().mark.digest

    def get(self, relation: str, key: Key) -> Row | None:
        """See `uaix_core.store.port.Snapshot.get`."""
        rows = self._rows
        if rows is None or getpid() != self._pid:
            raise self._refusal()
        table = rows.layout.tables.get(relation)
        # A key under which a row stands is a proper one, so only others are checked;
        # but SQLite finds 1 also under True.
        if table is not None and tuple(map(type, key)) == table.key_types:
            try:
                found = rows.execute(table.get, (rows.number, *key)).fetchone()
            except apsw.Error as error:
                raise translated(error, self._path) from error
            except (UnicodeError, OverflowError):
                found = None
            if found is not None:
                return table.one(found)
        check_get(rows.layout.schema, relation, key)
        return None

    def get_many(self, relation: str, keys: Sequence[Key]) -> Mapping[Key, Row]:
        """See `uaix_core.store.port.Snapshot.get_many`."""
        rows = self._live()
        declared = check_get_many(rows.layout.schema, relation, keys)
        table = rows.layout.tables[relation]
        try:
            found = rows.many(table, BY_KEY, len(declared.key), keys)
            return {declared.key_of(row): row for row in found}
        except apsw.Error as error:
            raise translated(error, self._path) from error

    def scan(  # noqa: PLR0913 - the port's signature
        self,
        relation: str,
        path: str,
        prefix: Key = (),
        *,
        after: Key | None = None,
        reverse: bool = False,
        limit: int,
    ) -> Sequence[Row]:
        """See `uaix_core.store.port.Snapshot.scan`."""
        rows = self._live()
        scan = check_scan(
            rows.layout.schema,
            relation,
            path,
            prefix,
            after=after,
            reverse=reverse,
            limit=limit,
        )
        try:
            return rows.scan(scan)
        except apsw.Error as error:
            raise translated(error, self._path) from error

    def commits(self, after: int = 0) -> Iterator[Recorded]:
        """See `uaix_core.store.port.Snapshot.commits`."""
        return self._commits(self._live().commits(max(after, 0)))

    def _commits(self, parts: Iterable[list[Recorded]]) -> Iterator[Recorded]:
        parts = iter(parts)
        while True:
            # Whoever goes on after the snapshot was closed is told so.
            self._live()
            try:
                part = next(parts, None)
            except apsw.Error as error:
                raise translated(error, self._path) from error
            if part is None:
                return
            yield from part

    def close(self) -> None:
        """Refuse further reads."""
        self._rows = None


class OpenSnapshot:
    """The context of one snapshot: a reader is lent for it and given back."""

    __slots__ = ("_done", "_lend", "_snapshot")

    def __init__(
        self,
        lend: Callable[[], tuple[apsw.Connection, SqliteSnapshot]],
        done: Callable[[apsw.Connection], None],
    ) -> None:
        self._lend = lend
        self._done = done
        self._snapshot: tuple[apsw.Connection, SqliteSnapshot] | None = None

    def __enter__(self) -> SqliteSnapshot:
        self._snapshot = self._lend()
        return self._snapshot[1]

    def __exit__(self, *_error: object) -> None:
        if self._snapshot is not None:
            reader, snapshot = self._snapshot
            self._snapshot = None
            snapshot.close()
            self._done(reader)
