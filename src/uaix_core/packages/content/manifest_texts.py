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
    found_before,
    found_in,
    hidden_in,
    secrets_in,
)
from uaix_core.packages.content.words import HIDDEN_KEY, shown_place
from uaix_core.packages.manifest.codec import wire_fields
from uaix_core.packages.manifest.values import FileEntry, Integrity, Manifest
from uaix_core.packages.manifest.words import is_sha256
from uaix_core.packages.paths import alias_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from uaix_core.packages.findings import Findings

_NAMED: Final = frozenset(
    (*wire_fields(Manifest), *wire_fields(FileEntry), *wire_fields(Integrity))
)
_is_uuid = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}").fullmatch
_UUID_LENGTH: Final = 36
#: Words and numbers that are too short, and too much alike, to be a secret.
_is_plain_path = re.compile(
    r"[./]*+(?:[A-Z]?[a-z]{1,15}|[A-Z]{1,15}|[0-9]{1,8})"
    r"(?:[-_./ ]++(?:[A-Z]?[a-z]{1,15}|[A-Z]{1,15}|[0-9]{1,8}))*"
).fullmatch
_is_signature = re.compile(r"[A-Za-z0-9_-]{86}").fullmatch
_is_local_path = re.compile(
    r"/[\w.@~+-]|~[\w.-]*[\\/]|[A-Za-z]:[\\/]|\\\\[\w?.]|[Ff][Ii][Ll][Ee]:[\\/]"
).match
#: Where a path of one machine can begin, when nothing hides it.
_FIRST: Final = frozenset("/~\\fF")
_BLANK: Final = "".join(map(chr, (*range(33), 127)))
#: So much of a text is folded when it isn't ASCII.
_FOLDED: Final = 4096
#: Letters and digits up to so many make no secret without the context of a key, and
#: nothing else that is looked for.
_SHORT: Final = 7


def judge_manifest_texts(wire: Mapping[str, Any], findings: Findings) -> bool:
    """Judge every value and key of a parsed manifest but the paths of files.

    Returns whether a key holds a secret, so that no finding may show it.
    """
    return _Judging(findings).all(wire)


class _Judging:
    """Judges the strings of one manifest as they come, so that few are held at once."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._told: Counter[str] = Counter()
        self._has_secret_key = False

    def all(self, wire: Mapping[str, Any]) -> bool:
        """Judge every string; whether a key holds a secret."""
        values: _Values = JoinedTexts()
        keys: JoinedTexts[None] = JoinedTexts(BETWEEN_NAMES)
        for place, last, key, text, is_key in _strings(wire):
            is_short = len(text) <= _SHORT and text.isascii() and text.isalnum()
            if is_key:
                if not is_short:
                    keys.add(None, text)
                    if keys.is_full:
                        self._keys(keys)
                        keys = JoinedTexts(BETWEEN_NAMES)
                continue
            is_named = key in _NAMED or key == ""
            if is_short and is_named:
                continue
            if not is_short and _is_local(text):
                self._local(place, last)
            values.add((place, last), text, "" if is_named else f"{key}=")
            if values.is_full:
                self._values(values)
                values = JoinedTexts()
        self._values(values)
        self._keys(keys)
        return self._has_secret_key

    def _local(self, place: Keys, last: str | int) -> None:
        code = "path.local-absolute"
        is_full = self._findings.is_full(code)
        self._findings.add(code, None if is_full else shown_place((*place, last)))

    def _values(self, values: _Values) -> None:
        told = self._told
        full = {code for code, count in told.items() if count >= MOST_SHOWN}
        text = values.text
        name = " ".join(("values", *sorted(full)))
        every = found_before(
            name, text, lambda: found_in(text, is_field=True, told=full)
        )
        for found in every:
            (place, last), there = values.place_of(found)
            told[there.code] += 1
            if told[there.code] <= MOST_SHOWN:
                where = shown_place((*place, last))
                self._findings.add(there.code, where, there.message)

    def _keys(self, keys: JoinedTexts[None]) -> None:
        if self._has_secret_key:
            return
        text = keys.text
        every = found_before(
            "keys", text, lambda: (*secrets_in(text), *hidden_in(text))
        )
        for found in every:
            _key, there = keys.place_of(found)
            self._findings.add(there.code, HIDDEN_KEY, there.message)
            if there.code == "secret.found":
                self._has_secret_key = True
                return


def _is_local(text: str) -> bool:
    """Whether a text begins with an absolute path of one machine.

    However it is spelled: what can't be seen before it, and wide forms of its
    characters, change nothing.
    """
    if not text.isascii():
        text = alias_key(text[:_FOLDED])
    elif text[0] not in _FIRST and text[0] > " " and text[1:2] != ":":
        return False
    return _is_local_path(text.lstrip(_BLANK)) is not None


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
    found: dict[str, tuple[str, Found]] = {}
    joined: JoinedTexts[tuple[str, str]] = JoinedTexts(BETWEEN_NAMES)
    for path, place in paths:
        if not _is_plain_path(path):
            joined.add((path, place), path)
            if joined.is_full:
                _take_secrets(joined, found)
                joined = JoinedTexts(BETWEEN_NAMES)
    _take_secrets(joined, found)
    return found


def _take_secrets(
    joined: JoinedTexts[tuple[str, str]], found: dict[str, tuple[str, Found]]
) -> None:
    text = joined.text
    for hit in found_before("names", text, lambda: secrets_in(text)):
        (path, place), there = joined.place_of(hit)
        found.setdefault(path, (place, there))


_Values = JoinedTexts[tuple[Keys, str | int]]
_String = tuple[Keys, str | int, str, str, bool]


def _strings(wire: Mapping[str, Any]) -> Iterator[_String]:
    """Each string: its place, the key it stands under, itself, whether it is a key.

    A place comes as the keys around it and the last one, since few are shown.
    """
    files = wire.get("files")
    for key, value in wire.items():
        if key not in _NAMED:
            yield (), key, key, key, True
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
            yield ("files", index), key, key, key, True
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
        if _counts(value):
            yield place[:-1], place[-1], key, value, False
    elif isinstance(value, list):
        yield from _item_strings(value, place, key)
    elif isinstance(value, dict):
        yield from _member_strings(value, place)


# Texts are given here themselves, for speed: a list may hold a million of them.
def _item_strings(value: list[Any], place: Keys, key: str) -> Iterator[_String]:
    for index, item in enumerate(value):
        if isinstance(item, str):
            if _counts(item):
                yield place, index, key, item, False
        elif isinstance(item, list | dict):
            yield from _strings_in(item, (*place, index), key)


def _member_strings(value: dict[str, Any], place: Keys) -> Iterator[_String]:
    is_signature = place[:2] == ("integrity", "signatures")
    for key, item in value.items():
        if is_signature and _is_own_signature(key, item):
            continue
        if key not in _NAMED:
            yield place, key, key, key, True
        if isinstance(item, str):
            if _counts(item):
                yield place, key, key, item, False
        elif isinstance(item, list | dict):
            yield from _strings_in(item, (*place, key), key)


def _counts(text: str) -> bool:
    """Whether a text is worth a look."""
    return text != "" and not (len(text) == _UUID_LENGTH and _is_uuid(text))


def _is_own_signature(key: str, value: Any) -> bool:
    """Whether a member of a signature is what signatures are made of."""
    if not isinstance(value, str):
        return False
    if key == "keyId":
        return is_sha256(value) is not None
    return key == "value" and _is_signature(value) is not None
