"""A folder of files, read through the same interface as an archive.

Source: UAIX package format v0.1, "Archives" (the limits) and "Paths".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from uaix_core.packages.paths import judge_path, judge_paths, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from uaix_core.packages.findings import Findings
    from uaix_core.packages.limits import Limits


@attrs.frozen(eq=False)
class FolderEntry:
    """One file of a folder; ``size`` is in bytes."""

    path: str
    _data: bytes = attrs.field(repr=False)

    @property
    def size(self) -> int:
        """The length of the content in bytes."""
        return len(self._data)

    def read(self) -> bytes | None:
        """The content."""
        return self._data


@attrs.frozen(eq=False)
class FolderContents:
    """The files of a folder by path; a folder is always complete."""

    entries: Mapping[str, FolderEntry]
    _findings: Findings = attrs.field(repr=False)
    complete: bool = True

    def bodies(self) -> Iterator[tuple[FolderEntry, bytes | None]]:
        """Every file with its content, in the order of the mapping.

        Ends early after a limit.
        """
        for entry in self.entries.values():
            if self._findings.halted:
                return
            yield entry, entry.read()


def read_folder(
    files: Mapping[str, bytes], findings: Findings, limits: Limits
) -> FolderContents:
    """Judge the paths and the sizes of a folder; its bytes are already in memory."""
    total = 0
    if len(files) > limits.entries:
        findings.halt("zip.limit-entries")
    for path, data in files.items():
        judge_path(path, limits, findings)
        total += len(data)
        if len(data) > limits.entry_bytes:
            findings.halt("zip.limit-entry", shown(path))
    if total > limits.total_bytes:
        findings.halt("zip.limit-total")
    judge_paths(files, findings, limits)
    entries = {path: FolderEntry(path, data) for path, data in files.items()}
    return FolderContents(entries, findings)
