"""What stands in a scope of a package: its rows, read once for a decision."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, cast

import attrs

from uaix_core.history.relations import HEAD, REVISION, Head, Revision
from uaix_core.packages.export import checked_package, get_all, package_files
from uaix_core.packages.file_views import PERSONA_FILE
from uaix_core.packages.relations import (
    CHECKPOINT,
    CHECKPOINT_DIGEST,
    PACKAGE,
    PACKAGE_FILE,
    PERSONA_NAME,
    Checkpoint,
    CheckpointDigest,
    Package,
    PackageFile,
    PersonaName,
)
from uaix_core.schema.commits import Expect
from uaix_core.store.scanning import all_rows
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.errors import CallerError, ConflictError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from uaix_core.packages.checked import CheckedPackage
    from uaix_core.packages.export import StoredPackage
    from uaix_core.store.port import Snapshot


@attrs.frozen
class Standing:
    """A stored package as an update finds it.

    ``heads`` and their ``revisions`` are by record id, tombstoned and erased ones
    included; ``files`` are those that stand, in the order of their paths.
    """

    package: Package
    heads: Mapping[str, Head]
    revisions: Mapping[str, Revision]
    files: tuple[PackageFile, ...]

    @cached_property
    def records(self) -> Mapping[str, str]:
        """The record of each file that stands, by path."""
        return {file.path: file.record_id for file in self.files}

    def read(self, snapshot: Snapshot) -> StoredPackage:
        """All of the package, each byte checked; see `export.read_package`."""
        revisions = {row.revision_id: row for row in self.revisions.values()}
        return checked_package(snapshot, self.package, self.files, revisions)


def read_standing(snapshot: Snapshot, package: Package) -> Standing:
    """Read the heads and head revisions of a package."""
    rows = all_rows(snapshot, HEAD, prefix=(package.package_id,))
    heads = {head.record_id: head for head in cast("Iterator[Head]", rows)}
    files = tuple(package_files(snapshot, package.package_id))
    found = get_all(snapshot, REVISION.name, [h.revision_id for h in heads.values()])
    revisions = {
        record_id: cast("Revision", found[head.revision_id])
        for record_id, head in heads.items()
    }
    return Standing(package, heads, revisions, files)


def record_ids(package: CheckedPackage, standing: Standing | None) -> dict[str, str]:
    """The record id of each path of a package.

    A file keeps the id that it carries; without one it is the record that stands at
    its path, unless another file carries that id, or gets the id that the path always
    gets.

    Raises:
        CallerError: ``id.stable-repeated`` when two files come to one id.

    """
    known = standing.records if standing is not None else {}
    claimed = {file.entry.stable_id for file in package.files}
    ids = {}
    for file in package.files:
        inherited = known.get(file.path)
        if file.entry.stable_id is None and inherited not in claimed:
            ids[file.path] = inherited or package.manifest.stable_id(file.entry)
        else:
            ids[file.path] = package.manifest.stable_id(file.entry)
    if len(set(ids.values())) < len(ids):
        counts = Counter(ids.values())
        given = {file.path for file in package.files if file.entry.stable_id is None}
        raise CallerError(
            "a stableId of one file is the id of another",
            code="id.stable-repeated",
            path=min(path for path in given if counts[ids[path]] > 1),
            hint="a new file where another record began gets a stableId of its own",
        )
    return ids


def stored_package(snapshot: Snapshot, package_id: str) -> Package | None:
    """The package of this id, or None."""
    return cast("Package | None", snapshot.get(PACKAGE.name, (package_id,)))


def same_checkpoint(
    snapshot: Snapshot, package: CheckedPackage, current: Package
) -> Checkpoint | None:
    """A checkpoint with exactly this manifest and these files, or None.

    The current one when it is among them, else the first.
    """
    digests = (
        package.manifest.package_id,
        sha256_hex(package.manifest_bytes),
        package.package_digest,
    )
    if current.manifest_sha256 == digests[1]:
        name = (*digests, current.number)
        if snapshot.get(CHECKPOINT_DIGEST.name, name) is not None:
            return checkpoint_of(snapshot, current.checkpoint_id)
    same = snapshot.scan(CHECKPOINT_DIGEST.name, "key", digests, limit=1)
    if not same:
        return None
    return checkpoint_of(snapshot, cast("CheckpointDigest", same[0]).checkpoint_id)


def is_whole(snapshot: Snapshot, package: Package) -> bool:
    """Whether manifest and all files of a package stand, none of them erased."""
    if package.manifest_sha256 is None:
        return False
    files = package_files(snapshot, package.package_id)
    return package.file_count == sum(1 for _ in files)


def check_whole(snapshot: Snapshot, package: Package) -> None:
    """Refuse to answer for a package of which something was erased."""
    if not is_whole(snapshot, package):
        raise CallerError(
            "a part of the package was erased",
            code="package.erased",
            path=package.package_id,
            hint="an update based on the current checkpoint makes it whole again",
        )


def check_open(package: Package) -> None:
    """Refuse to change a package that a review has rejected (``package.rejected``)."""
    if package.state == "rejected":
        raise CallerError(
            "the package was rejected",
            code="package.rejected",
            path=package.package_id,
            hint="a review opens it again",
        )


def checkpoint_of(snapshot: Snapshot, checkpoint_id: str | None) -> Checkpoint:
    """The checkpoint of this id, which is there."""
    return cast("Checkpoint", snapshot.get(CHECKPOINT.name, (checkpoint_id,)))


def expect_package(package: Package | None, package_id: str) -> Expect:
    """That the package still is as it was read, or still isn't there."""
    version = package.version if package is not None else 0
    return Expect(PACKAGE.name, (package_id,), version)


def same_persona(snapshot: Snapshot, package_id: str) -> bool:
    """Whether another package of the scope has a persona of the same name."""
    found = snapshot.scan(
        PACKAGE_FILE.name, "by_path", (package_id, PERSONA_FILE), limit=1
    )
    name = cast("PackageFile", found[0]).persona_name if found else None
    if name is None:
        return False
    # Two are enough: one of them is the package itself.
    named = snapshot.scan(PERSONA_NAME.name, "key", (name,), limit=2)
    return any(cast("PersonaName", row).package_id != package_id for row in named)


def conflict(
    package: Package, message: str, *, code: str = "package.conflict", hint: str
) -> ConflictError:
    """The conflict over a package that stands."""
    return ConflictError(
        message,
        code=code,
        relation=PACKAGE.name,
        key=(package.package_id,),
        expected=None,
        current=package,
        path=package.package_id,
        hint=hint,
    )
