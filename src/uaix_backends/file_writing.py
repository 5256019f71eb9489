"""Writing files and folders so that they are there wholly or not at all.

Everything is written beside its target under a temporary name, made durable, and then
renamed; whatever goes wrong before the renaming leaves nothing behind. What a killed
writer leaves, the next one removes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING, Final

from uaix_backends.naming import named_package
from uaix_backends.temporaries import HAS_LOCKS, temporary_file, temporary_folder
from uaix_core.packages.archive.writer import check_paths
from uaix_core.packages.limits import DEFAULT_LIMITS
from uaix_core.values.errors import CallerError, OutcomeUnknownError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from uaix_core.packages.archive.entries import Content
    from uaix_core.packages.limits import Limits

_IS_POSIX: Final = os.name == "posix"

#: What a file system answers that knows no hard links.
_NO_LINKS: Final = frozenset(
    (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES)
)
_OCCUPIED: Final = frozenset(
    (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR)
)
_NO_FOLDER: Final = frozenset((errno.ENOENT, errno.ENOTDIR))
_PRIVATE: Final = 0o600
_PRIVATE_FOLDER: Final = 0o700


def write_archive_file(
    path: str | os.PathLike[str],
    pieces: Iterable[Content],
    *,
    overwrite: bool = False,
    mode: int = _PRIVATE,
    check: Callable[[Path], None] | None = None,
) -> None:
    """Write the pieces of a file one after the other.

    An existing target is replaced only with ``overwrite``, a folder never. The file
    has its ``mode`` (where the platform has modes) before it has its name. ``check``
    is called with the temporary path of the whole file; what it raises leaves nothing.

    Raises:
        CallerError: ``files.exists`` when the target is there, ``files.parent`` when
            there is no folder around it, ``files.name`` when it is no name of a file.
        StorageError: ``files.io`` when the medium fails; nothing was written.
        OutcomeUnknownError: ``storage.outcome-unknown`` when the file is in its place
            but may be lost in a crash.

    """
    path = named_package(path)
    with _reported(path):
        _check_parent(path)
        if path.is_dir() or (not overwrite and os.path.lexists(path)):
            raise _exists(path)
        with temporary_file(path.parent) as (temporary, file):
            file.writelines(pieces)
            file.flush()
            _set_mode(file.fileno(), mode)
            os.fsync(file.fileno())
            if check is not None:
                check(temporary)
            if not HAS_LOCKS:
                # There an open file can't be renamed, and isn't locked anyway.
                file.close()
            if overwrite:
                temporary.replace(path)
            else:
                _rename_to_new(temporary, path)
    _make_durable(path)


def write_folder(
    path: str | os.PathLike[str],
    files: Mapping[str, Content],
    *,
    limits: Limits = DEFAULT_LIMITS,
) -> None:
    """Write files (logical path to bytes) as a new folder, modes 0700 and 0600.

    The target must not exist, or be an empty folder.

    Raises:
        CallerError: ``files.exists``, ``files.parent``, ``files.name``, or the code
            of a path rule that a path breaks.
        StorageError: ``files.io`` when the medium fails; nothing was written.
        OutcomeUnknownError: ``storage.outcome-unknown`` when the folder is in its
            place but may be lost in a crash.

    """
    path = named_package(path)
    check_paths(files, limits)
    with _reported(path):
        _check_parent(path)
        if os.path.lexists(path) and not _is_empty_folder(path):
            raise _exists(path)
        with temporary_folder(path.parent) as temporary:
            _fill(temporary, files)
            if not _IS_POSIX and path.exists():
                path.rmdir()
            temporary.rename(path)
    _make_durable(path)


def _fill(root: Path, files: Mapping[str, Content]) -> None:
    # The umask has cut the modes of what was made.
    root.chmod(_PRIVATE_FOLDER)
    folders = {root}
    for logical, content in files.items():
        path = root / logical
        missing = []
        parent = path.parent
        while parent not in folders:
            missing.append(parent)
            folders.add(parent)
            parent = parent.parent
        for folder in reversed(missing):
            folder.mkdir(_PRIVATE_FOLDER)
            folder.chmod(_PRIVATE_FOLDER)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(path, flags, _PRIVATE), "wb", buffering=0) as file:
            _set_mode(file.fileno(), _PRIVATE)
            view = memoryview(content)
            while view:
                view = view[file.write(view) :]
            os.fsync(file.fileno())
    for folder in folders:
        _sync_folder(folder)


def _set_mode(fd: int, mode: int) -> None:
    if hasattr(os, "fchmod"):
        os.fchmod(fd, mode)


def _check_parent(path: Path) -> None:
    try:
        is_folder = stat.S_ISDIR(path.parent.stat().st_mode)
    except OSError as error:
        if error.errno not in _NO_FOLDER:
            raise
        is_folder = False
    if not is_folder:
        raise CallerError(
            "there is no folder to write into",
            code="files.parent",
            path=str(path.parent),
            hint="make it first",
        )


def _is_empty_folder(path: Path) -> bool:
    if path.is_symlink() or not path.is_dir():
        return False
    with os.scandir(path) as listing:
        return next(listing, None) is None


def _rename_to_new(temporary: Path, path: Path) -> None:
    """Rename, but never over something that came in between."""
    if not _IS_POSIX:
        # Here renaming onto an existing file fails by itself.
        temporary.rename(path)
        return
    try:
        path.hardlink_to(temporary)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(path):
            raise _exists(path) from None
        temporary.rename(path)
    else:
        # The file is in its place; its other name is a leftover like any other.
        with contextlib.suppress(OSError):
            temporary.unlink()


def _sync_folder(path: Path) -> None:
    if not _IS_POSIX:
        return
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _make_durable(path: Path) -> None:
    # A failed fsync must not be tried again: a second one may succeed for nothing.
    try:
        _sync_folder(path.parent)
    except OSError as error:
        raise OutcomeUnknownError(
            "written, but perhaps not durably", path=str(path)
        ) from error


def _exists(path: Path) -> CallerError:
    return CallerError(
        "the target is already there",
        code="files.exists",
        path=str(path),
        hint="choose another name, or remove it",
    )


@contextlib.contextmanager
def _reported(path: Path) -> Iterator[None]:
    """Turn the system's errors into ours."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        if error.errno in _OCCUPIED:
            raise _exists(path) from error
        raise StorageError(
            f"writing failed: {error.strerror}", code="files.io", path=str(path)
        ) from error
