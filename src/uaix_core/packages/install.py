"""Install and restore: bringing a package into a scope under its own id.

Pure: each decision reads through the snapshot and returns what to write. Nothing is
written before everything was judged, and all of it goes in one commit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_core.history.idempotency import KeyUse, use_key
from uaix_core.history.receipts import Writing, receipt_row
from uaix_core.packages.answers import Answered, answer_of
from uaix_core.packages.changes import Plan, build_commit
from uaix_core.packages.standing import (
    check_whole,
    conflict,
    expect_package,
    same_checkpoint,
    stored_package,
)
from uaix_core.schema.commits import Commit
from uaix_core.values.canonical import canonical_text, sha256_hex

if TYPE_CHECKING:
    from uaix_core.packages.checked import CheckedPackage
    from uaix_core.packages.lint import Report
    from uaix_core.packages.relations import Package
    from uaix_core.store.port import Snapshot
    from uaix_core.values.errors import ConflictError

RESTORED = "restored existing persona"


def decide_install(
    snapshot: Snapshot, writing: Writing, report: Report, key: str | None
) -> Commit | Answered:
    """The commit that installs an accepted package, or the answer of its first time.

    Raises:
        ConflictError: ``package.conflict`` when the id is taken by other content.
        CallerError: ``idempotency.reused``, ``package.erased``.

    """
    package = accepted(report)
    use = keyed(snapshot, writing, "install", package, key)
    if use.first is not None:
        return Answered(answer_of(snapshot, use.first, is_first=False))
    standing = stored_package(snapshot, package.manifest.package_id)
    if standing is None:
        return build_commit(writing, Plan("install", report, use), writing.ids.new())
    same = same_checkpoint(snapshot, package, standing)
    if same is None:
        raise taken(snapshot, standing)
    check_whole(snapshot, standing)
    return answered(snapshot, writing, use, same.receipt_id)


def decide_restore(
    snapshot: Snapshot, writing: Writing, report: Report, key: str | None
) -> Commit | Answered:
    """The commit that restores a package under its own identity.

    Where the same package stands, only a receipt is written; where none stands, all
    of it. An older checkpoint never takes the place of a newer one.

    Raises:
        ConflictError: ``package.rollback`` when the package has moved on since,
            ``package.conflict`` when the id is taken by other content.
        CallerError: ``idempotency.reused``, ``package.erased``.

    """
    package = accepted(report)
    use = keyed(snapshot, writing, "restore", package, key)
    if use.first is not None:
        return Answered(answer_of(snapshot, use.first, is_first=False))
    package_id = package.manifest.package_id
    standing = stored_package(snapshot, package_id)
    details = {"note": RESTORED}
    if standing is None:
        plan = Plan("restore", report, use, details=details)
        return build_commit(writing, plan, writing.ids.new())
    same = same_checkpoint(snapshot, package, standing)
    if same is None:
        raise taken(snapshot, standing)
    if same.checkpoint_id != standing.checkpoint_id:
        raise conflict(
            standing,
            "the package has moved on since this checkpoint",
            code="package.rollback",
            hint="an older checkpoint never becomes the head",
        )
    check_whole(snapshot, standing)
    receipt = receipt_row(
        writing,
        writing.ids.new(),
        operation="restore",
        outcome="accepted",
        details=details,
        package_id=same.package_id,
        checkpoint_id=same.checkpoint_id,
        key_digest=use.key_digest,
        request_digest=use.request_digest,
    )
    return Commit(
        writing.scope,
        writing.now,
        expects=(expect_package(standing, package_id), *use.expects),
        adds=(receipt,),
        puts=use.puts,
    )


def taken(snapshot: Snapshot, standing: Package) -> ConflictError:
    """The conflict over an id that other content holds.

    Raises:
        CallerError: ``package.erased`` when nobody can tell, since a part is gone.

    """
    check_whole(snapshot, standing)
    return conflict(
        standing,
        "a package of this id with other content is installed",
        hint="an update names the checkpoint it was edited from; a clone gets a new id",
    )


def answered(
    snapshot: Snapshot, writing: Writing, use: KeyUse, receipt_id: str
) -> Answered:
    """The answer of an operation that was done before, under whatever key."""
    answer = answer_of(snapshot, receipt_id, is_first=False)
    puts = use.bound_to(receipt_id, writing.now)
    if not puts:
        return Answered(answer)
    return Answered(
        answer, Commit(writing.scope, writing.now, expects=use.expects, puts=puts)
    )


def accepted(report: Report) -> CheckedPackage:
    """The checked package of a report that accepts."""
    package = report.package
    assert package is not None, "only accepted packages are decided on"  # noqa: S101
    return package


def keyed(
    snapshot: Snapshot,
    writing: Writing,
    operation: str,
    package: CheckedPackage,
    key: str | None,
    *more: str,
) -> KeyUse:
    """What an idempotency key says of this package; ``more`` is what else counts."""
    parts = (sha256_hex(package.manifest_bytes), package.package_digest, *more)
    return use_key(
        snapshot,
        writing.random,
        operation=operation,
        key=key,
        request=canonical_text(list(parts)),
        now=writing.now,
    )
