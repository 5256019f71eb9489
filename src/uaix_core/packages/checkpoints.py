"""Checkpoints: finding one by its name, and the files of a package as it was then."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, cast, overload

from uaix_core.history.relations import REVISION
from uaix_core.packages.export import (
    get_all,
    package_files,
    part_damaged,
    part_erased,
)
from uaix_core.packages.manifest.values import SENTINEL, files_digest
from uaix_core.packages.relations import CHECKPOINT, CHECKPOINT_DIGEST
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.store.scanning import all_rows
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.errors import CallerError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from uaix_core.history.relations import Revision
    from uaix_core.packages.relations import Checkpoint, CheckpointDigest, Package
    from uaix_core.store.port import Snapshot

_NUMBER: Final = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)


@overload
def find_checkpoint(
    snapshot: Snapshot,
    package_id: str,
    name: str,
    *,
    is_wanted: Literal[True] = True,
) -> Checkpoint: ...


@overload
def find_checkpoint(
    snapshot: Snapshot, package_id: str, name: str, *, is_wanted: bool
) -> Checkpoint | None: ...


def find_checkpoint(
    snapshot: Snapshot, package_id: str, name: str, *, is_wanted: bool = True
) -> Checkpoint | None:
    """A checkpoint of a package, the last one of that name.

    Args:
        snapshot: the scope as it stands.
        package_id: whose checkpoint it is.
        name: its id, the SHA-256 of its manifest (hex), or its number from 1 on.
        is_wanted: whether it is an error that there is none.

    Raises:
        NotFoundError: ``checkpoint.not-found``.
        CallerError: ``checkpoint.ambiguous`` for the manifest of several states.

    """
    found = cast("Checkpoint | None", snapshot.get(CHECKPOINT.name, (name,)))
    if found is None and _NUMBER.fullmatch(name):
        rows = snapshot.scan(
            CHECKPOINT.name, "by_package", (package_id, int(name)), limit=1
        )
        found = cast("Checkpoint", rows[0]) if rows else None
    if found is None:
        found = made_from(snapshot, package_id, name)
    if found is not None and found.package_id == package_id:
        return found
    if is_wanted:
        raise NotFoundError(
            "the package has no such checkpoint", code="checkpoint.not-found", path=name
        )
    return None


def made_from(
    snapshot: Snapshot,
    package_id: str,
    manifest_sha256: str,
    files_sha256: str | None = None,
) -> Checkpoint | None:
    """The last checkpoint that has this manifest, or None.

    A manifest whose digests are placeholders may be that of several states. Then only
    the files tell which one is meant.

    Args:
        snapshot: the scope as it stands.
        package_id: whose checkpoint it is.
        manifest_sha256: the digest of the manifest's bytes (hex).
        files_sha256: the digest "files-v1" of the files that lie beside it, if any do.

    Raises:
        CallerError: ``checkpoint.ambiguous`` when several states have the manifest, or
            had it before they were erased, and none of them has these files.

    """
    rows = all_rows(snapshot, CHECKPOINT_DIGEST, prefix=(package_id, manifest_sha256))
    digests = cast("list[CheckpointDigest]", list(rows))
    same = [row for row in digests if row.files_sha256 == files_sha256]
    if not digests:
        return None
    last = max(same or digests, key=lambda row: row.number)
    found = cast("Checkpoint", snapshot.get(CHECKPOINT.name, (last.checkpoint_id,)))
    is_one = len({row.files_sha256 for row in digests}) == 1
    if same or (is_one and not _may_be_another(snapshot, found)):
        return found
    raise CallerError(
        "several states of the package may have this manifest",
        code="checkpoint.ambiguous",
        path=manifest_sha256,
        hint="name the checkpoint by its id, as the history lists it",
    )


def _may_be_another(snapshot: Snapshot, found: Checkpoint) -> bool:
    """Whether a checkpoint that was erased may have had the same manifest."""
    if SENTINEL.encode() not in (found.manifest or b""):
        return False
    rows = all_rows(snapshot, CHECKPOINT, "by_package", (found.package_id,))
    return any(cast("Checkpoint", row).manifest is None for row in rows)


def state_digests(files: Mapping[str, bytes]) -> tuple[str, str]:
    """The digests of a manifest and of the files that lie beside it (``files-v1``)."""
    measured = ((path, len(data), sha256_hex(data)) for path, data in files.items())
    return sha256_hex(files[MANIFEST_PATH]), files_digest(measured)


def first_known(
    snapshot: Snapshot, package_id: str, digests: Iterable[str]
) -> Checkpoint | None:
    """The checkpoint of the first of these manifests that was ever stored, or None.

    Raises:
        CallerError: ``checkpoint.ambiguous``.

    """
    for digest in digests:
        found = find_checkpoint(snapshot, package_id, digest, is_wanted=False)
        if found is not None:
            return found
    return None


def revisions_at(
    snapshot: Snapshot, package: Package, checkpoint: Checkpoint
) -> list[Revision]:
    """The revisions that were the files of a package at one of its checkpoints."""
    if checkpoint.checkpoint_id == package.checkpoint_id:
        files = package_files(snapshot, package.package_id)
        names = [file.revision_id for file in files]
        return cast(
            "list[Revision]", list(get_all(snapshot, REVISION.name, names).values())
        )
    rows = all_rows(snapshot, REVISION, "by_record", (package.package_id,))
    # Along a record the numbers grow, and so do the commits.
    last = {
        row.record_id: row
        for row in cast("Iterator[Revision]", rows)
        if row.version <= checkpoint.version
    }
    return [row for row in last.values() if row.change != "tombstone"]


def read_checkpoint(
    snapshot: Snapshot, package: Package, checkpoint: Checkpoint
) -> dict[str, bytes]:
    """All files of a package at a checkpoint, the manifest included, sorted by path.

    Raises:
        CallerError: ``package.erased`` when a part of it was erased.
        IntegrityError: ``storage.digest``.

    """
    files = {}
    for row in revisions_at(snapshot, package, checkpoint):
        if row.content is None or row.path is None:
            raise part_erased(row.revision_id)
        if sha256_hex(row.content) != row.sha256:
            raise part_damaged(row.path)
        files[row.path] = row.content
    if checkpoint.manifest is None or len(files) != checkpoint.file_count:
        raise part_erased(checkpoint.checkpoint_id)
    if sha256_hex(checkpoint.manifest) != checkpoint.manifest_sha256:
        raise part_damaged(MANIFEST_PATH)
    files[MANIFEST_PATH] = checkpoint.manifest
    return dict(sorted(files.items()))
