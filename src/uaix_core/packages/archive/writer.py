"""Writing archives: the same files always give the same bytes.

Entries are stored, sorted by path (code points), with one fixed timestamp and fixed
attributes (UAIX package format v0.1, "Archives"); layout as in APPNOTE 4.3.
"""

from __future__ import annotations

import zlib
from datetime import UTC, datetime
from struct import Struct
from typing import TYPE_CHECKING, Final

from uaix_core.packages.archive.layout import (
    CENTRAL,
    CENTRAL_SIGNATURE,
    END,
    END_SIGNATURE,
    FLAG_UTF8,
    LOCAL,
    LOCAL_SIGNATURE,
    MAX_VERSION,
    ONES_16,
    ONES_32,
    STORED,
)
from uaix_core.packages.findings import Findings
from uaix_core.packages.limits import DEFAULT_LIMITS
from uaix_core.packages.paths import judge_path, judge_paths
from uaix_core.packages.rules.archives import ARCHIVE_RULES
from uaix_core.values.errors import CallerError, LimitError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from uaix_core.packages.archive.entries import Content
    from uaix_core.packages.limits import Limits

# Made on Unix; a regular file, readable by all, writable by its owner.
_MADE_BY: Final = (3 << 8 | MAX_VERSION).to_bytes(2, "little")
_CENTRAL_HEAD: Final = CENTRAL_SIGNATURE + _MADE_BY
_ATTRIBUTES: Final = 0o100644 << 16

_SHARED: Final = Struct("<5H3I2H")
_CENTRAL_TAIL: Final = Struct("<3H2I")

# The first and the last second that a DOS date can say (APPNOTE 4.4.6).
_EARLIEST: Final = 315_532_800
_LATEST: Final = 4_354_819_198


def write_archive(
    files: Mapping[str, Content],
    *,
    timestamp: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> bytes:
    """The archive of these files (logical path to bytes) as one piece.

    Arguments and errors are those of `iter_archive`.
    """
    return b"".join(iter_archive(files, timestamp=timestamp, limits=limits))


def iter_archive(
    files: Mapping[str, Content],
    *,
    timestamp: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Content]:
    """The archive of these files in pieces, to be written one after the other.

    ``timestamp`` is in seconds since 1970 UTC, brought into the years 1980 to 2107
    and rounded down to two seconds; None is the earliest. Of ``limits`` only those of
    paths count. Everything is checked before the first piece.

    Raises:
        CallerError: with the code of the path rule that a path breaks.
        LimitError: ``archive.classic`` when more than 65,534 files or 4 GiB would need
            ZIP64.

    """
    paths = sorted(files)
    check_paths(paths, limits)
    names = [path.encode("utf-8") for path in paths]
    names_size = sum(map(len, names))
    content_size = sum(map(len, files.values()))
    directory_size = CENTRAL.size * len(names) + names_size
    directory_at = LOCAL.size * len(names) + names_size + content_size
    if len(names) >= ONES_16 or directory_at + directory_size >= ONES_32:
        raise LimitError(
            "so many or so large files don't fit a ZIP archive without ZIP64",
            code="archive.classic",
        )
    return _pieces(zip(paths, names, strict=True), files, _dos_time(timestamp))


def check_paths(paths: Iterable[str], limits: Limits = DEFAULT_LIMITS) -> None:
    """Refuse paths that no package may hold, with the first broken rule's code."""
    findings = Findings(ARCHIVE_RULES)
    paths = list(paths)
    for path in paths:
        judge_path(path, limits, findings)
    judge_paths(paths, findings, limits)
    for finding in findings:
        raise CallerError(finding.message, code=finding.code, path=finding.path)


def _pieces(
    named: Iterable[tuple[str, bytes]],
    files: Mapping[str, Content],
    moment: tuple[int, int],
) -> Iterator[Content]:
    directory: list[bytes] = []
    time, date = moment
    offset = 0
    for path, name in named:
        content = files[path]
        size = len(content)
        shared = _SHARED.pack(
            MAX_VERSION,
            0 if name.isascii() else FLAG_UTF8,
            STORED,
            time,
            date,
            zlib.crc32(content),
            size,
            size,
            len(name),
            0,
        )
        tail = _CENTRAL_TAIL.pack(0, 0, 0, _ATTRIBUTES, offset)
        directory.append(b"".join((_CENTRAL_HEAD, shared, tail, name)))
        yield b"".join((LOCAL_SIGNATURE, shared, name))
        yield content
        offset += LOCAL.size + len(name) + size
    count = len(directory)
    records = b"".join(directory)
    yield records
    yield END.pack(END_SIGNATURE, 0, 0, count, count, len(records), offset, 0)


def _dos_time(timestamp: int | None) -> tuple[int, int]:
    """Time and date of MS-DOS, in UTC (APPNOTE 4.4.6)."""
    seconds = min(max(timestamp or 0, _EARLIEST), _LATEST)
    moment = datetime.fromtimestamp(seconds, UTC)
    return (
        moment.hour << 11 | moment.minute << 5 | moment.second >> 1,
        moment.year - 1980 << 9 | moment.month << 5 | moment.day,
    )
