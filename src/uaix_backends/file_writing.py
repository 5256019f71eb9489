"""Writing files and folders so that they are there wholly or not at all.

Everything is written beside its target under a temporary name, made durable, and then
renamed; whatever goes wrong before the renaming leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from uaix_core.packages.archive.writer import check_paths
from uaix_core.packages.limits import DEFAULT_LIMITS
from uaix_core.values.errors import CallerError, OutcomeUnknownError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from uaix_core.packages.archive.entries import Content
    from uaix_core.packages.limits import Limits

_PREFIX: Final = ".uaix-"
_SUFFIX: Final = ".tmp"
_BUFFER_BYTES: Final = 1 << 20
_IS_POSIX: Final = os.name == "posix"

#: What a file system answers that knows no hard links.
_NO_LINKS: Final = frozenset(
    (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES)
)
_OCCUPIED: Final = frozenset(
    (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR)
)


def write_archive_file(
    path: str | os.PathLike[str], pieces: Iterable[Content], *, overwrite: bool = False
) -> None:
    """Write the pieces of a file one after the other, mode 0600.

    An existing target is replaced only with ``overwrite``, a folder never.

    Raises:
        CallerError: ``files.exists`` when the target is there.
        StorageError: ``files.io`` when the medium fails; nothing was written.
        OutcomeUnknownError: ``storage.outcome-unknown`` when the file is in its place
            but may be lost in a crash.

    """
    path = Path(path)
    with _reported(path):
        if path.is_dir() or (not overwrite and os.path.lexists(path)):
            raise _exists(path)
        fd, name = tempfile.mkstemp(_SUFFIX, _PREFIX, path.parent)
        temporary = Path(name)
        try:
            with os.fdopen(fd, "wb", buffering=_BUFFER_BYTES) as file:
                file.writelines(pieces)
                file.flush()
                os.fsync(fd)
            if overwrite:
                temporary.replace(path)
            else:
                _rename_to_new(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
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
        CallerError: ``files.exists``, or the code of a path rule that a path breaks.
        StorageError: ``files.io`` when the medium fails; nothing was written.
        OutcomeUnknownError: ``storage.outcome-unknown`` when the folder is in its
            place but may be lost in a crash.

    """
    path = Path(path)
    check_paths(files, limits)
    with _reported(path):
        if os.path.lexists(path) and not _is_empty_folder(path):
            raise _exists(path)
        temporary = Path(tempfile.mkdtemp(_SUFFIX, _PREFIX, path.parent))
        try:
            _fill(temporary, files)
            if not _IS_POSIX and path.exists():
                path.rmdir()
            temporary.rename(path)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
    _make_durable(path)


def _fill(root: Path, files: Mapping[str, Content]) -> None:
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
            folder.mkdir(0o700)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(path, flags, 0o600), "wb", buffering=0) as file:
            view = memoryview(content)
            while view:
                view = view[file.write(view) :]
            os.fsync(file.fileno())
    for folder in folders:
        _sync_folder(folder)


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
