"""What stands of a package when it is to start: its rows, each read once.

All rows come by range scans over the package, so the cost is that of its history and
not of one read for each file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import attrs

from uaix_core.history.relations import HEAD, REVISION
from uaix_core.packages.export import find_package, package_files
from uaix_core.packages.reviewing import open_conflicts
from uaix_core.packages.standing import checkpoint_of
from uaix_core.startup.references import pointing_rows
from uaix_core.store.scanning import all_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from uaix_core.history.relations import Head, Revision
    from uaix_core.packages.relations import (
        Checkpoint,
        Dimension,
        Package,
        PackageFile,
    )
    from uaix_core.review.relations import OpenConflict
    from uaix_core.store.port import Snapshot

#: Revisions hold bodies, so that fewer of them are taken at once.
_PAGE: Final = 200


@attrs.frozen
class Found:
    """A package as a start-up finds it.

    ``files`` are by path, ``heads`` by record. ``revisions`` are those that the heads
    name, by record; ``broken`` are the records whose chain of revisions has a gap, and
    ``paths`` tells where each record stood last.
    """

    package: Package
    checkpoint: Checkpoint
    files: Mapping[str, PackageFile]
    heads: Mapping[str, Head]
    revisions: Mapping[str, Revision]
    broken: frozenset[str]
    paths: Mapping[str, str]
    conflicts: Sequence[OpenConflict]
    pointing: Sequence[Dimension]

    @property
    def changed_at(self) -> int:
        """The seq of the last commit that changed what the package holds."""
        rows = (self.package, *self.heads.values(), *self.files.values())
        return max(row.version for row in rows)


def read_found(snapshot: Snapshot, package_id: str) -> Found:
    """Read all that a start-up looks at.

    Raises:
        NotFoundError: ``package.not-found``.

    """
    package = find_package(snapshot, package_id)
    heads = {head.record_id: head for head in _heads(snapshot, package_id)}
    current = {head.revision_id for head in heads.values()}
    revisions: dict[str, Revision] = {}
    paths: dict[str, str] = {}
    broken: set[str] = set()
    before: Revision | None = None
    for row in _revisions(snapshot, package_id):
        if not _continues(before, row):
            broken.add(row.record_id)
        if row.path is not None:
            paths[row.record_id] = row.path
        if row.revision_id in current:
            revisions[row.record_id] = row
        before = row
    return Found(
        package=package,
        checkpoint=checkpoint_of(snapshot, package.checkpoint_id),
        files={file.path: file for file in package_files(snapshot, package_id)},
        heads=heads,
        revisions=revisions,
        broken=frozenset(broken | (heads.keys() - revisions.keys())),
        paths=paths,
        conflicts=list(open_conflicts(snapshot, package_id)),
        pointing=list(pointing_rows(snapshot, package_id)),
    )


def _continues(before: Revision | None, row: Revision) -> bool:
    """Whether a revision is the next one of its record, or the first of the next."""
    number, parent = 1, None
    if before is not None and before.record_id == row.record_id:
        number, parent = before.number + 1, before.revision_id
    return (row.number, row.parent_revision_id) == (number, parent)


def _heads(snapshot: Snapshot, package_id: str) -> Iterator[Head]:
    rows = all_rows(snapshot, HEAD, prefix=(package_id,))
    return cast("Iterator[Head]", rows)


def _revisions(snapshot: Snapshot, package_id: str) -> Iterator[Revision]:
    """All revisions of a package, record by record, each from its first on."""
    rows = all_rows(snapshot, REVISION, "by_record", (package_id,), page=_PAGE)
    return cast("Iterator[Revision]", rows)
