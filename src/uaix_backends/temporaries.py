"""Temporary files and folders beside a target, and those that killed writers left.

Who writes holds a file lock on the temporary for as long as it has its name. A lock
that can be taken therefore tells a leftover, whatever process numbers and clocks say,
and the next writer into the same folder removes it. Where the platform has no such
locks nothing is locked and nothing removed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import stat
import tempfile
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

#: Whether files can be locked, and folders opened to lock them.
HAS_LOCKS: Final = os.name == "posix"

_PREFIX: Final = ".uaix-"
_SUFFIX: Final = ".tmp"
# `tempfile` puts eight such characters between them.
_IS_OURS: Final = re.compile(r"\.uaix-[a-z0-9_]{8}\.tmp").fullmatch

#: At most so many names of a folder are looked at, and leftovers removed, at once.
_LOOKED_AT: Final = 10_000
_REMOVED: Final = 100
#: How often somebody may remove a new temporary before it is locked.
_TRIES: Final = 10

_BUFFER_BYTES: Final = 1 << 20
_READ: Final = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_FOLDER: Final = getattr(os, "O_DIRECTORY", 0)


@contextlib.contextmanager
def temporary_file(folder: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """A new file of mode 0600, open to write; an error removes it.

    Without an error it is the caller's to rename. Leftovers in the folder go first.
    """

    def make() -> tuple[Path, int]:
        fd, name = tempfile.mkstemp(_SUFFIX, _PREFIX, folder)
        return Path(name), fd

    remove_leftovers(folder)
    path, fd = _locked(make)
    # Closed below, and not before the file has lost its temporary name.
    file = os.fdopen(fd, "wb", buffering=_BUFFER_BYTES)
    try:
        yield path, file
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        # What is not written by now was given up.
        with contextlib.suppress(OSError):
            file.close()


@contextlib.contextmanager
def temporary_folder(folder: Path) -> Iterator[Path]:
    """A new folder of mode 0700; an error removes it with all that it holds.

    Without an error it is the caller's to rename. Leftovers beside it go first.
    """

    def make() -> tuple[Path, int]:
        path = Path(tempfile.mkdtemp(_SUFFIX, _PREFIX, folder))
        return path, os.open(path, _READ | _FOLDER | _NO_FOLLOW) if HAS_LOCKS else -1

    remove_leftovers(folder)
    path, fd = _locked(make)
    try:
        yield path
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    finally:
        if fd >= 0:
            os.close(fd)


def _locked(make: Callable[[], tuple[Path, int]]) -> tuple[Path, int]:
    """What ``make`` made, and its locked descriptor."""
    for left in reversed(range(_TRIES)):
        try:
            path, fd = make()
        except FileNotFoundError:
            # A new folder may be removed before it is opened.
            if not left:
                raise
            continue
        try:
            is_ours = not HAS_LOCKS or _lock(fd, path)
        except BaseException:
            os.close(fd)
            raise
        if is_ours:
            return path, fd
        os.close(fd)
    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def _lock(fd: int, path: Path) -> bool:
    """Lock a new temporary; False when a sweeper was faster and has removed it."""
    import fcntl  # noqa: PLC0415 - not there on every platform

    try:
        # A sweeper holds it for a moment only.
        fcntl.flock(fd, fcntl.LOCK_EX)
    except OSError:
        # Without locks on this file system nobody takes it for a leftover either.
        return True
    try:
        return os.path.samestat(os.fstat(fd), path.lstat())
    except FileNotFoundError:
        return False


def remove_leftovers(folder: Path) -> None:
    """Remove the temporaries of killed writers, as far as that can be done.

    Only plain files and folders of this user with a name of our making, whose lock
    nobody holds. No link is followed, and no error matters.
    """
    if not HAS_LOCKS:
        return
    with contextlib.suppress(OSError):
        parent = os.open(folder, _READ | _FOLDER)
        try:
            with os.scandir(parent) as listing:
                looked_at = islice(listing, _LOOKED_AT)
                names = [entry.name for entry in looked_at if _IS_OURS(entry.name)]
            for name in names[:_REMOVED]:
                with contextlib.suppress(OSError):
                    _remove_leftover(parent, name)
        finally:
            os.close(parent)


def _remove_leftover(parent: int, name: str) -> None:
    import fcntl  # noqa: PLC0415 - not there on every platform

    status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    is_folder = stat.S_ISDIR(status.st_mode)
    if status.st_uid != os.geteuid() or not (is_folder or stat.S_ISREG(status.st_mode)):
        return
    fd = os.open(name, _READ | _NO_FOLLOW, dir_fd=parent)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Its writer may have been done, and another begun, since it was looked at.
        now = os.stat(name, dir_fd=parent, follow_symlinks=False)
        if not os.path.samestat(os.fstat(fd), now):
            return
        if is_folder:
            shutil.rmtree(name, dir_fd=parent)
        else:
            os.unlink(name, dir_fd=parent)
    finally:
        os.close(fd)
