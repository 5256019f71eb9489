"""A store in one SQLite file, for any number of threads and processes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import apsw

from uaix_backends.naming import named_store
from uaix_backends.ownership import Ownership
from uaix_backends.sqlite.connections import Connections
from uaix_backends.sqlite.damage import all_of
from uaix_backends.sqlite.driver import translated
from uaix_backends.sqlite.erasing import Erasures, note_erasure
from uaix_backends.sqlite.examining import examine
from uaix_backends.sqlite.layout import Layout
from uaix_backends.sqlite.libraries import Claim
from uaix_backends.sqlite.migrating import check_standing
from uaix_backends.sqlite.opening import JOURNAL, find_file, prepare
from uaix_backends.sqlite.reading import ScopeRows
from uaix_backends.sqlite.snapshots import OpenSnapshot, SqliteSnapshot
from uaix_backends.tabular.damage import stored_scope
from uaix_backends.tabular.lost import check_scopes, readable_scopes
from uaix_backends.tabular.writing import rebuild_views, write
from uaix_core.schema.commits import Recorded
from uaix_core.session.schema import SCHEMA
from uaix_core.store.advance import advance, drive, known
from uaix_core.store.port import Capability
from uaix_core.store.reading import check_due, check_limit
from uaix_core.values.errors import StoreOpenError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from uaix_backends.examining import Condition
    from uaix_backends.sqlite.driver import Synchronous
    from uaix_backends.sqlite.joined import JoinedSqliteStore
    from uaix_backends.tabular.migrations import Script
    from uaix_core.schema.commits import Commit
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.store.port import Snapshot
    from uaix_core.values.ids import ScopeId

_SCOPES = (
    "SELECT scope FROM uaix_scope WHERE scope > ? AND seq > 0 ORDER BY scope LIMIT ?"
)


class SqliteStore:
    """The port over real tables in one file; make it with `open`.

    One connection writes, each snapshot reads through one of its own, and neither
    waits for the other.
    """

    capabilities: frozenset[Capability] = frozenset(
        {
            Capability.DURABLE,
            Capability.SHARED,
            Capability.JOINS,
            Capability.FILES,
        }
    )

    def __init__(self, layout: Layout, connections: Connections) -> None:
        self.schema = layout.schema
        self._layout = layout
        self._connections = connections
        self._owner = Ownership()
        self._erasures = Erasures(connections, layout)

    @classmethod
    def open(  # noqa: PLR0913 - options of a store
        cls,
        path: str | os.PathLike[str],
        *,
        create: bool = False,
        schema: Schema = SCHEMA,
        synchronous: Synchronous = "FULL",
        busy_timeout_s: float = 5.0,
        check: bool = True,
    ) -> SqliteStore:
        """Open the store in a file.

        Args:
            path: the file; two more, ``-wal`` and ``-shm``, stand beside it in use.
            create: make a new store when nothing lies there.
            schema: the relations; those that the file lacks are added to it.
            synchronous: FULL makes each commit durable before `append` returns; with
                NORMAL a power cut may take the last commits, but never parts of one.
            busy_timeout_s: how long to wait for another process's commit.
            check: refuse a small file with a damaged page at once. Without it what
                can be read is read, and what can't is an error where it is met.

        Raises:
            StoreOpenError: ``store.path``, ``store.missing``,
                ``store.not-a-store``, ``store.format``, ``store.schema``,
                ``store.newer``, ``store.migration``, ``store.folder``,
                ``store.no-log``, ``store.orphan-log``; the file is as it was then.
            IntegrityError: ``store.migration`` when other statements were run than
                those of the migrations.
            StorageError: the medium failed (``storage.denied`` when the file can't
                be reached).
            CallerError: ``host.second-library`` when this process has the file open
                through the standard library's sqlite3.

        """
        if synchronous not in ("FULL", "NORMAL"):
            raise StoreOpenError(
                "synchronous is FULL or NORMAL", code="store.option", path="synchronous"
            )
        # Also where a link leads there must be room for the names beside it.
        place = str(named_store(named_store(path).resolve(), JOURNAL))
        # Looking into a file of another library would already drop its locks.
        look = Claim(place, "apsw")
        try:
            find_file(place, create=create)
        finally:
            look.release()
        layout = Layout(schema)
        connections = Connections(place, synchronous, busy_timeout_s)
        try:
            prepare(connections, layout, create=create, check=check)
            store = cls(layout, connections)
            store._erasures.resume()
        except BaseException:
            connections.close()
            raise
        return store

    @staticmethod
    def migrations(schema: Schema = SCHEMA) -> tuple[Script, ...]:
        """The steps that make the tables in a host's own database.

        They are for the host's migration tool: each once, in the order of versions,
        its `Script.texts` in one transaction.
        """
        return Layout(schema).scripts.all()

    @staticmethod
    def ddl(schema: Schema = SCHEMA) -> list[str]:
        """The statements of all `migrations`, for a database that has had none."""
        return [text for one in SqliteStore.migrations(schema) for text in one.texts]

    @staticmethod
    def join(connection: Any, *, schema: Schema = SCHEMA) -> JoinedSqliteStore:
        """A store that works inside the transactions of a host's connection.

        Nothing is begun, committed or rolled back, nothing is set on the connection,
        and no table is made: the host's database has those of `ddl`.

        Args:
            connection: of apsw or sqlite3, or a SQLAlchemy ``Connection`` over one.
            schema: the relations that the tables were made for.

        Raises:
            CallerError: ``host.connection``, ``host.text-factory``,
                ``host.second-library``.
            StoreOpenError: ``store.missing``, ``store.schema``.

        """
        from uaix_backends.sqlite.hosts import host_of  # noqa: PLC0415 - for hosts
        from uaix_backends.sqlite.joined import JoinedSqliteStore  # noqa: PLC0415

        return JoinedSqliteStore(host_of(connection), Layout(schema))

    def append(self, commit: Commit | Recorded) -> Recorded:
        """See `uaix_core.store.port.Store.append`."""
        self._owner.check()
        scope = commit.commit.scope if isinstance(commit, Recorded) else commit.scope
        with self._connections.writing() as connection:
            check_standing(connection, self._layout, self._connections.path)
            rows = ScopeRows(connection, self._layout, scope)
            if isinstance(commit, Recorded) and known(
                commit, rows.mark, rows.digest_at
            ):
                return commit
            steps = advance(self.schema, commit, rows.mark, rows.work)
            change = drive(steps, rows.answer)
            rows.make()
            write(rows, change)
            if change.erased:
                note_erasure(connection)
        if change.erased:
            self._erasures.begin()
        return change.recorded

    def snapshot(self, scope: ScopeId) -> AbstractContextManager[Snapshot]:
        """See `uaix_core.store.port.Store.snapshot`."""
        self._owner.check()
        return OpenSnapshot(partial(self._begin, scope), self._end)

    def _begin(self, scope: ScopeId) -> tuple[apsw.Connection, SqliteSnapshot]:
        self._owner.check()
        reader = self._connections.lend()
        try:
            reader.execute("BEGIN")
            # The first read fixes what the whole transaction shows.
            rows = ScopeRows(reader, self._layout, scope)
        except BaseException as error:
            self._connections.give_back(reader)
            if isinstance(error, apsw.Error):
                raise translated(error, self._connections.path) from error
            raise
        return reader, SqliteSnapshot(rows, self._connections.path)

    def _end(self, reader: apsw.Connection) -> None:
        if self._owner.is_foreign:
            return
        self._connections.give_back(reader)
        if self._erasures.is_pending:
            self._erasures.retry(wholly=self._owner.is_closed)
            if self._owner.is_closed:
                self._connections.close()

    def _read(
        self, text: str, values: tuple[object, ...], what: str
    ) -> list[tuple[Any, ...]]:
        """The result of one statement over all scopes."""
        reader = self._connections.lend()
        try:
            return all_of(reader.execute(text, values), what)
        except apsw.Error as error:
            raise translated(error, self._connections.path) from error
        finally:
            self._connections.give_back(reader)

    def due(
        self, relation: str, *, until: int, limit: int
    ) -> Sequence[tuple[ScopeId, Row]]:
        """See `uaix_core.store.port.Store.due`."""
        self._owner.check()
        check_due(self.schema, relation, limit)
        table = self._layout.tables[relation]
        found = self._read(table.due, (until, limit), relation)
        rows = table.rows(values[1:] for values in found)
        scopes = (stored_scope(values[0]) for values in found)
        return list(zip(scopes, rows, strict=True))

    def scopes(self, *, after: ScopeId | None = None, limit: int) -> Sequence[ScopeId]:
        """See `uaix_core.store.port.Store.scopes`."""
        self._owner.check()
        check_limit(limit)
        start = after.text if after is not None else ""
        found = self._read(_SCOPES, (start, limit), "scope")
        return [stored_scope(text) for (text,) in found]

    def rebuild(self, scope: ScopeId) -> int:
        """See `uaix_core.store.port.Store.rebuild`."""
        self._owner.check()
        with self._connections.writing() as connection:
            check_standing(connection, self._layout, self._connections.path)
            return rebuild_views(ScopeRows(connection, self._layout, scope))

    @property
    def has_pending_erasures(self) -> bool:
        """Whether erased bytes may still be in the files, out of every read's reach."""
        return self._erasures.is_pending

    def check_scopes(self) -> None:
        """See `uaix_backends.examining.check_scopes`."""
        self._owner.check()
        check_scopes(lambda text: self._read(text, (), "scope"), self._layout)

    def readable_scopes(self) -> Iterator[ScopeId]:
        """See `uaix_backends.examining.readable_scopes`."""
        self._owner.check()
        return readable_scopes(lambda text: self._read(text, (), "scope"), self._layout)

    def examine(self) -> Condition:
        """Check every page of the file; see `uaix_backends.examining.examine`."""
        self._owner.check()
        try:
            return examine(self._connections, is_erasing=self._erasures.is_pending)
        except apsw.Error as error:
            raise translated(error, self._connections.path) from error

    def settle(self) -> bool:
        """Finish pending erasures, unless an open snapshot of any process prevents it.

        It happens by itself when a store is closed or opened.

        Returns:
            Whether none is pending any more.

        """
        self._owner.check()
        return self._erasures.settle(wholly=True)

    def close(self) -> None:
        """Close the files; closing twice is allowed. Open snapshots stay readable."""
        if self._owner.is_closed:
            return
        self._owner.is_closed = True
        if self._owner.is_foreign:
            return
        if self._erasures.is_pending:
            self._erasures.settle(wholly=True)
        self._connections.close()
