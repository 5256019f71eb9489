"""Manifest values to and from their wire form.

The only place that knows the camelCase names. Structuring is for manifests that
were judged and accepted, where it can't fail; unknown fields go through unchanged.

Source: UAIX package format v0.1, "Words on the wire".
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import attrs

from uaix_core.packages.manifest.values import FileEntry, Integrity, Manifest
from uaix_core.packages.required.sets import DEFAULT_RULESET, ruleset_named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cattrs import Converter

_Value = FileEntry | Integrity | Manifest

#: Python name to wire name, for every field whose names differ.
WIRE_NAMES: Final[Mapping[str, str]] = {
    "uaix_version": "uaixVersion",
    "package_format": "packageFormat",
    "package_id": "packageId",
    "profile_id": "profileId",
    "created_utc": "createdUtc",
    "declared_scopes": "declaredScopes",
    "support_boundary": "supportBoundary",
    "based_on": "basedOn",
    "required_status": "requiredStatus",
    "media_type": "mediaType",
    "size_bytes": "sizeBytes",
    "review_state": "reviewState",
    "stable_id": "stableId",
    "digest_scope": "digestScope",
    "package_digest": "packageDigest",
}


def wire_fields(cls: type[_Value]) -> tuple[str, ...]:
    """The wire names that the class knows, in the order in which they are written."""
    names: list[str] = [field.name for field in attrs.fields(cls)]
    return tuple(WIRE_NAMES.get(name, name) for name in names if name != "extra")


def read_entrypoints(wire: Any, *, ruleset: str = DEFAULT_RULESET) -> tuple[str, ...]:
    """The entrypoint paths of any of the three shapes, in their declared order.

    Paths with equal ``order`` and the values of an object have no order of their
    own: they take the start-up order.
    """
    startup_key = ruleset_named(ruleset).startup_key
    if isinstance(wire, dict):
        return tuple(sorted(wire.values(), key=startup_key))
    if wire and isinstance(wire[0], dict):
        rows = sorted(wire, key=lambda row: (row["order"], startup_key(row["path"])))
        return tuple(row["path"] for row in rows)
    return tuple(wire)


def from_wire(wire: Mapping[str, Any], *, ruleset: str = DEFAULT_RULESET) -> Manifest:
    """The value of an accepted manifest, given as parsed JSON."""
    entrypoints = read_entrypoints(wire["entrypoints"], ruleset=ruleset)
    shaped = {**wire, "entrypoints": entrypoints}
    return _converter().structure(shaped, Manifest)


def to_wire(manifest: Manifest) -> dict[str, Any]:
    """The manifest as plain data in wire names; ``files`` sorted by path."""
    wire: dict[str, Any] = _converter().unstructure(manifest)
    wire["files"].sort(key=lambda entry: entry["path"])
    return wire


def to_bytes(manifest: Manifest) -> bytes:
    """The manifest as it is written: UTF-8, LF, no byte order mark, one final LF."""
    text = json.dumps(to_wire(manifest), ensure_ascii=False, indent=2, allow_nan=False)
    return text.encode("utf-8") + b"\n"


@cache
def _converter() -> Converter:
    """One converter for all calls, built on first use: cattrs is slow to import."""
    import cattrs  # noqa: PLC0415

    converter = cattrs.Converter(detailed_validation=False)
    for cls in (FileEntry, Integrity, Manifest):
        converter.register_structure_hook(cls, _reader(cls, converter))
        converter.register_unstructure_hook(cls, _writer(cls, converter))
    return converter


def _reader(
    cls: type[_Value], converter: Converter
) -> Callable[[Any, type[_Value]], _Value]:
    from cattrs.gen import make_dict_structure_fn, override  # noqa: PLC0415

    renames: dict[str, Any] = {
        field.name: override(rename=WIRE_NAMES.get(field.name, field.name))
        for field in attrs.fields(cls)
    }
    renames["extra"] = override(omit=True)
    read = make_dict_structure_fn(cls, converter, **renames)
    known = frozenset(wire_fields(cls))

    def structure(wire: Any, kind: type[_Value]) -> _Value:
        value = read(wire, kind)
        if wire.keys() <= known:
            return value
        extra = {name: wire[name] for name in wire if name not in known}
        return attrs.evolve(value, extra=extra)

    return structure


def _writer(
    cls: type[_Value], converter: Converter
) -> Callable[[_Value], dict[str, Any]]:
    from cattrs.gen import make_dict_unstructure_fn, override  # noqa: PLC0415

    renames: dict[str, Any] = {
        field.name: override(
            rename=WIRE_NAMES.get(field.name, field.name),
            omit_if_default=field.default is None,
        )
        for field in attrs.fields(cls)
    }
    renames["extra"] = override(omit=True)
    write = make_dict_unstructure_fn(cls, converter, **renames)

    def unstructure(value: _Value) -> dict[str, Any]:
        return {**write(value), **value.extra}

    return unstructure
