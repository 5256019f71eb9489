"""Install and restore: bringing a package into a scope under its own id.

Pure: each decision reads through the snapshot and returns what to write. Nothing is
written before everything was judged, and all of it goes in one commit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_core.history.idempotency import KeyUse, use_key
from uaix_core.history.receipts import Writing, receipt_row
from uaix_core.packages.answers import Stored, answer_of
from uaix_core.packages.changes import Plan, build_commit
from uaix_core.packages.standing import (
    conflict,
    same_checkpoint,
    stored_package,
)
from uaix_core.schema.commits import Commit
from uaix_core.values.canonical import sha256_hex

if TYPE_CHECKING:
    from uaix_core.packages.checked import CheckedPackage
    from uaix_core.packages.lint import Report
    from uaix_core.store.port import Snapshot

RESTORED = "restored existing persona"


def decide_install(
    snapshot: Snapshot, writing: Writing, report: Report, key: str | None
) -> Commit | Stored:
    """The commit that installs an accepted package, or the answer of its first time.

    Raises:
        ConflictError: ``package.conflict`` when the id is taken by other content.
        CallerError: ``idempotency.reused``.

    """
    package = accepted(report)
    use = keyed(snapshot, writing, "install", package, key)
    if use.first is not None:
        return answer_of(snapshot, use.first.receipt_id, is_first=False)
    standing = stored_package(snapshot, package.manifest.package_id)
    if standing is None:
        return build_commit(writing, Plan("install", report, use), writing.ids.new())
    same = same_checkpoint(snapshot, package, sha256_hex(package.manifest_bytes))
    if same is None:
        raise conflict(
            standing,
            "a package of this id with other content is installed",
            hint="an update names the checkpoint that it was edited from",
        )
    return answer_of(snapshot, same.receipt_id, is_first=False)


def decide_restore(
    snapshot: Snapshot, writing: Writing, report: Report, key: str | None
) -> Commit | Stored:
    """The commit that restores a package under its own identity.

    Where the same package stands, only a receipt is written; where none stands, all
    of it. An older checkpoint never takes the place of a newer one.

    Raises:
        ConflictError: ``package.rollback`` when the package has moved on since,
            ``package.conflict`` when the id is taken by other content.
        CallerError: ``idempotency.reused``.

    """
    package = accepted(report)
    use = keyed(snapshot, writing, "restore", package, key)
    if use.first is not None:
        return answer_of(snapshot, use.first.receipt_id, is_first=False)
    standing = stored_package(snapshot, package.manifest.package_id)
    details = {"note": RESTORED}
    if standing is None:
        plan = Plan("restore", report, use, details=details)
        return build_commit(writing, plan, writing.ids.new())
    same = same_checkpoint(snapshot, package, sha256_hex(package.manifest_bytes))
    if same is None:
        raise conflict(
            standing,
            "a package of this id with other content is installed",
            hint="a clone gets an identity of its own",
        )
    if same.checkpoint_id != standing.checkpoint_id:
        raise conflict(
            standing,
            "the package has moved on since this checkpoint",
            code="package.rollback",
            hint="an older checkpoint never becomes the head",
        )
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
        expects=use.expects,
        adds=(receipt,),
        puts=use.puts,
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
    manifest_sha256 = sha256_hex(package.manifest_bytes)
    return use_key(
        snapshot,
        writing.random,
        operation=operation,
        key=key,
        request=" ".join((manifest_sha256, package.package_digest, *more)),
        now=writing.now,
    )
