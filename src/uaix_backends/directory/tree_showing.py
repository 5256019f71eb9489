"""Bringing one folder of a working tree up to date, file by file."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Final, NamedTuple

from uaix_backends.directory.tree_files import OTHER, TreeFiles
from uaix_backends.directory.tree_notes import Note, Written, put_note, read_note
from uaix_backends.directory.tree_rows import rows_of
from uaix_core.packages.editors import is_editors_form
from uaix_core.values.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_backends.directory.files import Folder
    from uaix_backends.directory.tree_files import Look
    from uaix_backends.directory.tree_rows import Shown
    from uaix_core.store.tables import Tables

#: What an editor adds beside a byte for each line: a mark and a last line end.
_ADDED: Final = 6


class Wanted(NamedTuple):
    """What a file is to hold, and how it is noted then."""

    written: Written
    data: bytes
    media: str | None


class _Step(NamedTuple):
    """A file that gets other bytes, what was found there, and what of ours that was."""

    wanted: Wanted
    found: Look | None
    was: Written | None


class Doubt(enum.Enum):
    """How far what is noted of a tree is believed."""

    #: What was noted was written.
    NONE = enum.auto()
    #: Files may be missing.
    MISSING = enum.auto()
    #: The power may have gone: files may also hold nothing, or zeros.
    BLANK = enum.auto()


class Showing:
    """Bringing one folder from what stands there to what is wanted.

    Args:
        tree: the folder of the scope's tree.
        notes: the folder of its notes.
        name: the folder's name.
        doubt: how far the notes are believed.

    """

    def __init__(
        self, tree: Folder, notes: Folder, name: str, doubt: Doubt = Doubt.NONE
    ) -> None:
        self._tree = tree
        self._notes = notes
        self._name = name
        self._doubt = doubt
        self._noted = read_note(notes, name)
        is_there = tree.status(name) is not None
        # A folder that somebody removed is written anew.
        self._known = self._noted if is_there else Note()
        #: What is ours beside what was noted: see `knows`.
        self._held: dict[str, Written] = {}
        self._kept: dict[str, Written] = {}
        self._steps: dict[str, _Step] = {}

    def knows(self, before: Tables) -> None:
        """Take for ours what the store held of a file before and nothing is noted of.

        Args:
            before: the state that the tree shows.

        """
        for path, row in rows_of(before, self._name).items():
            if not self._known.ours(path):
                held = wanted_of(before, row)
                if held is not None:
                    self._held[path] = held.written

    def show(self, tables: Tables, rows: Mapping[str, Shown]) -> None:
        """Let the folder hold these rows' files and no other file of ours.

        Raises:
            OSError: the medium failed; what was done is noted.

        """
        wanted = self._wanted(tables, rows)
        with TreeFiles(self._tree, self._name) as files:
            # First what goes: a folder may come where a file was, and the other way.
            for path in sorted({*self._known.files, *self._known.coming}):
                if path not in self._kept and path not in wanted:
                    self._remove(files, path)
            for path in sorted(wanted):
                self._judge(files, path, wanted[path])
            if self._steps:
                was = {path: step.was for path, step in self._steps.items() if step.was}
                coming = {p: step.wanted.written for p, step in self._steps.items()}
                self._put_note(Note(self._kept | was, coming))
            for path, step in self._steps.items():
                if files.put(path, step.wanted.data, step.found):
                    self._kept[path] = step.wanted.written
                elif step.was is not None:
                    self._kept[path] = step.was
        self._put_note(Note(self._kept))

    def _wanted(self, tables: Tables, rows: Mapping[str, Shown]) -> dict[str, Wanted]:
        """What is to stand there, but for files that are noted as they are wanted."""
        found = {}
        for path, row in rows.items():
            noted = self._known.files.get(path)
            is_shown = noted is not None and noted.key == row.key
            if noted is not None and is_shown and not self._is_doubted(path):
                self._kept[path] = noted
                continue
            wanted = wanted_of(tables, row)
            if wanted is not None:
                found[path] = wanted
        return found

    def _is_doubted(self, path: str) -> bool:
        return path in self._known.coming or self._doubt is not Doubt.NONE

    def _ours(self, path: str) -> list[Written]:
        held = self._held.get(path)
        return self._known.ours(path) if held is None else [held]

    def _remove(self, files: TreeFiles, path: str) -> None:
        """Remove a file of ours that no row stands for; an edited one stays."""
        ours = self._ours(path)
        found = files.look(path, {written.size for written in ours})
        if found is not None and self._is_ours(found, ours):
            files.remove(path, found)

    def _judge(self, files: TreeFiles, path: str, wanted: Wanted) -> None:
        """Tell whether a file is as it is wanted, is ours to replace, or is edited."""
        ours = self._ours(path)
        sizes = [written.size for written in (wanted.written, *ours)]
        if wanted.media is not None:
            found = files.look(path, range(2 * max(sizes) + _ADDED))
        else:
            found = files.look(path, sizes)
        if found == OTHER and files.clear(path):
            found = None
        if found is not None and found.sha256 == wanted.written.sha256:
            self._kept[path] = wanted.written
        elif found is None or self._is_ours(found, ours):
            digest = None if found is None else found.sha256
            was = next((w for w in ours if w.sha256 == digest), None)
            self._steps[path] = _Step(wanted, found, was)
        elif _is_adopted(found, wanted):
            # Whoever edits it before it is written has seen all that is stored.
            self._steps[path] = _Step(wanted, found, wanted.written)
        elif path in self._known.files:
            # Should the edit be taken back, the file is ours again.
            self._kept[path] = self._known.files[path]

    def _is_ours(self, found: Look, ours: list[Written]) -> bool:
        """Whether a file is what was written, or what a power cut leaves of it."""
        is_lost = self._doubt is Doubt.BLANK and found.is_blank
        return is_lost or any(found.sha256 == written.sha256 for written in ours)

    def _put_note(self, note: Note) -> None:
        if note != self._noted:
            put_note(self._notes, self._name, note)
            self._noted = note


def wanted_of(tables: Tables, row: Shown) -> Wanted | None:
    """What the file of a row is to hold; None when its bytes were erased."""
    data = row.content(tables)
    if data is None:
        return None
    written = Written(row.key, len(data), sha256_hex(data))
    return Wanted(written, data, row.tree.media_of(row.row))


def _is_adopted(found: Look, wanted: Wanted) -> bool:
    """Whether a file is an edit that has come in, but for what its editor did to it."""
    return found.data is not None and is_editors_form(
        wanted.media, found.data, wanted.data
    )
