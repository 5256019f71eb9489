"""The file of a backup: its beginning, its end, and the lines of its parts."""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from typing import TYPE_CHECKING, Self

from uaix_backends.backup.form import (
    END_BYTES,
    HEAD,
    damaged,
    read_end,
    unpacked,
)
from uaix_backends.backup.index import read_index
from uaix_backends.naming import named_store
from uaix_core.values.errors import StorageError, StoreOpenError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_backends.backup.index import Index, Part

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)


class BackupFile:
    """An open file, read at any place by any thread."""

    def __init__(self, fd: int, name: str) -> None:
        self._fd = fd
        self.name = name
        self._lock = threading.Lock()

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open what lies at a path.

        Raises:
            StoreOpenError: ``store.path``, ``store.missing``.
            StorageError: the medium failed.

        """
        name = str(named_store(path))
        try:
            return cls(os.open(name, _FLAGS), name)
        except FileNotFoundError:
            raise StoreOpenError(
                "there is no backup",
                code="store.missing",
                path=name,
                hint="check the path; uaix backup -o makes one",
            ) from None
        except OSError as error:
            raise _failed(name) from error

    def is_at(self, path: str | os.PathLike[str]) -> bool:
        """Whether it is this very file that stands at a path."""
        try:
            return os.path.samestat(os.fstat(self._fd), os.stat(path))  # noqa: PTH116
        except (OSError, ValueError):
            return False

    def index(self) -> Index:
        """The index, after a look at the beginning and the end.

        Raises:
            StoreOpenError: ``store.not-a-store``, ``store.format``.
            IntegrityError: ``storage.backup``.
            StorageError: the medium failed.

        """
        status = os.fstat(self._fd)
        size = status.st_size
        is_file = stat.S_ISREG(status.st_mode)
        if not is_file or self._bytes(len(HEAD), 0) != HEAD:
            raise StoreOpenError(
                "what lies there is no backup",
                code="store.not-a-store",
                path=self.name,
            )
        end = read_end(self._bytes(END_BYTES, max(size - END_BYTES, 0)))
        # Without its end it was cut short.
        if end is None or end[0] > size - END_BYTES:
            raise damaged(self.name)
        at, digest = end
        frame = self._bytes(size - END_BYTES - at, at)
        return read_index(frame, digest, at, self.name)

    def lines(self, part: Part, where: str) -> Iterator[bytes]:
        """The lines of a part, without their newlines."""
        size = os.fstat(self._fd).st_size
        frame = self._bytes(min(part.size, size), part.at)
        if hashlib.sha256(frame).hexdigest() != part.sha256:
            raise damaged(where)
        data = unpacked(frame, part.length, where)
        if not data.endswith(b"\n"):
            raise damaged(where)
        # One after the other: there may be as many as bytes.
        start = 0
        while start < len(data):
            stop = data.index(b"\n", start)
            yield data[start:stop]
            start = stop + 1

    def _bytes(self, count: int, start: int) -> bytes:
        parts = []
        try:
            with self._lock:
                os.lseek(self._fd, start, os.SEEK_SET)
                while count > 0 and (data := os.read(self._fd, count)):
                    parts.append(data)
                    count -= len(data)
        except (OSError, OverflowError) as error:
            raise _failed(self.name) from error
        except MemoryError as error:
            raise damaged(self.name) from error
        return b"".join(parts)

    def close(self) -> None:
        """Close it."""
        os.close(self._fd)


def _failed(name: str) -> StorageError:
    return StorageError("reading the backup failed", code="storage.io", path=name)
