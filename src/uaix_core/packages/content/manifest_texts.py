"""The strings of a manifest before the gate: values, keys, and the names of files.

Values are judged in the context of their keys where the format doesn't give the key.
What the format makes harmless (digests, UUIDs, a package's own signatures) is left
out.

Source: UAIX package format v0.1, "Bodies" (content that refuses).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from uaix_core.packages.content.authority import Keys
from uaix_core.packages.content.texts import (
    BETWEEN_NAMES,
    MOST_SHOWN,
    Found,
    JoinedTexts,
    found_in,
    hidden_in,
    secrets_in,
)
from uaix_core.packages.content.words import HIDDEN_KEY, shown_place
from uaix_core.packages.manifest.codec import wire_fields
from uaix_core.packages.manifest.values import FileEntry, Integrity, Manifest
from uaix_core.packages.manifest.words import is_sha256

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from uaix_core.packages.findings import Findings

_NAMED: Final = frozenset(
    (*wire_fields(Manifest), *wire_fields(FileEntry), *wire_fields(Integrity))
)
_is_uuid = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}").fullmatch
#: Words and numbers that are too short, and too much alike, to be a secret.
_is_plain_path = re.compile(
    r"[./]*+(?:[A-Z]?[a-z]{1,15}|[A-Z]{1,15}|[0-9]{1,8})"
    r"(?:[-_./ ]++(?:[A-Z]?[a-z]{1,15}|[A-Z]{1,15}|[0-9]{1,8}))*"
).fullmatch
_is_signature = re.compile(r"[A-Za-z0-9_-]{86}").fullmatch
_is_local_path = re.compile(
    r"(?:/[\w.@~+-]|~[\w.-]*[\\/]|[A-Za-z]:[\\/]|\\\\\w|file:/).*", re.DOTALL
).fullmatch


def judge_manifest_texts(wire: Mapping[str, Any], findings: Findings) -> bool:
    """Judge every value and key of a parsed manifest but the paths of files.

    Returns whether a key holds a secret, so that no finding may show it.
    """
    values, keys = JoinedTexts(), JoinedTexts(BETWEEN_NAMES)
    for place, key, text, is_key in _strings(wire):
        if is_key:
            keys.add(text, text)
            continue
        shown = shown_place(place)
        if _is_local_path(text.strip()):
            findings.add("path.local-absolute", shown)
        is_named = key in _NAMED or key == ""
        values.add(shown, text, "" if is_named else f"{key}=")
    told: Counter[str] = Counter()
    for part in values.parts():
        full = {code for code, count in told.items() if count >= MOST_SHOWN}
        for found in found_in(part.text, is_field=True, told=full):
            where, there = part.place_of(found)
            told[there.code] += 1
            if told[there.code] <= MOST_SHOWN:
                findings.add(there.code, where, there.message)
    return _judge_keys(keys, findings)


def _judge_keys(keys: JoinedTexts, findings: Findings) -> bool:
    for part in keys.parts():
        for found in (*secrets_in(part.text), *hidden_in(part.text)):
            _key, there = part.place_of(found)
            findings.add(there.code, HIDDEN_KEY, there.message)
            if there.code == "secret.found":
                return True
    return False


def names_of_files(wire: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every path that a manifest names, with its place: entries, then entrypoints."""
    files = wire.get("files")
    for index, entry in enumerate(files if isinstance(files, list) else ()):
        path = entry.get("path") if isinstance(entry, dict) else None
        if isinstance(path, str):
            yield path, f"files[{index}].path"
    points = wire.get("entrypoints")
    if isinstance(points, dict):
        points = list(points.values())
    for index, point in enumerate(points if isinstance(points, list) else ()):
        path = point.get("path") if isinstance(point, dict) else point
        if isinstance(path, str):
            yield path, f"entrypoints[{index}]"


def secret_names(paths: Iterable[tuple[str, str]]) -> dict[str, tuple[str, Found]]:
    """The paths that hold a secret, each with the place to show in its stead.

    ``paths`` are pairs of a path and its place; of repeated paths the first counts.
    """
    joined = JoinedTexts(BETWEEN_NAMES)
    by_place: dict[str, str] = {}
    for path, place in paths:
        if not _is_plain_path(path):
            joined.add(place, path)
            by_place[place] = path
    found: dict[str, tuple[str, Found]] = {}
    for part in joined.parts():
        for hit in secrets_in(part.text):
            place, there = part.place_of(hit)
            found.setdefault(by_place[place], (place, there))
    return found


_String = tuple[Keys, str, str, bool]


def _strings(wire: Mapping[str, Any]) -> Iterator[_String]:
    """Each string: its place, the key it stands under, itself, whether it is a key."""
    files = wire.get("files")
    for key, value in wire.items():
        if key not in _NAMED:
            yield (key,), key, key, True
        if key == "files" and isinstance(files, list):
            for index, entry in enumerate(files):
                yield from _entry_strings(entry, index)
        elif key == "entrypoints":
            yield from _entrypoint_strings(value)
        else:
            yield from _strings_in(value, (key,), key)


def _entrypoint_strings(value: Any) -> Iterator[_String]:
    """The strings of entrypoints that are no paths."""
    if isinstance(value, dict):
        value = [{name: path} for name, path in value.items()]
    for index, row in enumerate(value if isinstance(value, list) else ()):
        if not isinstance(row, str):
            yield from _strings_in(row, ("entrypoints", index), "path")


def _entry_strings(entry: Any, index: int) -> Iterator[_String]:
    if not isinstance(entry, dict):
        yield from _strings_in(entry, ("files", index), "")
        return
    for key, value in entry.items():
        is_path = key == "path" and isinstance(value, str)
        is_plain = key in _PLAIN and isinstance(value, str) and _is_word(value)
        if is_path or is_plain or (key == "sha256" and _is_digest(value)):
            continue
        if key not in _NAMED:
            yield ("files", index, key), key, key, True
        yield from _strings_in(value, ("files", index, key), key)


#: Fields of an entry whose values are short words of letters.
_PLAIN: Final = frozenset(
    ("role", "requiredStatus", "scope", "mediaType", "reviewState")
)
_is_word = re.compile(r"[a-z]+(?:[_/][a-z]+)*").fullmatch


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and is_sha256(value) is not None


def _strings_in(value: Any, place: Keys, key: str) -> Iterator[_String]:
    if isinstance(value, str):
        if value and not _is_uuid(value):
            yield place, key, value, False
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings_in(item, (*place, index), key)
    elif isinstance(value, dict):
        is_signature = place[:2] == ("integrity", "signatures")
        for inner, item in value.items():
            if is_signature and _is_own_signature(inner, item):
                continue
            if inner not in _NAMED:
                yield (*place, inner), inner, inner, True
            yield from _strings_in(item, (*place, inner), inner)


def _is_own_signature(key: str, value: Any) -> bool:
    """Whether a member of a signature is what signatures are made of."""
    if not isinstance(value, str):
        return False
    if key == "keyId":
        return is_sha256(value) is not None
    return key == "value" and _is_signature(value) is not None
