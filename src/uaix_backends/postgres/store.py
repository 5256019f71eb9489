"""A store in a schema of a PostgreSQL database."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from uaix_backends.ownership import Ownership
from uaix_backends.postgres.connections import Connections
from uaix_backends.postgres.driver import place_of
from uaix_backends.postgres.examining import examine
from uaix_backends.postgres.layout import Layout
from uaix_backends.postgres.opening import prepare
from uaix_backends.postgres.reading import ScopeRows
from uaix_backends.postgres.shapes import checked_partitions
from uaix_backends.postgres.statements import Statements
from uaix_backends.tabular.damage import stored_scope
from uaix_backends.tabular.lost import check_scopes, readable_scopes
from uaix_backends.tabular.snapshots import TabularSnapshot
from uaix_backends.tabular.writing import rebuild_views, write
from uaix_core.schema.commits import Recorded
from uaix_core.session.schema import SCHEMA
from uaix_core.store.advance import advance, drive, known
from uaix_core.store.port import Capability
from uaix_core.store.reading import check_due, check_limit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from uaix_backends.examining import Condition
    from uaix_backends.postgres.driver import Connection
    from uaix_backends.postgres.joined import JoinedPostgresStore
    from uaix_backends.tabular.migrations import Script
    from uaix_core.schema.commits import Commit
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.store.port import Snapshot
    from uaix_core.values.ids import ScopeId


class PostgresStore:
    """The port over real tables in one schema of a database; make it with `open`.

    The row of a scope is its lock. Every statement belongs to a transaction and none
    sets anything for its session, so a pooler may stand in between.
    """

    capabilities: frozenset[Capability] = frozenset(
        {Capability.DURABLE, Capability.SHARED, Capability.JOINS}
    )

    def __init__(self, layout: Layout, connections: Connections) -> None:
        self.schema = layout.schema
        self._layout = layout
        self._connections = connections
        self._owner = Ownership()

    @classmethod
    def open(  # noqa: PLR0913 - options of a store
        cls,
        dsn: str,
        *,
        create: bool = False,
        schema: Schema = SCHEMA,
        namespace: str = "uaix",
        partitions: int = 0,
        busy_timeout_s: float = 5.0,
    ) -> PostgresStore:
        """Open the store in a database.

        Args:
            dsn: a URL (``postgresql://...``) or a connection string of libpq.
            create: make the schema and its tables when they aren't there.
            schema: the relations; those that the store lacks are added to it.
            namespace: the database schema that holds the tables.
            partitions: into how many parts a new store's tables are cut, by the hash
                of the scope; 0 for whole tables.
            busy_timeout_s: how long to wait for another writer of the same scope.

        Raises:
            StoreOpenError: ``store.url``, ``store.missing``, ``store.format``,
                ``store.schema``, ``store.newer``, ``store.migration``,
                ``store.server``, ``store.encoding``, ``store.option``,
                ``store.search-path``.
            IntegrityError: ``store.migration`` when other statements were run than
                those of the migrations.
            StorageError: ``storage.connection`` when the server can't be reached, and
                what else it reports.

        """
        layout = Layout(schema, namespace)
        checked_partitions(partitions)
        place = place_of(dsn, namespace)
        connections = Connections(dsn, place, busy_timeout_s)
        try:
            prepare(connections, layout, create=create, partitions=partitions)
        except BaseException:
            connections.close()
            raise
        return cls(layout, connections)

    @staticmethod
    def migrations(
        schema: Schema = SCHEMA, *, namespace: str = "uaix", partitions: int = 0
    ) -> tuple[Script, ...]:
        """The steps that make the tables in a host's own database.

        They are for the host's migration tool: each once, in the order of versions,
        its `Script.texts` in one transaction.

        Raises:
            StoreOpenError: ``store.option``.

        """
        return Layout(schema, namespace).scripts(checked_partitions(partitions)).all()

    @staticmethod
    def ddl(
        schema: Schema = SCHEMA, *, namespace: str = "uaix", partitions: int = 0
    ) -> list[str]:
        """The statements of all `migrations`, for a database that has had none.

        Raises:
            StoreOpenError: ``store.option``.

        """
        scripts = PostgresStore.migrations(
            schema, namespace=namespace, partitions=partitions
        )
        return [text for script in scripts for text in script.texts]

    @staticmethod
    def join(
        connection: Any, *, schema: Schema = SCHEMA, namespace: str = "uaix"
    ) -> JoinedPostgresStore:
        """A store that works inside the transactions of a host's connection.

        Nothing is begun, committed or rolled back, nothing is set on the connection,
        and no table is made: the host's database has those of `ddl`. They are looked
        at when the store is first used, for joining asks the server nothing.

        Args:
            connection: of psycopg, or a SQLAlchemy ``Connection`` over one.
            schema: the relations that the tables were made for.
            namespace: the database schema that holds them.

        Raises:
            CallerError: ``host.connection``, ``host.closed``, ``host.encoding``,
                ``host.pipeline``, ``host.active``, ``host.thread``.
            StoreOpenError: ``store.option``; once it is used ``store.missing``,
                ``store.schema``, ``store.format``, ``store.newer``,
                ``store.migration``, ``store.search-path``.
            IntegrityError: ``store.migration``, once it is used.

        """
        from uaix_backends.postgres.joined import (  # noqa: PLC0415 - for hosts
            JoinedPostgresStore,
        )

        return JoinedPostgresStore(connection, Layout(schema, namespace))

    def append(self, commit: Commit | Recorded) -> Recorded:
        """See `uaix_core.store.port.Store.append`."""
        self._owner.check()
        scope = commit.commit.scope if isinstance(commit, Recorded) else commit.scope
        locked = partial(self._locked, scope)
        with self._connections.writing(locked) as (connection, rows):
            if isinstance(commit, Recorded) and known(
                commit, rows.mark, rows.digest_at
            ):
                return commit
            steps = advance(self.schema, commit, rows.mark, rows.work)
            change = drive(steps, rows.answer)
            with self._connections.committing():
                write(rows, change, partial(self._connections.commit, connection))
        return change.recorded

    def _locked(self, scope: ScopeId, connection: Connection) -> ScopeRows:
        """The scope in a new transaction that holds its lock."""
        begin = partial(self._connections.begin, connection)
        return ScopeRows.locked(Statements(connection), self._layout, scope, begin)

    @contextmanager
    def snapshot(self, scope: ScopeId) -> Iterator[Snapshot]:
        """See `uaix_core.store.port.Store.snapshot`."""
        self._owner.check()
        connection, rows = self._connections.ask(partial(self._shown, scope))
        try:
            snapshot = TabularSnapshot(rows, self._connections.reported)
            try:
                yield snapshot
            finally:
                snapshot.close()
        finally:
            if not self._owner.is_foreign:
                self._connections.end(connection)

    def _shown(self, scope: ScopeId, connection: Connection) -> ScopeRows:
        """The scope in a new transaction that shows one moment."""
        begin = partial(self._connections.begin_reading, connection)
        return ScopeRows.read(Statements(connection), self._layout, scope, begin)

    def _read(self, text: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        """The result of one statement over all scopes."""

        def question(connection: Connection) -> list[tuple[Any, ...]]:
            statements = Statements(connection)
            with statements.batch():
                self._connections.begin_reading(connection)
                found = statements.execute(text, values)
                connection.execute("COMMIT")
            return found.fetchall()

        connection, found = self._connections.ask(question)
        self._connections.end(connection)
        return found

    def check_scopes(self) -> None:
        """See `uaix_backends.examining.check_scopes`."""
        self._owner.check()
        check_scopes(lambda text: self._read(text, ()), self._layout)

    def readable_scopes(self) -> Iterator[ScopeId]:
        """See `uaix_backends.examining.readable_scopes`."""
        self._owner.check()
        return readable_scopes(lambda text: self._read(text, ()), self._layout)

    def examine(self) -> Condition:
        """Ask the server what it is; see `uaix_backends.examining.examine`."""
        self._owner.check()
        return examine(lambda text: self._read(text, ()), self._connections.place)

    def due(
        self, relation: str, *, until: int, limit: int
    ) -> Sequence[tuple[ScopeId, Row]]:
        """See `uaix_core.store.port.Store.due`."""
        self._owner.check()
        check_due(self.schema, relation, limit)
        table = self._layout.tables[relation]
        found = self._read(table.due, (until, limit))
        rows = table.rows(values[1:] for values in found)
        scopes = (stored_scope(values[0]) for values in found)
        return list(zip(scopes, rows, strict=True))

    def scopes(self, *, after: ScopeId | None = None, limit: int) -> Sequence[ScopeId]:
        """See `uaix_core.store.port.Store.scopes`."""
        self._owner.check()
        check_limit(limit)
        text = (
            f"SELECT scope FROM {self._layout.names.scope} "  # noqa: S608 - quoted
            "WHERE scope > %s AND seq > 0 ORDER BY scope LIMIT %s"
        )
        start = after.text if after is not None else ""
        return [stored_scope(text) for (text,) in self._read(text, (start, limit))]

    def rebuild(self, scope: ScopeId) -> int:
        """See `uaix_core.store.port.Store.rebuild`."""
        self._owner.check()
        shown = partial(self._shown, scope)
        with self._connections.writing(shown) as (connection, found):
            if found.number is None:
                return 0
            connection.rollback()
            count = rebuild_views(self._locked(scope, connection))
            with self._connections.committing():
                self._connections.commit(connection)
        return count

    def close(self) -> None:
        """Close the connections; closing twice is allowed."""
        if self._owner.is_closed:
            return
        self._owner.is_closed = True
        if not self._owner.is_foreign:
            self._connections.close()
