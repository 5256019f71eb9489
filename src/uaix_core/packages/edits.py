"""Edits: what a person changed in a folder of files, and against which state of them.

Files come first: somebody edits an exported folder or a working tree, and brings the
edits in as revisions. Every file is compared with the revision that it was edited
from, so that what moved on meanwhile is a conflict of that file and never overwritten.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

import attrs

from uaix_core.values.arguments import (
    check_files,
    check_items,
    check_mapping,
    check_texts,
)
from uaix_core.values.text import check_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from uaix_core.packages.addressing import RecordChange
    from uaix_core.packages.editors import EditorNote
    from uaix_core.packages.revisions import Candidate

#: What became of a file: as it was; other bytes; not there before; gone; what stands
#: by now says the same; something else stands by now; a new file that no manifest
#: describes; a file that an editor left; no plain file, so that nothing is read;
#: one of which what it was edited from is erased, so that it can't be compared;
#: a new one where a record was retired, which a review brings back.
FileState = Literal[
    "untouched",
    "edited",
    "new",
    "removed",
    "present",
    "conflict",
    "unlisted",
    "ignored",
    "unreadable",
    "erased",
    "retired",
]
#: The states that bring a change in.
CHANGES: Final = frozenset(("edited", "new", "removed"))


def _as_paths(paths: Iterable[str]) -> frozenset[str]:
    return frozenset(check_texts(paths, "others"))


@attrs.frozen
class EditedFiles:
    """A folder that somebody edited.

    Args:
        files: logical path to bytes, the manifest included.
        based_on: the checkpoint that was edited: its id or the SHA-256 of its manifest
            (hex); None for the one whose manifest lies in the folder unchanged.
        bases: the revision that a file was edited from, where that is known better,
            by path.
        entries: manifest entries (wire names) of new files, by path; those in the
            folder's own manifest need not be named.
        others: paths at which something else than a plain file stands.
        is_whole: whether the folder held every file of the checkpoint; else it held
            those alone that have a base of their own.

    Raises:
        CallerError: ``input.type``, ``input.list``, ``text.not-storable``.

    """

    files: Mapping[str, bytes] = attrs.field(repr=False)
    based_on: str | None = None
    bases: Mapping[str, str] = attrs.field(factory=dict)
    entries: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict)
    others: frozenset[str] = attrs.field(default=frozenset(), converter=_as_paths)
    is_whole: bool = True

    def __attrs_post_init__(self) -> None:
        check_files(self.files, "files")
        check_texts(check_mapping(self.bases, "bases").values(), "bases")
        check_items(check_mapping(self.entries, "entries").values(), Mapping, "entries")
        if self.based_on is not None:
            check_text(self.based_on, "based_on")


@attrs.frozen
class FileStatus:
    """What became of one file of an edited folder.

    ``notes`` are what an editor did to it by itself. ``base`` is the revision that it
    was edited from, ``current`` the one that stands. ``authorisation`` is the
    operation that has to be authorised, None when nothing has. ``moved_to`` is where
    the record stands by now, None when it still stands at the path.
    """

    path: str
    state: FileState
    notes: tuple[EditorNote, ...] = ()
    base: str | None = None
    current: str | None = None
    authorisation: str | None = None
    moved_to: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The status as plain data."""
        return attrs.asdict(self)


@attrs.frozen
class EditStatus:
    """What became of an edited folder, file by file, in the order of paths.

    ``checkpoint_id`` is the state that was edited; ``is_current`` says whether it is
    the one that stands. ``manifest`` says whether the manifest declares something else,
    beyond what follows from its files.
    """

    package_id: str
    checkpoint_id: str
    is_current: bool
    manifest: bool
    files: tuple[FileStatus, ...]

    @property
    def changed(self) -> tuple[FileStatus, ...]:
        """The files that aren't as they were, but for what is left aside."""
        quiet = ("untouched", "ignored", "unreadable")
        return tuple(file for file in self.files if file.state not in quiet)

    def as_dict(self) -> dict[str, Any]:
        """The status as plain data."""
        return {
            **attrs.asdict(self, recurse=False),
            "files": [file.as_dict() for file in self.files],
        }


@attrs.frozen
class Edits:
    """An edited folder, read: its status, the changes that it wants, and what lost.

    ``before`` and ``after`` are the files of the state that was edited, and the same
    with the edits in it, the manifest of before included.
    """

    status: EditStatus
    changes: Mapping[str, RecordChange]
    lost: Mapping[str, Candidate]
    before: Mapping[str, bytes] = attrs.field(repr=False)
    after: Mapping[str, bytes] = attrs.field(repr=False)


@attrs.frozen
class Refresh:
    """What makes an edited folder one of the checkpoint that stands.

    ``writes`` are files by path, the manifest among them; ``removes`` are paths. None
    of them is a file that somebody has edited.
    """

    checkpoint_id: str
    writes: Mapping[str, bytes] = attrs.field(repr=False)
    removes: tuple[str, ...]
