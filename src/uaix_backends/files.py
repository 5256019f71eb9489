"""Packages on disk: reading a `.uaix` file or a folder, writing them atomically.

What is read is hostile until judged: no symlink, FIFO, device, socket or hard link of
a folder is opened as content, nothing blocks, and limits hold before bytes are read.
"""

from __future__ import annotations

import contextlib
import os
import stat
from typing import TYPE_CHECKING, Final, Self

from uaix_backends.file_writing import write_archive_file, write_folder
from uaix_backends.naming import named_package
from uaix_core.packages.archive.reader import EXTENSION
from uaix_core.packages.archive.writer import iter_archive
from uaix_core.packages.limits import DEFAULT_LIMITS
from uaix_core.packages.paths import shown
from uaix_core.packages.source import PackageSource
from uaix_core.values.errors import CallerError, LimitError, NotFoundError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from uaix_core.packages.archive.entries import Content
    from uaix_core.packages.limits import Limits

__all__ = [
    "archive_timestamp",
    "read_package",
    "write_archive_file",
    "write_folder",
    "write_package",
]

_HAS_DIR_FDS: Final = {os.open, os.stat} <= os.supports_dir_fd and (
    os.scandir in os.supports_fd
)
# A FIFO without a writer, or a terminal, would otherwise hold the reader up. Flags
# that a platform lacks are nothing there.
_READ: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_FOLDER: Final = getattr(os, "O_DIRECTORY", 0)
_REPARSE_POINT: Final = 0x400


def read_package(
    path: str | os.PathLike[str], *, limits: Limits = DEFAULT_LIMITS
) -> PackageSource:
    """Read an archive file or a folder; nothing of it is judged yet.

    The path itself may be a symlink, since the caller named it.

    Raises:
        NotFoundError: ``files.missing``.
        LimitError: ``files.limit`` for what is larger, deeper or more than the limits.
        CallerError: ``files.symlink``, ``files.special``, ``files.hardlink`` and
            ``files.name`` (no UTF-8) for what a package can't hold, ``files.changed``
            when a file changed while it was read, ``files.name`` also when ``path``
            is no name of a file.
        StorageError: ``files.io`` when the medium fails.

    """
    path = named_package(path)
    with _reported(str(path)):
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            return PackageSource(path.name, files=_read_folder(path, limits))
        if not stat.S_ISREG(status.st_mode):
            raise CallerError(
                "neither a file nor a folder", code="files.special", path=str(path)
            )
        with _opened(os.open(path, _READ)) as fd:
            data = _read_all(fd, status, limits.archive_bytes, str(path))
        return PackageSource(path.name, archive=data)


