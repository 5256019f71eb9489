"""Files and folders relative to open folders.

No name is followed when it is a link, nothing blocks, and what is no plain file with
one name is refused. All calls that change a disk go through `calls`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from uaix_core.values.errors import OutcomeUnknownError, StorageError

if TYPE_CHECKING:
    from types import TracebackType

# Flags that a platform lacks are nothing there; the store refuses such a platform.
_SAFE: Final = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    # A FIFO without a writer would otherwise hold the reader up.
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
)
_FOLDER: Final = getattr(os, "O_DIRECTORY", 0)

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700


class Calls:
    """The system calls that change a disk, in one place, so that each can fail."""

    open = staticmethod(os.open)
    write = staticmethod(os.write)
    truncate = staticmethod(os.truncate)
    sync_data = staticmethod(getattr(os, "fdatasync", os.fsync))
    sync = staticmethod(os.fsync)
    rename = staticmethod(os.rename)
    unlink = staticmethod(os.unlink)
    mkdir = staticmethod(os.mkdir)
    rmdir = staticmethod(os.rmdir)


calls = Calls()

_CODES: Final = {
    errno.ENOSPC: "storage.full",
    errno.EDQUOT: "storage.full",
    errno.EFBIG: "storage.full",
    errno.EROFS: "storage.readonly",
    errno.EACCES: "storage.readonly",
    errno.EPERM: "storage.readonly",
    # What O_NOFOLLOW, O_DIRECTORY and a FIFO without a reader answer.
    errno.ELOOP: "storage.file",
    errno.ENOTDIR: "storage.file",
    errno.EISDIR: "storage.file",
    errno.ENXIO: "storage.file",
}

#: What it means that a folder which was there can't be found any more.
_GONE: Final = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ELOOP))
_DENIED: Final = frozenset((errno.EACCES, errno.EPERM))
#: What the system says where another kind of file stands, or where no name can.
_OTHERS: Final = frozenset(
    (
        errno.ELOOP,
        errno.ENOTDIR,
        errno.EISDIR,
        errno.ENXIO,
        errno.ENAMETOOLONG,
        errno.EILSEQ,
        errno.EINVAL,
    )
)


def is_other(error: OSError) -> bool:
    """Whether an error says that no plain file or folder of ours stands there."""
    if isinstance(error, StorageError):
        return error.code == "storage.file"
    return error.errno in _OTHERS


def storage_error(error: OSError, where: str) -> StorageError:
    """The typed error for what the system said; ``where`` names a scope or a file."""
    if isinstance(error, StorageError):
        return error
    return StorageError(
        f"the medium failed: {errno.errorcode.get(error.errno or 0, 'unknown')}",
        code=_CODES.get(error.errno or 0, "storage.io"),
        path=where,
    )


def outcome_unknown(where: str) -> OutcomeUnknownError:
    """The error after a failed sync: what was written may or may not be there."""
    return OutcomeUnknownError(
        "the medium failed while a commit was being made durable",
        path=where,
        hint="read again; repeating the operation under its key ends in exactly one",
    )


def replaced(where: str) -> StorageError:
    """The error for a folder or file that is not the one that was opened."""
    return StorageError(
        "the store was replaced or removed while it was open",
        code="storage.replaced",
        path=where,
        hint="open it again",
    )


def unreachable(error: OSError, where: str) -> StorageError:
    """The error for a folder of the store that can't be looked at any more."""
    if error.errno in _GONE:
        return replaced(where)
    if error.errno in _DENIED:
        return StorageError(
            "the store's folder can't be reached",
            code="storage.denied",
            path=where,
            hint="its parent folders must be searchable",
        )
    return storage_error(error, where)


class Seen(NamedTuple):
    """How a file looked: it has changed when any of these has."""

    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, status: os.stat_result) -> Seen:
        """What `os.stat` or `os.fstat` said."""
        return cls(status.st_ino, status.st_size, status.st_mtime_ns)


class _Opened:
    """An open descriptor that closes with its ``with`` block."""

    __slots__ = ("fd", "name")

    def __init__(self, fd: int, name: str) -> None:
        self.fd = fd
        self.name = name

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self.fd)


