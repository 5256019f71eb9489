"""Diff: what differs between two states of a package, told in its own terms.

Nothing is judged here, so that an edited folder can be compared before it is packed.
A diff holds values of both packages: it is for their reader and never for a message.

Source: UAIX package format v0.1, "Words on the wire" (``stableId``) and "Bodies"
(canonical digest, dimensions).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import attrs

from uaix_core.packages.archive.reader import read_archive
from uaix_core.packages.difference import (
    ChangedFile,
    DimensionDiff,
    EntryDiff,
    FieldDiff,
    MovedFile,
    PackageDiff,
)
from uaix_core.packages.dimension_diff import dimension_diffs
from uaix_core.packages.dimensions import dimension_fields
from uaix_core.packages.file_views import UNREGISTERED
from uaix_core.packages.findings import Findings
from uaix_core.packages.limits import DEFAULT_LIMITS
from uaix_core.packages.manifest.values import derived_stable_id
from uaix_core.packages.manifest.words import TEXT_MEDIA
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.packages.rules.table import RULES
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.errors import CallerError
from uaix_core.values.parsing import canonical_text_digest, parse_body
from uaix_core.values.strict_json import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from uaix_core.history.relations import Revision
    from uaix_core.packages.difference import Kind
    from uaix_core.packages.dimensions import DimensionField
    from uaix_core.packages.limits import Limits
    from uaix_core.packages.source import PackageSource

__all__ = [
    "ChangedFile",
    "DimensionDiff",
    "EntryDiff",
    "FieldDiff",
    "MovedFile",
    "PackageDiff",
    "diff_packages",
    "diff_revisions",
    "read_manifest",
    "readable_files",
]

_JSON: Final = "application/json"


def readable_files(
    source: PackageSource, *, limits: Limits = DEFAULT_LIMITS
) -> dict[str, bytes]:
    """The files of a package by path, the manifest included; only read, not judged.

    Raises:
        CallerError: the code of the first rule of archives or paths that is broken.

    """
    if source.files is not None:
        return dict(source.files)
    findings = Findings(RULES)
    data = source.archive if source.archive is not None else b""
    contents = read_archive(data, findings, name=source.archive_name, limits=limits)
    files = {
        entry.path: bytes(body) for entry, body in contents.bodies() if body is not None
    }
    for finding in findings:
        if finding.severity == "error":
            raise CallerError(finding.message, code=finding.code, path=finding.path)
    return files


def read_manifest(files: Mapping[str, bytes]) -> dict[str, Any]:
    """The manifest of a package as parsed JSON, its shape not judged.

    Raises:
        CallerError: ``manifest.missing``, ``manifest.type``, or ``json.*``.

    """
    raw = files.get(MANIFEST_PATH)
    if raw is None:
        raise CallerError(
            "the package has no manifest", code="manifest.missing", path=MANIFEST_PATH
        )
    wire = parse(raw, max_depth=DEFAULT_LIMITS.json_depth)
    if not isinstance(wire, dict):
        raise CallerError(
            "the manifest isn't an object", code="manifest.type", path=MANIFEST_PATH
        )
    return wire


def diff_packages(
    before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> PackageDiff:
    """What differs between two packages (logical path to bytes, with manifests).

    A file is the same one when its stable id is, else when its path is. Bytes are
    compared as they are, whatever the manifests say of them.

    Raises:
        CallerError: as `read_manifest`.

    """
    one, other = _Side(before), _Side(after)
    pairs = _pairs(one, other)
    raw = before[MANIFEST_PATH], after[MANIFEST_PATH]
    nowhere = (one.entries.keys() | other.entries.keys()) - one.files - other.files
    listed = {**{path: path for path in nowhere}, **pairs}
    return PackageDiff(
        manifest_kind=None if raw[0] == raw[1] else _kind(*raw, _JSON),
        manifest=tuple(_field_diffs("", one.fields, other.fields)),
        added=tuple(sorted(other.files - pairs.keys())),
        removed=tuple(sorted(one.files - set(pairs.values()))),
        moved=tuple(
            MovedFile(was, path) for path, was in sorted(pairs.items()) if was != path
        ),
        changed=tuple(
            _changed(path, one.file(was), other.file(path))
            for path, was in sorted(pairs.items())
            if before[was] != after[path]
        ),
        entries=tuple(
            EntryDiff(path, fields)
            for path, was in sorted(listed.items())
            if (fields := tuple(_field_diffs("", one.entry(was), other.entry(path))))
        ),
    )


def diff_revisions(before: Revision, after: Revision) -> ChangedFile | None:
    """What differs between two revisions that have their content; None if no byte."""
    if before.sha256 == after.sha256:
        return None
    files = [
        _File(row.content or b"", {"role": row.role, "mediaType": row.media_type})
        for row in (before, after)
    ]
    return _changed(after.path or "", *files)


@attrs.frozen
class _File:
    """A body and what its manifest entry says that it is."""

    data: bytes
    entry: Mapping[str, Any]

    def word(self, name: str) -> str:
        """A text of the entry, empty when it has none of this name."""
        word = self.entry.get(name)
        return word if isinstance(word, str) else ""


class _Side:
    """One of the two packages: its files, its manifest, and who is who."""

    def __init__(self, bodies: Mapping[str, bytes]) -> None:
        wire = read_manifest(bodies)
        self._bodies = bodies
        self.files = bodies.keys() - {MANIFEST_PATH}
        self.fields = {name: wire[name] for name in wire if name != "files"}
        rows = wire.get("files")
        self.entries: dict[str, dict[str, Any]] = {
            row["path"]: row
            for row in (rows if isinstance(rows, list) else ())
            if isinstance(row, dict) and isinstance(row.get("path"), str)
        }
        package_id = wire.get("packageId")
        self._package_id = package_id if isinstance(package_id, str) else ""

    def entry(self, path: str) -> dict[str, Any]:
        """The manifest entry of a path, empty when it isn't listed."""
        return self.entries.get(path, {})

    def file(self, path: str) -> _File:
        """The file at a path."""
        return _File(self._bodies[path], self.entry(path))

    def stable_id(self, path: str) -> str:
        """The id that a file carries, or the one that its path always gets."""
        carried = self.entry(path).get("stableId")
        if isinstance(carried, str) and carried:
            return carried
        return derived_stable_id(self._package_id, path)


