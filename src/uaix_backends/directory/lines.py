"""Lines of a file that only grows, and what its end tells after a crash.

A line counts once its newline is there. The end of a file may hold a line that was
never acknowledged: without its newline, or with sectors that were never written. That
is `TORN` and may be cut. Every other disagreement is damage.
"""

from __future__ import annotations

import enum
import os
import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from uaix_backends.directory.files import File

_CHUNK: Final = 1 << 20
#: A longer run of nothing is looked at by its holes and not read.
_LONGEST_ZEROS: Final = 1 << 26
#: What a disk writes at once.
_SECTOR: Final = 512
#: Fewer zeros than this are no unwritten sector but damage.
_FEW: Final = 8

_ZEROS = re.compile(rb"\0+")


class Line(NamedTuple):
    """Where a line begins, its bytes without the newline, and whether it has one."""

    start: int
    data: bytes
    is_ended: bool

    @property
    def end(self) -> int:
        """Where the next line begins."""
        return self.start + len(self.data) + self.is_ended


class Tail(enum.Enum):
    """What stands after the last newline of a file."""

    #: A part of a line: it was never acknowledged.
    TORN = "torn"
    #: A whole line that only misses its newline.
    WHOLE = "whole"
    #: A whole line whose newline has become another byte.
    DAMAGED = "damaged"


def read_lines(file: File, start: int) -> Iterator[Line]:
    """The lines from ``start`` to the end; only the last may miss its newline."""
    parts: list[bytes] = []
    position = start
    while chunk := file.read(_CHUNK, position):
        position += len(chunk)
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            data = b"".join((*parts, piece)) if parts else piece
            parts.clear()
            yield Line(start, data, is_ended=True)
            start += len(data) + 1
        if rest:
            parts.append(rest)
        if not ended and not chunk.strip(b"\0") and _is_hole(file, position):
            break
    if parts:
        yield Line(start, b"".join(parts), is_ended=False)


def _is_hole(file: File, position: int) -> bool:
    """Whether nothing but a huge hole follows."""
    if os.fstat(file.fd).st_size - position < _LONGEST_ZEROS:
        return False
    try:
        os.lseek(file.fd, position, os.SEEK_DATA)
    except OSError:
        return True
    return False


def judge_tail(tail: bytes, verifies: Callable[[bytes], bool]) -> Tail:
    """What to do with bytes that no newline follows."""
    kept = tail.rstrip(b"\0")
    if kept.endswith(b"}") and verifies(kept):
        return Tail.WHOLE
    if tail[-2:-1] == b"}" and verifies(tail[:-1]):
        return Tail.DAMAGED
    return Tail.TORN


def is_unwritten(line: Line) -> bool:
    """Whether the last line of a file has sectors that were never written.

    A newer part of a file can reach the disk before an older one. A stray zero byte
    is not that: it is damage.
    """
    end = line.start + len(line.data)
    for zeros in _ZEROS.finditer(line.data):
        first, last = line.start + zeros.start(), line.start + zeros.end()
        if (
            last - first >= _FEW
            and (first == line.start or first % _SECTOR == 0)
            and (last == end or last % _SECTOR == 0)
        ):
            return True
    return False
