"""Finding the end record, and saying what is wrong around it.

Source: APPNOTE 4.3.16; UAIX package format v0.1, "Archives": the end record is the
last 22 bytes, and its counts and offsets are exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from uaix_core.packages.archive.layout import (
    CENTRAL_SIGNATURE,
    DESCRIPTOR_SIGNATURE,
    END,
    END_SIGNATURE,
    LOCAL_SIGNATURE,
    ONES_16,
    ONES_32,
)
from uaix_core.packages.rules.archives import PADDING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core.packages.archive.entries import Reading

#: How far back from the end of a file readers look for an end record.
REACH = END.size + ONES_16

# Only so much is copied at a time: a view can't be searched.
_CHUNK = 1 << 20


@attrs.frozen
class End:
    """The end record: where it lies, and what it says of the directory.

    ``shift`` is how far offsets are off when bytes were put before the archive.
    """

    at: int
    count: int
    directory_size: int
    directory_at: int
    shift: int


def find_end(reading: Reading) -> End | None:
    """The end record, or None when the directory can't be found; faults are noted."""
    view, findings = reading.view, reading.findings
    at = len(view) - END.size
    if at < 0 or not is_at(view, at, END_SIGNATURE) or view[-2] or view[-1]:
        found = _find_misplaced_end(reading)
        if found is None:
            return None
        at = found
    if _has_other_end(view, at):
        findings.add("zip.multi-end")
    if is_at(view, 0, DESCRIPTOR_SIGNATURE):
        findings.add("zip.multi-disk", message="the mark of a split archive")
    return _read_end(reading, at)


def _find_misplaced_end(reading: Reading) -> int | None:
    view, findings = reading.view, reading.findings
    size = len(view)
    for at in find_backwards(view, END_SIGNATURE, 0):
        if at + END.size > size:
            continue
        stop = at + END.size + END.unpack_from(view, at)[7]
        if stop > size:
            findings.add("zip.truncated", message="the archive comment is cut short")
        elif stop < size:
            findings.add("zip.framing", message=PADDING)
        if stop > at + END.size:
            findings.add("zip.framing", message="an archive comment")
        return at
    begins = is_at(view, 0, LOCAL_SIGNATURE) or is_at(view, 0, END_SIGNATURE)
    findings.add("zip.truncated" if begins else "zip.not-zip")
    return None


def _read_end(reading: Reading, at: int) -> End | None:
    view, findings = reading.view, reading.findings
    _, disk, first_disk, here, count, size, offset, _ = END.unpack_from(view, at)
    if ONES_16 in (disk, first_disk, here, count) or ONES_32 in (size, offset):
        findings.add("zip.zip64", message="the end record refers to ZIP64")
    if disk not in (0, ONES_16) or first_disk not in (0, ONES_16):
        findings.add("zip.multi-disk")
    if here != count:
        findings.add("zip.framing", message="the two counts of entries differ")
    shift = at - size - offset
    if shift == 0:
        return End(at, count, size, offset, 0)
    # Something lies between directory and end record, or before the archive, or
    # the numbers lie. Believe the directory's own signature.
    if is_at(view, offset, CENTRAL_SIGNATURE):
        return End(at, count, size, offset, 0)
    if shift > 0 and (size == 0 or is_at(view, offset + shift, CENTRAL_SIGNATURE)):
        findings.add("zip.framing", message="bytes before the first entry")
        return End(at, count, size, offset + shift, shift)
    is_past = offset + size > len(view) and ONES_32 not in (size, offset)
    findings.add(
        "zip.truncated" if is_past else "zip.framing",
        message="the directory is not where the end record says",
    )
    return None


def _has_other_end(view: memoryview, at: int) -> bool:
    start = max(0, len(view) - REACH)
    return any(
        other != at and is_end(view, other)
        for other in find_backwards(view, END_SIGNATURE, start)
    )


def is_end(view: memoryview, at: int) -> bool:
    """Whether a reader that comes upon these bytes would take them for an end record.

    That is, they lie behind a directory, or give the exact place of one, or say that
    there is none.
    """
    if at + END.size > len(view):
        return False
    _, _, _, here, count, size, offset, comment = END.unpack_from(view, at)
    if at + END.size + comment > len(view) or size > at:
        return False
    if size == 0:
        return bool(here == count == 0)
    # Some readers believe the size, others the offset, whatever lies between.
    places = (at - size, offset)
    return any(is_at(view, place, CENTRAL_SIGNATURE) for place in places)


def is_at(view: memoryview, at: int, signature: bytes) -> bool:
    """Whether a signature stands at this place."""
    return view[at : at + len(signature)].tobytes() == signature


def find_backwards(view: memoryview, needle: bytes, start: int) -> Iterator[int]:
    """Where the needle lies at or after ``start``, the last place first."""
    stop = len(view)
    while stop > start:
        begin = max(start, stop - _CHUNK)
        chunk = bytes(view[begin : stop + len(needle) - 1])
        found = chunk.rfind(needle)
        while found >= 0:
            yield begin + found
            found = chunk.rfind(needle, 0, found + len(needle) - 1)
        stop = begin