def _pairs(one: _Side, other: _Side) -> dict[str, str]:
    """Which file is which: the path after to the path before."""
    ids = {path: one.stable_id(path) for path in one.files}
    new_ids = {path: other.stable_id(path) for path in other.files}
    pairs = {path: path for path in ids.keys() & new_ids if ids[path] == new_ids[path]}
    left = ids.keys() - pairs
    new = new_ids.keys() - pairs
    # An id that several files claim tells none of them apart.
    known = _unique({path: ids[path] for path in left})
    for name, path in _unique({path: new_ids[path] for path in new}).items():
        if name in known:
            pairs[path] = known[name]
    left -= set(pairs.values())
    return {**pairs, **{path: path for path in new - pairs.keys() if path in left}}


def _unique(ids: Mapping[str, str]) -> dict[str, str]:
    """The path of each id that only one path has."""
    counts = Counter(ids.values())
    return {name: path for path, name in ids.items() if counts[name] == 1}


def _field_diffs(place: str, before: Any, after: Any) -> Iterator[FieldDiff]:
    """The places at which two JSON values differ, in the order of their names.

    Objects and lists of one length are compared member by member.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() | after.keys()):
            inner = f"{place}.{name}" if place else name
            if name not in before:
                yield FieldDiff(inner, "added", after=after[name])
            elif name not in after:
                yield FieldDiff(inner, "removed", before=before[name])
            else:
                yield from _field_diffs(inner, before[name], after[name])
    elif (
        isinstance(before, list)
        and isinstance(after, list)
        and len(before) == len(after)
    ):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _field_diffs(f"{place}[{index}]", old, new)
    # To Python true is 1, and to JSON it isn't.
    elif type(before) is not type(after) or before != after:
        yield FieldDiff(place, "changed", before, after)


def _kind(before: bytes, after: bytes, media_type: str) -> Kind:
    """How two different bodies differ."""
    if media_type not in TEXT_MEDIA:
        return "content"
    if _with_lf(before) == _with_lf(after):
        return "line_ends"
    digest = canonical_text_digest(before, media_type)
    is_same = digest is not None and digest == canonical_text_digest(after, media_type)
    return "spelling" if is_same else "content"


def _with_lf(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _changed(path: str, before: _File, after: _File) -> ChangedFile:
    media_type = after.word("mediaType") or before.word("mediaType")
    return ChangedFile(
        path,
        _kind(before.data, after.data, media_type),
        len(before.data),
        len(after.data),
        sha256_hex(before.data),
        sha256_hex(after.data),
        tuple(dimension_diffs(_dimensions(path, before), _dimensions(path, after))),
    )


def _dimensions(path: str, file: _File) -> Sequence[DimensionField]:
    """The dimensions of a registered file, as a store would keep them."""
    is_taken_apart = path.endswith(".uai") and file.word("role") not in (
        "",
        UNREGISTERED,
    )
    if not is_taken_apart:
        return ()
    return dimension_fields(parse_body(file.data, file.word("mediaType")))
