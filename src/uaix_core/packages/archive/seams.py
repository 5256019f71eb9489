"""What lies where nothing may lie: between entries, and around the directory."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from uaix_core.packages.archive.end import find_backwards, is_at, is_end
from uaix_core.packages.archive.layout import (
    END_SIGNATURE,
    FLAG_DESCRIPTOR,
    LOCAL,
    LOCAL_SIGNATURE,
    ZIP64_SIGNATURES,
)
from uaix_core.packages.archive.names import read_name
from uaix_core.packages.paths import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core.packages.archive.entries import Reading

# So many end records without a directory are looked at before giving up.
_MAX_CANDIDATES = 4096


def judge_seam(reading: Reading, at: int, stop: int) -> None:
    """Say what lies between two entries, or before the directory; often nothing.

    Entries that the directory leaves out count towards the limit of entries.
    """
    if at >= stop:
        return
    findings = reading.findings
    for path, after in _hidden_entries(reading, at, stop):
        findings.add("zip.hidden-entry", shown(path))
        reading.hidden += 1
        if reading.hidden > reading.limits.entries:
            findings.halt("zip.limit-entries")
            return
        at = after
    if at < stop:
        code, message = name_stray(reading.view, at)
        findings.add(code, message=message)
        if _holds_end(reading.view[at:stop]):
            findings.add("zip.multi-end")


def name_stray(view: memoryview, at: int) -> tuple[str, str]:
    """The code and message for bytes that belong to no allowed record."""
    if any(is_at(view, at, signature) for signature in ZIP64_SIGNATURES):
        return "zip.zip64", "a ZIP64 record"
    return "zip.framing", "bytes outside any record"


def _hidden_entries(reading: Reading, at: int, stop: int) -> Iterator[tuple[str, int]]:
    """The path of each local entry in the seam, and where the entry ends."""
    view = reading.view
    while at + LOCAL.size <= stop and is_at(view, at, LOCAL_SIGNATURE):
        fields = LOCAL.unpack_from(view, at)
        name_at = at + LOCAL.size
        name_end = name_at + fields[9]
        path, _ = read_name(reading, view[name_at:name_end].tobytes(), fields[2])
        at = name_end + fields[10] + fields[7]
        if fields[2] & FLAG_DESCRIPTOR or at > stop:
            # Its end isn't known from here: the rest of the seam counts as its own.
            at = stop
        yield path, at


def _holds_end(view: memoryview) -> bool:
    candidates = find_backwards(view, END_SIGNATURE, 0)
    return any(is_end(view, at) for at in islice(candidates, _MAX_CANDIDATES))
