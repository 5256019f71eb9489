"""The lock of one scope: a file lock between processes, a thread lock within one."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from uaix_core.values.errors import BusyError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from threading import Lock

    from uaix_backends.directory.files import Folder

#: The file that is locked; it is always empty.
LOCK: Final = "lock"

_FIRST_PAUSE_S: Final = 0.000_2
_LONGEST_PAUSE_S: Final = 0.01


def _busy(where: str) -> BusyError:
    return BusyError(
        "another writer held the scope for too long", path=where, hint="try again later"
    )


@contextmanager
def held(lock: Lock, timeout_s: float, where: str) -> Iterator[None]:
    """Hold a thread lock."""
    if not lock.acquire(timeout=timeout_s):
        raise _busy(where)
    try:
        yield
    finally:
        lock.release()


@contextmanager
def locked(folder: Folder, deadline: float, where: str) -> Iterator[None]:
    """Hold the lock of a scope's folder, waiting until ``deadline`` (monotonic)."""
    import fcntl  # noqa: PLC0415 - not there on every platform

    pause = _FIRST_PAUSE_S
    while True:
        with folder.file_to_append(LOCK) as file:
            try:
                fcntl.flock(file.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pass
            else:
                try:
                    # Another file may have been put there since it was opened.
                    status = folder.status(LOCK)
                    if status and status.st_ino == os.fstat(file.fd).st_ino:
                        yield
                        return
                finally:
                    # A forked child may still hold the descriptor.
                    fcntl.flock(file.fd, fcntl.LOCK_UN)
        if time.monotonic() >= deadline:
            raise _busy(where)
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_S)
