"""Which SQLite library has which file open in this process, as far as stores know.

Closing any descriptor of a file drops all locks that the process has on it. Two
libraries don't know of each other's, so the second one is refused.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import TYPE_CHECKING

from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Callable

_lock = threading.Lock()
#: Device and inode of a file -> the claims on it that are still held by somebody.
_open: dict[tuple[int, int], weakref.WeakSet[Claim]] = {}


class Claim:
    """One store's use of a file through one library.

    It lasts until it is released, or its store is gone, or the connection is closed.

    Args:
        path: the file.
        library: the one that has it open.
        is_open: whether the connection is open; None for one that only the store
            closes.

    Raises:
        CallerError: ``host.second-library`` when another library has the file open.

    """

    def __init__(
        self, path: str, library: str, is_open: Callable[[], bool] | None = None
    ) -> None:
        self._file: tuple[int, int] | None = None
        self._library = library
        self._is_open = is_open
        try:
            found = os.stat(path)  # noqa: PTH116 - a descriptor would drop locks
        except (OSError, ValueError):
            return  # In memory, or gone.
        file = found.st_dev, found.st_ino
        with _lock:
            _forget_unused()
            users = _open.setdefault(file, weakref.WeakSet())
            if any(claim.is_against(library) for claim in users):
                raise CallerError(
                    "another SQLite library of this process has the file open",
                    code="host.second-library",
                    path=path,
                    hint="use one library, or one process, for one file",
                )
            users.add(self)
        self._file = file

    def is_against(self, library: str) -> bool:
        """Whether this keeps another library from opening the file."""
        if self._library == library:
            return False
        return self._is_open is None or self._is_open()

    def release(self) -> None:
        """End the use; doing so twice is allowed."""
        file, self._file = self._file, None
        if file is None:
            return
        with _lock:
            _open[file].discard(self)


def _forget_unused() -> None:
    for file in [file for file, users in _open.items() if not users]:
        del _open[file]
