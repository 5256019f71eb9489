"""A JSON Schema of the manifest, made from the tables by which it is judged.

It says what an editor or another program can check without a single file at hand:
fields, types, closed words, which files each scope requires, and what is registered
about them. A manifest that breaks it is refused, or read with a warning where the
reader folds a spelling; one that keeps it may still be refused by its files.

Source: JSON Schema draft 2020-12; UAIX package format v0.1, "Words on the wire" and
"Required sets".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from uaix_core.packages.manifest import words
from uaix_core.packages.manifest.codec import WIRE_NAMES
from uaix_core.packages.manifest.shape import ENTRY_KINDS, INTEGRITY_KINDS, TOP_KINDS
from uaix_core.packages.required import files as registered
from uaix_core.packages.required.sets import (
    DEFAULT_RULESET,
    ruleset_named,
)
from uaix_core.values.ids import ID_PATTERN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from uaix_core.packages.manifest.shape import Kind
    from uaix_core.packages.required.files import RegisteredFile
    from uaix_core.packages.required.sets import Ruleset

Schema = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_TEXT: Final[Schema] = {"type": "string", "minLength": 1}

#: What each kind of value of the shape tables is, by its words there.
_KINDS: Final[Mapping[str, Schema]] = {
    "a string": {"type": "string"},
    "a non-empty string": _TEXT,
    "a whole number of at least 0": {"type": "integer", "minimum": 0},
    "a non-empty string or an object": {
        "anyOf": [_TEXT, {"type": "object"}],
    },
    "a list": {"type": "array"},
    "a non-empty list": {"type": "array", "minItems": 1},
    "an object": {"type": "object"},
    "a list of paths, a list of objects with path and order, or an object of paths": {
        "anyOf": [
            {"type": "array", "items": _TEXT},
            {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"path": _TEXT, "order": {"type": "integer"}},
                    "required": ["path", "order"],
                },
            },
            {"type": "object", "additionalProperties": _TEXT},
        ]
    },
}


def _literal(text: str) -> str:
    # Patterns are read in Unicode mode, which refuses needless escapes.
    return text.replace(".", r"\.")


def _whole(pattern: str) -> Schema:
    return {"pattern": f"^(?:{pattern})$"}


_SHA256: Final[Schema] = {"type": "string", **_whole("[0-9a-f]{64}")}
#: Schema patterns know no flags, so that each letter stands in both cases.
_DEVICE: Final = re.sub(
    "[a-z]", lambda letter: f"[{letter[0].upper()}{letter[0]}]", words.DEVICE_PATTERN
)
_ID: Final[Schema] = {
    "type": "string",
    **_whole(ID_PATTERN),
    "not": _whole(_DEVICE),
}

#: What the judgement of words adds to the kind of a field at the top.
_TOP_WORDS: Final[Mapping[str, Schema]] = {
    "uaix_version": _whole(words.VERSION_PATTERN),
    "package_format": {"pattern": "^" + _literal(words.PACKAGE_FORMAT_PREFIX)},
    "package_id": _ID,
    "profile_id": _ID,
    "created_utc": _whole(
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z"
    ),
    "files": {"items": {"$ref": "#/$defs/file"}},
}

#: What it adds to the kind of a field of an entry, whatever the ruleset is.
_ENTRY_WORDS: Final[Mapping[str, Schema]] = {
    "required_status": {"enum": sorted(words.REQUIRED_STATUSES)},
    "media_type": {"enum": [*sorted(words.TEXT_MEDIA), *sorted(words.IMAGE_MEDIA)]},
    "review_state": {"enum": sorted(words.REVIEW_STATES)},
    "sha256": _whole("[0-9a-f]{64}"),
}

_INTEGRITY_WORDS: Final[Mapping[str, Schema]] = {
    "algorithm": {"const": "sha256"},
    "digest_scope": {"const": "files-v1"},
}

_SIGNATURE: Final[Schema] = {
    "type": "object",
    "properties": {
        "keyId": _SHA256,
        "algorithm": {"const": "Ed25519"},
        "value": {"type": "string", **_whole("[A-Za-z0-9_-]{86}")},
    },
    "required": ["keyId", "algorithm", "value"],
}


def manifest_schema(*, ruleset: str = DEFAULT_RULESET) -> Schema:
    """The schema of a manifest under a ruleset, as plain data.

    Raises:
        CallerError: ``ruleset.unknown``.

    """
    rules = ruleset_named(ruleset)
    scope: Schema = {"enum": sorted(rules.scopes)}
    integrity = _object(INTEGRITY_KINDS, _INTEGRITY_WORDS)
    integrity["properties"] |= {
        WIRE_NAMES["package_digest"]: _SHA256,
        "signatures": {"type": "array", "items": _SIGNATURE},
    }
    whole = _object(TOP_KINDS, _TOP_WORDS)
    whole["properties"] |= {
        WIRE_NAMES["declared_scopes"]: {
            **_KINDS[TOP_KINDS["declared_scopes"].words],
            "items": scope,
        },
        "integrity": integrity,
        WIRE_NAMES["based_on"]: {"anyOf": [_SHA256, {"type": "null"}]},
    }
    return {
        "$schema": DIALECT,
        "$id": f"urn:uaix-core:manifest-schema:{rules.name}",
        "title": f"Manifest of a UAIX package, format v0.1, ruleset {rules.name}",
        **whole,
        "allOf": [
            *_profile(),
            *_required(rules),
            *_triggers(rules.files.values()),
            *_exclusions(rules),
        ],
        "$defs": {"file": _entry(rules, scope)},
    }


def _object(kinds: Mapping[str, Kind], more: Mapping[str, Schema]) -> Schema:
    """An object in which every field is required and further ones are kept."""
    names = {name: WIRE_NAMES.get(name, name) for name in kinds}
    return {
        "type": "object",
        "properties": {
            names[name]: {**_KINDS[kind.words], **more.get(name, {})}
            for name, kind in kinds.items()
        },
        "required": list(names.values()),
    }


def _entry(rules: Ruleset, scope: Schema) -> Schema:
    entry = _object(ENTRY_KINDS, {**_ENTRY_WORDS, "scope": scope})
    entry["properties"][WIRE_NAMES["stable_id"]] = _ID
    folders = "|".join(_literal(folder) for folder in rules.folders)
    places = "|".join(_literal(place) for place in sorted(rules.places))
    entry["properties"]["path"] |= {"pattern": rf"^(?:(?:{folders})[^\\]+|{places})$"}
    image = {"properties": {"mediaType": {"enum": sorted(words.IMAGE_MEDIA)}}}
    evidence = {"properties": {"path": {"pattern": "^" + _literal(words.IMAGE_FOLDER)}}}
    by_statuses: dict[tuple[str, ...], list[str]] = {}
    for row in rules.files.values():
        by_statuses.setdefault(row.statuses, []).append(row.path)
    return {
        **entry,
        "allOf": [
            _when(image, evidence),
            *(
                _when(
                    {"properties": {"path": {"enum": paths}}, "required": ["path"]},
                    {"properties": {"requiredStatus": {"enum": list(statuses)}}},
                )
                for statuses, paths in by_statuses.items()
            ),
        ],
    }


def _when(condition: Schema, consequence: Schema) -> Schema:
    return {"if": condition, "then": consequence}


def _lists(*paths: str) -> Schema:
    """That ``files`` lists one of these paths."""
    path: Schema = {"const": paths[0]} if len(paths) == 1 else {"enum": list(paths)}
    entry = {"type": "object", "properties": {"path": path}, "required": ["path"]}
    return {"properties": {"files": {"type": "array", "contains": entry}}}


def _declares(*scopes: str) -> Schema:
    """That ``declaredScopes`` names one of these."""
    name = WIRE_NAMES["declared_scopes"]
    return {
        "properties": {
            name: {"type": "array", "contains": {"enum": sorted(scopes)}},
        },
        "required": [name],
    }


def _profile() -> Iterable[Schema]:
    """An advanced persona is named as profile and as scope, or as neither."""
    name = WIRE_NAMES["profile_id"]
    profile = {
        "properties": {name: {"const": registered.ADVANCED_PERSONA}},
        "required": [name],
    }
    scope = _declares(registered.ADVANCED_PERSONA)
    yield _when(profile, scope)
    yield _when(scope, profile)


#: The rules of absence that refuse a strictly read package.
_REFUSING: Final = frozenset(("set.missing", "set.style"))


def _required(rules: Ruleset) -> Iterable[Schema]:
    """What each scope makes a package list, universal files first."""
    by_scopes: dict[tuple[str, ...], list[Schema]] = {}
    for row in rules.files.values():
        if row.scopes and row.absent in _REFUSING:
            either = (row.path,) if row.instead is None else (row.path, row.instead)
            listed = by_scopes.setdefault(row.scopes, [])
            if _lists(*sorted(either)) not in listed:
                listed.append(_lists(*sorted(either)))
    yield from by_scopes.pop((registered.UNIVERSAL,))
    for scopes, listed in by_scopes.items():
        yield _when(_declares(*scopes), {"allOf": listed})


def _triggers(rows: Iterable[RegisteredFile]) -> Iterable[Schema]:
    triggered: dict[str, list[str]] = {}
    for row in rows:
        if row.trigger is not None:
            triggered.setdefault(row.trigger, []).append(row.path)
    for trigger, paths in triggered.items():
        yield _when(_lists(*paths), _lists(trigger))


def _exclusions(rules: Ruleset) -> Iterable[Schema]:
    for exclusion in rules.exclusions:
        absent = {"not": _lists(*sorted(exclusion.paths))}
        if exclusion.declared == registered.UNIVERSAL and not exclusion.unless:
            yield absent
            continue
        declared = _declares(exclusion.declared)
        unless = {"not": _declares(*exclusion.unless)}
        yield _when({"allOf": [declared, unless]}, absent)
