"""The shape of a parsed manifest: which fields are there, and of which type.

What has the right shape goes on to the judgement of words, field by field, so that
one broken field hides nothing else. Python names from here on.

Source: UAIX package format v0.1, "Words on the wire".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import attrs

from uaix_core.packages.manifest.bases import EARLIER_BASES
from uaix_core.packages.manifest.codec import WIRE_NAMES, wire_fields
from uaix_core.packages.manifest.values import FileEntry, Manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from uaix_core.packages.findings import Findings
    from uaix_core.packages.limits import Limits

Fields = dict[str, Any]


@attrs.frozen
class Kind:
    """A type of value, and the words for it in a finding."""

    holds: Callable[[Any], bool]
    words: str


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_filled_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_count(value: Any) -> bool:
    # bool is a subclass of int, and true is no size.
    return type(value) is int and value >= 0


def _is_source(value: Any) -> bool:
    return isinstance(value, dict) or _is_filled_text(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_filled_list(value: Any) -> bool:
    return isinstance(value, list) and value != []


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_entrypoints(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_filled_text, value.values()))
    if not isinstance(value, list):
        return False
    return all(map(_is_filled_text, value)) or all(map(_is_placed, value))


def _is_placed(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and _is_filled_text(value.get("path"))
        and type(value.get("order")) is int
    )


_WORD: Final = Kind(_is_text, "a string")
_TEXT: Final = Kind(_is_filled_text, "a non-empty string")
_COUNT: Final = Kind(_is_count, "a whole number of at least 0")
_SOURCE: Final = Kind(_is_source, "a non-empty string or an object")
_LIST: Final = Kind(_is_list, "a list")
_FILLED_LIST: Final = Kind(_is_filled_list, "a non-empty list")
_OBJECT: Final = Kind(_is_object, "an object")
_ENTRYPOINTS: Final = Kind(
    _is_entrypoints,
    "a list of paths, a list of objects with path and order, or an object of paths",
)

TOP_KINDS: Final[Mapping[str, Kind]] = {
    "uaix_version": _TEXT,
    "package_format": _TEXT,
    "package_id": _TEXT,
    "profile_id": _TEXT,
    "status": _TEXT,
    "created_utc": _WORD,
    "issuer": _TEXT,
    "declared_scopes": _FILLED_LIST,
    "entrypoints": _ENTRYPOINTS,
    "files": _LIST,
    "integrity": _OBJECT,
    "support_boundary": _OBJECT,
}
ENTRY_KINDS: Final[Mapping[str, Kind]] = {
    "path": _TEXT,
    "role": _TEXT,
    "required_status": _WORD,
    "scope": _TEXT,
    "media_type": _TEXT,
    "size_bytes": _COUNT,
    "sha256": _WORD,
    "review_state": _WORD,
    "source": _SOURCE,
}
#: What can't be longer than the entries of a package: more would only cost memory.
_LISTS: Final = ("declared_scopes", "entrypoints", "files")

#: How many extra fields are told apart at each place.
_EXTRAS_SHOWN: Final = 20

INTEGRITY_KINDS: Final[Mapping[str, Kind]] = {"algorithm": _WORD, "digest_scope": _WORD}

#: Fields that we write and the format doesn't name, and the long-term memory's object.
_NAMED_EXTRAS: Final = frozenset(("longTermMemory", EARLIER_BASES))
_TOP_NAMES: Final = frozenset(wire_fields(Manifest)) | _NAMED_EXTRAS
_ENTRY_NAMES: Final = frozenset(wire_fields(FileEntry))

_STABLE_ID: Final = WIRE_NAMES["stable_id"]

_ENTRY_CHECKS: Final = tuple(
    (name, WIRE_NAMES.get(name, name), kind.holds) for name, kind in ENTRY_KINDS.items()
)

# A key that holds digits or is long could be a token put in the wrong place.
_is_harmless_key = re.compile(r"[A-Za-z][A-Za-z_-]{0,39}").fullmatch


@attrs.frozen
class Shape:
    """What of a manifest can be judged further, in Python names.

    ``top`` holds the usable fields of the manifest, ``integrity`` those of the object
    of that name. ``entries`` holds the usable fields of each entry of ``files``, in
    order; the entries that were no objects are empty.
    """

    top: Fields
    integrity: Fields
    entries: list[Fields]


def shape(wire: Mapping[str, Any], limits: Limits, findings: Findings) -> Shape:
    """Check the shape of a parsed manifest and keep what is usable."""
    top = _usable(wire, TOP_KINDS, "", findings)
    for name in _LISTS:
        if len(top.get(name, ())) > limits.entries:
            key = WIRE_NAMES.get(name, name)
            findings.halt(
                "manifest.limit", key, f"{key} is longer than {limits.entries}"
            )
            del top[name]
    top["based_on"] = wire.get(WIRE_NAMES["based_on"])
    extras: dict[str, int] = {}
    _count_extras(wire.keys() - _TOP_NAMES, extras)
    _note_extras(extras, "", findings)
    return Shape(
        top=top,
        integrity=_integrity(top.get("integrity"), findings),
        entries=_entries(top.get("files", []), findings),
    )


def _usable(
    wire: Mapping[str, Any], kinds: Mapping[str, Kind], place: str, findings: Findings
) -> Fields:
    fields: Fields = {}
    for name, kind in kinds.items():
        key = WIRE_NAMES.get(name, name)
        if key not in wire:
            findings.add("manifest.field", place + key, f"{key} is missing")
        elif kind.holds(wire[key]):
            fields[name] = wire[key]
        else:
            findings.add("manifest.type", place + key, f"{key} must be {kind.words}")
    return fields


def _integrity(wire: Any, findings: Findings) -> Fields:
    if wire is None:
        return {}
    fields = _usable(wire, INTEGRITY_KINDS, "integrity.", findings)
    key = WIRE_NAMES["package_digest"]
    if key in wire:
        if isinstance(wire[key], str):
            fields["package_digest"] = wire[key]
        else:
            place = f"integrity.{key}"
            findings.add("manifest.type", place, f"{key} must be {_WORD.words}")
    return fields


def _entries(files: list[Any], findings: Findings) -> list[Fields]:
    entries: list[Fields] = []
    extras: dict[str, int] = {}
    for index, wire in enumerate(files):
        place = f"files[{index}]"
        if not isinstance(wire, dict):
            findings.add("manifest.type", place, "an entry must be an object")
            entries.append({})
            continue
        # Written out for speed: a package may list thousands of files.
        fields = {
            name: wire[key]
            for name, key, holds in _ENTRY_CHECKS
            if key in wire and holds(wire[key])
        }
        if len(fields) != len(_ENTRY_CHECKS):
            _usable(wire, ENTRY_KINDS, place + ".", findings)
        if len(wire) > len(_ENTRY_CHECKS):
            if _STABLE_ID in wire:
                fields["stable_id"] = wire[_STABLE_ID]
            _count_extras(wire.keys() - _ENTRY_NAMES, extras)
        entries.append(fields)
    _note_extras(extras, "files[].", findings)
    return entries


def _count_extras(names: Iterable[str], extras: dict[str, int]) -> None:
    for name in names:
        is_shown = name in extras or len(extras) < _EXTRAS_SHOWN
        shown = name if is_shown and _is_harmless_key(name) else "(a key not shown)"
        extras[shown] = extras.get(shown, 0) + 1


def _note_extras(extras: Mapping[str, int], place: str, findings: Findings) -> None:
    for name in sorted(extras):
        count = extras[name]
        times = f" ({count} times)" if count > 1 else ""
        findings.add(
            "manifest.extra",
            place + name,
            f"a field that the format doesn't name is kept as it is{times}",
        )
