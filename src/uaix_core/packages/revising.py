"""Revise: one record of a stored package gets its next revision, by compare-and-set.

Whoever changes a record names the revision that they have seen, or None for a record
that is new. When another one stands by then nothing is written: there is no last writer
who wins, and nothing is merged. A change makes a checkpoint of the whole package, so
that what an export carries is always one state that passed all checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from uaix_core.packages.anchors import Authorisation, unauthorised
from uaix_core.packages.answers import Refused
from uaix_core.packages.changes import Plan, build_commit, file_changes
from uaix_core.packages.entry_edits import with_file, without_file
from uaix_core.packages.export import find_package, read_package
from uaix_core.packages.findings import Findings
from uaix_core.packages.install import keyed
from uaix_core.packages.relations import CHECKPOINT, Checkpoint
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.packages.revisions import (
    Candidate,
    Revised,
    RevisionConflictError,
    not_found,
)
from uaix_core.packages.rules.table import RULES
from uaix_core.packages.source import PackageSource
from uaix_core.packages.standing import read_standing
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from uaix_core.history.receipts import Writing
    from uaix_core.history.relations import Head
    from uaix_core.packages.lint import Report
    from uaix_core.packages.standing import Standing
    from uaix_core.schema.commits import Commit, Expect
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot

OPERATION: Final = "revise"


@attrs.frozen
class Wanted:
    """A change of one record.

    ``content`` is None for a tombstone, ``reason`` says why there is one. ``entry`` are
    members of the manifest entry by their wire names.
    """

    package_id: str
    path: str
    content: bytes | None = attrs.field(repr=False)
    expected_revision: str | None
    entry: Mapping[str, Any] | None = None
    authorisations: Collection[Authorisation] = ()
    details: Mapping[str, Any] = attrs.field(factory=dict)
    adds: tuple[Row, ...] = ()
    expects: tuple[Expect, ...] = ()
    #: Whether a record that was tombstoned may come back; only a review may say so.
    may_restore: bool = False


def decide_revision(
    snapshot: Snapshot,
    writing: Writing,
    wanted: Wanted,
    judge: Callable[[PackageSource], Report],
    receipt_id: str,
) -> Commit | Refused | Revised:
    """The commit of a change, or the answer to a change that was made already.

    Args:
        snapshot: the scope as it stands.
        writing: who changes it, when.
        wanted: the change.
        judge: lints the package as it would become.
        receipt_id: what the receipt will be called.

    Raises:
        NotFoundError: ``package.not-found``, ``record.not-found``.
        RevisionConflictError: ``revision.conflict``; another revision stands.
        CallerError: ``record.tombstoned``, ``revise.entry``, ``revise.manifest``,
            ``package.erased``.

    """
    package = find_package(snapshot, wanted.package_id)
    if wanted.path == MANIFEST_PATH:
        raise CallerError(
            "the manifest follows from its files",
            code="revise.manifest",
            path=wanted.path,
            hint="update the package to change what it declares",
        )
    standing = read_standing(snapshot, package)
    record_id = _record_at(standing, wanted.path)
    head = None if record_id is None else standing.heads[record_id]
    if _is_done(standing, record_id, wanted):
        return _answer(snapshot, wanted, cast("Head", head))
    _check_expected(standing, record_id, wanted)
    if head is not None and head.change == "tombstone" and not wanted.may_restore:
        raise CallerError(
            "the record was tombstoned",
            code="record.tombstoned",
            path=wanted.path,
            hint="a review brings it back",
        )
    files = read_package(snapshot, wanted.package_id).files
    if wanted.content is None:
        if head is None:
            raise not_found(wanted.path)
        files = without_file(files, wanted.path)
    else:
        files = with_file(files, wanted.path, wanted.content, wanted.entry)
    report = judge(PackageSource(files=files))
    if report.package is None:
        return Refused(report)
    plan = Plan(
        OPERATION,
        report,
        keyed(snapshot, writing, OPERATION, report.package, None),
        standing=standing,
        details=dict(wanted.details),
        adds=wanted.adds,
    )
    findings = Findings(RULES)
    for change in unauthorised(file_changes(plan), wanted.authorisations):
        findings.add(
            "anchor.mutation",
            change.path,
            f"{change.operation} of a protected anchor without an authorisation",
        )
    if findings.has_error:
        told = (*findings, *report.findings)
        return Refused(
            attrs.evolve(report, verdict="refuse", findings=told, package=None)
        )
    commit = build_commit(writing, plan, receipt_id)
    return attrs.evolve(commit, expects=(*commit.expects, *wanted.expects))


def _record_at(standing: Standing, path: str) -> str | None:
    """The record that stands at a path, or else the last one that stood there."""
    found = standing.records.get(path)
    if found is not None:
        return found
    gone = [
        (standing.heads[record_id].modified_at, record_id)
        for record_id, revision in standing.revisions.items()
        if revision.path == path
    ]
    return max(gone)[1] if gone else None


def _is_done(standing: Standing, record_id: str | None, wanted: Wanted) -> bool:
    """Whether the head is what this very change would make: a retry without a key."""
    if record_id is None:
        return False
    revision = standing.revisions[record_id]
    if revision.parent_revision_id != wanted.expected_revision:
        return False
    if wanted.content is None:
        return revision.change == "tombstone"
    return (
        revision.change != "tombstone"
        and revision.path == wanted.path
        and revision.sha256 == sha256_hex(wanted.content)
    )


def _check_expected(standing: Standing, record_id: str | None, wanted: Wanted) -> None:
    head = None if record_id is None else standing.heads[record_id]
    expected = wanted.expected_revision
    if head is None:
        if expected is not None:
            raise not_found(wanted.path)
        return
    if head.revision_id != expected:
        raise RevisionConflictError(
            head,
            Candidate(
                package_id=wanted.package_id,
                record_id=head.record_id,
                path=wanted.path,
                expected_revision=expected,
                content=wanted.content,
                media_type=standing.revisions[head.record_id].media_type or "",
            ),
        )


def _answer(snapshot: Snapshot, wanted: Wanted, head: Head) -> Revised:
    """The answer to a change that was made before."""
    checkpoint = _checkpoint_at(snapshot, wanted.package_id, head.version)
    return revised(head, checkpoint, wanted.path, is_first=False)


def _checkpoint_at(snapshot: Snapshot, package_id: str, seq: int) -> Checkpoint:
    """The checkpoint that the commit of a revision made; the last one nearly always."""
    after: tuple[Any, ...] | None = None
    while page := snapshot.scan(
        CHECKPOINT.name,
        "by_package",
        (package_id,),
        after=after,
        reverse=True,
        limit=20,
    ):
        for row in cast("list[Checkpoint]", page):
            if row.version <= seq:
                return row
        last = cast("Checkpoint", page[-1])
        after = (last.number, last.checkpoint_id)
    raise not_found(package_id)


def revised(
    head: Head, checkpoint: Checkpoint, path: str, *, is_first: bool
) -> Revised:
    """The answer to a change, of the head and the checkpoint that it made."""
    return Revised(
        package_id=head.package_id,
        record_id=head.record_id,
        path=path,
        revision_id=head.revision_id,
        number=head.number,
        change=head.change,
        checkpoint_id=checkpoint.checkpoint_id,
        seq=head.version,
        receipt=checkpoint.receipt_id,
        is_first=is_first,
    )


def answer_after(snapshot: Snapshot, wanted: Wanted) -> Revised:
    """The answer to a change that was just written."""
    standing = read_standing(snapshot, find_package(snapshot, wanted.package_id))
    record_id = cast("str", _record_at(standing, wanted.path))
    head = standing.heads[record_id]
    checkpoint = _checkpoint_at(snapshot, wanted.package_id, head.version)
    return revised(head, checkpoint, wanted.path, is_first=True)
