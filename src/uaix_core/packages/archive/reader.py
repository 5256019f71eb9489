"""Our own strict reader of ZIP archives.

An archive is local entries from offset 0, the directory, the end record, and nothing
before, between or after (UAIX package format v0.1, "Archives"). A reader that walks
from the front and one that starts from the back then see the same files. Whatever
the bytes are, the outcome is findings, never another exception.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_core.packages.archive.end import End, find_end
from uaix_core.packages.archive.entries import (
    ArchiveContents,
    Content,
    Entry,
    Reading,
)
from uaix_core.packages.archive.headers import Record, bind_local, read_record
from uaix_core.packages.archive.layout import (
    CENTRAL,
    CENTRAL_SIGNATURE,
    DEFLATED,
    DOS_SPECIAL,
    FLAG_UTF8,
    LOCAL,
    LOCAL_SIGNATURE,
    MAX_VERSION,
    SHARED,
    STORED,
    UNIX_NONE,
    UNIX_REGULAR,
)
from uaix_core.packages.archive.names import judge_names
from uaix_core.packages.archive.seams import judge_seam, name_stray
from uaix_core.packages.limits import DEFAULT_LIMITS, Limits
from uaix_core.packages.paths import shown
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from uaix_core.packages.findings import Findings

__all__ = ["ArchiveContents", "Content", "Entry", "read_archive"]

EXTENSION = ".uaix"

_ORDINARY_FLAGS = frozenset(
    speed << 1 | name for speed in range(4) for name in (0, FLAG_UTF8)
)
_ORDINARY_TYPES = (UNIX_NONE, UNIX_REGULAR)


def read_archive(
    data: bytes | bytearray | memoryview,
    findings: Findings,
    *,
    name: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> ArchiveContents:
    """Read the structure of an archive; `ArchiveContents.bodies` reads the content.

    ``data`` is any contiguous buffer of bytes and must stay unchanged while the
    contents are in use; ``name`` is the file's name, if it has one. Findings go to
    ``findings``, whose table must hold `ARCHIVE_RULES`.

    Raises:
        CallerError: ``archive.type`` when ``data`` is no such buffer.

    """
    try:
        view = memoryview(data).cast("B")
    except TypeError:
        raise CallerError(
            "an archive is a buffer of bytes", code="archive.type"
        ) from None
    reading = Reading(view.toreadonly(), limits, findings)
    if name is not None and not name.endswith(EXTENSION):
        findings.add("zip.extension")
    if len(view) > limits.archive_bytes:
        findings.halt("zip.limit-archive")
        return ArchiveContents.of((), set(), reading, whole=False)
    end = find_end(reading)
    if end is None:
        return ArchiveContents.of((), set(), reading, whole=False)
    return _Walk(reading, end).contents()


class _Walk:
    """The walk through one archive: directory, local entries, what they add up to."""

    def __init__(self, reading: Reading, end: End) -> None:
        self.reading = reading
        self.end = end
        self.directory = bytes(reading.view[end.directory_at : end.at])
        self.entries: list[Entry] = []
        self.nameless: set[int] = set()
        self.folders: list[tuple[str, bool]] = []
        self.position = 0
        self.is_whole = True

    def contents(self) -> ArchiveContents:
        """Walk, and give what was found."""
        records = self._list_records()
        records.sort()
        for offset, at in records:
            if self._take_ordinary(offset, at):
                continue
            self._take(read_record(self.reading, self.directory, at, self.end.shift))
        judge_seam(self.reading, self.position, self.end.directory_at)
        self._judge_totals()
        judge_names(self.reading, self._paths(), self.folders)
        whole = self.is_whole and not self.reading.findings.halted
        return ArchiveContents.of(
            self.entries, self.nameless, self.reading, whole=whole
        )

    def _list_records(self) -> list[tuple[int, int]]:
        """The (offset of the local header, place in the directory) of each record."""
        directory, findings = self.directory, self.reading.findings
        size, at = len(directory), 0
        shift, unpack = self.end.shift, CENTRAL.unpack_from
        records: list[tuple[int, int]] = []
        while at < size and directory.startswith(CENTRAL_SIGNATURE, at):
            if at + CENTRAL.size > size:
                break
            fields = unpack(directory, at)
            stop = at + CENTRAL.size + fields[10] + fields[11] + fields[12]
            if stop > size:
                break
            records.append((fields[16] + shift, at))
            if len(records) > self.reading.limits.entries:
                findings.halt("zip.limit-entries")
                return records[:-1]
            at = stop
        if at != size:
            self.is_whole = False
            findings.add(*self._name_rest(at))
        if at != self.end.directory_size:
            findings.add("zip.framing", message="the size of the directory is wrong")
        if len(records) != self.end.count:
            findings.add("zip.framing", message="the count of entries is wrong")
        return records

    def _name_rest(self, at: int) -> tuple[str, None, str]:
        if self.directory.startswith(CENTRAL_SIGNATURE, at):
            return "zip.framing", None, "a directory record is cut short"
        code, message = name_stray(self.reading.view, self.end.directory_at + at)
        return code, None, message

    def _take_ordinary(self, offset: int, at: int) -> bool:
        """Take an entry of the plainest kind with few steps; False: look closely.

        Everything that `read_record`, `bind_local` and `_take` would note must lead
        to False here.
        """
        directory, view, limits = self.directory, self.reading.view, self.reading.limits
        (
            _,
            _,
            version,
            flags,
            method,
            _,
            _,
            crc,
            compressed_size,
            size,
            name_size,
            extra_size,
            comment_size,
            disk,
            _,
            attributes,
            _,
        ) = CENTRAL.unpack_from(directory, at)
        if (
            offset != self.position
            or flags not in _ORDINARY_FLAGS
            or version > MAX_VERSION
            or extra_size
            or comment_size
            or disk
            or attributes >> 28 not in _ORDINARY_TYPES
            or attributes & DOS_SPECIAL
            or size > limits.entry_bytes
            or limits.is_bomb(size, compressed_size)
        ):
            return False
        if method == STORED:
            if size != compressed_size:
                return False
        elif method != DEFLATED or compressed_size > 2 * limits.entry_bytes:
            return False
        name_at = at + CENTRAL.size
        name = directory[name_at : name_at + name_size]
        start = offset + LOCAL.size + name_size
        stop = start + compressed_size
        shared = directory[at + SHARED.start : at + SHARED.stop]
        if (
            stop > self.end.directory_at
            or view[offset:start].tobytes() != LOCAL_SIGNATURE + shared + name
            or name.endswith(b"/")
            or not (name.isascii() or flags & FLAG_UTF8)
        ):
            return False
        try:
            path = name.decode("utf-8")
        except UnicodeDecodeError:
            return False
        self.position = stop
        self.entries.append(
            Entry(path, method, size, compressed_size, crc, offset, start, self.reading)
        )
        return True

    def _take(self, record: Record) -> None:
        bound = bind_local(self.reading, record)
        if bound is None:
            self.is_whole = False
            return
        start, stop = bound
        findings, where = self.reading.findings, shown(record.path)
        if record.offset > self.position:
            judge_seam(self.reading, self.position, record.offset)
        elif record.offset < self.position:
            findings.add("zip.overlap", where)
        if stop > self.end.directory_at:
            findings.add("zip.overlap", where, "the content reaches into the directory")
        self.position = max(self.position, min(stop, self.end.directory_at))
        self._judge_size(record, where)
        if record.is_folder:
            self._take_folder(record)
            return
        if not record.is_named:
            self.nameless.add(len(self.entries))
        if record.method not in (STORED, DEFLATED):
            return
        self.entries.append(
            Entry(
                record.path,
                record.method,
                record.size,
                record.compressed_size,
                record.crc,
                record.offset,
                start,
                self.reading,
            )
        )

    def _paths(self) -> list[str]:
        return [
            entry.path
            for index, entry in enumerate(self.entries)
            if index not in self.nameless
        ]

    def _take_folder(self, record: Record) -> None:
        is_empty = record.method == STORED and not any(
            (record.size, record.compressed_size, record.crc)
        )
        self.folders.append((record.path.removesuffix("/"), is_empty))

    def _judge_size(self, record: Record, where: str) -> None:
        limits, findings = self.reading.limits, self.reading.findings
        if record.size > limits.entry_bytes:
            findings.halt("zip.limit-entry", where)
        elif record.compressed_size > 2 * limits.entry_bytes:
            findings.halt("zip.limit-entry", where, "the compressed size is too large")
        if limits.is_bomb(record.size, record.compressed_size):
            findings.halt("zip.bomb", where)

    def _judge_totals(self) -> None:
        limits, findings = self.reading.limits, self.reading.findings
        total = sum(entry.size for entry in self.entries)
        if total > limits.total_bytes:
            findings.halt("zip.limit-total")
        if limits.is_bomb(total, len(self.reading.view)):
            findings.halt("zip.bomb", message="the entries together are a bomb")
        if sum(entry.compressed_size for entry in self.entries) > limits.archive_bytes:
            findings.halt("zip.bomb", message="entries use the same bytes many times")
