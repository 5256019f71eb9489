"""Opening a store: what lies at the path, and making a new one.

A file is looked at before it is touched: a read-only look that takes no lock and
makes no file beside it. It finds every store, because a new one is written whole, with
its marks, before the write-ahead log is switched on.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from uaix_backends.sqlite.driver import close_quietly, file_error, translated
from uaix_backends.sqlite.layout import APPLICATION_NUMBER, FORMAT
from uaix_backends.sqlite.migrating import (
    look,
    make_tables,
    migrate,
)
from uaix_core.values.errors import BusyError, IntegrityError, StoreOpenError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uaix_backends.sqlite.connections import Connections
    from uaix_backends.sqlite.layout import Layout

#: In the file's header (SQLite file format, section 1.3).
APPLICATION_ID = APPLICATION_NUMBER.to_bytes(4, "big")
#: What SQLite appends to a file's name while a new store is made; no ending that it
#: uses is longer.
JOURNAL = "-journal"
#: And to the names of what holds commits, or what a commit had begun to overwrite.
_LOGS = ("-wal", JOURNAL)
_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_USER_VERSION = slice(60, 64)
_APPLICATION_ID = slice(68, 72)
#: Files up to this size are checked page by page; larger ones would open slowly.
_CHECKED_BYTES = 4 * 2**20

#: What it means that no file can be made in a folder, and that there is no room.
_NO_FOLDER = frozenset(
    (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.EROFS, errno.ELOOP)
)
_FULL = frozenset((errno.ENOSPC, errno.EDQUOT))


def find_file(path: str, *, create: bool) -> None:
    """Look at what lies at the path; make an empty file when asked and nothing does.

    Raises:
        StoreOpenError: ``store.missing``, ``store.not-a-store``, ``store.format``,
            ``store.folder``, ``store.orphan-log``.
        StorageError: the file can't be reached.

    """
    place = Path(path)
    try:
        found = place.stat()
    except (FileNotFoundError, NotADirectoryError):
        if create:
            _check_orphans(place, _LOGS)
        _make_file(place, create=create)
        return
    except OSError as error:
        raise file_error(error, path) from error
    if not stat.S_ISREG(found.st_mode):
        raise _not_a_store(path)
    if create and Path(path + JOURNAL).exists():
        _recover(path)
        found = place.stat()
    if found.st_size == 0 and create:
        _check_orphans(place, _LOGS[:1])
        return
    header = _header(path)
    if not header.startswith(_MAGIC) or header[_APPLICATION_ID] != APPLICATION_ID:
        raise _not_a_store(path)
    form = int.from_bytes(header[_USER_VERSION], "big")
    if form != FORMAT:
        raise StoreOpenError(
            "a store of another format version",
            code="store.format",
            path=path,
            hint=f"this version reads format {FORMAT}; the store has {form}",
        )


def _header(path: str) -> bytes:
    """The first bytes of a file, read through SQLite's own file layer.

    Python's would let go of the locks that this process has on the file, and a
    connection would find the pages in disorder that somebody is writing just now.
    """
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB
    try:
        file = apsw.VFSFile("", path, [flags, 0])
        try:
            return file.xRead(_HEADER_BYTES, 0)
        finally:
            file.xClose()
    except apsw.Error as error:
        raise translated(error, path) from error


def _check_orphans(place: Path, endings: Sequence[str]) -> None:
    """Refuse a place beside which the log of another store was left.

    SQLite would delete it; and it may hold that store's last commits.
    """
    for ending in endings:
        log = place.with_name(place.name + ending)
        with contextlib.suppress(OSError):
            # Once more at the end: somebody else may be making the store just now.
            if log.stat().st_size and not (place.exists() and place.stat().st_size):
                raise StoreOpenError(
                    "the log of another store lies there without its file",
                    code="store.orphan-log",
                    path=str(log),
                    hint="it may hold commits: move it to where its file is, under "
                    "that name, or take another place",
                )


def _recover(path: str) -> None:
    """Take back what a maker had begun to write when it was stopped."""
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    with contextlib.suppress(apsw.Error):
        connection.execute("SELECT 1 FROM sqlite_schema")
    close_quietly(connection)


def _make_file(place: Path, *, create: bool) -> None:
    if not create:
        raise StoreOpenError(
            "there is no store",
            code="store.missing",
            path=str(place),
            hint="check the path, or pass create=True for a new store",
        )
    try:
        with contextlib.suppress(FileExistsError):
            made = os.open(place, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            # The umask has cut the mode. SQLite gives the mode of this file to those
            # that it makes beside it.
            if hasattr(os, "fchmod"):
                os.fchmod(made, 0o600)
            os.close(made)
        _sync_folder(place.parent)
    except OSError as error:
        if error.errno in _FULL:
            raise translated(apsw.FullError(), str(place)) from error
        if error.errno not in _NO_FOLDER:
            raise translated(apsw.CantOpenError(), str(place)) from error
        raise StoreOpenError(
            "the file of a new store can't be made",
            code="store.folder",
            path=str(place),
            hint="the folder must exist and be writable",
        ) from error


def _sync_folder(folder: Path) -> None:
    """Make the new name as durable as what will be written under it."""
    if os.name != "posix":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _not_a_store(path: str) -> StoreOpenError:
    return StoreOpenError(
        "what lies there is not a store",
        code="store.not-a-store",
        path=path,
        hint="name the file of a store, or a path where nothing lies yet",
    )


def prepare(
    connections: Connections, layout: Layout, *, create: bool, check: bool
) -> None:
    """Bring a file that `find_file` let pass to where commits can begin.

    With ``check`` the pages of a small file are looked at.
    """
    with connections.writer() as connection:
        is_made = connection.pragma("application_id") == APPLICATION_NUMBER
    if not is_made:
        if not create:
            raise _not_a_store(connections.path)
        make_tables(connections, layout)
    _use_log(connections)
    with connections.writer() as connection:
        standing = look(connection, layout, connections.path)
        if check:
            check_pages(connection, connections.path)
    if standing.missing:
        migrate(connections, layout)


def _use_log(connections: Connections) -> None:
    """Switch the write-ahead log on; only a new file doesn't have it yet."""
    deadline = time.monotonic() + connections.busy_timeout_ms / 1000
    while True:
        try:
            with connections.writer() as connection:
                mode = connection.pragma("journal_mode", "wal")
            break
        except BusyError:
            # Another process looks at the new file too; this switch never waits.
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    if mode != "wal":
        raise StoreOpenError(
            "this file system can't hold a write-ahead log",
            code="store.no-log",
            path=connections.path,
            hint="keep the store on a local disk",
        )


def check_pages(connection: apsw.Connection, path: str) -> None:
    """Refuse a small file with a damaged page before anything is read of it.

    Raises:
        IntegrityError: ``storage.corrupt``.

    """
    size = connection.pragma("page_count") * connection.pragma("page_size")
    if size <= _CHECKED_BYTES and connection.pragma("quick_check", 1) != "ok":
        raise IntegrityError(
            "the file is damaged",
            code="storage.corrupt",
            path=path,
            hint="uaix verify says what is damaged, uaix store copy saves the rest",
        )
