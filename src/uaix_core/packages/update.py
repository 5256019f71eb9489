"""Update: an edited package continues the checkpoint that it was edited from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from uaix_core.packages.anchors import Authorisation, check_authoriser
from uaix_core.packages.answers import Answered, Refused, answer_of
from uaix_core.packages.changes import Plan, build_commit, refused_changes
from uaix_core.packages.install import accepted, answered, keyed
from uaix_core.packages.manifest.words import is_sha256
from uaix_core.packages.standing import (
    check_open,
    conflict,
    is_whole,
    read_standing,
    same_checkpoint,
    stored_package,
)
from uaix_core.values.canonical import canonical_text
from uaix_core.values.errors import CallerError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Collection

    from uaix_core.history.receipts import Writing
    from uaix_core.packages.lint import Report
    from uaix_core.packages.relations import Package
    from uaix_core.schema.commits import Commit
    from uaix_core.store.port import Snapshot


@attrs.frozen
class Edit:
    """What an update says beside the package itself.

    ``based_on`` is the SHA-256 (hex) of the manifest that was edited, or the id of
    its checkpoint (the only name left once the manifest was erased); the package's own
    ``basedOn`` is taken without it.
    """

    based_on: str | None = None
    authorisations: Collection[Authorisation] = ()


def decide_update(
    snapshot: Snapshot, writing: Writing, report: Report, key: str | None, edit: Edit
) -> Commit | Answered | Refused:
    """The commit that makes an edited package the new checkpoint.

    Raises:
        NotFoundError: ``package.not-found``: there is nothing to update.
        CallerError: ``update.based-on`` when no checkpoint is named, or two.
        ConflictError: ``package.stale`` when another checkpoint is the current one.

    """
    check_authoriser(writing.principal, edit.authorisations)
    package = accepted(report)
    wanted = sorted([a.path, a.operation] for a in edit.authorisations)
    more = canonical_text([edit.based_on, wanted])
    use = keyed(snapshot, writing, "update", package, key, more)
    if use.first is not None:
        return Answered(answer_of(snapshot, use.first, is_first=False))
    package_id = package.manifest.package_id
    current = stored_package(snapshot, package_id)
    if current is None:
        raise NotFoundError(
            "no such package in this scope", code="package.not-found", path=package_id
        )
    same = same_checkpoint(snapshot, package, current)
    is_current = same is not None and same.checkpoint_id == current.checkpoint_id
    if same is not None and is_current and is_whole(snapshot, current):
        return answered(snapshot, writing, use, same.receipt_id)
    check_open(current)
    _check_base(current, _base(package.manifest.based_on, edit.based_on))
    plan = Plan(
        "update",
        report,
        use,
        standing=read_standing(snapshot, current),
        details={
            "authorisations": [[a.path, a.operation] for a in edit.authorisations]
        },
    )
    refused = refused_changes(plan, edit.authorisations)
    if refused is not None:
        return refused
    return build_commit(writing, plan, writing.ids.new())


def _base(declared: str | None, named: str | None) -> str:
    if declared and named and declared != named:
        raise CallerError(
            "the package and the call name different checkpoints",
            code="update.based-on",
            path="basedOn",
        )
    base = named or declared
    if base is not None and is_sha256(base) is None:
        raise CallerError(
            "a checkpoint is named by 64 lower-case hex digits",
            code="update.based-on",
            path="basedOn",
            hint="the SHA-256 of the manifest that was edited, or the checkpoint's id",
        )
    if base is None:
        raise CallerError(
            "an update names the checkpoint that it was edited from",
            code="update.based-on",
            path="basedOn",
            hint="the SHA-256 of the manifest that was edited",
        )
    return base


def _check_base(current: Package, base: str) -> None:
    if base not in (current.manifest_sha256, current.checkpoint_id):
        raise conflict(
            current,
            "another checkpoint is the current one",
            code="package.stale",
            hint="export the current checkpoint and edit that",
        )
