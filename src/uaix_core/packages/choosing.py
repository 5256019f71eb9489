"""Choosing: which edits of a folder are to count, where somebody has to say so.

What was edited counts by itself. A file that is new or gone may be a slip, so that it
has to be named; what can't be told apart from another wish stops all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from uaix_core.packages.edits import CHANGES
from uaix_core.packages.entry_edits import checked_entry
from uaix_core.values.arguments import check_mapping
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from uaix_core.packages.edits import EditedFiles, Edits, FileStatus


def chosen_paths(
    found: Edits,
    edited: EditedFiles,
    only: Collection[str] | None = None,
    *,
    removals: bool | Collection[str] = False,
) -> list[str]:
    """The paths whose edits count, in order.

    Args:
        found: what became of the folder.
        edited: the folder.
        only: the paths to look at, None for all.
        removals: the paths at which a file may be gone, True for all.

    Raises:
        CallerError: ``adopt.manifest``, ``adopt.path``, ``adopt.unlisted``,
            ``adopt.retired``, ``adopt.removed``, ``adopt.there``.

    """
    if found.status.manifest:
        raise CallerError(
            "the manifest declares something else than before",
            code="adopt.manifest",
            path=found.status.checkpoint_id,
            hint="take that back, or bring the whole package in by an update",
        )
    known = {file.path: file for file in found.status.files}
    gone = () if isinstance(removals, bool) else removals
    for path in (*(only or ()), *gone):
        if path not in known:
            raise CallerError(
                "no such file was or is in the folder", code="adopt.path", path=path
            )
    for path in gone:
        if path in edited.files:
            raise CallerError(
                "a file that is to be gone is in the folder",
                code="adopt.there",
                path=path,
                hint="remove it there first",
            )
    chosen = []
    for path, file in known.items():
        if only is None or path in only:
            is_gone = file.state == "conflict" and path not in edited.files
            _check(file, may_be_gone=removals is True or path in gone, is_gone=is_gone)
            if file.state in CHANGES or file.state == "conflict":
                chosen.append(path)
    return chosen


def _check(file: FileStatus, *, may_be_gone: bool, is_gone: bool) -> None:
    if file.state == "unlisted":
        raise CallerError(
            "a new file is in no manifest",
            code="adopt.unlisted",
            path=file.path,
            hint="say what it is, leave it out, or remove it",
        )
    if file.state == "retired":
        raise CallerError(
            "a new file stands where a record was retired",
            code="adopt.retired",
            path=file.path,
            hint="a review brings the record back, and then it can be edited",
        )
    if (file.state == "removed" or is_gone) and not may_be_gone:
        raise CallerError(
            "a file is gone from the folder",
            code="adopt.removed",
            path=file.path,
            hint="ask for its tombstone, or put it back",
        )


def with_entries(
    edited: EditedFiles, entries: Mapping[str, Mapping[str, Any]]
) -> EditedFiles:
    """The folder with more said of its new files."""
    named = {
        path: checked_entry(entry, "entries") or {}
        for path, entry in check_mapping(entries, "entries").items()
    }
    return attrs.evolve(edited, entries={**edited.entries, **named})
