"""Where the values of a JSON text stand, so that one can change and no other byte.

A manifest that a person wrote keeps its spacing, its key order and its spelling when
a program fills in a digest or a signature.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

#: The keys and indexes that lead from the whole text to a value.
JsonPath = tuple[str | int, ...]

#: What goes from a manifest that changed: it was said of the one before.
OUTDATED: Final[Mapping[JsonPath, None]] = {
    ("basedOn",): None,
    ("integrity", "signatures"): None,
}

_SPACES = " \t\n\r"
_SPACE = re.compile(f"[{_SPACES}]*")
#: Finds where a value ends; what it is stays a text, however long a number is.
_decode = json.JSONDecoder(
    parse_int=str, parse_float=str, parse_constant=str, strict=False
).raw_decode


def spans(text: str, places: Collection[JsonPath]) -> dict[JsonPath, tuple[int, int]]:
    """Where the values at these places begin and end, as offsets into the text.

    ``text`` is valid JSON that repeats no key; a place that isn't there is left out.
    """
    return _Finder(text, places).spans


def edited(text: str, edits: Mapping[JsonPath, str | None]) -> str:
    """The JSON text with the values at these places replaced, all else unchanged.

    Where an edit is None the member goes, and a comma beside it: the one before it, or
    the one after it where it is the first. Places that aren't there are left out. None
    may lie inside another, and of two that go neither may stand beside the other.
    """
    finder = _Finder(text, edits.keys())
    splices = []
    for place, (start, stop) in finder.spans.items():
        value = edits[place]
        if value is None:
            splices.append((*_member(text, finder.keys[place], stop), ""))
        else:
            splices.append((start, stop, value))
    pieces: list[str] = []
    copied = 0
    for start, stop, value in sorted(splices):
        pieces += (text[copied:start], value)
        copied = stop
    return "".join(pieces) + text[copied:]


def _member(text: str, begin: int, stop: int) -> tuple[int, int]:
    """A member from its key on, and the comma that goes with it."""
    at = begin
    while text[at - 1] in _SPACES:
        at -= 1
    if text[at - 1] == ",":
        return at - 1, stop
    after = _after_space(text, stop)
    return begin, after + 1 if text[after] == "," else stop


class _Wanted:
    """The places that are looked for, as a tree of their keys and indexes."""

    def __init__(self) -> None:
        self.is_one = False
        self.inner: dict[str | int, _Wanted] = {}


class _Finder:
    """Finds places in a JSON text: ``spans`` of the values, ``keys`` where one begins.

    Only containers on the way to a place are walked through; what lies beside it is
    left to the scanner of the standard library, which is some ten times faster.
    """

    def __init__(self, text: str, places: Collection[JsonPath]) -> None:
        self.spans: dict[JsonPath, tuple[int, int]] = {}
        self.keys: dict[JsonPath, int] = {}
        self._text = text
        root = _Wanted()
        for place in places:
            node = root
            for name in place:
                node = node.inner.setdefault(name, _Wanted())
            node.is_one = True
        self._find(_after_space(text, 0), root, ())

    def _find(self, start: int, wanted: _Wanted, place: JsonPath) -> int:
        """Look into the value that begins here; where it ends."""
        if wanted.inner and self._text[start] in "{[":
            end = self._inside(start, wanted, place)
        else:
            end = _decode(self._text, start)[1]
        if wanted.is_one:
            self.spans[place] = start, end
        return end

    def _inside(self, start: int, wanted: _Wanted, place: JsonPath) -> int:
        text = self._text
        has_keys = text[start] == "{"
        at, name = _after_space(text, start + 1), -1
        while text[at] not in "}]":
            key, begin = None, at
            if has_keys:
                key, at = _decode(text, at)
                at = _after_space(text, _after_space(text, at) + 1)
            name += 1
            inner = wanted.inner.get(name if key is None else key)
            if inner is None:
                end = _decode(text, at)[1]
            else:
                found = (*place, name if key is None else key)
                self.keys[found] = begin
                end = self._find(at, inner, found)
            at = _after_space(text, end)
            if text[at] == ",":
                at = _after_space(text, at + 1)
        return at + 1


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()