def write_package(
    path: str | os.PathLike[str],
    files: Mapping[str, Content],
    *,
    overwrite: bool = False,
    timestamp: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> None:
    """Write files (logical path to bytes) as an archive or as a folder.

    A name that ends in ``.uaix`` is an archive, any other a folder. The archive's
    timestamp is ``timestamp`` (seconds since 1970 UTC), else `archive_timestamp`.

    Raises:
        CallerError: ``files.exists``, ``files.parent``, ``files.name``, or the code
            of a path rule that a path breaks.
        StorageError: ``files.io``; nothing was written.
        OutcomeUnknownError: ``storage.outcome-unknown``; written, maybe not durably.

    """
    path = named_package(path)
    if path.name.endswith(EXTENSION):
        moment = archive_timestamp() if timestamp is None else timestamp
        pieces = iter_archive(files, timestamp=moment, limits=limits)
        write_archive_file(path, pieces, overwrite=overwrite)
    else:
        write_folder(path, files, limits=limits)


def archive_timestamp(environ: Mapping[str, str] | None = None) -> int | None:
    """The seconds since 1970 that ``SOURCE_DATE_EPOCH`` sets, None when it doesn't.

    Raises:
        CallerError: ``files.epoch`` when it is no whole number.

    """
    text = (os.environ if environ is None else environ).get("SOURCE_DATE_EPOCH")
    if not text:
        return None
    if not (text.isascii() and text.isdigit()):
        raise CallerError(
            "SOURCE_DATE_EPOCH is a whole number of seconds", code="files.epoch"
        )
    # Archives end in 2107; a number of thousands of digits must not be computed.
    return int(text.lstrip("0")[:12] or "0")


class _Folder:
    """An open folder: by its descriptor where the platform can, else by its path."""

    def __init__(self, path: Path, parent: _Folder | None = None) -> None:
        self.path = path
        self.fd: int | None = None
        if not _HAS_DIR_FDS:
            return
        if parent is None:
            self.fd = os.open(path, _READ | _FOLDER)
        else:
            flags = _READ | _FOLDER | _NO_FOLLOW
            self.fd = os.open(path.name, flags, dir_fd=parent.fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.fd is not None:
            os.close(self.fd)

    def names(self) -> Iterator[str]:
        with os.scandir(self.path if self.fd is None else self.fd) as listing:
            for item in listing:
                yield item.name

    def status(self, name: str) -> os.stat_result:
        if self.fd is None:
            return os.lstat(self.path / name)
        return os.stat(name, dir_fd=self.fd, follow_symlinks=False)

    def open_file(self, name: str) -> int:
        if self.fd is None:
            return os.open(self.path / name, _READ | _NO_FOLLOW)
        return os.open(name, _READ | _NO_FOLLOW, dir_fd=self.fd)


class _FolderReading:
    """The files read so far, and what is left of the limits."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.files: dict[str, bytes] = {}
        self.total = 0
        self.names = 0

    def walk(self, folder: _Folder, prefix: str, depth: int) -> None:
        names = []
        for name in folder.names():
            self.names += 1
            # Folders hold no more names than files may, so that listing them ends.
            if self.names > 2 * self.limits.entries:
                raise _too_large("too many files and folders", str(folder.path))
            names.append(name)
        for name in sorted(names):
            with _reported(str(folder.path / name)):
                self._take(folder, name, prefix + name, depth)

    def _take(self, folder: _Folder, name: str, path: str, depth: int) -> None:
        where = str(folder.path / name)
        try:
            size = len(path.encode("utf-8"))
        except UnicodeEncodeError:
            raise CallerError(
                "a file name is not UTF-8", code="files.name", path=shown(path)
            ) from None
        if size > self.limits.path_bytes or depth > self.limits.path_depth:
            raise _too_large("a path is too long or too deep", where)
        status = folder.status(name)
        _refuse_links(status, where)
        if stat.S_ISDIR(status.st_mode):
            with _Folder(folder.path / name, folder) as inner:
                self._check_same(inner.status("."), status, where)
                self.walk(inner, path + "/", depth + 1)
            return
        if not stat.S_ISREG(status.st_mode):
            raise CallerError(
                "neither a file nor a folder", code="files.special", path=where
            )
        if len(self.files) >= self.limits.entries:
            raise _too_large("too many files", where)
        self.total += status.st_size
        if self.total > self.limits.total_bytes:
            raise _too_large("the files together are too large", where)
        with _opened(folder.open_file(name)) as fd:
            opened = os.fstat(fd)
            self._check_same(opened, status, where)
            if opened.st_nlink > 1:
                raise CallerError(
                    "a file with another hard link",
                    code="files.hardlink",
                    path=where,
                    hint="copy the file",
                )
            self.files[path] = _read_all(fd, opened, self.limits.entry_bytes, where)

    @staticmethod
    def _check_same(now: os.stat_result, before: os.stat_result, where: str) -> None:
        if (now.st_dev, now.st_ino) != (before.st_dev, before.st_ino):
            raise _changed(where)


def _read_folder(path: Path, limits: Limits) -> dict[str, bytes]:
    reading = _FolderReading(limits)
    with _Folder(path) as folder:
        reading.walk(folder, "", 1)
    return dict(sorted(reading.files.items()))


def _refuse_links(status: os.stat_result, where: str) -> None:
    attributes = getattr(status, "st_file_attributes", 0)
    if stat.S_ISLNK(status.st_mode) or attributes & _REPARSE_POINT:
        raise CallerError("a symbolic link", code="files.symlink", path=where)


def _read_all(fd: int, status: os.stat_result, limit: int, where: str) -> bytes:
    """Read a file to its end, at most one byte more than it is said to have."""
    size = os.fstat(fd).st_size
    if size > limit:
        raise _too_large("a file is too large", where)
    if size != status.st_size:
        raise _changed(where)
    data = bytearray()
    while len(data) <= size:
        piece = os.read(fd, size + 1 - len(data))
        if not piece:
            break
        if not data and len(piece) == size:
            # The ordinary case: all of it at once, and no copy.
            if os.read(fd, 1):
                raise _changed(where)
            return piece
        data += piece
    if len(data) != size:
        raise _changed(where)
    return bytes(data)


def _too_large(message: str, where: str) -> LimitError:
    return LimitError(message, code="files.limit", path=where)


def _changed(where: str) -> CallerError:
    return CallerError(
        "changed while it was read", code="files.changed", path=where, hint="try again"
    )


@contextlib.contextmanager
def _opened(fd: int) -> Iterator[int]:
    try:
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def _reported(where: str) -> Iterator[None]:
    """Turn the system's errors into ours."""
    try:
        yield
    except StorageError:
        raise
    except FileNotFoundError as error:
        raise NotFoundError(
            "no such file or folder", code="files.missing", path=where
        ) from error
    except OSError as error:
        raise StorageError(
            f"reading failed: {error.strerror}", code="files.io", path=where
        ) from error
