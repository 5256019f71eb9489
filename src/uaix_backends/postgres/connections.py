"""The connections of one store: lent for one transaction and given back."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeVar

import psycopg

from uaix_backends.postgres.driver import (
    close_quietly,
    connect,
    is_loss,
    is_refusal,
    run,
    translated,
)
from uaix_core.values.errors import ClosedError, OutcomeUnknownError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from uaix_backends.postgres.driver import Connection

#: Connections that wait, open, for the next transaction.
_IDLE: Final = 8

#: It asks for no READ WRITE: a standby would call that not supported, and who set the
#: server to only read meant it.
_WRITE: Final = "BEGIN ISOLATION LEVEL READ COMMITTED"
_READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

T = TypeVar("T")


class Connections:
    """Connections to one server, made when they are needed."""

    def __init__(self, dsn: str, place: str, busy_timeout_s: float) -> None:
        self.place = place
        self._dsn = dsn
        self._timeout_ms = max(1, round(busy_timeout_s * 1_000))
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        self.is_closed = False

    def ask(self, question: Callable[[Connection], T]) -> tuple[Connection, T]:
        """A connection with its answer to what it is asked first; `end` takes it back.

        One that waited may have been cut off meanwhile. Then all that wait were, and
        a new one is asked, once: ``question`` keeps nothing.

        Raises:
            StorageError: as `translated` says.

        """
        with self.reported():
            waiting = self._waiting()
            if waiting is not None:
                try:
                    return waiting, self._answer(waiting, question)
                except psycopg.Error as error:
                    if not is_loss(error):
                        raise
                self._drop_waiting()
            made = connect(self._dsn, self.place)
            return made, self._answer(made, question)

    def _answer(self, connection: Connection, question: Callable[[Connection], T]) -> T:
        try:
            return question(connection)
        except BaseException:
            self.end(connection)
            raise

    def _waiting(self) -> Connection | None:
        with self._lock:
            if self.is_closed:
                raise ClosedError("the store is closed")
            return self._idle.pop() if self._idle else None

    def _drop_waiting(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            close_quietly(connection)

    def give_back(self, connection: Connection) -> None:
        """Keep a connection for the next, when it is at rest; close it otherwise."""
        idle = psycopg.pq.TransactionStatus.IDLE
        with self._lock:
            is_kept = (
                not self.is_closed
                and len(self._idle) < _IDLE
                and not connection.closed
                and connection.info.transaction_status == idle
            )
            if is_kept:
                self._idle.append(connection)
        if connection.closed:
            # Whatever ended it may have ended those that wait.
            self._drop_waiting()
        if not is_kept:
            close_quietly(connection)

    @contextmanager
    def reported(self) -> Iterator[None]:
        """Turn the driver's errors into ours."""
        try:
            yield
        except psycopg.Error as error:
            raise translated(error, self.place) from error

    @contextmanager
    def writing(
        self, begin: Callable[[Connection], T]
    ) -> Iterator[tuple[Connection, T]]:
        """A connection for one transaction: all of the block is kept, or nothing.

        ``begin`` begins the transaction, `commit` ends it; what ``begin`` gives comes
        with the connection.

        Raises:
            StorageError: as `translated` says; nothing was kept.

        """
        connection, found = self.ask(begin)
        try:
            with self.reported():
                yield connection, found
        finally:
            self.end(connection)

    def begin(self, connection: Connection) -> None:
        """Begin a transaction at READ COMMITTED that doesn't wait for ever."""
        self._begin(connection, _WRITE)

    def begin_reading(self, connection: Connection) -> None:
        """Begin a transaction whose reads all show one moment."""
        self._begin(connection, _READ)

    def _begin(self, connection: Connection, text: str) -> None:
        run(connection, text)
        # The timeout is one of the transaction, not of the session.
        run(connection, f"SET LOCAL lock_timeout = {self._timeout_ms}")

    def commit(self, connection: Connection) -> None:
        """End the transaction; inside `committing`."""
        connection.execute("COMMIT")

    @contextmanager
    def committing(self) -> Iterator[None]:
        """Where a transaction may be ended: who is lost there, may have committed.

        Raises:
            OutcomeUnknownError: nobody can tell whether it was kept.

        """
        try:
            yield
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            if is_refusal(error):
                raise
            raise self.unknown() from error

    def unknown(self) -> OutcomeUnknownError:
        """The error when the server was lost while it made a commit durable."""
        return OutcomeUnknownError(
            "the server was lost while the commit was being made durable",
            path=self.place,
            hint="repeat it with the same idempotency key",
        )

    def _undo(self, connection: Connection) -> None:
        status = connection.info.transaction_status
        if connection.closed or status == psycopg.pq.TransactionStatus.IDLE:
            return
        try:
            connection.rollback()
        except psycopg.Error:
            close_quietly(connection)

    def end(self, connection: Connection) -> None:
        """End what transaction is open and give the connection back."""
        self._undo(connection)
        self.give_back(connection)

    def close(self) -> None:
        """Close what is at rest; lent connections close when they are given back."""
        with self._lock:
            self.is_closed = True
        self._drop_waiting()
