"""Reading edits: comparing the files of a folder with what they were edited from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from uaix_core.history.relations import HEAD, REVISION
from uaix_core.packages.addressing import RecordChange
from uaix_core.packages.anchors import protection_of
from uaix_core.packages.checkpoints import (
    find_checkpoint,
    first_known,
    made_from,
    revisions_at,
    state_digests,
)
from uaix_core.packages.diff import read_manifest
from uaix_core.packages.editors import is_dropping, without_editor
from uaix_core.packages.edits import Edits, EditStatus, FileStatus, Refresh
from uaix_core.packages.export import (
    find_package,
    get_all,
    package_files,
    read_package,
)
from uaix_core.packages.keeping import taken_before
from uaix_core.packages.manifest.bases import BASED_ON, EARLIER_BASES, declared_bases
from uaix_core.packages.manifest.values import derived_stable_id
from uaix_core.packages.manifest.words import TEXT_MEDIA
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.packages.revisions import Candidate, made_before
from uaix_core.store.scanning import all_rows
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from uaix_core.history.relations import Head, Revision
    from uaix_core.packages.editors import EditorNote
    from uaix_core.packages.edits import EditedFiles, FileState
    from uaix_core.packages.relations import Checkpoint, PackageFile
    from uaix_core.store.port import Snapshot

#: Members of a manifest that follow from the files, or are for one manifest alone.
_FOLLOWING: Final = (
    "sizeBytes",
    "sha256",
    "reviewState",
    "packageDigest",
    "signatures",
)
_OF_ONE: Final = ("files", "integrity", BASED_ON, EARLIER_BASES)


def read_edits(snapshot: Snapshot, package_id: str, edited: EditedFiles) -> Edits:
    """Compare an edited folder with what it was edited from and with what stands.

    Raises:
        NotFoundError: ``package.not-found``, ``checkpoint.not-found``.
        CallerError: ``manifest.*``, ``json.*``, ``adopt.base`` when nothing says which
            state was edited, ``adopt.package`` for the folder of another package.

    """
    package = find_package(snapshot, package_id)
    wire = read_manifest(edited.files)
    if wire.get("packageId") != package_id:
        raise CallerError(
            "the folder is of another package",
            code="adopt.package",
            path=MANIFEST_PATH,
        )
    checkpoint = _base(snapshot, package_id, edited, wire)
    base: dict[str, Revision] = {}
    if edited.is_whole:
        revisions = revisions_at(snapshot, package, checkpoint)
        # Of an erased one nobody knows where it stood.
        base = {revision.path: revision for revision in revisions if revision.path}
    base |= _own_bases(snapshot, package_id, edited)
    entries = {**_entries(wire), **edited.entries}
    manifests = entries, _listed_in(checkpoint)
    comparing = _Comparing(snapshot, package_id, edited, base, manifests)
    found = list(comparing.files())
    before = {path: row.content or b"" for path, row in base.items()}
    gone = {one.path for one, _content in found if one.state == "removed"}
    status = EditStatus(
        package_id,
        checkpoint.checkpoint_id,
        is_current=checkpoint.checkpoint_id == package.checkpoint_id,
        manifest=_declares_else(wire, checkpoint),
        files=tuple(one for one, _content in found),
    )
    manifest = {MANIFEST_PATH: checkpoint.manifest or b"{}"}
    kept = {path: data for path, data in before.items() if path not in gone}
    edits = {one.path: data for one, data in found if data is not None}
    return Edits(
        status,
        comparing.changes,
        comparing.lost,
        before={**before, **manifest},
        after={**kept, **edits, **manifest},
    )


def read_refresh(snapshot: Snapshot, package_id: str, edited: EditedFiles) -> Refresh:
    """What others have changed since a folder was exported, to be written there.

    Raises:
        CallerError: ``adopt.conflict`` when an edited file has moved on: with another
            base its edit would overwrite what stands. And as `read_edits`.
        IntegrityError: ``storage.digest``.

    """
    files = read_edits(snapshot, package_id, edited).status.files
    for file in files:
        if file.state in ("conflict", "erased"):
            raise CallerError(
                "what an edited file was edited from has moved on, or is gone",
                code="adopt.conflict",
                path=file.path,
                hint="settle it first, or export to another folder",
            )
    stored = read_package(snapshot, package_id)
    standing = {f.path: f.revision_id for f in package_files(snapshot, package_id)}
    # What only an editor did stays as it lies there, until somebody else changes it.
    kept = {
        file.path
        for file in files
        if file.state != "untouched" or file.base == standing.get(file.path)
    }
    return Refresh(
        stored.checkpoint.checkpoint_id,
        writes={
            path: data
            for path, data in stored.files.items()
            if path not in kept and edited.files.get(path) != data
        },
        removes=tuple(
            file.path
            for file in files
            if file.path not in kept and file.path not in standing
        ),
    )


def _base(
    snapshot: Snapshot, package_id: str, edited: EditedFiles, wire: Mapping[str, Any]
) -> Checkpoint:
    if edited.based_on is not None:
        return find_checkpoint(snapshot, package_id, edited.based_on)
    found = made_from(snapshot, package_id, *state_digests(edited.files))
    if found is None:
        # Brought up to date since, it says itself what it was made over.
        found = first_known(snapshot, package_id, declared_bases(wire))
    if found is None:
        raise CallerError(
            "the manifest is of no stored state, so nothing says what was edited",
            code="adopt.base",
            path=MANIFEST_PATH,
            hint="leave the manifest as it was exported, or name the checkpoint",
        )
    return found


def _own_bases(
    snapshot: Snapshot, package_id: str, edited: EditedFiles
) -> dict[str, Revision]:
    rows = get_all(snapshot, REVISION.name, sorted(set(edited.bases.values())))
    named = cast("dict[str, Revision]", rows)
    return {
        path: named[revision_id]
        for path, revision_id in edited.bases.items()
        if revision_id in named and named[revision_id].package_id == package_id
    }


def _entries(wire: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    rows = wire.get("files")
    return {
        row["path"]: row
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict) and isinstance(row.get("path"), str)
    }


def _retired_in(snapshot: Snapshot, package_id: str) -> Collection[str]:
    """The paths at which tombstoned records stood."""
    rows = cast("Iterator[Head]", all_rows(snapshot, HEAD, prefix=(package_id,)))
    names = [head.revision_id for head in rows if head.change == "tombstone"]
    found = get_all(snapshot, REVISION.name, names).values()
    return {cast("Revision", row).path or "" for row in found}


def _listed_in(checkpoint: Checkpoint) -> Collection[str]:
    """The paths that the manifest of a checkpoint lists."""
    if checkpoint.manifest is None:
        return ()
    return _entries(read_manifest({MANIFEST_PATH: checkpoint.manifest})).keys()


def _declares_else(wire: dict[str, Any], checkpoint: Checkpoint) -> bool:
    """Whether the manifest says something that its files' bytes don't explain."""
    if checkpoint.manifest is None:
        return False
    was = read_manifest({MANIFEST_PATH: checkpoint.manifest})
    known = _entries(was)
    left = {p: e for p, e in _entries(wire).items() if p in known}
    return _declared(wire, left) != _declared(was, {path: known[path] for path in left})


def _declared(
    wire: Mapping[str, Any], entries: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    integrity = wire.get("integrity")
    if isinstance(integrity, dict):
        integrity = {k: v for k, v in integrity.items() if k not in _FOLLOWING}
    rest = {name: said for name, said in wire.items() if name not in _OF_ONE}
    files = {
        path: {name: said for name, said in entry.items() if name not in _FOLLOWING}
        for path, entry in entries.items()
    }
    return {**rest, "integrity": integrity, "files": files}


class _Comparing:
    """Comparing the files of a folder, one path at a time."""

    def __init__(
        self,
        snapshot: Snapshot,
        package_id: str,
        edited: EditedFiles,
        base: Mapping[str, Revision],
        manifests: tuple[Mapping[str, Mapping[str, Any]], Collection[str]],
    ) -> None:
        self._snapshot = snapshot
        self._package_id = package_id
        self._files = edited.files
        self._others = edited.others
        self._base = base
        # What is said of each file, and the files that were listed when it was edited.
        self._entries, self._before = manifests
        self._retired = _retired_in(snapshot, package_id)
        self._standing = {
            file.path: file for file in package_files(snapshot, package_id)
        }
        self._places = {file.record_id: path for path, file in self._standing.items()}
        self._known_ids = {revision.record_id for revision in base.values()}
        self.changes: dict[str, RecordChange] = {}
        self.lost: dict[str, Candidate] = {}

    def files(self) -> Iterator[tuple[FileStatus, bytes | None]]:
        """What became of each file, and its content where that is to come in."""
        there = self._base.keys() | self._files.keys() | self._others
        for path in sorted(there - {MANIFEST_PATH}):
            if path in self._others:
                yield FileStatus(path, "unreadable"), None
            elif path in self._base:
                yield self._known(path, self._base[path])
            else:
                yield self._new(path, self._files[path])

    def _known(self, path: str, base: Revision) -> tuple[FileStatus, bytes | None]:
        notes: tuple[EditorNote, ...] = ()
        data = self._files.get(path)
        if data is not None and base.content is not None:
            data, notes = _as_text(base.media_type, data, base.content)
        status = FileStatus(path, "untouched", notes, base.revision_id)
        if data is not None and sha256_hex(data) == base.sha256:
            return status, None
        head = self._head(base)
        current = head.revision_id
        place = self._places.get(base.record_id, path)
        moved_to = None if place == path else place
        status = attrs.evolve(status, current=current, moved_to=moved_to)
        if self._stands(head, place, data):
            return attrs.evolve(status, state="present"), None
        if current != base.revision_id and self._was_made(base, path, data):
            return attrs.evolve(status, state="present"), None
        if current != base.revision_id:
            media_type = base.media_type or ""
            lost = Candidate(head, place, base.revision_id, data, media_type, path)
            return self._lost(status, lost)
        return self._change(status, base.revision_id, data, None), data

    def _was_made(self, base: Revision, path: str, data: bytes | None) -> bool:
        """Whether this very edit came in before, however far the record has moved."""
        made = made_before(
            self._snapshot, self._package_id, base.record_id, base.revision_id
        )
        if made is None or data is None:
            return made is not None and made.change == "tombstone"
        return made.path == path and made.sha256 == sha256_hex(data)

    def _new(self, path: str, data: bytes) -> tuple[FileStatus, bytes | None]:
        if path in self._before:
            # What it was edited from is gone, and this may be the very same text.
            return FileStatus(path, "erased"), None
        entry, file = self._entries.get(path), self._standing.get(path)
        if entry is None and file is None:
            return FileStatus(path, self._undescribed(path)), None
        media_type = file.media_type if file else (entry or {}).get("mediaType")
        data, notes = _as_text(media_type, data, None)
        status = FileStatus(path, "new", notes)
        if file is None and path in self._retired:
            return attrs.evolve(status, state="retired"), None
        if file is None:
            said = {
                name: value
                for name, value in (entry or {}).items()
                if name not in (*_FOLLOWING, "path")
            }
            return self._change(status, None, data, said), data
        status = attrs.evolve(status, current=file.revision_id)
        if file.sha256 == sha256_hex(data):
            return attrs.evolve(status, state="present"), None
        head = self._head(file)
        return self._lost(status, Candidate(head, path, None, data, file.media_type))

    def _undescribed(self, path: str) -> FileState:
        """What a file is that no manifest describes, and that stands nowhere."""
        if is_dropping(path):
            return "ignored"
        return "retired" if path in self._retired else "unlisted"

    def _lost(
        self, status: FileStatus, lost: Candidate
    ) -> tuple[FileStatus, bytes | None]:
        if taken_before(self._snapshot, lost) is not None:
            return attrs.evolve(status, state="present"), None
        self.lost[status.path] = lost
        return attrs.evolve(status, state="conflict"), lost.content

    def _change(
        self,
        status: FileStatus,
        expected: str | None,
        data: bytes | None,
        entry: dict[str, Any] | None,
    ) -> FileStatus:
        path = status.path
        # Who edits a state in which the record of this path stands elsewhere knows it.
        is_other = derived_stable_id(self._package_id, path) in self._known_ids
        self.changes[path] = RecordChange(
            path, data, expected, entry, is_other=expected is None and is_other
        )
        operation = "create" if expected is None else "replace"
        if data is None:
            operation = "tombstone"
        state: FileState = "edited" if expected is not None else "new"
        return attrs.evolve(
            status,
            state="removed" if data is None else state,
            authorisation=operation if protection_of(path) else None,
        )

    def _head(self, row: Revision | PackageFile) -> Head:
        key = (self._package_id, row.record_id)
        return cast("Head", self._snapshot.get(HEAD.name, key))

    def _stands(self, head: Head, path: str, data: bytes | None) -> bool:
        """Whether what the folder wants is what stands already."""
        if data is None:
            return head.change == "tombstone"
        file = self._standing.get(path)
        return (
            file is not None
            and file.record_id == head.record_id
            and file.sha256 == sha256_hex(data)
        )


def _as_text(
    media_type: object, data: bytes, before: bytes | None
) -> tuple[bytes, tuple[EditorNote, ...]]:
    if media_type not in TEXT_MEDIA:
        return data, ()
    return without_editor(data, before)
