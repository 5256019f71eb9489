"""The driver: connections with our pragmas, and its errors as ours.

Only apsw touches a store's files. A second SQLite library in the same process, and
also a plain ``open`` and ``close`` of the file, would drop the locks of the first one.
"""

from __future__ import annotations

import errno
import os
import weakref
from typing import TYPE_CHECKING

import apsw

from uaix_core.values.errors import (
    BusyError,
    ClosedError,
    IntegrityError,
    StaleSnapshotError,
    StorageError,
)

if TYPE_CHECKING:
    from typing import Literal

    from uaix_core.values.errors import UaixError

    Synchronous = Literal["FULL", "NORMAL"]

#: Statements that stay prepared on a connection; a large schema has some hundreds.
_STATEMENTS = 1_000
#: Page cache of the writer and of each reader, in KiB.
_WRITER_CACHE = 32 * 1024
_READER_CACHE = 8 * 1024

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


_HINTS = {
    "storage.full": "make room; or, while no program has the store open, copy its file "
    "and what lies beside it to another disk, and use it there",
    "storage.cant-open": "a store writes beside its file, also to be read: let it, or "
    "copy its file and what lies beside it to where it may",
}


def translated(error: apsw.Error, path: str) -> UaixError:
    """The library's error for one of the driver's; its message holds no content."""
    if isinstance(error, apsw.ConnectionClosedError | apsw.CursorClosedError):
        return ClosedError("the store is closed")
    if getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE:
        # The file beside the store can't grow, not even for a reader.
        error = apsw.FullError()
    for kind, ours, code, message in _ERRORS:
        if isinstance(error, kind):
            return ours(message, code=code, path=path, hint=_HINTS.get(code))
    name = type(error).__name__
    return StorageError(f"SQLite reports {name}", code="storage.failed", path=path)


#: Result codes of the C library -> the same errors, for whichever Python library.
_RESULTS = {
    apsw.SQLITE_BUSY: apsw.BusyError,
    apsw.SQLITE_LOCKED: apsw.LockedError,
    apsw.SQLITE_FULL: apsw.FullError,
    apsw.SQLITE_IOERR: apsw.IOError,
    apsw.SQLITE_READONLY: apsw.ReadOnlyError,
    apsw.SQLITE_CANTOPEN: apsw.CantOpenError,
    apsw.SQLITE_PERM: apsw.PermissionsError,
    apsw.SQLITE_NOMEM: apsw.NoMemError,
    apsw.SQLITE_INTERRUPT: apsw.InterruptError,
    apsw.SQLITE_CORRUPT: apsw.CorruptError,
    apsw.SQLITE_NOTADB: apsw.NotADBError,
    apsw.SQLITE_FORMAT: apsw.FormatError,
    apsw.SQLITE_ERROR: apsw.SQLError,
    apsw.SQLITE_CONSTRAINT: apsw.ConstraintError,
    apsw.SQLITE_MISMATCH: apsw.MismatchError,
}


def translated_result(result: int, path: str) -> UaixError:
    """The library's error for an extended result code in a host's transaction."""
    if result == apsw.SQLITE_BUSY_SNAPSHOT:
        return StaleSnapshotError(
            "another writer was faster than the host's transaction",
            path=path,
            hint="roll back and repeat the whole transaction; begin it IMMEDIATE",
        )
    if result == apsw.SQLITE_IOERR_SHMSIZE:
        result = apsw.SQLITE_FULL
    kind = _RESULTS.get(result & 0xFF)
    if kind is not None:
        return translated(kind(), path)
    return StorageError(
        f"SQLite reports result {result}", code="storage.failed", path=path
    )


#: What it means that a file which was there can't be found any more.
_GONE = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ELOOP))
_DENIED = frozenset((errno.EACCES, errno.EPERM))


def file_error(error: OSError, path: str) -> StorageError:
    """The library's error when the file at the path of a store can't be looked at."""
    if error.errno in _GONE:
        return replaced(path)
    if error.errno in _DENIED:
        return StorageError(
            "the store's file can't be reached", code="storage.denied", path=path
        )
    return StorageError("looking at the file failed", code="storage.io", path=path)


def replaced(path: str) -> StorageError:
    """The error when another file lies at the path of an open store, or none."""
    return StorageError(
        "the store's file was moved or replaced",
        code="storage.replaced",
        path=path,
        hint="close the store and open it again",
    )


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
    try:
        _set_pragmas(connection, synchronous, busy_timeout_ms, reads_only=reads_only)
    except BaseException:
        close_quietly(connection)
        raise
    return connection


def _set_pragmas(
    connection: apsw.Connection,
    synchronous: Synchronous,
    busy_timeout_ms: int,
    *,
    reads_only: bool,
) -> None:
    connection.set_busy_timeout(busy_timeout_ms)
    cache = _READER_CACHE if reads_only else _WRITER_CACHE
    for pragma in (
        "trusted_schema=OFF",
        "cell_size_check=ON",
        "mmap_size=0",
        "secure_delete=ON",
        "temp_store=MEMORY",
        f"synchronous={synchronous}",
        f"cache_size=-{cache}",
        f"query_only={'ON' if reads_only else 'OFF'}",
    ):
        connection.execute(f"PRAGMA {pragma}")


def close_quietly(connection: apsw.Connection) -> None:
    """Close; what fails then has been reported or changes nothing."""
    try:
        connection.close()
    except apsw.Error:
        connection.close(True)  # noqa: FBT003 - the driver's `force`
