"""Install: from a checked package and what the scope holds to one commit.

Pure: `decide_install` reads through the snapshot and returns what to write. Nothing
is written before everything was judged, and all of it goes in one commit.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import attrs

from uaix_core.history.idempotency import KeyUse, use_key
from uaix_core.history.receipts import Writing, receipt_row
from uaix_core.history.relations import REVISION
from uaix_core.packages.manifest.words import fold
from uaix_core.packages.relations import (
    CHECKPOINT,
    CHECKPOINT_DIGEST,
    PACKAGE,
    Checkpoint,
    CheckpointDigest,
)
from uaix_core.packages.required.sets import ruleset_named
from uaix_core.schema.commits import Commit, Expect
from uaix_core.values.canonical import (
    SALT_BYTES,
    canonical_digest,
    canonical_text,
    sha256_hex,
)
from uaix_core.values.errors import CallerError, ConflictError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core.history.relations import Revision
    from uaix_core.packages.checked import CheckedPackage
    from uaix_core.packages.lint import Report
    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot
    from uaix_core.values.ids import Random

OPERATION = "install"


class PackageRefusedError(CallerError):
    """A package did not pass its checks; nothing of it was stored.

    ``report`` lists every finding; ``receipt`` is the id of the receipt that the
    refusal left.
    """

    default_code = "package.refused"

    def __init__(self, report: Report, receipt: str) -> None:
        errors = [f for f in report.findings if f.severity == "error"]
        codes = list(dict.fromkeys(f.code for f in errors))
        super().__init__(
            f"the package is refused with {len(errors)} errors: {', '.join(codes[:5])}",
            hint="lint the package to see every finding",
        )
        self.report = report
        self.receipt = receipt


@attrs.frozen
class Installed:
    """The answer to an install.

    ``seq`` is the commit that installed the package, ``receipt`` the id of its
    receipt; ``is_first`` is false when an exact retry found them there already.
    """

    package_id: str
    state: str
    seq: int
    receipt: str
    checkpoint_id: str
    is_first: bool

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain data."""
        return attrs.asdict(self)


def decide_install(
    snapshot: Snapshot, writing: Writing, report: Report, key: str | None
) -> Commit | Installed:
    """The commit that installs an accepted package, or the answer of its first time.

    Raises:
        ConflictError: ``package.conflict`` when the id is taken by other content.
        CallerError: ``idempotency.reused``.

    """
    package = cast("CheckedPackage", report.package)
    manifest_sha256 = sha256_hex(package.manifest_bytes)
    request = f"{manifest_sha256} {package.package_digest}"
    use = use_key(
        snapshot,
        writing.random,
        operation=OPERATION,
        key=key,
        request=request,
        now=writing.now,
    )
    if use.first is not None:
        return _first(snapshot, use.first.checkpoint_id)
    package_id = package.manifest.package_id
    if snapshot.get(PACKAGE.name, (package_id,)) is not None:
        same = snapshot.scan(
            CHECKPOINT_DIGEST.name,
            "key",
            (package_id, manifest_sha256, package.package_digest),
            limit=1,
        )
        if not same:
            raise ConflictError(
                "a package of this id with other content is installed",
                code="package.conflict",
                relation=PACKAGE.name,
                key=(package_id,),
                path=package_id,
                hint="an update names the checkpoint that it was edited from",
            )
        return _first(snapshot, cast("CheckpointDigest", same[0]).checkpoint_id)
    return _commit(writing, report, package, manifest_sha256, use)


def installed(recorded: Recorded) -> Installed:
    """The answer to an install whose commit was recorded."""
    adds = recorded.commit.adds
    checkpoint = next(row for row in adds if isinstance(row, Checkpoint))
    return _answer(checkpoint, recorded.seq, is_first=True)


def _first(snapshot: Snapshot, checkpoint_id: str | None) -> Installed:
    row = snapshot.get(CHECKPOINT.name, (checkpoint_id,))
    checkpoint = cast("Checkpoint", row)
    return _answer(checkpoint, checkpoint.version, is_first=False)


def _answer(checkpoint: Checkpoint, seq: int, *, is_first: bool) -> Installed:
    return Installed(
        package_id=checkpoint.package_id,
        state=checkpoint.state,
        seq=seq,
        receipt=checkpoint.receipt_id,
        checkpoint_id=checkpoint.checkpoint_id,
        is_first=is_first,
    )


