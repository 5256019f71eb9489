"""Where the values of a JSON text stand, object by object as its view lists them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

#: (first character, the one after the last) of a value.
Place = tuple[int, int]
#: Where the value of a member stands, and its own members if it is an object.
_Member = tuple[Place, Any]

_decode = json.JSONDecoder().raw_decode
_no_space = re.compile(r"[^ \t\r\n]").search


def value_places(text: str) -> Iterator[list[Place]]:
    """For each section of the view of a strict JSON object, the places of its fields.

    A section are the members of an object that are no objects; one without any is
    left out at the top, as in the view.
    """
    members, _end = _members(text, _skip(text, 0))
    yield from _sections(members, is_top=True)


def _sections(members: list[_Member], *, is_top: bool) -> Iterator[list[Place]]:
    loose = [place for place, inner in members if inner is None]
    if loose or not is_top:
        yield loose
    for _place, inner in members:
        if inner is not None:
            yield from _sections(inner, is_top=False)


def _members(text: str, at: int) -> tuple[list[_Member], int]:
    """The members of the object at a place, and the place behind it."""
    found: list[_Member] = []
    at = _skip(text, at + 1)
    while text[at] != "}":
        _key, at = _decode(text, at)
        start = at = _skip(text, _skip(text, at) + 1)
        inner = None
        if text[at] == "{":
            inner, at = _members(text, at)
        else:
            _value, at = _decode(text, at)
        found.append(((start, at), inner))
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found, at + 1


def _skip(text: str, at: int) -> int:
    """The first place from here on that isn't white space; a value ends before one."""
    return cast("re.Match[str]", _no_space(text, at)).start()
