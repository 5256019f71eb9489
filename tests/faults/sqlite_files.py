"""A file layer of SQLite that counts what it does to the disk, and fails as planned.

It stands on the layer of the platform, which keeps the locks and the shared memory of
the write-ahead log, so everything works as always until the plan strikes.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final

import apsw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.faults.metering import Meter

_FULL: Final = "ENOSPC"
#: What SQLite is told of a failed call, after its kind.
_CODES: Final = {
    "make": apsw.SQLITE_CANTOPEN,
    "open": apsw.SQLITE_CANTOPEN,
    "read": apsw.SQLITE_IOERR_READ,
    "write": apsw.SQLITE_IOERR_WRITE,
    "truncate": apsw.SQLITE_IOERR_TRUNCATE,
    "sync": apsw.SQLITE_IOERR_FSYNC,
    "unlink": apsw.SQLITE_IOERR_DELETE,
}


class MeteredFiles(apsw.VFS):
    """The default file layer of the process, until it is unregistered."""

    def __init__(self, meter: Meter) -> None:
        super().__init__("metered", "", makedefault=True)
        self._meter = meter

    def excepthook(self, *_error: object) -> None:
        """Say nothing of an error that SQLite made up its mind to bear."""

    def xOpen(self, name: Any, flags: list[int]) -> MeteredFile:  # noqa: N802 - SQLite's
        """Open a file; a new one is a change."""
        kind = "make" if flags[0] & apsw.SQLITE_OPEN_CREATE else "open"
        return struck(self._meter, kind, lambda: MeteredFile(self._meter, name, flags))

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802 - SQLite's
        """Remove a file."""
        delete = super().xDelete
        struck(self._meter, "unlink", lambda: delete(filename, syncdir))


class MeteredFile(apsw.VFSFile):
    """An open file whose calls are counted."""

    def __init__(self, meter: Meter, name: Any, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        self._meter = meter

    def excepthook(self, *_error: object) -> None:
        """Say nothing, as above."""

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 - SQLite's
        """Read a piece."""
        read = super().xRead
        return struck(self._meter, "read", lambda: read(amount, offset))

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's
        """Write a piece; a torn one ends in its middle."""
        write = super().xWrite
        part = bytes(data)[: len(data) // 2]
        struck(
            self._meter,
            "write",
            lambda: write(data, offset),
            lambda: write(part, offset),
        )

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - SQLite's
        """Cut the file."""
        cut = super().xTruncate
        struck(self._meter, "truncate", lambda: cut(newsize))

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's
        """Count it."""
        # What a process has written outlives it without a sync.
        with told_in_codes(self._meter, "sync"):
            self._meter.sync(self, lambda: None)


def struck(
    meter: Meter,
    kind: str,
    do: Callable[[], Any],
    half: Callable[[], Any] = lambda: None,
) -> Any:
    """Do it through the meter."""
    with told_in_codes(meter, kind):
        return meter.call(kind, do, half)


@contextlib.contextmanager
def told_in_codes(meter: Meter, kind: str) -> Iterator[None]:
    """Tell SQLite of a planned error in its own words."""
    try:
        yield
    except OSError as error:
        is_full = meter.plan is not None and meter.plan.what == _FULL
        code = apsw.SQLITE_FULL if is_full and kind == "write" else _CODES[kind]
        raise apsw.exception_for(code) from error
