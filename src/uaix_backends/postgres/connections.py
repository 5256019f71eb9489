"""The connections of one store: lent for one transaction and given back."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg

from uaix_backends.postgres.driver import (
    close_quietly,
    connect,
    is_refusal,
    translated,
)
from uaix_core.values.errors import ClosedError, OutcomeUnknownError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_backends.postgres.driver import Connection

#: Connections that wait, open, for the next transaction.
_IDLE = 8

_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class Connections:
    """Connections to one server, made when they are needed."""

    def __init__(self, dsn: str, place: str, busy_timeout_s: float) -> None:
        self.place = place
        self._dsn = dsn
        self._timeout_ms = max(1, round(busy_timeout_s * 1_000))
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        self.is_closed = False

    def lend(self) -> Connection:
        """A connection at rest, to be given back."""
        with self._lock:
            if self.is_closed:
                raise ClosedError("the store is closed")
            if self._idle:
                return self._idle.pop()
        return connect(self._dsn, self.place)

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
    def writing(self) -> Iterator[Connection]:
        """A connection for one transaction: all of the block is kept, or nothing.

        The transaction has yet to be begun, by `begin`, and is ended by `commit`.

        Raises:
            StorageError: as `translated` says; nothing was kept.

        """
        connection = self.lend()
        try:
            with self.reported():
                yield connection
        finally:
            self._undo(connection)
            self.give_back(connection)

    def begin(self, connection: Connection) -> None:
        """Begin a transaction at READ COMMITTED that doesn't wait for ever.

        The timeout is one of the transaction, not of the session.
        """
        connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
        connection.execute(f"SET LOCAL lock_timeout = {self._timeout_ms}")

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

    def snapshot(self) -> Connection:
        """A connection inside a transaction whose reads all show one moment."""
        connection = self.lend()
        try:
            connection.execute(_SNAPSHOT)
        except BaseException as error:
            self.end(connection)
            if isinstance(error, psycopg.Error):
                raise translated(error, self.place) from error
            raise
        return connection

    def end(self, connection: Connection) -> None:
        """End a snapshot's transaction and give the connection back."""
        self._undo(connection)
        self.give_back(connection)

    def close(self) -> None:
        """Close what is at rest; lent connections close when they are given back."""
        with self._lock:
            self.is_closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            close_quietly(connection)
