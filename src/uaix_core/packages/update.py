"""Update: an edited package continues the checkpoint that it was edited from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import attrs

from uaix_core.packages.anchors import Authorisation, check_authoriser
from uaix_core.packages.answers import Answered, Refused, answer_of
from uaix_core.packages.changes import Plan, build_commit, refused_changes
from uaix_core.packages.checkpoints import (
    find_checkpoint,
    first_known,
    made_from,
    state_digests,
)
from uaix_core.packages.diff import read_manifest, readable_files
from uaix_core.packages.install import accepted, answered, keyed
from uaix_core.packages.manifest.bases import bases_of, declared_bases
from uaix_core.packages.manifest.words import is_sha256
from uaix_core.packages.source import PackageSource
from uaix_core.packages.standing import (
    check_open,
    conflict,
    is_whole,
    read_standing,
    same_checkpoint,
    stored_package,
)
from uaix_core.values.canonical import canonical_text, sha256_hex
from uaix_core.values.errors import CallerError, NotFoundError
from uaix_core.values.text import check_text

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from uaix_core.history.receipts import Writing
    from uaix_core.packages.checked import CheckedPackage
    from uaix_core.packages.lint import Report
    from uaix_core.packages.relations import Checkpoint, Package
    from uaix_core.schema.commits import Commit
    from uaix_core.store.port import Snapshot


@attrs.frozen
class Edit:
    """What an update says beside the package itself.

    ``based_on`` is the SHA-256 (hex) of the manifest that was edited, or the id of
    its checkpoint (the only name left once the manifest was erased); the package's own
    ``basedOn`` is taken without it. ``files_sha256`` is the digest of the files that
    lie beside that manifest, where they do: several states may have one manifest.
    """

    based_on: str | None = None
    files_sha256: str | None = None
    authorisations: Collection[Authorisation] = ()


def decide_update(
    snapshot: Snapshot, writing: Writing, report: Report, key: str | None, edit: Edit
) -> Commit | Answered | Refused:
    """The commit that makes an edited package the new checkpoint.

    Raises:
        NotFoundError: ``package.not-found``: there is nothing to update.
        CallerError: ``update.based-on`` when no checkpoint is named, or two;
            ``checkpoint.ambiguous`` for the manifest of several states;
            ``record.tombstoned`` for a file that goes on with a retired record.
        ConflictError: ``package.stale`` when another checkpoint is the current one.

    """
    check_authoriser(writing.principal, edit.authorisations)
    package = accepted(report)
    wanted = sorted([a.path, a.operation] for a in edit.authorisations)
    more = canonical_text([edit.based_on, edit.files_sha256, wanted])
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
    _check_base(snapshot, package, current, edit)
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


def named_base(named: str | PackageSource | None) -> tuple[str | None, str | None]:
    """The digests of what was edited: of its manifest, and of its files if they came.

    Raises:
        CallerError: as `readable_files` and `read_manifest`.

    """
    if not isinstance(named, PackageSource):
        return (None if named is None else check_text(named, "based_on")), None
    files = readable_files(named)
    read_manifest(files)
    return state_digests(files)


def parted_at(
    snapshot: Snapshot, package: CheckedPackage, named: tuple[str | None, str | None]
) -> Checkpoint | None:
    """The checkpoint that a package was made over, None where nobody can tell.

    Raises:
        NotFoundError: ``checkpoint.not-found`` for a named one that was never stored.
        CallerError: ``checkpoint.ambiguous``.

    """
    package_id, (name, files) = package.manifest.package_id, named
    if name is not None and files is not None:
        found = made_from(snapshot, package_id, name, files)
        if found is not None:
            return found
    if name is not None:
        return find_checkpoint(snapshot, package_id, name)
    own = sha256_hex(package.manifest_bytes)
    return first_known(snapshot, package_id, (own, *bases_of(package.manifest)))


def _check_base(
    snapshot: Snapshot, package: CheckedPackage, current: Package, edit: Edit
) -> None:
    """Refuse an edit of anything but the state that stands."""
    declared = bases_of(package.manifest)
    if edit.based_on is not None:
        base = _named_base(snapshot, current.package_id, declared, edit)
    elif declared:
        base = first_known(snapshot, current.package_id, declared)
    else:
        raise CallerError(
            "an update names the checkpoint that it was edited from",
            code="update.based-on",
            path="basedOn",
            hint="the SHA-256 of the manifest that was edited",
        )
    if base is None or base.checkpoint_id != current.checkpoint_id:
        raise conflict(
            current,
            "another checkpoint is the current one",
            code="package.stale",
            hint="export the current checkpoint and edit that",
        )


def _named_base(
    snapshot: Snapshot, package_id: str, declared: Sequence[str], edit: Edit
) -> Checkpoint | None:
    """The checkpoint that the call names, None for one that was never stored."""
    name = edit.based_on or ""
    if is_sha256(name) is None:
        raise CallerError(
            "a checkpoint is named by 64 lower-case hex digits",
            code="update.based-on",
            path="basedOn",
            hint="the SHA-256 of the manifest that was edited, or the checkpoint's id",
        )
    if edit.files_sha256 is not None:
        found = made_from(snapshot, package_id, name, edit.files_sha256)
    else:
        found = find_checkpoint(snapshot, package_id, name, is_wanted=False)
    if found is not None and not _agrees(snapshot, found, declared):
        raise CallerError(
            "the package and the call name different checkpoints",
            code="update.based-on",
            path="basedOn",
        )
    return found


def _agrees(snapshot: Snapshot, named: Checkpoint, declared: Sequence[str]) -> bool:
    """Whether what a package declares lets it be an edit of a checkpoint."""
    if named.manifest is None or {named.manifest_sha256, named.checkpoint_id} & {
        *declared
    }:
        return True
    # What was taken over from the edited manifest says nothing of the edit.
    if declared_bases(json.loads(named.manifest)) == declared:
        return True
    return first_known(snapshot, named.package_id, declared) is None
