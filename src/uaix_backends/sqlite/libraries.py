"""Which SQLite library has which file open in this process, as far as stores know.

Closing any descriptor of a file drops all locks that the process has on it. Two
libraries don't know of each other's, so the second one is refused.
"""

from __future__ import annotations

import os
import threading
from collections import Counter

from uaix_core.values.errors import CallerError

_lock = threading.Lock()
_open: dict[tuple[int, int], Counter[str]] = {}


class Claim:
    """One store's use of a file through one library, until it is released.

    Raises:
        CallerError: ``host.second-library`` when another library has the file open.

    """

    def __init__(self, path: str, library: str) -> None:
        self._file: tuple[int, int] | None = None
        self._library = library
        try:
            found = os.stat(path)  # noqa: PTH116 - a descriptor would drop locks
        except (OSError, ValueError):
            return  # In memory, or gone.
        file = found.st_dev, found.st_ino
        with _lock:
            users = _open.setdefault(file, Counter())
            if any(count and name != library for name, count in users.items()):
                raise CallerError(
                    "another SQLite library of this process has the file open",
                    code="host.second-library",
                    path=path,
                    hint="use one library, or one process, for one file",
                )
            users[library] += 1
        self._file = file

    def release(self) -> None:
        """End the use; doing so twice is allowed."""
        file, self._file = self._file, None
        if file is None:
            return
        with _lock:
            users = _open[file]
            users[self._library] -= 1
            if not +users:
                del _open[file]
