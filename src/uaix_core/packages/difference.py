"""What a diff of two packages says, as values and as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import attrs

if TYPE_CHECKING:
    from uaix_core.packages.dimensions import DimensionField

#: What became of a field.
Change = Literal["added", "removed", "changed"]

#: How bytes differ: in line ends alone; in other spelling, with the same canonical
#: digest; or in what they say.
Kind = Literal["line_ends", "spelling", "content"]


@attrs.frozen
class FieldDiff:
    """A field of JSON that differs.

    ``place`` is its JSON path (``integrity.algorithm``, ``declaredScopes[1]``). There
    is no ``before`` of an added field and no ``after`` of a removed one.
    """

    place: str
    change: Change
    before: Any = None
    after: Any = None

    def as_dict(self) -> dict[str, Any]:
        """The difference as plain data."""
        row = {"place": self.place, "change": self.change}
        if self.change != "added":
            row["before"] = self.before
        if self.change != "removed":
            row["after"] = self.after
        return row


@attrs.frozen
class EntryDiff:
    """The fields of a manifest entry that differ; ``path`` is that of the file now."""

    path: str
    fields: tuple[FieldDiff, ...]

    def as_dict(self) -> dict[str, Any]:
        """The difference as plain data."""
        return {"path": self.path, "fields": [f.as_dict() for f in self.fields]}


@attrs.frozen
class DimensionDiff:
    """A labelled field of a file that differs.

    ``section`` is the folded heading that it stands under. ``before`` or ``after`` is
    None where there is none.
    """

    field: str
    section: str
    before: DimensionField | None
    after: DimensionField | None

    @property
    def change(self) -> Change:
        """What became of the field."""
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"

    def as_dict(self) -> dict[str, Any]:
        """The difference as plain data."""
        return {
            "field": self.field,
            "section": self.section,
            "change": self.change,
            "before": _said(self.before),
            "after": _said(self.after),
        }


@attrs.frozen
class MovedFile:
    """A file with the same stable id at another path."""

    path_before: str
    path: str


@attrs.frozen
class ChangedFile:
    """A file with other bytes; sizes in bytes, digests of the raw bytes.

    ``dimensions`` are those of a registered ``.uai`` file, in the order of the text.
    """

    path: str
    kind: Kind
    size_before: int
    size: int
    sha256_before: str
    sha256: str
    dimensions: tuple[DimensionDiff, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The difference as plain data."""
        row: dict[str, Any] = attrs.asdict(self, recurse=False)
        return {**row, "dimensions": [d.as_dict() for d in self.dimensions]}


@attrs.frozen
class PackageDiff:
    """What differs between two packages; all of it sorted by path or JSON path.

    ``manifest`` are the manifest's fields beside its ``files``, which are in
    ``entries``; ``manifest_kind`` says how its bytes differ, None for equal ones.
    """

    manifest_kind: Kind | None
    manifest: tuple[FieldDiff, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    moved: tuple[MovedFile, ...]
    changed: tuple[ChangedFile, ...]
    entries: tuple[EntryDiff, ...]

    @property
    def is_equal(self) -> bool:
        """Whether every path and every byte is the same."""
        differing = (self.added, self.removed, self.moved, self.changed)
        return self.manifest_kind is None and not any(differing)

    def as_dict(self) -> dict[str, Any]:
        """The difference as plain data, for JSON."""
        return {
            "equal": self.is_equal,
            "manifest_kind": self.manifest_kind,
            "manifest": [field.as_dict() for field in self.manifest],
            "added": list(self.added),
            "removed": list(self.removed),
            "moved": [attrs.asdict(moved) for moved in self.moved],
            "changed": [changed.as_dict() for changed in self.changed],
            "entries": [entry.as_dict() for entry in self.entries],
        }


def _said(field: DimensionField | None) -> dict[str, Any] | None:
    if field is None:
        return None
    return {
        "label": field.label,
        "value": field.value,
        "disclosure": field.disclosure,
        "depth_level": field.depth_level,
    }
