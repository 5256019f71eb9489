"""Clone: a copy with an identity and stable ids of its own, and its lineage.

The bytes of the files are copied as they are; of the manifest only the package id, the
stable ids, the signatures (which were for another manifest) and ``basedOn`` differ.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import attrs

from uaix_core.packages.changes import Plan, build_commit
from uaix_core.packages.export import package_files, read_package
from uaix_core.packages.install import accepted
from uaix_core.packages.manifest.bases import without_bases
from uaix_core.packages.manifest.places import OUTDATED, JsonPath, edited, spans
from uaix_core.packages.relations import PACKAGE, PACKAGE_FILE, Lineage
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.packages.standing import conflict, stored_package
from uaix_core.schema.commits import Expect
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.history.idempotency import KeyUse
    from uaix_core.history.receipts import Writing
    from uaix_core.packages.lint import Report
    from uaix_core.schema.commits import Commit
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot
    from uaix_core.values.ids import Ids


@attrs.frozen
class Origin:
    """What a clone is made from.

    ``checkpoint_id`` is None for a package that isn't stored here; ``expects`` are the
    rows of a stored one that must still stand when its clone is written.
    """

    package_id: str
    checkpoint_id: str | None
    files: Mapping[str, bytes] = attrs.field(repr=False)
    expects: tuple[Expect, ...] = ()


def stored_origin(snapshot: Snapshot, package_id: str) -> Origin:
    """A stored package as the origin of a clone."""
    stored = read_package(snapshot, package_id)
    package = stored.package
    expects = [Expect(PACKAGE.name, (package_id,), package.version)]
    expects += [
        Expect(PACKAGE_FILE.name, (package_id, file.record_id), file.version)
        for file in package_files(snapshot, package_id)
    ]
    return Origin(package_id, package.checkpoint_id, stored.files, tuple(expects))


def outside_origin(report: Report) -> Origin:
    """A package from outside that passed its checks as the origin of a clone."""
    package = accepted(report)
    files = {file.path: file.read() for file in package.files}
    files[MANIFEST_PATH] = package.manifest_bytes
    return Origin(package.manifest.package_id, None, files)


def cloned_files(origin: Origin, new_id: str, ids: Ids) -> dict[str, bytes]:
    """The files of a clone: the same bytes under a manifest with new identities.

    Of the manifest's text only the values that have to differ do.

    Raises:
        CallerError: ``clone.same-id`` for the id of the origin.

    """
    if new_id == origin.package_id:
        raise CallerError(
            "a clone has an id of its own", code="clone.same-id", path="package_id"
        )
    text = origin.files[MANIFEST_PATH].decode("utf-8")
    wire = json.loads(text)
    text = without_bases(text, wire)
    edits: dict[JsonPath, str | None] = {**OUTDATED, ("packageId",): f'"{new_id}"'}
    entries = wire["files"]
    paths: list[JsonPath] = [("files", i, "path") for i in range(len(entries))]
    places = spans(text, paths)
    for i, entry in enumerate(entries):
        if "stableId" in entry:
            edits["files", i, "stableId"] = f'"{ids.new()}"'
        else:
            start, stop = places["files", i, "path"]
            edits["files", i, "path"] = f'{text[start:stop]}, "stableId": "{ids.new()}"'
    return {**origin.files, MANIFEST_PATH: edited(text, edits).encode("utf-8")}


@attrs.frozen
class Descent:
    """How a new package comes from another one.

    ``kind`` is the word of its lineage, ``operation`` that of its receipt. ``details``
    and ``adds`` are what it has to say beyond the origin.
    """

    kind: str
    operation: str
    details: Mapping[str, Any] = attrs.field(factory=dict)
    adds: tuple[Row, ...] = ()
    expects: tuple[Expect, ...] = ()


CLONE: Final = Descent("clone", "clone")


def decide_descent(  # noqa: PLR0913 - what a new package consists of
    snapshot: Snapshot,
    writing: Writing,
    report: Report,
    origin: Origin,
    *,
    receipt_id: str,
    use: KeyUse,
    how: Descent = CLONE,
) -> Commit:
    """The commit that stores a new package with its lineage.

    ``use`` is what an idempotency key says of it.

    Raises:
        ConflictError: ``package.conflict`` when the new id is taken.

    """
    package = accepted(report)
    new_id = package.manifest.package_id
    held = stored_package(snapshot, new_id)
    if held is not None:
        raise conflict(
            held, "the id of the new package is taken", hint="it gets an id of its own"
        )
    lineage = Lineage(
        package_id=new_id,
        from_package_id=origin.package_id,
        from_checkpoint_id=origin.checkpoint_id,
        descent=how.kind,
        receipt_id=receipt_id,
    )
    plan = Plan(
        how.operation,
        report,
        use,
        details={
            "from_package_id": origin.package_id,
            "from_checkpoint_id": origin.checkpoint_id,
            **how.details,
        },
        adds=(lineage, *how.adds),
    )
    commit = build_commit(writing, plan, receipt_id)
    expects = (*commit.expects, *origin.expects, *how.expects)
    return attrs.evolve(commit, expects=expects)
