"""A store inside a transaction that the host owns: everything is only staged there."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from uaix_backends.ownership import Ownership
from uaix_backends.postgres.hosts import HostStatements
from uaix_backends.postgres.migrating import standing_of
from uaix_backends.postgres.reading import ScopeRows
from uaix_backends.tabular.damage import stored_scope
from uaix_backends.tabular.migrations import check_whole
from uaix_backends.tabular.snapshots import TabularSnapshot
from uaix_backends.tabular.writing import rebuild_views, write
from uaix_core.schema.commits import Recorded
from uaix_core.store.advance import advance, drive, known
from uaix_core.store.port import Capability
from uaix_core.store.reading import check_due, check_limit
from uaix_core.values.errors import StoreOpenError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from uaix_backends.postgres.layout import Layout
    from uaix_core.schema.commits import Commit
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot
    from uaix_core.values.ids import ScopeId


class JoinedPostgresStore:
    """The port over the tables in a host's database; `PostgresStore.join` makes it.

    It belongs to the thread that the host's connection belongs to. What is appended
    is durable once the host commits, and gone when it rolls back. The row of a scope
    stays locked until then.
    """

    #: Not DURABLE: what is appended is only staged.
    capabilities: frozenset[Capability] = frozenset(
        {Capability.SHARED, Capability.JOINS}
    )

    def __init__(self, connection: Any, layout: Layout) -> None:
        self.schema = layout.schema
        self._layout = layout
        self._host = HostStatements(connection)
        self._owner = Ownership()
        self._is_checked = False

    def _check_tables(self) -> None:
        """Refuse a database without the tables, or with those of another schema."""
        if self._is_checked:
            return
        with self._host.reported():
            standing = standing_of(self._host, self._layout, self._host.place)
        if standing is None:
            raise StoreOpenError(
                "the host's database has no tables of this library",
                code="store.missing",
                path=self._host.place,
                hint="run what PostgresStore.migrations() gives, with your own tool",
            )
        check_whole(standing, self._host.place, "PostgresStore.migrations()")
        self._is_checked = True

    def hold(self, scope: ScopeId) -> None:
        """See `uaix_core.store.port.Holding.hold`; raises as `append`."""
        self._owner.check()
        with self._host.staged():
            self._check_tables()
            self._locked(scope)

    def append(self, commit: Commit | Recorded) -> Recorded:
        """Stage a commit in the host's transaction, all of it or nothing.

        Raises:
            NoTransactionError: the host has no transaction open.
            StaleSnapshotError: the transaction reads an older state than the last
                writer left; the host rolls back and repeats all of it.
            HostTransactionLostError: the transaction ended meanwhile.
            StoreOpenError: ``store.missing``, ``store.schema``.
            CallerError: ``host.*``: the connection is of no use any more.

        And as `uaix_core.store.port.Store.append`; the transaction is then as it was.
        """
        self._owner.check()
        scope = commit.commit.scope if isinstance(commit, Recorded) else commit.scope
        with self._host.staged():
            self._check_tables()
            rows = self._locked(scope)
            if isinstance(commit, Recorded) and known(
                commit, rows.mark, rows.digest_at
            ):
                return commit
            steps = advance(self.schema, commit, rows.mark, rows.work)
            change = drive(steps, rows.answer)
            write(rows, change, self._host.end_stage)
        return change.recorded

    def _locked(self, scope: ScopeId) -> ScopeRows:
        return ScopeRows.locked(self._host, self._layout, scope, lambda: None)

    @contextmanager
    def snapshot(self, scope: ScopeId) -> Iterator[Snapshot]:
        """What the host's transaction shows of a scope; it moves with it."""
        self._owner.check()
        snapshot = _Moving(self._host, self._layout, scope)
        try:
            yield snapshot
        finally:
            snapshot.close()

    def _read(self, text: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        with self._host.reading():
            return self._host.execute(text, values).fetchall()

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
        """See `uaix_core.store.port.Store.rebuild`; staged like a commit."""
        self._owner.check()
        with self._host.staged():
            if ScopeRows.read(self._host, self._layout, scope).number is None:
                return 0
            return rebuild_views(self._locked(scope))

    def close(self) -> None:
        """Let go of the connection, which stays as it is; twice is allowed."""
        self._owner.is_closed = True


class _Moving(TabularSnapshot):
    """A snapshot whose every read shows the host's transaction as it is then."""

    __slots__ = ("_host", "_layout", "_scope")

    def __init__(self, host: HostStatements, layout: Layout, scope: ScopeId) -> None:
        self._host = host
        self._layout = layout
        self._scope = scope
        super().__init__(self._now(), host.reading)

    def _now(self) -> ScopeRows:
        with self._host.reading():
            return ScopeRows.read(self._host, self._layout, self._scope)

    def _live(self) -> ScopeRows:
        super()._live()
        rows = self._rows = self._now()
        return rows
