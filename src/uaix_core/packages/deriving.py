"""Derive: a transformation of a persona makes another package, never the same one.

The original stays as its author left it. The derivative names what it was made from,
why, and for each file that differs what was changed.

Source: the persona preservation rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from uaix_core.gate.said import shown_name
from uaix_core.packages.anchors import (
    ANCHORS,
    PERSONALITY,
    check_authorisations,
    protection_of,
)
from uaix_core.packages.diff import diff_packages
from uaix_core.packages.entry_edits import FileEdit, checked_entry, with_edits
from uaix_core.packages.relations import DERIVATION
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.packages.revisions import not_found
from uaix_core.values.arguments import check_files, check_mapping, check_texts
from uaix_core.values.canonical import SALT_BYTES, canonical_text, sha256_hex
from uaix_core.values.errors import CallerError
from uaix_core.values.text import is_storable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from uaix_core.history.receipts import Writing
    from uaix_core.packages.anchors import Authorisation
    from uaix_core.packages.checked import CheckedPackage
    from uaix_core.packages.clone import Origin
    from uaix_core.packages.relations import Derivation

#: The longest reason and note, in characters.
MAX_TEXT: Final = 10_000
#: What a derivative may not change without an authorisation either.
_KEPT: Final = ANCHORS | {f"{PERSONALITY}preservation-rules.uai"}


def _as_paths(paths: Iterable[str]) -> tuple[str, ...]:
    return check_texts(paths, "removes")


@attrs.frozen
class Transformation:
    """What a persona is to become, in a package of its own.

    Args:
        files: logical path to bytes, of the files that are to differ or to be new.
        reason: why somebody asked for it, 1 to 10,000 characters.
        notes: path to a text that says what was changed; every changed file of the
            persona needs one.
        authorisations: for the anchors and the preservation rules.
        removes: the paths of files that are to go.
        entries: manifest entries (wire names) of new files, by path.

    Raises:
        CallerError: ``derive.reason``, ``derive.note``, ``derive.nothing``.

    """

    files: Mapping[str, bytes] = attrs.field(repr=False)
    reason: str = attrs.field(repr=False)
    notes: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    authorisations: Collection[Authorisation] = attrs.field(
        default=(), converter=check_authorisations
    )
    removes: Collection[str] = attrs.field(default=(), converter=_as_paths)
    entries: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict)

    @property
    def changes(self) -> dict[str, bytes | None]:
        """What is to become of each file, None where it goes, in order of paths."""
        gone = dict.fromkeys(self.removes)
        return dict(sorted({**self.files, **gone}.items()))

    def __attrs_post_init__(self) -> None:
        check_files(self.files, "files")
        check_mapping(self.notes, "notes")
        for entry in check_mapping(self.entries, "entries").values():
            checked_entry(entry, "entries")
        if not self.changes or MANIFEST_PATH in self.changes:
            raise CallerError(
                "a transformation is of files, and the manifest follows from them",
                code="derive.nothing",
                path="files",
            )
        if not _is_said(self.reason):
            raise CallerError(
                f"a transformation has a reason of 1 to {MAX_TEXT:,} characters",
                code="derive.reason",
                path="reason",
            )
        for path, note in self.notes.items():
            if path not in self.changes or not _is_said(note):
                raise CallerError(
                    f"a note of 1 to {MAX_TEXT:,} characters is about a changed file",
                    code="derive.note",
                    path=shown_name(path),
                )


def _is_said(text: object) -> bool:
    return isinstance(text, str) and 0 < len(text) <= MAX_TEXT and is_storable(text)


def transformed(origin: Origin, wanted: Transformation) -> Origin:
    """The origin with the transformation in its files, and a manifest that fits them.

    Raises:
        CallerError: ``derive.note`` for a changed file of the persona without a note,
            ``derive.nothing`` when no byte differs, ``derive.authorisation``, and
            ``revise.entry`` for a new file without an entry.
        NotFoundError: ``record.not-found`` for a file that goes and isn't there.

    """
    allowed = {(a.path, a.operation) for a in wanted.authorisations}
    edits = []
    for path, data in wanted.changes.items():
        before = origin.files.get(path)
        if before is None and data is None:
            raise not_found(path)
        if before == data:
            continue
        if protection_of(path) == "persona.mutation" and path not in wanted.notes:
            raise CallerError(
                "a changed file of the persona has a note",
                code="derive.note",
                path=path,
                hint="say what was changed in it",
            )
        operation = "replace" if data is not None else "tombstone"
        if path in _KEPT and (path, operation) not in allowed:
            raise CallerError(
                "an anchor or the preservation rules change by an authorisation",
                code="derive.authorisation",
                path=path,
                hint="an authorisation names the path and the operation",
            )
        edits.append(FileEdit(path, data, wanted.entries.get(path)))
    if not edits:
        raise CallerError(
            "a derivative differs from its origin",
            code="derive.nothing",
            path=origin.package_id,
            hint="a clone is the same under another id",
        )
    return attrs.evolve(origin, files=with_edits(origin.files, edits))


def derivation_row(
    writing: Writing,
    receipt_id: str,
    made: CheckedPackage,
    origin: Origin,
    wanted: Transformation,
) -> Derivation:
    """The row that says why a derivative was made, and what is different in it."""
    after = {file.path: file.read() for file in made.files}
    after[MANIFEST_PATH] = made.manifest_bytes
    found = diff_packages(origin.files, after)
    changes: list[dict[str, Any]] = [
        {
            "path": changed.path,
            "note": wanted.notes.get(changed.path, ""),
            "kind": changed.kind,
            "sha256_before": changed.sha256_before,
            "sha256": changed.sha256,
            "fields": [
                {"section": d.section, "field": d.field, "change": d.change}
                for d in changed.dimensions
            ],
        }
        for changed in found.changed
    ]
    changes += [
        {
            "path": path,
            "note": wanted.notes.get(path, ""),
            "kind": kind,
            "sha256_before": _digest(origin.files.get(path)),
            "sha256": _digest(after.get(path)),
            "fields": [],
        }
        for kind, paths in (("added", found.added), ("removed", found.removed))
        for path in paths
    ]
    changes.sort(key=lambda change: change["path"])
    row = DERIVATION.with_body(
        writing.random.bytes(SALT_BYTES),
        package_id=made.manifest.package_id,
        from_package_id=origin.package_id,
        from_checkpoint_id=origin.checkpoint_id,
        receipt_id=receipt_id,
        actor_kind=writing.principal.kind,
        actor_id=writing.principal.id,
        reason=wanted.reason,
        changes=canonical_text(changes),
    )
    return cast("Derivation", row)


def _digest(data: bytes | None) -> str | None:
    return None if data is None else sha256_hex(data)
