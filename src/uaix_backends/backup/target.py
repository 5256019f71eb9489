"""Where a backup may go: never over or into a store, and over nothing but a backup."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

import apsw

from uaix_backends.backup.form import END_BYTES, read_end
from uaix_backends.backup.store import BackupStore
from uaix_backends.naming import named_package
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from uaix_core.store.port import Store

#: The file that makes a folder a directory store.
_MARKER: Final = "uaix-store.json"
#: What SQLite appends to a file's name for those that stand beside it in use.
_BESIDE: Final = ("-wal", "-shm", "-journal")


def check_target(
    store: Store, path: str | os.PathLike[str], *, overwrite: bool
) -> None:
    """Refuse a place where a backup of this store would do harm.

    Raises:
        CallerError: ``files.target`` inside a directory store, beside a file under a
            name that SQLite would use, for the backup that is read itself, and with
            ``overwrite`` for all that is neither a backup nor an empty file;
            ``files.name``.

    """
    place = named_package(path)
    around = Path(os.path.realpath(place.parent))
    if any((outer / _MARKER).exists() for outer in (around, *around.parents)):
        raise _refused("it would lie inside a store", place)
    for ending in _BESIDE:
        stem = place.name.removesuffix(ending)
        if stem not in ("", place.name) and (place.parent / stem).is_file():
            raise _refused("SQLite uses this name for a file of its own", place)
    if isinstance(store, BackupStore) and store.is_at(place):
        raise _refused("it is the backup that is read", place)
    if overwrite and os.path.lexists(place) and not _may_go(place):
        raise _refused("only a backup or an empty file is replaced", place)


def _may_go(place: Path) -> bool:
    """Whether a regular file is empty or ends as a backup ends."""
    # Looked at first: opening a device may already act on it.
    found = place.lstat()
    if not stat.S_ISREG(found.st_mode) or not found.st_size:
        return stat.S_ISREG(found.st_mode)
    if any(os.path.lexists(f"{place}{ending}") for ending in _BESIDE):
        # A database in use. Even to look into it would cost another SQLite library of
        # this process its locks.
        return False
    start = found.st_size - END_BYTES
    return start >= 0 and read_end(_read(place, start)) is not None


def _read(place: Path, start: int) -> bytes:
    """The bytes of an end, read through SQLite's own file layer.

    It may be the file of a store that is open in this process: Python's closing would
    let go of the locks that this process has on it.
    """
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB
    try:
        file = apsw.VFSFile("", str(place.absolute()), [flags, 0])
        try:
            return file.xRead(END_BYTES, start)
        finally:
            file.xClose()
    except apsw.Error:
        # What can't be read is nobody's backup.
        return b""


def _refused(why: str, place: Path) -> CallerError:
    return CallerError(
        "no backup may be written there",
        code="files.target",
        path=str(place),
        hint=f"{why}; choose another name",
    )
