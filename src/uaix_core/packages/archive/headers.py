"""Judging one entry: its directory record, its local header, its descriptor.

Source: UAIX package format v0.1, "Archives"; APPNOTE 4.3.7, 4.3.9, 4.3.12, 4.4, 4.5.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

import attrs

from uaix_core.packages.archive.layout import (
    ALLOWED_FLAGS,
    CENTRAL,
    DEFLATED,
    DESCRIPTOR,
    DESCRIPTOR_SIGNATURE,
    DOS_FOLDER,
    DOS_SPECIAL,
    ENCRYPTION_FLAGS,
    FLAG_DESCRIPTOR,
    LOCAL,
    LOCAL_SIGNATURE,
    MAX_VERSION,
    ONES_16,
    ONES_32,
    STORED,
    UNIX_FOLDER,
    UNIX_NONE,
    UNIX_REGULAR,
)
from uaix_core.packages.archive.names import read_name
from uaix_core.packages.paths import shown
from uaix_core.packages.rules.archives import STORED_DESCRIPTOR

if TYPE_CHECKING:
    from uaix_core.packages.archive.entries import Reading

#: Extra fields (APPNOTE 4.5.2, 4.6) that say nothing about name or content.
_HARMLESS_EXTRAS: Final = frozenset((0x5455, 0x7875, 0x000A, 0x5855))
_EXTRA_ZIP64: Final = 0x0001
_EXTRA_UNICODE_PATH: Final = 0x7075
#: Extra fields that make a link or replace a comment.
_REFUSED_EXTRAS: Final = frozenset((0x000D, 0x6375))

_SHARED_FIELDS: Final = (
    "version",
    "flags",
    "method",
    "time",
    "date",
    "CRC-32",
    "compressed size",
    "size",
)
_FIRST_SIZE: Final = 5


@attrs.frozen
class Record:
    """A directory record; ``offset`` is from the start of the archive."""

    flags: int
    method: int
    crc: int
    compressed_size: int
    size: int
    attributes: int
    offset: int
    name: bytes
    path: str
    is_named: bool
    shared: tuple[int, ...]

    @property
    def is_folder(self) -> bool:
        """Whether the name says folder."""
        return self.name.endswith(b"/")


def read_record(reading: Reading, directory: bytes, at: int, shift: int) -> Record:
    """Judge a directory record by itself (without its sizes against limits)."""
    fields = CENTRAL.unpack_from(directory, at)
    shared = fields[2:10]
    name_end = at + CENTRAL.size + fields[10]
    name = directory[at + CENTRAL.size : name_end]
    path, is_named = read_name(reading, name, shared[1])
    disk, attributes, offset = fields[13], fields[15], fields[16]
    findings, where = reading.findings, shown(path)
    if disk == ONES_16 or ONES_32 in (shared[6], shared[7], offset):
        findings.add("zip.zip64", where, "a field refers to ZIP64")
    elif disk:
        findings.add("zip.multi-disk", where)
    if fields[12]:
        findings.add("zip.framing", where, "an entry comment")
    _judge_fields(reading, shared, where)
    judge_extra(reading, directory[name_end : name_end + fields[11]], name, where)
    record = Record(
        shared[1],
        shared[2],
        shared[5],
        shared[6],
        shared[7],
        attributes,
        offset + shift,
        name,
        path,
        is_named,
        shared,
    )
    _judge_type(reading, record, where)
    if record.method == STORED and record.compressed_size != record.size:
        findings.add("zip.size", where, "a stored entry with two different sizes")
    return record


def _judge_fields(reading: Reading, shared: tuple[int, ...], where: str) -> None:
    version, flags, method = shared[:3]
    add = reading.findings.add
    if flags & ENCRYPTION_FLAGS:
        add("zip.encrypted", where)
    if flags & ~(ENCRYPTION_FLAGS | ALLOWED_FLAGS):
        add("zip.version", where, "a flag that is not read here")
    if version > MAX_VERSION:
        add("zip.version", where, "needs a later version than 2.0")
    if method not in (STORED, DEFLATED):
        add("zip.method", where)
    if flags & FLAG_DESCRIPTOR and method == STORED:
        add("zip.descriptor", where, STORED_DESCRIPTOR)


def _judge_type(reading: Reading, record: Record, where: str) -> None:
    kind = record.attributes >> 28
    allowed = {UNIX_NONE, UNIX_REGULAR}
    special = DOS_SPECIAL
    if record.is_folder:
        allowed.add(UNIX_FOLDER)
        special &= ~DOS_FOLDER
    if kind not in allowed or record.attributes & special:
        reading.findings.add("zip.special-file", where)


def judge_extra(reading: Reading, extra: bytes, name: bytes, where: str) -> None:
    """Judge the extra field of one header; ``name`` is the name in the same header."""
    findings = reading.findings
    if len(extra) > reading.limits.extra_bytes:
        findings.halt("zip.limit-extra", where)
        extra = extra[: reading.limits.extra_bytes]
    at, size = 0, len(extra)
    unknown = None
    while at < size:
        kind = int.from_bytes(extra[at : at + 2], "little")
        start = at + 4
        stop = start + int.from_bytes(extra[at + 2 : start], "little")
        if start > size or stop > size:
            if not findings.halted:
                findings.add("zip.extra-field", where, "a malformed extra field")
            return
        if kind == _EXTRA_ZIP64:
            findings.add("zip.zip64", where, "a ZIP64 extra field")
        elif kind == _EXTRA_UNICODE_PATH:
            if not _repeats_name(extra[start:stop], name):
                findings.add("zip.extra-field", where, "an extra field with a new name")
        elif kind in _REFUSED_EXTRAS:
            findings.add("zip.extra-field", where)
        elif kind not in _HARMLESS_EXTRAS and unknown is None:
            # The first one speaks for all of this header.
            unknown = kind
            findings.add("zip.extra-unknown", where, f"an extra field {kind:#06x}")
        at = stop


def _repeats_name(data: bytes, name: bytes) -> bool:
    crc = zlib.crc32(name).to_bytes(4, "little")
    return data == b"\x01" + crc + name


def bind_local(reading: Reading, record: Record) -> tuple[int, int] | None:
    """Compare the local header with its directory record.

    Returns where the content starts and where the entry ends (behind its descriptor),
    or None when there is no local header at the record's offset.
    """
    view, findings, where = reading.view, reading.findings, shown(record.path)
    at = record.offset
    if at + LOCAL.size > len(view):
        findings.add("zip.truncated", where, "the local header is cut short")
        return None
    fields = LOCAL.unpack_from(view, at)
    if fields[0] != LOCAL_SIGNATURE:
        findings.add("zip.framing", where, "no local header at this offset")
        return None
    shared = fields[1:9]
    name_at = at + LOCAL.size
    extra_at = name_at + fields[9]
    start = extra_at + fields[10]
    stop = start + record.compressed_size
    if start > len(view) or stop > len(view):
        findings.add("zip.truncated", where, "the content is cut short")
        return None
    if view[name_at:extra_at] != record.name:
        findings.add("zip.header-mismatch", where, "the two names differ")
    _bind_fields(reading, record, shared, where)
    extra = bytes(view[extra_at:start])
    judge_extra(reading, extra, bytes(view[name_at:extra_at]), where)
    if shared[1] & FLAG_DESCRIPTOR:
        stop = _bind_descriptor(reading, record, stop, where)
    return start, stop


def _bind_fields(
    reading: Reading, record: Record, shared: tuple[int, ...], where: str
) -> None:
    if ONES_32 in shared[6:8]:
        reading.findings.add("zip.zip64", where, "a field refers to ZIP64")
    if shared == record.shared:
        return
    has_descriptor = shared[1] & FLAG_DESCRIPTOR
    differing = [
        field
        for index, field in enumerate(_SHARED_FIELDS)
        if shared[index] != record.shared[index]
        and not (has_descriptor and index >= _FIRST_SIZE and shared[index] == 0)
    ]
    if differing:
        message = "local header and directory differ in " + ", ".join(differing)
        reading.findings.add("zip.header-mismatch", where, message)
        _judge_fields(reading, shared, where)


def _bind_descriptor(reading: Reading, record: Record, at: int, where: str) -> int:
    """Compare the descriptor with the directory; return where the entry ends."""
    view, findings = reading.view, reading.findings
    numbers = record.shared[_FIRST_SIZE:]
    expected = DESCRIPTOR.pack(DESCRIPTOR_SIGNATURE, *numbers)
    found = bytes(view[at : at + DESCRIPTOR.size])
    if found == expected:
        return at + DESCRIPTOR.size
    if found[:4] == DESCRIPTOR_SIGNATURE:
        message = "the data descriptor differs from the directory"
        findings.add("zip.descriptor", where, message)
        return min(at + DESCRIPTOR.size, len(view))
    if found.startswith(expected[4:]):
        findings.add("zip.descriptor", where, "a data descriptor without a signature")
        return at + DESCRIPTOR.size - 4
    findings.add("zip.descriptor", where, "no data descriptor")
    return at