class File(_Opened):
    """An open plain file."""

    def seen(self) -> Seen:
        """How the file looks now."""
        return Seen.of(os.fstat(self.fd))

    def read(self, count: int, start: int) -> bytes:
        """At most this many bytes from there."""
        return os.pread(self.fd, count, start)

    def write(self, data: bytes) -> None:
        """Write all of it: in one call, unless the system takes only a part."""
        done = calls.write(self.fd, data)
        while done < len(data):
            done += calls.write(self.fd, memoryview(data)[done:])

    def append(self, data: bytes, end: int) -> None:
        """Write after ``end``; when that fails the file ends there again."""
        self.cut(end)
        try:
            self.write(data)
        except OSError:
            # If this fails too, the next writer cuts the torn end.
            with contextlib.suppress(OSError):
                self.cut(end)
            raise

    def cut(self, end: int) -> None:
        """Let the file end there."""
        if os.fstat(self.fd).st_size != end:
            calls.truncate(self.fd, end)

    def sync(self) -> None:
        """Make the content durable. After an error it must not be tried again."""
        calls.sync_data(self.fd)


class Folder(_Opened):
    """An open folder."""

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode, which no other folder has as long as this one is open."""
        status = os.fstat(self.fd)
        return status.st_dev, status.st_ino

    def status(self, name: str) -> os.stat_result | None:
        """What stands under a name, not followed; None when nothing does."""
        try:
            return os.stat(name, dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def names(self) -> list[str]:
        """The names in the folder, sorted."""
        return sorted(os.listdir(self.fd))  # noqa: PTH208 - of a descriptor

    def folder(self, name: str, *, create: bool = False) -> Folder | None:
        """The folder of this name, made when it is missing and wanted."""
        flags = os.O_RDONLY | _FOLDER | _SAFE
        try:
            return Folder(calls.open(name, flags, dir_fd=self.fd), name)
        except FileNotFoundError:
            if not create:
                return None
        with contextlib.suppress(FileExistsError):
            calls.mkdir(name, FOLDER_MODE, dir_fd=self.fd)
        made = Folder(calls.open(name, flags, dir_fd=self.fd), name)
        _set_mode(made, FOLDER_MODE)
        return made

    def file(self, name: str, *, write: bool = False) -> File | None:
        """The plain file of this name, opened to read or to append."""
        flags = os.O_WRONLY | os.O_APPEND if write else os.O_RDONLY
        try:
            return self._opened(name, flags)
        except FileNotFoundError:
            return None

    def new_file(self, name: str) -> File:
        """An empty plain file of this name, whatever stood there."""
        return self._opened(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)

    def file_to_append(self, name: str) -> File:
        """The plain file of this name, made when it is missing."""
        found = self.file(name, write=True)
        if found is None:
            found = self._opened(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        return found

    def _opened(self, name: str, flags: int) -> File:
        # O_TRUNC would empty a file before it was looked at.
        kept = flags & ~os.O_TRUNC
        file = File(calls.open(name, kept | _SAFE, FILE_MODE, dir_fd=self.fd), name)
        try:
            _check_plain(file)
            if flags & os.O_CREAT:
                _set_mode(file, FILE_MODE)
            if flags & os.O_TRUNC:
                file.cut(0)
        except BaseException:
            os.close(file.fd)
            raise
        return file

    def rename(self, old: str, new: str, into: Folder | None = None) -> None:
        """Put one file in the place of another, of this folder or ``into`` that one."""
        target = self if into is None else into
        calls.rename(old, new, src_dir_fd=self.fd, dst_dir_fd=target.fd)

    def remove(self, name: str) -> None:
        """Remove a file; it may be missing."""
        with contextlib.suppress(FileNotFoundError):
            calls.unlink(name, dir_fd=self.fd)

    def sync(self) -> None:
        """Make the names in the folder durable."""
        # This folder may stay open for long, and a handle whose sync has failed once
        # must not be used for another.
        fd = calls.open(".", os.O_RDONLY | _FOLDER | _SAFE, dir_fd=self.fd)
        try:
            calls.sync(fd)
        finally:
            os.close(fd)


def _check_plain(file: File) -> None:
    status = os.fstat(file.fd)
    # A file that was renamed over meanwhile has no name; it is read to its end.
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        raise StorageError(
            "not a plain file with one name", code="storage.file", path=file.name
        )


def _set_mode(opened: _Opened, mode: int) -> None:
    """Give a new file or folder its mode whatever the umask was."""
    if stat.S_IMODE(os.fstat(opened.fd).st_mode) != mode:
        os.fchmod(opened.fd, mode)


def open_folder(path: str) -> Folder:
    """The folder at a path that the caller named; a link there is followed."""
    flags = os.O_RDONLY | _FOLDER | (_SAFE & ~getattr(os, "O_NOFOLLOW", 0))
    return Folder(calls.open(path, flags), path)
