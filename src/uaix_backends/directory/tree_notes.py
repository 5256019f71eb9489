"""What is noted of a working tree: which bytes were written there, and how far it is.

The notes decide what in the tree is ours. Whatever in them isn't as it was written
counts as nothing noted, and then nothing in the tree is ours but what is equal to what
the store holds.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import attrs

from uaix_backends.directory.files import is_other
from uaix_core.values.canonical import plain_bytes
from uaix_core.values.ids import is_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_backends.directory.files import Folder
    from uaix_core.schema.commits import Mark

FORMAT: Final = "uaix.tree.v1"
#: The note of how far a scope's tree is, and the folder of the notes of its folders.
PLACE: Final = ".uaix-tree.json"
NOTES: Final = ".uaix-tree"
#: A file on its way into the tree or the notes.
NEW: Final = ".uaix-new"

_DIGEST_LENGTH: Final = 64
_SUFFIX: Final = ".json"
#: No note is longer; what is longer isn't ours.
_LONGEST: Final = 1 << 26


def parts_of(path: str) -> tuple[str, ...] | None:
    """The names that a logical path consists of; None for one that leads elsewhere."""
    parts = tuple(path.split("/"))
    if "\0" in path or not {"", ".", ".."}.isdisjoint(parts):
        return None
    return parts


@attrs.frozen
class Written:
    """One file as it was written: the key of the row that holds its bytes, and them.

    ``size`` is in bytes, ``sha256`` is plain: it goes when the bytes are erased.
    """

    key: str
    size: int
    sha256: str

    @property
    def form(self) -> list[Any]:
        """As it stands in a note."""
        return [self.key, self.size, self.sha256]


@attrs.frozen
class Note:
    """The files of one folder by path: as they stand, and those on their way.

    A writer notes what it is about to write, so that whoever comes after a crash
    knows both states of each file for ours.
    """

    files: Mapping[str, Written] = attrs.field(factory=dict)
    coming: Mapping[str, Written] = attrs.field(factory=dict)

    def ours(self, path: str) -> list[Written]:
        """What a file of ours may be at a path."""
        found = (self.files.get(path), self.coming.get(path))
        return [written for written in found if written is not None]

    def without(self, keys: set[str]) -> Note:
        """The note without files whose bytes are those of these rows."""
        return Note(
            {path: file for path, file in self.files.items() if file.key not in keys},
            {path: file for path, file in self.coming.items() if file.key not in keys},
        )


@attrs.frozen
class Place:
    """How far a tree is: it shows the commits up to this one.

    ``boot`` names the run of the system under which it was written: what was written
    under another may have been lost with the power. ``edited`` are the files, as
    (folder, path), that a person had edited when the bytes below them were erased.
    """

    seq: int = 0
    digest: str = ""
    boot: str = ""
    edited: frozenset[tuple[str, str]] = frozenset()

    def at(self, mark: Mark, boot: str) -> Place:
        """The same tree once it shows all commits up to this one."""
        return attrs.evolve(self, seq=mark.seq, digest=mark.digest, boot=boot)


def read_note(notes: Folder, folder: str) -> Note:
    """What is noted of a folder."""
    form = _read(notes, folder + _SUFFIX)
    try:
        return Note(_written(form["files"]), _written(form["coming"]))
    except (ValueError, TypeError, LookupError, AttributeError):
        return Note()


def put_note(notes: Folder, folder: str, note: Note, *, syncs: bool = False) -> None:
    """Replace the note of a folder; an empty one is removed."""
    if not note.files and not note.coming:
        notes.remove(folder + _SUFFIX)
        return
    form = {
        "format": FORMAT,
        "files": {path: file.form for path, file in note.files.items()},
        "coming": {path: file.form for path, file in note.coming.items()},
    }
    _write(notes, folder + _SUFFIX, form, syncs=syncs)


def noted_folders(notes: Folder) -> list[str]:
    """The folders of which something is noted."""
    found = (name.removesuffix(_SUFFIX) for name in notes.names() if _SUFFIX in name)
    return [name for name in found if is_id(name)]


def read_place(tree: Folder) -> Place:
    """How far a tree is; at nothing when that isn't noted."""
    form = _read(tree, PLACE)
    try:
        seq, digest, boot, edited = (
            form[name] for name in ("seq", "digest", "boot", "edited")
        )
        pairs = frozenset((folder, path) for folder, path in edited)
        is_sound = (
            type(seq) is int
            and type(digest) is str
            and type(boot) is str
            and all(is_id(folder) and parts_of(path) for folder, path in pairs)
        )
        return Place(seq, digest, boot, pairs) if is_sound else Place()
    except (ValueError, TypeError, LookupError, AttributeError):
        return Place()


def put_place(tree: Folder, place: Place, *, syncs: bool = False) -> None:
    """Replace the note of how far a tree is."""
    form = {
        "format": FORMAT,
        "seq": place.seq,
        "digest": place.digest,
        "boot": place.boot,
        "edited": sorted(place.edited),
    }
    _write(tree, PLACE, form, syncs=syncs)


def _written(form: Any) -> dict[str, Written]:
    found = {}
    for path, (key, size, digest) in form.items():
        if (
            parts_of(path) is None
            or not is_id(key)
            or type(size) is not int
            or type(digest) is not str
            or len(digest) != _DIGEST_LENGTH
        ):
            raise ValueError
        found[path] = Written(key, size, digest)
    return found


def _read(folder: Folder, name: str) -> Any:
    """The JSON of a note; an empty object for what is none."""
    try:
        file = folder.file(name)
        if file is None:
            return {}
        with file:
            size = file.seen().size
            data = file.read(size, 0) if size <= _LONGEST else b""
        form = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return {}
    except OSError as error:
        # What can't be read just now isn't lost.
        if is_other(error):
            return {}
        raise
    return form if isinstance(form, dict) and form.get("format") == FORMAT else {}


def _write(folder: Folder, name: str, form: Any, *, syncs: bool) -> None:
    folder.remove(NEW)
    with folder.new_file(NEW) as file:
        file.write(plain_bytes(form) + b"\n")
        if syncs:
            file.sync()
    folder.rename(NEW, name)
