"""The views of the packages room: packages, their scopes, files and digests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from uaix_core.history.relations import Revision
from uaix_core.packages.acceptance import reduce_acceptance
from uaix_core.packages.file_views import file_ref, file_rows, rows_of
from uaix_core.packages.relations import (
    ACCEPTANCE,
    ACCEPTANCE_IN_FORCE,
    CHECKPOINT,
    CHECKPOINT_DIGEST,
    DERIVATION,
    DIMENSION,
    LINEAGE,
    PACKAGE,
    PACKAGE_FILE,
    PACKAGE_SCOPE,
    PERSONA_NAME,
    Checkpoint,
    CheckpointDigest,
    Package,
    PackageFile,
    PackageScope,
)
from uaix_core.review.relations import Review
from uaix_core.schema.reducers import Changes
from uaix_core.schema.relations import Ref
from uaix_core.schema.schema import Room

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.reducers import Steps
    from uaix_core.schema.relations import Relation
    from uaix_core.schema.rows import Row

#: The words of `Review.verdict` that a file may show.
_REVIEW_STATES = frozenset(PACKAGE_FILE.fields["review_state"].words)
#: Those that a package may show.
_PACKAGE_STATES = frozenset(PACKAGE.fields["state"].words)
_TEXTS = (
    "profile_id",
    "issuer",
    "status",
    "created_utc",
    "declared_scopes",
    "manifest_sha256",
)


def _package_ref(package_id: str) -> Ref:
    return Ref(PACKAGE.name, (package_id,))


def _digest_row(checkpoint: Checkpoint) -> CheckpointDigest:
    return CheckpointDigest(
        checkpoint.package_id,
        checkpoint.manifest_sha256 or "",
        checkpoint.files_sha256 or "",
        checkpoint.number,
        checkpoint.checkpoint_id,
    )


def _scopes(package: Package | None) -> dict[Ref, PackageScope]:
    if package is None or package.declared_scopes is None:
        return {}
    declared = json.loads(package.declared_scopes)
    rows = [PackageScope(package.package_id, scope) for scope in declared]
    return {PACKAGE_SCOPE.ref(row): row for row in rows}


def reduce_packages(recorded: Recorded, erased: Mapping[Ref, Row]) -> Steps:
    """Follow new checkpoints and revisions; take back what an erasure took away."""
    adds = recorded.commit.adds
    checkpoints = [row for row in adds if isinstance(row, Checkpoint)]
    revisions = [row for row in adds if isinstance(row, Revision)]
    reviews = [row for row in adds if isinstance(row, Review)]
    lost_checkpoints = [r for r in erased.values() if isinstance(r, Checkpoint)]
    lost_revisions = [r for r in erased.values() if isinstance(r, Revision)]
    refs = {_package_ref(c.package_id) for c in (*checkpoints, *lost_checkpoints)}
    # A first revision finds nothing of its record to take back.
    refs |= {file_ref(r) for r in revisions if r.number > 1}
    refs |= {file_ref(r) for r in lost_revisions}
    refs |= {ref for review in reviews for ref in _reviewed(review)}
    before = yield refs

    packages = {ref: row for ref, row in before.items() if isinstance(row, Package)}
    puts: list[Row] = []
    drops: list[Ref] = []
    scopes: dict[Ref, PackageScope | None] = {}
    for checkpoint in checkpoints:
        ref = _package_ref(checkpoint.package_id)
        old = packages.get(ref)
        scopes |= dict.fromkeys(_scopes(old))
        new = _package(checkpoint, old, recorded.recorded_at)
        scopes |= _scopes(new)
        packages[ref] = new
        puts.append(new)
        if CHECKPOINT.has_body(checkpoint):
            puts.append(_digest_row(checkpoint))
    for checkpoint in lost_checkpoints:
        ref = _package_ref(checkpoint.package_id)
        drops.append(CHECKPOINT_DIGEST.ref(_digest_row(checkpoint)))
        package = packages.get(ref)
        if package is not None and package.checkpoint_id == checkpoint.checkpoint_id:
            scopes |= dict.fromkeys(_scopes(package))
            packages[ref] = _without_texts(package)
            puts.append(packages[ref])
    files = {r: row for r, row in before.items() if isinstance(row, PackageFile)}
    for revision in revisions:
        old_file = files.pop(file_ref(revision), None)
        if old_file is not None:
            drops += rows_of(old_file)
        if revision.path is not None and revision.change != "tombstone":
            puts += file_rows(revision)
    for revision in lost_revisions:
        file = files.get(file_ref(revision))
        if file is not None and file.revision_id == revision.revision_id:
            drops += rows_of(files.pop(file_ref(revision)))
    puts += _after_reviews(reviews, packages, files)
    puts += [row for row in scopes.values() if row is not None]
    # Those that are put stand, whatever is dropped beside them.
    drops += scopes
    return Changes(puts=puts, drops=drops)


def _reviewed(review: Review) -> list[Ref]:
    """The rows of this room that a review is about."""
    if review.subject == "package" and review.verdict in _PACKAGE_STATES:
        return [_package_ref(review.package_id)]
    is_shown = review.verdict in _REVIEW_STATES and review.record_id is not None
    if review.subject == "record" and is_shown:
        return [Ref(PACKAGE_FILE.name, (review.package_id, review.record_id))]
    return []


def _after_reviews(
    reviews: Sequence[Review],
    packages: Mapping[Ref, Package],
    files: Mapping[Ref, PackageFile],
) -> Iterator[Row]:
    """What stands as it was reviewed; a word on something older changes nothing."""
    # Of several words in one commit the last one counts.
    found: dict[Ref, Row] = {}
    for review in reviews:
        for ref in _reviewed(review):
            package, file = packages.get(ref), files.get(ref)
            if package is not None and package.checkpoint_id == review.checkpoint_id:
                found[ref] = _with(PACKAGE, package, "state", review.verdict)
            if file is not None and file.revision_id == review.revision_id:
                found[ref] = _with(PACKAGE_FILE, file, "review_state", review.verdict)
    yield from found.values()


def _with(relation: Relation, row: Row, field: str, value: str) -> Row:
    """The row with another value of one field; a new one, so without a version."""
    values = zip(relation.columns, relation.values(row), strict=True)
    return relation.make(tuple(value if n == field else v for n, v in values), 0)


def _package(checkpoint: Checkpoint, old: Package | None, now: int) -> Package:
    return Package(
        package_id=checkpoint.package_id,
        checkpoint_id=checkpoint.checkpoint_id,
        number=checkpoint.number,
        state=checkpoint.state,
        ruleset=checkpoint.ruleset,
        file_count=checkpoint.file_count,
        total_bytes=checkpoint.total_bytes,
        installed_at=now if old is None else old.installed_at,
        modified_at=now,
        **{name: getattr(checkpoint, name) for name in _TEXTS},
    )


def _without_texts(package: Package) -> Package:
    # The version stays: the row's last writer is still the checkpoint's commit.
    values = (
        None if name in _TEXTS else value
        for name, value in zip(PACKAGE.columns, PACKAGE.values(package), strict=True)
    )
    return cast("Package", PACKAGE.make(tuple(values), package.version))


ACCEPTANCE_ROOM = Room(
    "acceptance", (ACCEPTANCE, ACCEPTANCE_IN_FORCE), reduce_acceptance
)
PACKAGES_ROOM = Room(
    "packages",
    (
        CHECKPOINT,
        LINEAGE,
        DERIVATION,
        PACKAGE,
        PACKAGE_SCOPE,
        PACKAGE_FILE,
        DIMENSION,
        PERSONA_NAME,
        CHECKPOINT_DIGEST,
    ),
    reduce_packages,
)
