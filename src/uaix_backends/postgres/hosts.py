"""Statements in a host's transaction, on its own connection, of which nothing leaks in.

A host may have its own row factories, loaders and dumpers on its connection. They are
passed by, and nothing of it is changed.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final

import psycopg
from psycopg.pq import Format, PipelineStatus, TransactionStatus
from psycopg.rows import tuple_row

from uaix_backends.hosting import closed, refused, unwrapped
from uaix_backends.postgres.driver import PLAIN, close_quietly, translated
from uaix_backends.postgres.fitness import (
    ENDED,
    at_rest,
    begins,
    check_fit,
    failed,
    lost,
    timed_out,
    unusable,
)
from uaix_backends.postgres.statements import Statements
from uaix_backends.postgres.turns import turn_of
from uaix_core.values.errors import HostTransactionLostError, StaleSnapshotError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from psycopg.adapt import AdaptersMap

    from uaix_backends.postgres.driver import Connection

_SAVEPOINT: Final = "uaix_stage"
#: States of a connection without a transaction.
_NONE_OPEN: Final = (TransactionStatus.IDLE, TransactionStatus.UNKNOWN)


class _PlainCursor(psycopg.Cursor[tuple[Any, ...]]):
    """A cursor that knows nothing of the host's factories, loaders and dumpers."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, row_factory=tuple_row)
        self.format = Format.BINARY

    @property
    def adapters(self) -> AdaptersMap:
        """The driver's own, instead of the connection's."""
        return PLAIN


class _Stage:
    """The ends of a stage: what was sent for them, once it was."""

    __slots__ = ("begin", "end")

    def __init__(self) -> None:
        self.begin: _PlainCursor | None = None
        self.end: _PlainCursor | None = None

    @property
    def is_open(self) -> bool:
        """Whether the server has set the savepoint and not released it."""
        return _is_done(self.begin) and not _is_done(self.end)


def _is_done(cursor: _PlainCursor | None) -> bool:
    return cursor is not None and cursor.statusmessage is not None


