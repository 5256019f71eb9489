"""The connections of one store: one that writes, and readers at rest."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

import apsw

from uaix_backends.sqlite.driver import (
    close_quietly,
    connect,
    file_error,
    replaced,
    translated,
)
from uaix_backends.sqlite.libraries import Claim, Use, claim
from uaix_backends.sqlite.lives import is_living
from uaix_backends.sqlite.versions import turnstile
from uaix_core.values.errors import (
    BusyError,
    ClosedError,
    OutcomeUnknownError,
    StorageError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from uaix_backends.sqlite.driver import Synchronous

#: Readers that wait, open, for the next snapshot.
_IDLE_READERS = 8


def _identity(path: str) -> tuple[int, int]:
    """Device and inode of the file at a path."""
    try:
        # A path object would take three times as long, before every commit.
        found = os.stat(path)  # noqa: PTH116
    except OSError as error:
        raise file_error(error, path) from error
    return found.st_dev, found.st_ino


class Connections:
    """The connections of one store: one that writes, and readers at rest."""

    def __init__(
        self, path: str, synchronous: Synchronous, busy_timeout_s: float
    ) -> None:
        self.path = path
        self._synchronous: Synchronous = synchronous
        self.busy_timeout_ms = round(busy_timeout_s * 1000)
        self._file = _identity(path)
        self._turnstile = turnstile(path, busy_timeout_s)
        self._claim = Claim(path, "apsw")
        self._lock = threading.Lock()
        self._writer: apsw.Connection | None = None
        self._idle: list[apsw.Connection] = []
        self.is_closed = False

    def check_file(self) -> None:
        """Refuse to go on when the file at the path is not the one that was opened.

        Raises:
            StorageError: ``storage.replaced``; ``storage.denied`` and ``storage.io``
                when nobody can tell.

        """
        if _identity(self.path) != self._file:
            raise replaced(self.path)

    def connect(self, *, reads_only: bool) -> apsw.Connection:
        """One more connection, which is the caller's to close."""
        self.check_file()
        connection = connect(
            self.path,
            synchronous=self._synchronous,
            busy_timeout_ms=self.busy_timeout_ms,
            reads_only=reads_only,
        )
        # A reader that is lent may outlast the store.
        claim(connection, self.path, Use("apsw", is_living(connection)))
        if self._turnstile and reads_only:
            # A reader passes no turnstile, so it must not move the log when it closes.
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        return connection

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """The writer inside a transaction: all of the block is kept, or nothing.

        Raises:
            BusyError: another process held the store for longer than the timeout.
            OutcomeUnknownError: making it durable failed.
            StorageError: the medium failed before; nothing was written.

        """
        with self.writer() as connection:
            if self.is_closed:
                raise ClosedError("the store is closed")
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                self._commit(connection)
            finally:
                self._undo()

    @contextmanager
    def writer(self, *, wait: bool = True) -> Iterator[apsw.Connection]:
        """The writer outside a transaction, for this thread alone.

        Raises:
            BusyError: another thread writes, and the caller doesn't wait.
            StorageError: as `translated` says.

        """
        if not wait and self._lock.locked():
            raise BusyError("another thread writes", path=self.path)
        try:
            with self._lock, self._alone(), self._giving_up():
                self.check_file()
                # An interrupt may have come between a failure and its undoing.
                self._undo()
                writer = self._writer
                if writer is None:
                    writer = self._writer = self.connect(reads_only=False)
                yield writer
        except apsw.Error as error:
            raise translated(error, self.path) from error

    def _alone(self) -> AbstractContextManager[None]:
        """Where SQLite needs it, keep other processes from writing meanwhile."""
        return self._turnstile.passed() if self._turnstile else nullcontext()

    @contextmanager
    def _giving_up(self) -> Iterator[None]:
        """Drop the writer when the medium failed: no handle is synced again then."""
        try:
            yield
        except apsw.IOError:
            self._drop_writer()
            raise

    def _commit(self, connection: apsw.Connection) -> None:
        try:
            connection.execute("COMMIT")
        except apsw.Error as error:
            self._drop_writer()
            is_full = isinstance(error, apsw.FullError)
            raise OutcomeUnknownError(
                f"the {'disk was full' if is_full else 'medium failed'} while the "
                "commit was being made durable",
                path=self.path,
                hint=f"{'make room, then ' if is_full else ''}repeat it with the same "
                "idempotency key; a copy goes on where it stood",
            ) from error

    def _undo(self) -> None:
        connection = self._writer
        if connection is None or not connection.in_transaction:
            return
        try:
            connection.execute("ROLLBACK")
        except apsw.Error:
            self._drop_writer()

    def _drop_writer(self) -> None:
        """Close a writer that failed, without writing any more through it."""
        connection, self._writer = self._writer, None
        if connection is not None:
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            close_quietly(connection)

    def lend(self) -> apsw.Connection:
        """A reader, to be given back."""
        if self.is_closed:
            raise ClosedError("the store is closed")
        try:
            reader = self._idle.pop()
        except IndexError:
            try:
                reader = self.connect(reads_only=True)
            except apsw.Error as error:
                raise translated(error, self.path) from error
        return reader

    def give_back(self, reader: apsw.Connection) -> None:
        """End the reader's transaction and keep it for the next."""
        try:
            if reader.in_transaction:
                reader.execute("COMMIT")
        except apsw.Error:
            close_quietly(reader)
            return
        self._idle.append(reader)
        if self.is_closed or len(self._idle) > _IDLE_READERS:
            with suppress(IndexError):
                close_quietly(self._idle.pop())

    def close(self) -> None:
        """Close what is at rest; lent readers close when they are given back."""
        with self._lock:
            self.is_closed = True
            writer, self._writer = self._writer, None
            idle, self._idle = self._idle, []
        # The writer goes last: closing the last connection tidies the log.
        for connection in idle:
            close_quietly(connection)
        if writer is not None:
            self._close_writer(writer)
        self._claim.release()

    def _close_writer(self, writer: apsw.Connection) -> None:
        try:
            with self._alone():
                close_quietly(writer)
        except StorageError:
            # Somebody else is busy, and will move the log.
            writer.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            close_quietly(writer)