def _commit(
    writing: Writing,
    report: Report,
    package: CheckedPackage,
    manifest_sha256: str,
    use: KeyUse,
) -> Commit:
    manifest = package.manifest
    receipt_id = writing.ids.new()
    salts = _salts(writing.random, len(package.files) + 1)
    revisions = _revisions(writing, report, package, salts)
    checkpoint = CHECKPOINT.named_by_header(
        "checkpoint_id",
        next(salts),
        package_id=manifest.package_id,
        parent_checkpoint_id=None,
        number=1,
        origin=OPERATION,
        state=package.state,
        ruleset=report.ruleset,
        file_count=len(package.files),
        total_bytes=sum(file.size for file in package.files),
        receipt_id=receipt_id,
        actor_kind=writing.principal.kind,
        actor_id=writing.principal.id,
        profile_id=manifest.profile_id,
        issuer=manifest.issuer,
        status=manifest.status,
        created_utc=manifest.created_utc,
        declared_scopes=canonical_text(list(manifest.declared_scopes)),
        entrypoints=canonical_text(list(manifest.entrypoints)),
        support_boundary=canonical_text(manifest.support_boundary),
        manifest_sha256=manifest_sha256,
        files_sha256=package.package_digest,
        manifest=package.manifest_bytes,
    )
    details = {
        "archive_sha256": package.archive_sha256,
        "manifest_sha256": manifest_sha256,
        "manifest_canonical_sha256": canonical_digest(
            json.loads(package.manifest_bytes)
        ),
        "files_sha256": package.package_digest,
        "findings": finding_counts(report),
    }
    receipt = receipt_row(
        writing,
        receipt_id,
        operation=OPERATION,
        outcome="accepted",
        details=details,
        package_id=manifest.package_id,
        checkpoint_id=cast("Checkpoint", checkpoint).checkpoint_id,
        key_digest=use.key_digest,
        request_digest=use.request_digest,
    )
    return Commit(
        scope=writing.scope,
        recorded_at=writing.now,
        expects=(Expect(PACKAGE.name, (manifest.package_id,), 0), *use.expects),
        adds=(*revisions, checkpoint, receipt),
        puts=use.puts,
    )


def _revisions(
    writing: Writing, report: Report, package: CheckedPackage, salts: Iterator[bytes]
) -> list[Revision]:
    order = ruleset_named(report.ruleset).startup_key
    manifest, principal = package.manifest, writing.principal
    rows: list[Row] = [
        REVISION.named_by_header(
            "revision_id",
            salt,
            package_id=manifest.package_id,
            record_id=manifest.stable_id(file.entry),
            parent_revision_id=None,
            number=1,
            change="create",
            required_status=fold(file.entry.required_status),
            # What a package says of its own review is kept in its manifest only.
            review_state="review_required",
            startup_order=order(file.path)[0],
            size_bytes=file.size,
            actor_kind=principal.kind,
            actor_id=principal.id,
            path=file.path,
            role=file.entry.role,
            scope=file.entry.scope,
            media_type=file.entry.media_type,
            source=canonical_text(file.entry.source),
            sha256=file.sha256,
            content=file.read(),
        )
        for file, salt in zip(package.files, salts, strict=False)
    ]
    return cast("list[Revision]", rows)


def refusal(writing: Writing, report: Report, archive_sha256: str | None) -> Commit:
    """The commit that a refused install leaves: one receipt, no content."""
    details = {
        "archive_sha256": archive_sha256,
        "ruleset": report.ruleset,
        "findings": finding_counts(report),
    }
    receipt = receipt_row(
        writing,
        writing.ids.new(),
        operation=OPERATION,
        outcome="refused",
        details=details,
    )
    return Commit(writing.scope, writing.now, adds=(receipt,))


def finding_counts(report: Report) -> dict[str, int]:
    """How often each code was found: all that a receipt tells of findings."""
    counts: dict[str, int] = {}
    for finding in report.findings:
        counts[finding.code] = counts.get(finding.code, 0) + 1
    return counts


def _salts(random: Random, count: int) -> Iterator[bytes]:
    pool = random.bytes(SALT_BYTES * count)
    return iter(pool[i : i + SALT_BYTES] for i in range(0, len(pool), SALT_BYTES))
