"""Bring a folder's manifest up to date after its files were edited.

Only sizes, digests and the package digest change, in place: every other byte of the
manifest stays. What an author must decide (a new file, a deleted one) is reported
and never done silently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from uaix_core.packages.limits import DEFAULT_LIMITS
from uaix_core.packages.manifest.bases import with_base
from uaix_core.packages.manifest.codec import WIRE_NAMES
from uaix_core.packages.manifest.places import edited
from uaix_core.packages.manifest.values import files_digest
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.errors import CallerError
from uaix_core.values.strict_json import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from uaix_core.packages.manifest.places import JsonPath

_SIZE: Final = WIRE_NAMES["size_bytes"]
_DIGEST: Final = "sha256"
_PACKAGE_DIGEST: Final = ("integrity", WIRE_NAMES["package_digest"])


@attrs.frozen(eq=False)
class Repacked:
    """A folder with a manifest that fits its files.

    ``changed`` are the listed paths whose size or digest was brought up to date,
    ``undeclared`` those that are there and not listed, ``missing`` those that are
    listed and not there; all sorted.
    """

    files: dict[str, bytes] = attrs.field(repr=False)
    changed: tuple[str, ...]
    undeclared: tuple[str, ...]
    missing: tuple[str, ...]


def repack(files: Mapping[str, bytes], *, says_base: bool = False) -> Repacked:
    """Recompute the sizes and digests of the manifest of a folder.

    A sentinel is replaced by the real digest; the manifest's own entry, if it has one,
    is left.

    Args:
        files: logical paths to bytes, the manifest included.
        says_base: whether a manifest that changes is to say which one it was made over
            (``basedOn``), so that a store knows what was edited.

    Raises:
        CallerError: ``manifest.missing``; ``manifest.type`` when it isn't an object
            with a list of ``files``; ``json.*`` when it isn't strict JSON.

    """
    raw = files.get(MANIFEST_PATH)
    if raw is None:
        raise CallerError(
            "the folder has no manifest", code="manifest.missing", path=MANIFEST_PATH
        )
    wire = parse(raw, max_depth=DEFAULT_LIMITS.json_depth)
    fit = fitting(wire, files)
    before = raw.decode("utf-8")
    text = edited(before, fit.edits)
    if says_base and text != before:
        text = with_base(text, sha256_hex(raw))
    return Repacked(
        files={**files, MANIFEST_PATH: text.encode("utf-8")},
        changed=tuple(sorted(fit.changed)),
        undeclared=tuple(sorted(files.keys() - fit.listed - {MANIFEST_PATH})),
        missing=tuple(sorted(fit.missing)),
    )


@attrs.frozen(eq=False)
class Fitting:
    """The edits after which a manifest fits its files, and which paths they concern."""

    edits: dict[JsonPath, str]
    listed: AbstractSet[str]
    changed: AbstractSet[str]
    missing: AbstractSet[str]


def fitting(wire: Any, files: Mapping[str, bytes]) -> Fitting:
    """Compare a parsed manifest with the files that it lists.

    Raises:
        CallerError: ``manifest.type`` when it isn't an object with a list of ``files``.

    """
    edits: dict[JsonPath, str] = {}
    listed: dict[str, tuple[int, str]] = {}
    changed: set[str] = set()
    missing: set[str] = set()
    for index, path, entry in entries_of(wire):
        data = files.get(path)
        if data is None:
            missing.add(path)
            continue
        size, digest = len(data), sha256_hex(data)
        listed[path] = size, digest
        if (entry.get(_SIZE), entry.get(_DIGEST)) != (size, digest):
            changed.add(path)
            edits["files", index, _SIZE] = str(size)
            edits["files", index, _DIGEST] = f'"{digest}"'
    if not missing:
        total = files_digest((path, *measured) for path, measured in listed.items())
        edits[_PACKAGE_DIGEST] = f'"{total}"'
    return Fitting(edits, listed.keys(), changed, missing)


def entries_of(wire: Any) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Each listed file: its place in the list, its path, its entry.

    The manifest's own entry is left out.
    """
    entries = wire.get("files") if isinstance(wire, dict) else None
    if not isinstance(entries, list):
        raise CallerError(
            "the manifest isn't an object with a list of files",
            code="manifest.type",
            path=MANIFEST_PATH,
        )
    for index, entry in enumerate(entries):
        path = entry.get("path") if isinstance(entry, dict) else None
        if isinstance(path, str) and path != MANIFEST_PATH:
            yield index, path, entry
