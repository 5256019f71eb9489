"""A store inside a transaction that the host owns: everything is only staged there."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from uaix_backends.ownership import Ownership
from uaix_backends.sqlite.damage import all_of
from uaix_backends.sqlite.erasing import note_erasure
from uaix_backends.sqlite.migrating import check_seen, check_standing, standing_of_host
from uaix_backends.sqlite.reading import ScopeRows, most_variables
from uaix_backends.tabular.damage import stored_scope
from uaix_backends.tabular.migrations import check_whole
from uaix_backends.tabular.snapshots import TabularSnapshot
from uaix_backends.tabular.writing import rebuild_views, write
from uaix_core.schema.commits import Recorded
from uaix_core.store.advance import advance, drive, known
from uaix_core.store.port import Capability
from uaix_core.store.reading import check_due, check_limit
from uaix_core.values.errors import (
    IntegrityError,
    StaleSnapshotError,
    StoreOpenError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from uaix_backends.sqlite.layout import Layout
    from uaix_backends.sqlite.staging import Host
    from uaix_core.schema.commits import Commit
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot
    from uaix_core.values.ids import ScopeId

#: Writes nothing, but takes the write lock before anything is read, so that what is
#: read then is what the last writer left.
_LOCK = "UPDATE uaix_scope SET work = work WHERE scope = ?"
_SCOPES = (
    "SELECT +scope FROM uaix_scope WHERE scope > ? AND seq > 0 ORDER BY scope LIMIT ?"
)


class JoinedSqliteStore:
    """The port over the tables in a host's database; `SqliteStore.join` makes it.

    It belongs to the thread that the host's connection belongs to. What is appended
    is durable once the host commits, and gone when it rolls back.
    """

    #: Not DURABLE: what is appended is only staged.
    capabilities: frozenset[Capability] = frozenset(
        {Capability.SHARED, Capability.JOINS}
    )

    def __init__(self, host: Host, layout: Layout) -> None:
        self.schema = layout.schema
        self._layout = layout
        self._host = host
        self._owner = Ownership()
        host.claim()
        host.needs(most_variables(layout))
        host.check()
        self._check_tables()

    def _check_tables(self) -> None:
        """Refuse a database without the tables, or with those of another schema."""
        with self._host.reported():
            standing = standing_of_host(self._host, self._layout, self._host.place)
        if standing is None:
            raise StoreOpenError(
                "the host's database has no tables of this library",
                code="store.missing",
                path=self._host.place,
                hint="run what SqliteStore.migrations() gives, with your own tool, on "
                "the main database, since an attached one doesn't commit together",
            )
        check_whole(standing, self._host.place, "SqliteStore.migrations()")

    def hold(self, scope: ScopeId) -> None:
        """See `uaix_core.store.port.Holding.hold`; raises as `append`."""
        self._owner.check()
        with self._host.staged():
            self._host.touch(_LOCK, (scope.text,))

    @contextmanager
    def _staged(self, scope: ScopeId) -> Iterator[None]:
        """What writes to a scope: as the last writer left it, in tables that fit."""
        with self._host.staged():
            self._host.touch(_LOCK, (scope.text,))
            check_seen(self._host, self._host.place)
            check_standing(self._host, self._layout, self._host.place)
            yield

    def append(self, commit: Commit | Recorded) -> Recorded:
        """Stage a commit in the host's transaction, all of it or nothing.

        Raises:
            NoTransactionError: the host has no transaction open.
            StaleSnapshotError: the transaction reads an older state than the last
                writer left; the host rolls back and repeats all of it.
            HostTransactionLostError: the transaction ended meanwhile.
            CallerError: ``host.*``: the connection is of no use any more.

        And as `uaix_core.store.port.Store.append`; the transaction is then as it was.
        """
        self._owner.check()
        scope = commit.commit.scope if isinstance(commit, Recorded) else commit.scope
        with self._staged(scope):
            rows = ScopeRows(self._host, self._layout, scope)
            if isinstance(commit, Recorded) and known(
                commit, rows.mark, rows.digest_at
            ):
                return commit
            steps = advance(self.schema, commit, rows.mark, rows.work)
            change = drive(steps, rows.answer)
            rows.make()
            write(rows, change)
            if change.erased and self._host.is_store:
                note_erasure(self._host)
        return change.recorded

    @contextmanager
    def snapshot(self, scope: ScopeId) -> Iterator[Snapshot]:
        """What the host's transaction shows of a scope; it moves with it.

        Reading raises `StaleSnapshotError` (``snapshot.moved``) rather than show what
        was there before another writer's commit together with what is there after it.
        """
        self._owner.check()
        snapshot = _Moving(self._host, self._layout, scope)
        try:
            yield snapshot
        finally:
            snapshot.close()

    def _read(self, text: str, values: tuple[object, ...], what: str) -> list[Any]:
        self._owner.check()
        self._host.check()
        with self._host.reported():
            return all_of(self._host.execute(text, values), what)

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
        """See `uaix_core.store.port.Store.rebuild`; staged like a commit."""
        self._owner.check()
        with self._staged(scope):
            return rebuild_views(ScopeRows(self._host, self._layout, scope))

    def close(self) -> None:
        """Let go of the connection, which stays as it is; twice is allowed."""
        self._owner.is_closed = True


class _Moving(TabularSnapshot):
    """A snapshot whose every read shows the host's transaction as it is then.

    Outside of a transaction every statement shows another moment, so after each read
    the state of the scope is asked for again.
    """

    __slots__ = ("_host", "_layout", "_others", "_scope")

    def __init__(self, host: Host, layout: Layout, scope: ScopeId) -> None:
        self._host = host
        self._layout = layout
        self._scope = scope
        host.check()
        with host.reported():
            self._others = host.commits_of_others()
        super().__init__(self._now(), self._settled)

    def _now(self) -> ScopeRows:
        self._host.check()
        with self._host.reported():
            return ScopeRows(self._host, self._layout, self._scope)

    def _live(self) -> ScopeRows:
        super()._live()
        return self._settle()

    def _settle(self) -> ScopeRows:
        """The scope as it is now, unless another writer has changed it."""
        rows = self._now()
        if state_of(rows) != state_of(self._rows):
            with self._host.reported():
                others = self._host.commits_of_others()
            if others != self._others:
                raise StaleSnapshotError(
                    "another writer's commit came between the reads",
                    code="snapshot.moved",
                    path=self._scope.text,
                    hint="read again, or read in a transaction that sees one moment",
                )
        self._rows = rows
        return rows

    @contextmanager
    def _settled(self) -> Iterator[None]:
        """A read whose answer is of one state."""
        with self._host.reported():
            try:
                yield
            except IntegrityError:
                # What doesn't fit together may be of two.
                self._settle()
                raise
            if not self._host.in_transaction:
                self._settle()


def state_of(rows: ScopeRows) -> tuple[object, ...]:
    """What changes with every change of a scope."""
    return (rows.work, rows.mark)
