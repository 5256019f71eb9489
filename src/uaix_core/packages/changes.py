"""The commit that stores a checked package: revisions, checkpoint, receipt.

One builder for install, restore, clone and update. Files that are as they stand get no
new revision; every other one continues the parent chain of its record without a gap.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from uaix_core.history.receipts import Writing, receipt_row
from uaix_core.history.relations import HEAD, REVISION
from uaix_core.packages.anchors import FileChange, unauthorised
from uaix_core.packages.answers import Refused
from uaix_core.packages.file_views import UNREGISTERED
from uaix_core.packages.findings import Findings
from uaix_core.packages.manifest.words import fold
from uaix_core.packages.relations import CHECKPOINT, Checkpoint
from uaix_core.packages.required.sets import ruleset_named
from uaix_core.packages.revisions import tombstoned
from uaix_core.packages.rules.table import RULES
from uaix_core.packages.standing import expect_package, record_ids
from uaix_core.schema.commits import MAX_BODY_BYTES, Commit, Expect
from uaix_core.values.canonical import (
    SALT_BYTES,
    canonical_text,
    sha256_hex,
)
from uaix_core.values.parsing import canonical_text_digest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from uaix_core.history.idempotency import KeyUse
    from uaix_core.history.relations import Head, Revision
    from uaix_core.packages.anchors import Authorisation
    from uaix_core.packages.checked import CheckedFile, CheckedPackage
    from uaix_core.packages.lint import Report
    from uaix_core.packages.standing import Standing
    from uaix_core.schema.rows import Row
    from uaix_core.values.ids import Random

#: Left free in a commit for paths, sources and other texts of the bodies.
_REST: Final = 16 * 2**20

#: What of a file an update compares, beside the digest of its bytes.
_COMPARED = ("path", "role", "scope", "media_type", "required_status", "source")


@attrs.frozen
class Plan:
    """What to store, on top of what, and how to call it.

    ``details`` and ``adds`` are what the operation has to say beyond the ordinary.
    ``may_restore`` is whether a retired record may come back; only a review says so.
    """

    operation: str
    report: Report
    use: KeyUse
    standing: Standing | None = None
    details: dict[str, Any] = attrs.field(factory=dict)
    adds: Sequence[Row] = ()
    may_restore: bool = False

    @property
    def package(self) -> CheckedPackage:
        """The package that passed its checks."""
        return cast("CheckedPackage", self.report.package)

    @cached_property
    def wanted(self) -> list[WantedFile]:
        """The files of the new checkpoint in the order of their paths.

        Raises:
            CallerError: ``record.tombstoned``; whatever a verb, a path or a stableId
                asks for, a retired record comes back by a review.

        """
        wanted = _wanted(self)
        for one in wanted:
            if _change_of(one.head) == "restore" and not self.may_restore:
                raise tombstoned(one.file.path)
        return wanted


@attrs.frozen
class WantedFile:
    """One file of the new checkpoint and what of it stands."""

    record_id: str
    file: CheckedFile
    fields: dict[str, Any]
    head: Head | None
    before: Revision | None

    @property
    def is_unchanged(self) -> bool:
        """Whether the file stands just like this, and needs no revision."""
        head, before = self.head, self.before
        return (
            head is not None
            and head.change != "tombstone"
            and before is not None
            and before.content is not None
            and before.sha256 == self.file.sha256
            and all(getattr(before, n) == self.fields[n] for n in _COMPARED)
        )


def build_commit(writing: Writing, plan: Plan, receipt_id: str) -> Commit:
    """The commit of a plan; ``receipt_id`` is what its checkpoint will name."""
    package, standing = plan.package, plan.standing
    wanted = plan.wanted
    gone = _gone(standing, {w.record_id for w in wanted})
    salts = _salts(writing.random, len(wanted) + len(gone) + 1)
    revisions: list[Row] = []
    current = standing.package if standing is not None else None
    expects = [expect_package(current, package.manifest.package_id)]
    for one in wanted:
        if not one.is_unchanged:
            revisions.append(_revision(writing, plan, one, next(salts)))
            expects += _expect_head(one.head)
    for before, head in gone:
        revisions.append(_tombstone(writing, before, head, next(salts)))
        expects += _expect_head(head)
    checkpoint = _checkpoint(writing, plan, receipt_id, next(salts))
    receipt = receipt_row(
        writing,
        receipt_id,
        operation=plan.operation,
        outcome="accepted",
        details=_details(plan, len(revisions)),
        package_id=package.manifest.package_id,
        checkpoint_id=checkpoint.checkpoint_id,
        key_digest=plan.use.key_digest,
        request_digest=plan.use.request_digest,
    )
    return Commit(
        scope=writing.scope,
        recorded_at=writing.now,
        expects=(*expects, *plan.use.expects),
        adds=(*revisions, checkpoint, *plan.adds, receipt),
        puts=plan.use.puts,
    )


def file_changes(plan: Plan) -> list[FileChange]:
    """What a plan changes of the files that stand."""
    wanted = plan.wanted
    changes = [
        FileChange(
            _change_of(one.head),
            one.file.path,
            None if one.before is None else one.before.path,
        )
        for one in wanted
        if not one.is_unchanged
    ]
    gone = _gone(plan.standing, {one.record_id for one in wanted})
    changes += [FileChange("tombstone", r.path or "", r.path) for r, _head in gone]
    return changes


def refused_changes(
    plan: Plan, authorisations: Collection[Authorisation]
) -> Refused | None:
    """The refusal of changes of protected files that nobody has authorised."""
    findings = Findings(RULES)
    for change in unauthorised(file_changes(plan), authorisations):
        findings.add(
            change.protection or "",
            change.path,
            f"{change.operation} without an authorisation",
        )
    if not findings.has_error:
        return None
    told = (*findings, *plan.report.findings)
    report = attrs.evolve(plan.report, verdict="refuse", findings=told, package=None)
    return Refused(report)


def _change_of(head: Head | None) -> str:
    if head is None:
        return "create"
    return "restore" if head.change == "tombstone" else "replace"


def _wanted(plan: Plan) -> list[WantedFile]:
    standing = plan.standing
    ids = record_ids(plan.package, standing)
    order = ruleset_named(plan.report.ruleset).startup_key
    return [
        WantedFile(
            record_id=ids[file.path],
            file=file,
            fields={
                "path": file.path,
                "role": file.entry.role,
                "scope": file.entry.scope,
                "media_type": file.entry.media_type,
                "required_status": fold(file.entry.required_status),
                "source": canonical_text(file.entry.source),
                "startup_order": order(file.path)[0],
            },
            head=standing.heads.get(ids[file.path]) if standing else None,
            before=standing.revisions.get(ids[file.path]) if standing else None,
        )
        for file in plan.package.files
    ]


def _gone(standing: Standing | None, staying: set[str]) -> list[tuple[Revision, Head]]:
    if standing is None:
        return []
    return [
        (revision, standing.heads[record_id])
        for record_id, revision in standing.revisions.items()
        if record_id not in staying and revision.change != "tombstone"
    ]


def _revision(writing: Writing, plan: Plan, one: WantedFile, salt: bytes) -> Row:
    head, content = one.head, one.file.read()
    return REVISION.named_by_header(
        "revision_id",
        salt,
        package_id=plan.package.manifest.package_id,
        record_id=one.record_id,
        parent_revision_id=None if head is None else head.revision_id,
        number=1 if head is None else head.number + 1,
        change=_change_of(head),
        # What a package says of its own review is kept in its manifest only.
        review_state="review_required",
        size_bytes=one.file.size,
        actor_kind=writing.principal.kind,
        actor_id=writing.principal.id,
        sha256=one.file.sha256,
        canonical_sha256=_canonical(one, content),
        content=content,
        **one.fields,
    )


def _canonical(one: WantedFile, content: bytes) -> str:
    """The canonical digest of a registered file, or of any that is JSON."""
    media_type = one.fields["media_type"]
    if one.fields["role"] == UNREGISTERED and media_type != "application/json":
        return ""
    return canonical_text_digest(content, media_type) or ""


def _tombstone(writing: Writing, before: Revision, head: Head, salt: bytes) -> Row:
    return REVISION.named_by_header(
        "revision_id",
        salt,
        package_id=before.package_id,
        record_id=before.record_id,
        parent_revision_id=head.revision_id,
        number=head.number + 1,
        change="tombstone",
        required_status=before.required_status,
        review_state="review_required",
        startup_order=before.startup_order,
        size_bytes=0,
        actor_kind=writing.principal.kind,
        actor_id=writing.principal.id,
        path=before.path or "",
        role=before.role or "",
        scope=before.scope or "",
        media_type=before.media_type or "",
        source="{}",
        sha256=sha256_hex(b""),
        canonical_sha256="",
        content=b"",
    )


def _checkpoint(
    writing: Writing, plan: Plan, receipt_id: str, salt: bytes
) -> Checkpoint:
    package, manifest = plan.package, plan.package.manifest
    before = plan.standing.package if plan.standing is not None else None
    row = CHECKPOINT.named_by_header(
        "checkpoint_id",
        salt,
        package_id=manifest.package_id,
        parent_checkpoint_id=None if before is None else before.checkpoint_id,
        number=1 if before is None else before.number + 1,
        origin=plan.operation,
        state=package.state,
        ruleset=plan.report.ruleset,
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
        manifest_sha256=sha256_hex(package.manifest_bytes),
        files_sha256=package.package_digest,
        manifest=package.manifest_bytes,
    )
    return cast("Checkpoint", row)


def _details(plan: Plan, revisions: int) -> dict[str, Any]:
    package = plan.package
    return {
        "archive_sha256": package.archive_sha256,
        "manifest_sha256": sha256_hex(package.manifest_bytes),
        "manifest_canonical_sha256": package.manifest_canonical_sha256,
        "files_sha256": package.package_digest,
        "revisions": revisions,
        "findings": finding_counts(plan.report),
        **plan.details,
    }


def without_room(report: Report) -> Refused | None:
    """The refusal of a package whose bodies one commit can't hold, if it is one."""
    package = cast("CheckedPackage", report.package)
    bodies = len(package.manifest_bytes) + sum(file.size for file in package.files)
    if bodies <= MAX_BODY_BYTES - _REST:
        return None
    findings = Findings(RULES)
    findings.halt("zip.limit-total", None, "more than one commit of a store can hold")
    return Refused(
        attrs.evolve(
            report,
            verdict="refuse",
            findings=(*findings, *report.findings),
            package=None,
        )
    )


def refusal(
    writing: Writing, operation: str, report: Report, archive_sha256: str | None
) -> Commit:
    """The commit that a refused operation leaves: one receipt, no content."""
    details = {
        "archive_sha256": archive_sha256,
        "ruleset": report.ruleset,
        "findings": finding_counts(report),
    }
    receipt = receipt_row(
        writing,
        writing.ids.new(),
        operation=operation,
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


def _expect_head(head: Head | None) -> list[Expect]:
    if head is None:
        return []
    return [Expect(HEAD.name, (head.package_id, head.record_id), head.version)]


def _salts(random: Random, count: int) -> Iterator[bytes]:
    pool = random.bytes(SALT_BYTES * count)
    return iter(pool[i : i + SALT_BYTES] for i in range(0, len(pool), SALT_BYTES))
