"""Clone: a copy with an identity and stable ids of its own, and its lineage.

The bytes of the files are copied as they are; of the manifest only the package id, the
stable ids, the signatures (which were for another manifest) and ``basedOn`` differ.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import attrs

from uaix_core.packages.changes import Plan, build_commit
from uaix_core.packages.install import accepted, keyed
from uaix_core.packages.relations import Lineage
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.packages.standing import conflict, stored_package

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.history.receipts import Writing
    from uaix_core.packages.lint import Report
    from uaix_core.schema.commits import Commit
    from uaix_core.store.port import Snapshot
    from uaix_core.values.ids import Ids


@attrs.frozen
class Origin:
    """What a clone was made from; the checkpoint is None when it isn't stored here."""

    package_id: str
    checkpoint_id: str | None


def cloned_files(files: Mapping[str, bytes], new_id: str, ids: Ids) -> dict[str, bytes]:
    """The files of a clone: the same bytes under a manifest with new identities."""
    wire: dict[str, Any] = json.loads(files[MANIFEST_PATH])
    wire["packageId"] = new_id
    wire.pop("basedOn", None)
    wire["integrity"].pop("signatures", None)
    for entry in wire["files"]:
        entry["stableId"] = ids.new()
    text = json.dumps(wire, ensure_ascii=False, indent=2) + "\n"
    return {**files, MANIFEST_PATH: text.encode("utf-8")}


def checked_files(report: Report) -> dict[str, bytes]:
    """All files of a package that passed its checks, the manifest included."""
    package = accepted(report)
    files = {file.path: file.read() for file in package.files}
    return {**files, MANIFEST_PATH: package.manifest_bytes}


def decide_clone(
    snapshot: Snapshot, writing: Writing, report: Report, origin: Origin
) -> Commit:
    """The commit that stores a clone with its lineage.

    Raises:
        ConflictError: ``package.conflict`` when the new id is taken.

    """
    package = accepted(report)
    new_id = package.manifest.package_id
    taken = stored_package(snapshot, new_id)
    if taken is not None:
        raise conflict(
            taken, "the id of the clone is taken", hint="a clone gets a new id"
        )
    receipt_id = writing.ids.new()
    lineage = Lineage(
        package_id=new_id,
        from_package_id=origin.package_id,
        from_checkpoint_id=origin.checkpoint_id,
        descent="clone",
        receipt_id=receipt_id,
    )
    plan = Plan(
        "clone",
        report,
        keyed(snapshot, writing, "clone", package, None),
        details={
            "from_package_id": origin.package_id,
            "from_checkpoint_id": origin.checkpoint_id,
        },
        adds=(lineage,),
    )
    return build_commit(writing, plan, receipt_id)
