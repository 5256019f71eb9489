"""Temporary files and folders beside a target, and those that killed writers left.

Who writes holds a file lock on the temporary for as long as it has its name. A lock
that can be taken therefore tells a leftover, whatever process numbers and clocks say;
the next writer into the same folder removes it. Where the platform has no such locks
nothing is locked and nothing removed.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import tempfile
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PREFIX: Final = ".uaix-"
_SUFFIX: Final = ".tmp"
# What `tempfile` puts between them.
_IS_OURS: Final = re.compile(r"\.uaix-[a-z0-9_]{8}\.tmp").fullmatch

#: At most so many names of the folder are looked at, and leftovers removed, at once.
_NAMES: Final = 10_000
_REMOVED: Final = 100
#: How often a sweeper may come between making a temporary and locking it.
_TRIES: Final = 10

_SAFE: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
)
_FOLDER: Final = getattr(os, "O_DIRECTORY", 0)


@contextlib.contextmanager
def temporary_file(folder: Path) -> Iterator[tuple[Path, int]]:
    """A new file of mode 0600 and its descriptor; an error removes it.

    Without an error it is the caller's to rename. Leftovers in the folder go first.
    """

    def make() -> tuple[Path, int]:
        fd, name = tempfile.mkstemp(_SUFFIX, _PREFIX, folder)
        return Path(name), fd

    path, fd = _locked(folder, make)
    try:
        yield path, fd
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(fd)


@contextlib.contextmanager
def temporary_folder(folder: Path) -> Iterator[Path]:
    """A new folder of mode 0700; an error removes it with all that it holds.

    Without an error it is the caller's to rename. Leftovers beside it go first.
    """

    def make() -> tuple[Path, int | None]:
        path = Path(tempfile.mkdtemp(_SUFFIX, _PREFIX, folder))
        # Only where there are locks can a folder be opened.
        return path, os.open(path, _SAFE | _FOLDER) if fcntl else None

    path, fd = _locked(folder, make)
    try:
        yield path
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    finally:
        if fd is not None:
            os.close(fd)


_Fd = "int | None"


def _locked(folder, make):
    """What ``make`` made, locked, once a sweeper can't have taken it for a leftover."""
    remove_leftovers(folder)
    for _ in range(_TRIES - 1):
        try:
            path, fd = make()
        except FileNotFoundError:
            if not folder.is_dir():
                raise
            continue
        if fd is None or _lock(fd, path):
            return path, fd
        os.close(fd)
    return make()


def remove_leftovers(folder: Path) -> None:
    """Remove the temporaries of killed writers, as far as that can be done.

    Only plain files and folders of this user whose names are of our own making and
    whose lock nobody holds; no link is followed.
    """
    if fcntl is None:
        return
    with contextlib.suppress(OSError):
        parent = os.open(folder, os.O_RDONLY | _FOLDER | getattr(os, "O_CLOEXEC", 0))
        try:
            with os.scandir(parent) as listing:
                names = [e.name for e in islice(listing, _NAMES) if _IS_OURS(e.name)]
            for name in names[:_REMOVED]:
                with contextlib.suppress(OSError):
                    _remove_leftover(parent, name)
        finally:
            os.close(parent)
