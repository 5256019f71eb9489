"""Reading one folder of a working tree as people have left it."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING, Final, NamedTuple

import attrs

from uaix_backends.directory.tree_files import DEEPEST, inner_folder
from uaix_backends.directory.tree_notes import NOTES, read_note
from uaix_core.packages.limits import HIGHEST_LIMITS
from uaix_core.packages.paths import shown
from uaix_core.values.errors import StorageError
from uaix_core.values.text import is_storable

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from uaix_backends.directory.files import Folder
    from uaix_backends.directory.tree_notes import Written

_CHANGED: Final = "changed while it was read"
_MANY: Final = "more files than a package may have"


@attrs.frozen
class TreeContents:
    """What stands in one folder of a working tree.

    ``files`` maps logical paths to bytes, sorted. ``others`` maps the names of what is
    no readable plain file, shown for people, to what it is. ``written`` tells what the
    store wrote last under a path: the key of the row with the bytes (of a package's
    file the revision id) and their plain SHA-256. A file that differs from it, or is
    missing, was edited; one that isn't in it is new, or was there before.
    ``is_behind`` says that the store couldn't bring the tree up to date.
    """

    files: Mapping[str, bytes] = attrs.field(repr=False)
    others: Mapping[str, str]
    written: Mapping[str, Written] = attrs.field(repr=False)
    is_behind: bool


class Found(NamedTuple):
    """The files of a folder by path, and what else is there."""

    files: dict[str, bytes]
    others: dict[str, str]


def noted(tree: Folder, name: str) -> Mapping[str, Written]:
    """What was written last into a folder of a scope's tree, by path."""
    notes = tree.folder(NOTES)
    if notes is None:
        return {}
    with notes:
        return read_note(notes, name).files


def read_files(folder: Folder) -> Found:
    """Read the plain files of a folder and its folders.

    Nothing is followed or waited for, and no file is read that is larger than a
    package may hold.

    Raises:
        OSError: the medium failed.

    """
    reading = _Reading()
    reading.read(folder, ())
    return Found(dict(sorted(reading.files.items())), reading.others)


class _Reading:
    """Going through a folder, as far as the limits of packages go."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.others: dict[str, str] = {}
        self._bytes_left = HIGHEST_LIMITS.total_bytes
        self._left = HIGHEST_LIMITS.entries

    def read(self, folder: Folder, parts: tuple[str, ...]) -> None:
        """Take all that is in a folder."""
        for name in folder.names():
            path = "/".join((*parts, name))
            if not self._left:
                self.others[shown("/".join(parts)) or "."] = _MANY
                return
            self._left -= 1
            status = folder.status(name)
            if status is None:
                continue
            try:
                fault = self._take(folder, (*parts, name), status)
            except PermissionError:
                fault = "closed to this user"
            except StorageError:
                fault = _CHANGED
            if fault is not None:
                self.others[shown(path)] = fault

    def _take(
        self, folder: Folder, parts: tuple[str, ...], status: os.stat_result
    ) -> str | None:
        """Take what stands under a name; what is wrong with it, None when nothing."""
        if not is_storable("/".join(parts)):
            return "a name that is no text"
        if stat.S_ISDIR(status.st_mode):
            inner = inner_folder(folder, parts[-1], len(parts))
            if inner is None:
                return "too deep" if len(parts) >= DEEPEST else _CHANGED
            with inner:
                self.read(inner, parts)
            return None
        return _fault_of(status) or self._take_file(folder, parts, status.st_size)

    def _take_file(
        self, folder: Folder, parts: tuple[str, ...], size: int
    ) -> str | None:
        if size > min(HIGHEST_LIMITS.entry_bytes, self._bytes_left):
            return "too large"
        file = folder.file(parts[-1])
        if file is None:
            return _CHANGED
        with file:
            data = file.read(size + 1, 0)
        if len(data) != size:
            return _CHANGED
        self._bytes_left -= size
        self.files["/".join(parts)] = data
        return None


def _fault_of(status: os.stat_result) -> str | None:
    """Why what was found is no plain file with one name, None when it is one."""
    if stat.S_ISLNK(status.st_mode):
        return "a link"
    if not stat.S_ISREG(status.st_mode):
        return "neither a file nor a folder"
    return "a file with another name" if status.st_nlink > 1 else None