class HostStatements(Statements):
    """Statements in a transaction of a host's connection.

    Raises:
        CallerError: ``host.connection`` when it is no connection of psycopg,
            ``host.closed``, ``host.thread``, ``host.encoding``, ``host.pipeline``,
            ``host.active``.

    """

    def __init__(self, lent: Any) -> None:
        self._joined = unwrapped(lent)
        raw = self._joined.connection
        if not isinstance(raw, psycopg.Connection):
            raise refused(lent)
        super().__init__(raw)
        #: Shared with all that joined this connection.
        self.turn = turn_of(raw)
        self._stage: _Stage | None = None
        with self.turn.taken():
            if raw.closed:
                raise closed()
            info = raw.info
            self.place = f"postgresql://{info.host}:{info.port}/{info.dbname}"
            self._check()

    def cursor(self) -> _PlainCursor:
        """A cursor that knows nothing of the host's factories, loaders and dumpers."""
        return _PlainCursor(self.connection)

    def execute(
        self, text: str, values: Sequence[Any] = ()
    ) -> psycopg.Cursor[tuple[Any, ...]]:
        """Run a statement, which doesn't stay prepared.

        Raises:
            HostTransactionLostError: the transaction in which it belongs is gone.

        """
        self._begin_stage()
        return self.cursor().execute(text.encode(), values or None, prepare=False)

    def executemany(self, text: str, values: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each of many values; raises as `execute`."""
        self._begin_stage()
        # The driver's own would prepare it.
        cursor, statement = self.cursor(), text.encode()
        for bound in values:
            cursor.execute(statement, bound, prepare=False)

    def _begin_stage(self) -> None:
        """Set the savepoint of a stage, together with its first statement."""
        stage = self._stage
        if stage is None:
            return
        if stage.begin is None:
            # It is noted before it is sent, since an interrupt may come in between.
            stage.begin = self.cursor()
            stage.begin.execute(f"SAVEPOINT {_SAVEPOINT}".encode(), prepare=False)
        elif self._status in _NONE_OPEN:
            raise lost(self.place)

    def end_stage(self) -> None:
        """Release the savepoint: where statements go in batches, with the last of them.

        Raises:
            HostTransactionLostError: as `execute`.

        """
        stage = self._stage
        if stage is not None and stage.end is None:
            self._begin_stage()
            stage.end = self.cursor()
            stage.end.execute(f"RELEASE SAVEPOINT {_SAVEPOINT}".encode(), prepare=False)

    def batch(self) -> AbstractContextManager[None]:
        """Send all statements of a block in one round trip, inside a stage.

        The host's connection is in a pipeline for as long as the block, and no longer.
        """
        return self._piped() if self._stage is not None else nullcontext()

    @contextmanager
    def _piped(self) -> Iterator[None]:
        try:
            with super()._piped():
                yield
        finally:
            if self.connection.pgconn.pipeline_status != PipelineStatus.OFF:
                # An interrupt came while it was left, and what the host would read
                # next are answers to us.
                close_quietly(self.connection)

    @property
    def _status(self) -> TransactionStatus:
        return self.connection.info.transaction_status

    def _is_open(self) -> bool:
        if self._joined.lender is None:
            return self._status == TransactionStatus.INTRANS
        # Its lender sends nothing when it begins one: the first statement does.
        return self._joined.says_open() and (
            begins(self.connection) or self._status == TransactionStatus.INTRANS
        )

    def _check(self) -> None:
        """Refuse a connection that is of no use now, or changes what is stored.

        Raises:
            CallerError: ``host.closed``, ``host.connection``, ``host.encoding``,
                ``host.pipeline``, ``host.active``.

        """
        self._joined.check()
        if self.connection.closed:
            raise closed()
        check_fit(self.connection, self.place)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read in the host's transaction, or by autocommit; nothing is begun.

        Raises:
            CallerError: ``host.thread``, and what else is wrong with the connection.
            NoTransactionError: a read would begin a transaction, or the one that is
                open has failed.
            StorageError: as `reported`.

        """
        with self.turn.taken():
            self._check()
            if self._status == TransactionStatus.INERROR:
                raise failed(self.place)
            is_begun = self._joined.lender is not None and self._joined.says_open()
            if begins(self.connection) and not is_begun:
                raise at_rest(self.place)
            with self.reported():
                yield

    @contextmanager
    def reported(self) -> Iterator[None]:
        """Turn the driver's errors into ours."""
        try:
            yield
        except psycopg.errors.SerializationFailure as error:
            raise StaleSnapshotError(
                "another writer was faster than the host's transaction",
                path=self.place,
                hint="roll back and repeat the whole transaction",
            ) from error
        except psycopg.errors.InFailedSqlTransaction as error:
            raise failed(self.place) from error
        except psycopg.Error as error:
            if error.sqlstate in ENDED:
                raise timed_out(self.place) from error
            raise translated(error, self.place) from error

    @contextmanager
    def staged(self) -> Iterator[None]:
        """A savepoint in the host's transaction: all of the block stays, or nothing.

        Raises:
            NoTransactionError: the host has none open; nothing was done.
            HostTransactionLostError: it ended before the block did.
            StaleSnapshotError: it has to be repeated as a whole.
            StorageError: as the server reports; the transaction is as it was.
            CallerError: as `reading`.

        """
        with self.turn.taken():
            self._check()
            if not self._is_open():
                raise unusable(self.connection, self.place)
            with self._saved():
                yield

    @contextmanager
    def _saved(self) -> Iterator[None]:
        with self.reported():
            stage = self._stage = _Stage()
            try:
                yield
                self.end_stage()
            except HostTransactionLostError:
                raise
            except BaseException as error:
                self._undo(stage, error)
                raise
            finally:
                self._stage = None

    def _undo(self, stage: _Stage, error: BaseException) -> None:
        """Bring the host's transaction back to where it was before the stage."""
        status = self._status
        is_gone = stage.is_open and status == TransactionStatus.IDLE
        if is_gone or status == TransactionStatus.UNKNOWN:
            # What is executed outside of it would be kept at once.
            raise lost(self.place) from error
        if not stage.is_open:
            return
        try:
            for verb in ("ROLLBACK TO", "RELEASE"):
                text = f"{verb} SAVEPOINT {_SAVEPOINT}"
                self.cursor().execute(text.encode(), prepare=False)
        except psycopg.errors.InvalidSavepointSpecification:
            # It went with its transaction, and the one that is open has failed.
            raise lost(self.place) from error
