"""A store inside a transaction that the host owns: everything is only staged there."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from uaix_backends.ownership import Ownership
from uaix_backends.postgres.hosts import HostStatements
from uaix_backends.postgres.migrating import standing_of
from uaix_backends.postgres.reading import ScopeRows
from uaix_backends.postgres.turns import state_of
from uaix_backends.tabular.damage import stored_scope
from uaix_backends.tabular.migrations import check_whole, has_views
from uaix_backends.tabular.snapshots import TabularSnapshot
from uaix_backends.tabular.writing import rebuild_views, write
from uaix_core.schema.commits import Recorded
from uaix_core.store.advance import advance, drive, known
from uaix_core.store.port import Capability
from uaix_core.store.reading import check_due, check_limit
from uaix_core.values.errors import IntegrityError, StoreOpenError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from uaix_backends.postgres.layout import Layout
    from uaix_backends.postgres.turns import Sight
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

    @contextmanager
    def _over_tables(self, opened: AbstractContextManager[None]) -> Iterator[None]:
        """Work in the host's tables, which are looked at when they are first used.

        They are looked at anew once they weren't what they were: a transaction in
        which they were made may have been rolled back.
        """
        try:
            with opened:
                self._check_tables()
                yield
        except (IntegrityError, StoreOpenError):
            self._is_checked = False
            raise

    def _reading(self) -> AbstractContextManager[None]:
        return self._over_tables(self._host.reading())

    def _staged(self) -> AbstractContextManager[None]:
        return self._over_tables(self._host.staged())

    def _check_tables(self) -> None:
        """Refuse a database without the tables, or with those of another schema."""
        if self._is_checked:
            return
        standing = standing_of(self._host, self._layout, self._host.place)
        if standing is None:
            raise StoreOpenError(
                "the host's database has no tables of this library",
                code="store.missing",
                path=self._host.place,
                hint="run what PostgresStore.migrations() gives, with your own tool",
            )
        # Views that are added are empty.
        is_filled = not has_views(self.schema, standing.missing)
        then = "" if is_filled else ", and then rebuild() each scope"
        check_whole(standing, self._host.place, "PostgresStore.migrations()", then=then)
        self._is_checked = True

    def hold(self, scope: ScopeId) -> None:
        """See `uaix_core.store.port.Holding.hold`; raises as `append`."""
        self._owner.check()
        with self._staged():
            ScopeRows.locked(self._host, self._layout, scope, makes=False)

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
        with self._staged():
            rows = self._locked(scope)
            before = state_of(rows)
            if isinstance(commit, Recorded) and known(
                commit, rows.mark, rows.digest_at
            ):
                return commit
            steps = advance(self.schema, commit, rows.mark, rows.work)
            change = drive(steps, rows.answer)
            write(rows, change, self._host.end_stage)
            self._host.turn.staged(self._place(scope), before, state_of(rows))
        return change.recorded

    def _place(self, scope: ScopeId) -> tuple[str, str]:
        """The scope among those of all stores on the connection."""
        return self._layout.names.namespace, scope.text

    def _locked(self, scope: ScopeId) -> ScopeRows:
        return ScopeRows.locked(self._host, self._layout, scope)

    @contextmanager
    def snapshot(self, scope: ScopeId) -> Iterator[Snapshot]:
        """What the host's transaction shows of a scope; it moves with it.

        Reading raises `StaleSnapshotError` (``snapshot.moved``) rather than show what
        was there before another writer's commit together with what is there after it.
        """
        self._owner.check()
        sight = self._host.turn.sight(self._place(scope))
        see = partial(ScopeRows.seen, self._host, self._layout, scope)
        snapshot = _Moving(see, sight, self._reading)
        try:
            yield snapshot
        finally:
            snapshot.close()

    def _read(self, text: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        with self._reading():
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
        with self._staged():
            if ScopeRows.read(self._host, self._layout, scope).number is None:
                return 0
            return rebuild_views(self._locked(scope))

    def close(self) -> None:
        """Let go of the connection, which stays as it is; twice is allowed."""
        self._owner.is_closed = True


class _Moving(TabularSnapshot):
    """A snapshot whose every read shows the host's transaction as it is then.

    What a read gives was there at one moment, and what all reads give was there before
    any other writer's commit that came after the first: the state of the scope is
    asked for after each of them.
    """

    __slots__ = ("_reading", "_see", "_sight")

    def __init__(
        self,
        see: Callable[[], ScopeRows],
        sight: Sight,
        reading: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._see = see
        self._sight = sight
        self._reading = reading
        with reading():
            rows = see()
        sight.open(rows)
        super().__init__(rows, self._settled)

    def _live(self) -> ScopeRows:
        rows: ScopeRows = super()._live()
        # The scope may have been made meanwhile.
        return rows if rows.number is not None else self._now()

    def _now(self) -> ScopeRows:
        super()._live()
        with self._reading():
            return self._settle()

    def _settle(self) -> ScopeRows:
        rows = self._rows = self._see()
        self._sight.check(rows)
        return rows

    @contextmanager
    def _settled(self) -> Iterator[None]:
        """A read whose answer is of one state."""
        with self._reading():
            try:
                yield
            except IntegrityError:
                # What doesn't fit together may be of two.
                self._settle()
                raise
            self._settle()

    @property
    def position(self) -> int:
        """See `uaix_core.store.port.Snapshot.position`."""
        return self._now().mark.seq

    @property
    def head(self) -> str:
        """See `uaix_core.store.port.Snapshot.head`."""
        return self._now().mark.digest

    def commits(self, after: int = 0) -> Iterator[Recorded]:
        """See `uaix_core.store.port.Snapshot.commits`."""
        self._now()
        return super().commits(after)
