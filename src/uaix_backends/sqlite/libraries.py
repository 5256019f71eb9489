"""Which SQLite library has which file open in this process, as far as stores know.

Closing any descriptor of a file drops all locks that the process has on it. Two
libraries don't know of each other's, so the second one is refused.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import TYPE_CHECKING, NamedTuple

from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Callable

    #: Device and inode.
    File = tuple[int, int]


class Use(NamedTuple):
    """The use of a file by one store or one connection, as long as it lasts."""

    library: str
    lasts: Callable[[], object]


#: Reentrant, since whatever is collected meanwhile may end a use.
_lock = threading.RLock()
#: File -> who uses it, by the id of the object that does.
_uses: dict[File, dict[int, Use]] = {}


def _file_at(path: str) -> File | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - a descriptor would drop locks
    except (OSError, ValueError):
        return None  # In memory, or gone.
    return found.st_dev, found.st_ino


def claim(user: object, path: str, use: Use) -> File | None:
    """Note that an object uses the file at a path; twice is once.

    Returns:
        The file; None when there is none.

    Raises:
        CallerError: ``host.second-library`` when another library has the file open.

    """
    file = _file_at(path)
    if file is None:
        return None
    with _lock:
        _forget_ended()
        users = _uses.setdefault(file, {})
        if any(other.library != use.library for other in users.values()):
            raise CallerError(
                "another SQLite library of this process has the file open",
                code="host.second-library",
                path=path,
                hint="close its connections first, or use one library for one file",
            )
        users[id(user)] = use
    return file


def _forget_ended() -> None:
    for file, users in list(_uses.items()):
        for number, use in list(users.items()):
            if not use.lasts():
                users.pop(number, None)
        if not users:
            _uses.pop(file, None)


class Claim:
    """A store's use of the file at a path, until it is released or the store is gone.

    Raises:
        CallerError: as `claim`.

    """

    def __init__(self, path: str, library: str) -> None:
        self._file = claim(self, path, Use(library, weakref.ref(self)))

    def release(self) -> None:
        """End the use; doing so twice is allowed."""
        file, self._file = self._file, None
        if file is None:
            return
        with _lock:
            _uses.get(file, {}).pop(id(self), None)
