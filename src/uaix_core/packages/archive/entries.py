"""What an archive holds: entries that read and check their own content."""

from __future__ import annotations

import zlib
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

from uaix_core.packages.archive.layout import STORED
from uaix_core.packages.paths import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from uaix_core.packages.findings import Findings
    from uaix_core.packages.limits import Limits

#: The bytes of an entry: a view into the archive when stored, else inflated bytes.
Content = bytes | memoryview


@attrs.define(eq=False)
class Reading:
    """One reading of one archive: its bytes, its limits and where findings go.

    ``inflated`` counts the bytes of entries that gave more than they declared,
    ``hidden`` the entries that the directory leaves out. ``names`` are the names that
    were looked at closely, their beginnings where they are long.
    """

    view: memoryview
    limits: Limits
    findings: Findings
    inflated: int = 0
    hidden: int = 0
    names: list[str] = attrs.field(factory=list)


@attrs.frozen(eq=False)
class Entry:
    """One file of an archive, as its directory record declares it.

    Sizes and offsets are in bytes, offsets from the start of the archive; ``method``
    is 0 (stored) or 8 (deflate) unless a finding says otherwise.
    """

    path: str
    method: int
    size: int
    compressed_size: int
    crc: int
    header_offset: int
    data_offset: int
    _reading: Reading = attrs.field(repr=False)

    def read(self) -> Content | None:
        """The content, inflated and checked anew at each call.

        What doesn't fit (damaged or overlong deflate stream, sizes, CRC-32) becomes a
        finding. None when there is no whole content, or after a limit or bomb; content
        with a wrong CRC-32 is returned, so that further checks can see it.
        """
        reading = self._reading
        if reading.findings.halted:
            return None
        start = self.data_offset
        content: Content | None = reading.view[start : start + self.compressed_size]
        if self.method != STORED:
            content = _inflate(self, reading)
        elif self.compressed_size != self.size:
            return None
        if content is not None and zlib.crc32(content) != self.crc:
            reading.findings.add("zip.crc", shown(self.path))
        return content


@attrs.frozen(eq=False)
class ArchiveContents:
    """The files of an archive in the order in which they lie there.

    ``entries`` is by path, the first of equal paths; ``complete`` says whether the
    whole directory could be read (False: absent paths prove nothing).
    """

    entries: Mapping[str, Entry]
    complete: bool
    _all: Sequence[Entry] = attrs.field(repr=False)
    _reading: Reading = attrs.field(repr=False)

    @property
    def names(self) -> Sequence[str]:
        """Further names that the archive holds, whether or not they are files.

        Those of folders, of entries that can't be read or that the directory leaves
        out. Findings may show them, though `entries` doesn't hold them.
        """
        return self._reading.names

    @classmethod
    def of(
        cls,
        entries: Sequence[Entry],
        nameless: set[int],
        reading: Reading,
        *,
        whole: bool,
    ) -> ArchiveContents:
        """Contents of these entries; ``nameless`` are indices without a usable path."""
        by_path: dict[str, Entry] = {}
        for index, entry in enumerate(entries):
            if index not in nameless:
                by_path.setdefault(entry.path, entry)
        return cls(MappingProxyType(by_path), whole, entries, reading)

    def bodies(self) -> Iterator[tuple[Entry, Content | None]]:
        """Read and check every entry once, in archive order, one at a time.

        Also entries that `entries` leaves out are checked, but not given. Ends early
        after a limit or bomb. A caller that keeps no content needs memory for one
        entry only.
        """
        entries, findings = self.entries, self._reading.findings
        for entry in self._all:
            content = entry.read()
            if findings.halted:
                return
            if entries.get(entry.path) is entry:
                yield entry, content


def _inflate(entry: Entry, reading: Reading) -> bytes | None:
    start, stop = entry.data_offset, entry.data_offset + entry.compressed_size
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        content = stream.decompress(reading.view[start:stop], entry.size + 1)
        if stream.eof and len(content) == entry.size and not stream.unused_data:
            return content
        _explain(entry, reading, stream, len(content))
    except zlib.error:
        reading.findings.add("zip.deflate", shown(entry.path))
    except MemoryError:
        reading.findings.halt("zip.limit-entry", shown(entry.path), "out of memory")
    return None


def _explain(
    entry: Entry, reading: Reading, stream: zlib._Decompress, output: int
) -> None:
    """Say what is wrong with a stream that gave ``output`` bytes, within limits."""
    limits, findings, path = reading.limits, reading.findings, shown(entry.path)
    if output <= entry.size:
        if not stream.eof:
            message = "the deflate stream does not end within the compressed size"
        elif stream.unused_data:
            message = "bytes after the end of the deflate stream"
        else:
            message = "the content is shorter than declared"
        findings.add("zip.size", path, message)
        return
    findings.add("zip.size", path, "the content is longer than declared")
    # How much longer? Only as far as the limits go, and nothing of it is kept. The
    # whole budget is spent first: a stream that breaks off has cost as much.
    budget = min(limits.entry_bytes, limits.total_bytes - reading.inflated) - output
    reading.inflated += output
    if budget >= 0:
        reading.inflated += budget + 1
        rest = len(stream.decompress(stream.unconsumed_tail, budget + 1))
        reading.inflated -= budget + 1 - rest
        output += rest
    consumed = entry.compressed_size - len(stream.unconsumed_tail)
    if limits.is_bomb(output, consumed):
        findings.halt("zip.bomb", path)
    elif output > limits.entry_bytes:
        findings.halt("zip.limit-entry", path)
    elif reading.inflated > limits.total_bytes:
        findings.halt("zip.limit-total", path)
