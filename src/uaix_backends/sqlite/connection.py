"""Connections: pragmas, the driver's errors as ours, the one writer, the readers.

Only apsw touches a store's files. A second SQLite library in the same process, and
also a plain ``open`` and ``close`` of the file, would drop the locks of the first one.
"""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw

from uaix_core.values.errors import (
    BusyError,
    ClosedError,
    IntegrityError,
    OutcomeUnknownError,
    StorageError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from uaix_core.values.errors import UaixError

    Synchronous = Literal["FULL", "NORMAL"]

#: Statements that stay prepared on a connection; a large schema has some hundreds.
_STATEMENTS = 1_000
#: Page cache of the writer and of each reader, in KiB.
_WRITER_CACHE = 32 * 1024
_READER_CACHE = 8 * 1024
#: Readers that wait, open, for the next snapshot.
_IDLE_READERS = 8

_ERRORS: tuple[tuple[type[apsw.Error], type[StorageError], str, str], ...] = (
    (apsw.BusyError, BusyError, "storage.busy", "another writer holds the store"),
    (apsw.LockedError, BusyError, "storage.busy", "another writer holds the store"),
    (apsw.FullError, StorageError, "storage.full", "the disk is full"),
    (apsw.IOError, StorageError, "storage.io", "reading or writing failed"),
    (apsw.ReadOnlyError, StorageError, "storage.readonly", "the store is read-only"),
    (apsw.CantOpenError, StorageError, "storage.cant-open", "a file can't be opened"),
    (apsw.PermissionsError, StorageError, "storage.denied", "access is denied"),
    (apsw.NoMemError, StorageError, "storage.memory", "not enough memory"),
    (apsw.InterruptError, StorageError, "storage.interrupted", "interrupted"),
    (apsw.CorruptError, IntegrityError, "storage.corrupt", "the file is damaged"),
    (apsw.NotADBError, IntegrityError, "storage.corrupt", "the file is damaged"),
    (apsw.FormatError, IntegrityError, "storage.corrupt", "the file is damaged"),
    (apsw.SQLError, IntegrityError, "storage.tables", "tables aren't as expected"),
    (apsw.ConstraintError, IntegrityError, "storage.rows", "rows contradict"),
    (apsw.MismatchError, IntegrityError, "storage.rows", "rows contradict"),
)


def translated(error: apsw.Error, path: str) -> UaixError:
    """The library's error for one of the driver's; its message holds no content."""
    if isinstance(error, apsw.ConnectionClosedError | apsw.CursorClosedError):
        return ClosedError("the store is closed")
    for kind, ours, code, message in _ERRORS:
        if isinstance(error, kind):
            return ours(message, code=code, path=path)
    name = type(error).__name__
    return StorageError(f"SQLite reports {name}", code="storage.failed", path=path)


_living: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()


def _abandon() -> None:
    """In a forked child: never close what the parent has open.

    Closing would write checkpoints and wait for mutexes that threads of the parent
    held. One reference too many keeps the driver from doing so, even at exit.
    """
    if _living:
        import ctypes  # noqa: PLC0415 - only in a child that inherits a store

        for connection in list(_living):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon)


def connect(
    path: str, *, synchronous: Synchronous, busy_timeout_ms: int, reads_only: bool
) -> apsw.Connection:
    """Open an existing file with the pragmas that every connection has."""
    connection = apsw.Connection(
        path, flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=_STATEMENTS
    )
    _living.add(connection)
    connection.set_busy_timeout(busy_timeout_ms)
    cache = _READER_CACHE if reads_only else _WRITER_CACHE
    for pragma in (
        "trusted_schema=OFF",
        "cell_size_check=ON",
        "mmap_size=0",
        "secure_delete=ON",
        f"synchronous={synchronous}",
        f"cache_size=-{cache}",
        f"query_only={'ON' if reads_only else 'OFF'}",
    ):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def close_quietly(connection: apsw.Connection) -> None:
    """Close; what fails then has been reported or changes nothing."""
    try:
        connection.close()
    except apsw.Error:
        connection.close(True)  # noqa: FBT003 - the driver's `force`


class Connections:
    """The connections of one store: one that writes, and readers at rest."""

    def __init__(
        self, path: str, synchronous: Synchronous, busy_timeout_s: float
    ) -> None:
        self.path = path
        self._synchronous: Synchronous = synchronous
        self.busy_timeout_ms = round(busy_timeout_s * 1000)
        found = os.stat(path)  # noqa: PTH116 - as below
        self._file = (found.st_dev, found.st_ino)
        self._lock = threading.Lock()
        self._writer: apsw.Connection | None = None
        self._idle: list[apsw.Connection] = []
        self.is_closed = False

    def check_file(self) -> None:
        """Refuse to go on when another file lies at the path (``storage.replaced``)."""
        try:
            # A path object would take three times as long, before every commit.
            found = os.stat(self.path)  # noqa: PTH116
        except FileNotFoundError:
            found = None
        if found is None or (found.st_dev, found.st_ino) != self._file:
            raise StorageError(
                "the store's file was moved or replaced",
                code="storage.replaced",
                path=self.path,
                hint="close the store and open it again",
            )

    def connect(self, *, reads_only: bool) -> apsw.Connection:
        """One more connection, which is the caller's to close."""
        self.check_file()
        return connect(
            self.path,
            synchronous=self._synchronous,
            busy_timeout_ms=self.busy_timeout_ms,
            reads_only=reads_only,
        )

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """The writer inside a transaction: all of the block is kept, or nothing.

        Raises:
            BusyError: another process held the store for longer than the timeout.
            OutcomeUnknownError: making it durable failed.
            StorageError: the medium failed before; nothing was written.

        """
        with self.writer() as connection:
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
        if not self._lock.acquire(blocking=wait):
            raise BusyError("another thread writes", path=self.path)
        try:
            try:
                self.check_file()
                # An interrupt may have come between a failure and its undoing.
                self._undo()
                writer = self._writer
                if writer is None:
                    writer = self._writer = self.connect(reads_only=False)
                yield writer
            except apsw.Error as error:
                raise translated(error, self.path) from error
        finally:
            self._lock.release()

    def _commit(self, connection: apsw.Connection) -> None:
        try:
            connection.execute("COMMIT")
        except apsw.Error as error:
            self._drop_writer()
            raise OutcomeUnknownError(
                "the medium failed while the commit was being made durable",
                path=self.path,
                hint="repeat it with the same idempotency key",
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
        if self.is_closed or len(self._idle) >= _IDLE_READERS:
            close_quietly(reader)
        else:
            self._idle.append(reader)

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
            close_quietly(writer)
