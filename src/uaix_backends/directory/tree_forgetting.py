"""Erasing bodies from a working tree, before they are erased from the ledger.

Once an erasure is in the chain nobody can tell any more what its bodies were: so first
every file that holds one of them goes, whoever put it there, and with it what the
notes tell of it, all of it durable. What differs from the bodies stays and is named,
because nobody knows whose bytes those are.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

import attrs

from uaix_backends.directory import files
from uaix_backends.directory.tree_files import TreeFiles, inner_folder, looked
from uaix_backends.directory.tree_notes import (
    NEW,
    NOTES,
    PLACE,
    Place,
    noted_folders,
    put_note,
    put_place,
    read_note,
    read_place,
)
from uaix_backends.directory.tree_rows import all_rows, body_of, rows_of, trees_of
from uaix_core.schema.relations import Ref
from uaix_core.values.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from uaix_backends.directory.files import Folder
    from uaix_backends.directory.tree_notes import Written
    from uaix_core.schema.schema import Schema
    from uaix_core.store.tables import Tables
#: What has no bytes is an erased body only where one was written.
_EMPTY: Final = sha256_hex(b"")


def keys_in(schema: Schema, refs: Iterable[Ref]) -> set[str]:
    """The keys of those rows that hold bytes for a tree."""
    holders = {tree.relation for _name, tree in trees_of(schema)}
    return {str(ref.key[0]) for ref in refs if ref.relation in holders}


def forget(tree: Folder, notes: Folder, tables: Tables, keys: set[str]) -> None:
    """Remove from a scope's tree whatever holds the bodies of these rows.

    Args:
        tree: the folder of the scope's tree.
        notes: the folder of its notes.
        tables: the scope, before the bodies are gone from it.
        keys: the keys of the rows in the relations that hold bytes for a tree.

    Raises:
        OSError: the medium failed. The next time that the tree is brought up to date
            it is made whole again, whatever was done.

    """
    place = read_place(tree)
    # From here on the tree counts as one that shows nothing.
    put_place(tree, Place(boot=place.boot, edited=place.edited), syncs=True)
    for folder in (tree, notes):
        folder.remove(NEW)
    noted = dict(_forget_notes(notes, keys))
    pairs = {
        (folder, path)
        for folder, rows in all_rows(tables).items()
        for path, row in rows.items()
        if row.key in keys
    }
    pairs.update(noted)
    forgetting = _Forgetting(tables, keys, noted.values(), pairs)
    for name in tree.names():
        if name not in (PLACE, NOTES):
            forgetting.clear(tree, name, (name,))
    edited = {pair for pair in pairs if _stands(tree, *pair)}
    place = Place(boot=place.boot, edited=place.edited | edited)
    put_place(tree, place, syncs=True)
    notes.sync()
    tree.sync()


def _forget_notes(
    notes: Folder, keys: set[str]
) -> Iterator[tuple[tuple[str, str], Written]]:
    """Drop what is noted of the files of these rows; what it was."""
    for name in noted_folders(notes):
        note = read_note(notes, name)
        for files_ in (note.files, note.coming):
            for path, written in files_.items():
                if written.key in keys:
                    yield (name, path), written
        left = note.without(keys)
        if left != note:
            put_note(notes, name, left, syncs=True)


def _stands(tree: Folder, folder: str, path: str) -> bool:
    with TreeFiles(tree, folder) as found:
        return found.look(path, ()) is not None


class _Forgetting:
    """Going through all files and removing those with the erased bytes."""

    def __init__(
        self,
        tables: Tables,
        keys: set[str],
        noted: Iterable[Written],
        pairs: Collection[tuple[str, str]],
    ) -> None:
        self._tables = tables
        self._keys = keys
        self._pairs = pairs
        self._digests = {written.sha256: written.size for written in noted}
        for _name, tree in trees_of(tables.schema):
            for key in keys:
                data = body_of(tree, tables.get(Ref(tree.relation, (key,))))
                if data is not None:
                    self._digests[sha256_hex(data)] = len(data)
        self._sizes = frozenset(self._digests.values())

    def clear(self, around: Folder, name: str, parts: tuple[str, ...]) -> bool:
        """Remove what is under a name when it holds erased bytes; whether any did."""
        folder = inner_folder(around, name, len(parts))
        if folder is None:
            return self._clear_file(around, name, parts)
        with folder:
            found = [self.clear(folder, n, (*parts, n)) for n in folder.names()]
            if any(found):
                folder.sync()
        if any(found):
            with contextlib.suppress(OSError):
                files.calls.rmdir(name, dir_fd=around.fd)
        return False

    def _clear_file(self, around: Folder, name: str, parts: tuple[str, ...]) -> bool:
        found = looked(around, name, self._sizes)
        if found is None or found.sha256 not in self._digests or self._is_kept(parts):
            return False
        if (
            found.sha256 == _EMPTY
            and (parts[0], "/".join(parts[1:])) not in self._pairs
        ):
            return False
        around.remove(name)
        return True

    def _is_kept(self, parts: tuple[str, ...]) -> bool:
        """Whether a file with erased bytes is that of a row which holds them too."""
        folder, path = parts[0], "/".join(parts[1:])
        row = rows_of(self._tables, folder).get(path)
        data = None
        if row is not None and row.key not in self._keys:
            data = row.content(self._tables)
        return data is not None and sha256_hex(data) in self._digests


def still_edited(tree: Folder, notes: Folder, place: Place) -> Place:
    """The place without edited files that are gone, or ours again."""
    left = {
        (folder, path)
        for folder, path in place.edited
        if _stands(tree, folder, path) and path not in read_note(notes, folder).files
    }
    return attrs.evolve(place, edited=frozenset(left))
