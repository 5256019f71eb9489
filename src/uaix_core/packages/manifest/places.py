"""Where the values of a JSON text stand, so that one can change and no other byte.

A manifest that a person wrote keeps its spacing, its key order and its spelling when
a program fills in a digest or a signature.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

#: The keys and indexes that lead from the whole text to a value.
JsonPath = tuple[str | int, ...]

_KEY_BEFORE = re.compile(r'(,\s*)?"(?:[^"\\]|\\.)*"\s*:\s*\Z', re.DOTALL)
_COMMA_AFTER = re.compile(r"\s*,")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


def spans(text: str, places: Collection[JsonPath]) -> dict[JsonPath, tuple[int, int]]:
    """Where the values at these places begin and end, as offsets into the text.

    ``text`` is valid JSON that repeats no key; a place that isn't there is left out.
    """
    return {
        place: (start, stop) for place, start, stop in _values(text) if place in places
    }


def edited(text: str, edits: Mapping[JsonPath, str]) -> str:
    """The JSON text with the values at these places replaced, all else unchanged.

    Places that aren't there are left out; none may lie inside another.
    """
    pieces: list[str] = []
    copied = 0
    found = spans(text, edits.keys())
    for place, (start, stop) in sorted(found.items(), key=lambda row: row[1]):
        pieces += (text[copied:start], edits[place])
        copied = stop
    return "".join(pieces) + text[copied:]


def removed(text: str, place: JsonPath) -> str:
    """The JSON text without the member at this place, if it is there.

    The comma before it goes with it, or the one after it where it is the first.
    """
    found = spans(text, (place,)).get(place)
    if found is None:
        return text
    start, stop = found
    before = _KEY_BEFORE.search(text, 0, start)
    begin = start if before is None else before.start()
    if before is not None and not before.group(1):
        after = _COMMA_AFTER.match(text, stop)
        stop = stop if after is None else after.end()
    return text[:begin] + text[stop:]


def _values(text: str) -> Iterator[tuple[JsonPath, int, int]]:
    """Each value of a valid JSON text, a container after what it holds."""
    place: list[str | int] = []
    starts: list[int] = []
    key_next = False
    for token in _TOKEN.finditer(text):
        word = token.group()
        if word in ("{", "["):
            key_next = word == "{"
            place.append("" if key_next else 0)
            starts.append(token.start())
        elif word in ("}", "]"):
            key_next = False
            place.pop()
            yield tuple(place), starts.pop(), token.end()
        elif word == ",":
            last = place[-1]
            key_next = isinstance(last, str)
            if isinstance(last, int):
                place[-1] = last + 1
        elif word == ":":
            key_next = False
        elif key_next:
            place[-1] = json.loads(word)
        else:
            yield tuple(place), token.start(), token.end()
