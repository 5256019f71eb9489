"""SQLite versions: which of them may lose commits when the log begins anew.

From 3.7.0 to 3.51.2 a writer that begins the write-ahead log anew in the same instant
in which another connection moves it into the file can mark frames as moved that were
not: silent corruption. With such a version every writer and every checkpoint of ours
passes one `Turnstile`, so that the two never meet.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import apsw

from uaix_backends.sqlite.driver import file_error
from uaix_core.values.errors import BusyError, StoreOpenError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The first and the last version with the fault.
FIRST_FAULTY: Final = (3, 7, 0)
LAST_FAULTY: Final = (3, 51, 2)

_FIRST_PAUSE_S: Final = 0.000_2
_LONGEST_PAUSE_S: Final = 0.01


def version() -> tuple[int, ...]:
    """The version of the SQLite in use."""
    return tuple(int(part) for part in apsw.sqlite_lib_version().split("."))


def is_faulty() -> bool:
    """Whether the SQLite in use may lose commits when the log begins anew."""
    return FIRST_FAULTY <= version() <= LAST_FAULTY


def turnstile(path: str, busy_timeout_s: float) -> Turnstile | None:
    """What writers of the store at a path must pass; None where SQLite is sound.

    Raises:
        StoreOpenError: ``store.sqlite-version`` where this platform has no such lock.

    """
    if not is_faulty():
        return None
    try:
        import fcntl  # noqa: F401, PLC0415 - not there on every platform
    except ImportError:
        raise StoreOpenError(
            "this version of SQLite may lose commits of several processes",
            code="store.sqlite-version",
            path=path,
            hint="install apsw 3.51.3 or later",
        ) from None
    return Turnstile(path, busy_timeout_s)


class Turnstile:
    """A lock between processes: on the folder of the store's file.

    A lock on the file itself would have to be let go by closing it, and that would
    drop those that SQLite has on it; a file beside it would be one more that a store
    is made of. Stores that lie in one folder wait for each other.
    """

    def __init__(self, path: str, busy_timeout_s: float) -> None:
        self._path = path
        self._folder = str(Path(path).parent)
        self._timeout_s = busy_timeout_s

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Hold the lock.

        Raises:
            BusyError: another writer held it for longer than the busy timeout.
            StorageError: the folder can't be reached.

        """
        import fcntl  # noqa: PLC0415 - not there on every platform

        try:
            folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise file_error(error, self._path) from error
        try:
            self._wait(folder)
            try:
                yield
            finally:
                # A forked child may still hold the descriptor.
                fcntl.flock(folder, fcntl.LOCK_UN)
        finally:
            os.close(folder)

    def _wait(self, folder: int) -> None:
        import fcntl  # noqa: PLC0415 - as above

        deadline = time.monotonic() + self._timeout_s
        pause = _FIRST_PAUSE_S
        while True:
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise BusyError(
                        "another writer holds the store", path=self._path
                    ) from None
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)
            else:
                return
