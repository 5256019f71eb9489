"""The names in an archive: how they are spelled, and what they are to each other.

Source: UAIX package format v0.1, "Archives" and "Paths"; APPNOTE 4.4.4 bit 11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_core.packages.archive.layout import FLAG_UTF8
from uaix_core.packages.paths import judge_path, judge_paths, shown, wrapping_folder
from uaix_core.packages.rules.archives import UNFLAGGED_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uaix_core.packages.archive.entries import Reading

_MACOSX = "__MACOSX"

# No finding shows more of a name than its beginning.
_KEPT = 1024


def read_name(reading: Reading, name: bytes, flags: int) -> tuple[str, bool]:
    """The path a name spells, and whether it spells one at all."""
    try:
        path = name.decode("utf-8")
    except UnicodeDecodeError:
        path = name.decode("utf-8", "backslashreplace")
        reading.names.append(path[:_KEPT])
        reading.findings.add("path.encoding", shown(path))
        return path, False
    reading.names.append(path[:_KEPT])
    if not (flags & FLAG_UTF8 or name.isascii()):
        reading.findings.add("path.encoding", shown(path), UNFLAGGED_NAME)
    return path, True


def judge_names(
    reading: Reading, paths: Sequence[str], folders: Sequence[tuple[str, bool]]
) -> None:
    """Judge the paths of all files, and the folder entries.

    A folder is its path without the last slash, and whether its entry is an empty
    stored one.
    """
    limits, findings = reading.limits, reading.findings
    for path in paths:
        judge_path(path, limits, findings)
    judge_paths(paths, findings, limits)
    if folders:
        _judge_folders(reading, paths, folders)
    wrapper = wrapping_folder(paths)
    if wrapper is not None:
        findings.add("zip.wrapping-folder", shown(wrapper))
    if any(path.startswith(f"{_MACOSX}/") for path in paths):
        findings.add("zip.macosx", _MACOSX)


def _judge_folders(
    reading: Reading, paths: Sequence[str], folders: Sequence[tuple[str, bool]]
) -> None:
    limits, findings = reading.limits, reading.findings
    parents: set[str] = set()
    for path in paths:
        # Of an overlong path, which is refused, the parents could fill the memory.
        folder, slash, _ = path[: limits.path_bytes].rpartition("/")
        while slash and folder not in parents:
            parents.add(folder)
            folder, slash, _ = folder.rpartition("/")
    seen: set[str] = set()
    for folder, is_empty in folders:
        judge_path(folder, limits, findings)
        if folder in seen:
            findings.add("path.duplicate", shown(folder))
        seen.add(folder)
        useful = is_empty and folder in parents
        code = "zip.parent-folder" if useful else "zip.directory-entry"
        findings.add(code, shown(folder))
