"""Export: the stored files and manifest of a package, byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import attrs

from uaix_core.history.receipts import Writing, receipt_row
from uaix_core.history.relations import REVISION, Receipt, Revision
from uaix_core.packages.manifest.values import files_digest
from uaix_core.packages.relations import (
    CHECKPOINT,
    PACKAGE,
    PACKAGE_FILE,
    Checkpoint,
    Package,
    PackageFile,
)
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.store.port import MAX_KEYS
from uaix_core.store.scanning import all_rows
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.errors import CallerError, IntegrityError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot

OPERATION = "export"


@attrs.frozen
class StoredPackage:
    """A package as read back from a store.

    ``files`` maps every path, the manifest's included, to its bytes, sorted by path.
    """

    package: Package
    checkpoint: Checkpoint
    files: Mapping[str, bytes] = attrs.field(repr=False)


@attrs.frozen
class Exported:
    """The answer to an export.

    ``files`` maps every path, the manifest's included, to its bytes; ``archive`` is
    the `.uaix` archive of exactly these files, or None for a folder. ``is_staged`` says
    that the receipt is gone again unless a host commits.
    """

    package_id: str
    checkpoint_id: str
    state: str
    seq: int
    receipt: str
    archive_sha256: str | None
    files: Mapping[str, bytes] = attrs.field(repr=False)
    archive: bytes | None = attrs.field(repr=False)
    is_staged: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain data, without content."""
        return {
            "package_id": self.package_id,
            "checkpoint_id": self.checkpoint_id,
            "state": self.state,
            "seq": self.seq,
            "receipt": self.receipt,
            "archive_sha256": self.archive_sha256,
            "files": len(self.files),
            "is_staged": self.is_staged,
        }


def export_receipt(
    writing: Writing, stored: StoredPackage, archive_sha256: str | None
) -> Receipt:
    """The receipt of an export, with raw digests of what left."""
    details = {
        "archive_sha256": archive_sha256,
        "manifest_sha256": stored.checkpoint.manifest_sha256,
        "files_sha256": stored.checkpoint.files_sha256,
    }
    receipt = receipt_row(
        writing,
        writing.ids.new(),
        operation=OPERATION,
        outcome="accepted",
        details=details,
        package_id=stored.package.package_id,
        checkpoint_id=stored.checkpoint.checkpoint_id,
    )
    return cast("Receipt", receipt)


def find_package(snapshot: Snapshot, package_id: str) -> Package:
    """The package of this id; NotFoundError when the scope has none."""
    row = snapshot.get(PACKAGE.name, (package_id,))
    if row is None:
        raise NotFoundError(
            "no such package in this scope", code="package.not-found", path=package_id
        )
    return cast("Package", row)


def package_files(snapshot: Snapshot, package_id: str) -> Iterator[PackageFile]:
    """All files of a package in the order of their paths."""
    rows = all_rows(snapshot, PACKAGE_FILE, "by_path", (package_id,))
    return cast("Iterator[PackageFile]", rows)


def get_all(snapshot: Snapshot, relation: str, names: Sequence[str]) -> dict[str, Row]:
    """The rows of a relation with a key of one field, however many there are."""
    found: dict[str, Row] = {}
    for start in range(0, len(names), MAX_KEYS):
        keys = [(name,) for name in names[start : start + MAX_KEYS]]
        rows = snapshot.get_many(relation, keys)
        found |= {key[0]: row for key, row in rows.items()}
    return found


def read_package(snapshot: Snapshot, package_id: str) -> StoredPackage:
    """Read a whole package back and check every byte against its digest.

    Raises:
        NotFoundError: ``package.not-found``.
        CallerError: ``package.erased`` when a file or the manifest was erased and
            nothing stands in its place.
        IntegrityError: ``storage.digest`` when stored bytes don't agree with their
            digest.

    """
    package = find_package(snapshot, package_id)
    listed = list(package_files(snapshot, package_id))
    found = get_all(snapshot, REVISION.name, [f.revision_id for f in listed])
    return checked_package(snapshot, package, listed, cast("Any", found))


def checked_package(
    snapshot: Snapshot,
    package: Package,
    listed: Sequence[PackageFile],
    revisions: Mapping[str, Revision],
) -> StoredPackage:
    """A package from rows that were read: its files, and their revisions by id.

    Raises as `read_package` does.
    """
    row = snapshot.get(CHECKPOINT.name, (package.checkpoint_id,))
    checkpoint = cast("Checkpoint", row)
    if checkpoint.manifest is None:
        raise part_erased(MANIFEST_PATH)
    if len(listed) != package.file_count:
        raise part_erased(package.package_id)
    files: dict[str, bytes] = {}
    for file in listed:
        revision = revisions[file.revision_id]
        if revision.content is None:
            raise part_erased(file.path)
        if sha256_hex(revision.content) != file.sha256:
            raise part_damaged(file.path)
        files[file.path] = revision.content
    measured = [(file.path, file.size_bytes, file.sha256) for file in listed]
    if (
        sha256_hex(checkpoint.manifest) != checkpoint.manifest_sha256
        or files_digest(measured) != checkpoint.files_sha256
    ):
        raise part_damaged(MANIFEST_PATH)
    files[MANIFEST_PATH] = checkpoint.manifest
    return StoredPackage(package, checkpoint, dict(sorted(files.items())))


def part_erased(path: str) -> CallerError:
    """The error for a package of which a part was erased."""
    return CallerError(
        "a part of the package was erased", code="package.erased", path=path
    )


def part_damaged(path: str) -> IntegrityError:
    """The error for stored bytes that aren't those of their digest."""
    return IntegrityError(
        "stored bytes don't agree with their digest", code="storage.digest", path=path
    )
