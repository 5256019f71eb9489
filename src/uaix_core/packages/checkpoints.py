"""Checkpoints: finding one by its name, and the files of a package as it was then."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal, cast, overload

from uaix_core.history.relations import REVISION
from uaix_core.packages.export import get_all, package_files
from uaix_core.packages.relations import CHECKPOINT, CHECKPOINT_DIGEST
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.store.port import MAX_SCAN
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.errors import CallerError, IntegrityError, NotFoundError

if TYPE_CHECKING:
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

    """
    found = cast("Checkpoint | None", snapshot.get(CHECKPOINT.name, (name,)))
    if found is None and _NUMBER.fullmatch(name):
        rows = snapshot.scan(
            CHECKPOINT.name, "by_package", (package_id, int(name)), limit=1
        )
        found = cast("Checkpoint", rows[0]) if rows else None
    if found is None:
        same = snapshot.scan(
            CHECKPOINT_DIGEST.name, "key", (package_id, name), limit=MAX_SCAN
        )
        digests = cast("list[CheckpointDigest]", same)
        if digests:
            last = max(digests, key=lambda row: row.number)
            row = snapshot.get(CHECKPOINT.name, (last.checkpoint_id,))
            found = cast("Checkpoint", row)
    if found is not None and found.package_id == package_id:
        return found
    if is_wanted:
        raise NotFoundError(
            "the package has no such checkpoint", code="checkpoint.not-found", path=name
        )
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
    last: dict[str, Revision] = {}
    after: tuple[Any, ...] | None = None
    while True:
        page = cast(
            "list[Revision]",
            snapshot.scan(
                REVISION.name,
                "by_record",
                (package.package_id,),
                after=after,
                limit=MAX_SCAN,
            ),
        )
        # Along a record the numbers grow, and so do the commits.
        last |= {r.record_id: r for r in page if r.version <= checkpoint.version}
        if len(page) < MAX_SCAN:
            return [row for row in last.values() if row.change != "tombstone"]
        row = page[-1]
        after = (row.record_id, row.number, row.revision_id)


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
            raise _erased(row.revision_id)
        if sha256_hex(row.content) != row.sha256:
            raise _damaged(row.path)
        files[row.path] = row.content
    if checkpoint.manifest is None or len(files) != checkpoint.file_count:
        raise _erased(checkpoint.checkpoint_id)
    if sha256_hex(checkpoint.manifest) != checkpoint.manifest_sha256:
        raise _damaged(MANIFEST_PATH)
    files[MANIFEST_PATH] = checkpoint.manifest
    return dict(sorted(files.items()))


def _erased(path: str) -> CallerError:
    return CallerError(
        "a part of the package was erased", code="package.erased", path=path
    )


def _damaged(path: str) -> IntegrityError:
    return IntegrityError(
        "stored bytes don't agree with their digest", code="storage.digest", path=path
    )
