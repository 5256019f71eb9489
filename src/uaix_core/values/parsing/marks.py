"""The marks that apply at a place, and the names of the fields that state them.

Source: UAIX package format v0.1, "Bodies".
"""

from __future__ import annotations

import re
from typing import Final

from uaix_core.values.parsing.scalars import bare
from uaix_core.values.parsing.view import value
from uaix_core.values.parsing.words import Disclosure, disclosure_of, strictest

DISCLOSURE_NAMES: Final = frozenset(
    ("disclosure", "disclosure_level", "disclosure_tag")
)
DEPTH_NAMES: Final = frozenset(("depth_level_0_to_10", "depth_level", "depth_0_to_10"))
MARK_NAMES: Final = DISCLOSURE_NAMES | DEPTH_NAMES

MAX_DEPTH: Final = 10

_is_depth = re.compile(r"[0-9]{1,2}").fullmatch


def depth_of(text: str) -> int | None:
    """The level from 0 to 10 that a text is; None for any other text."""
    word = bare(text.strip(" \t\n"))
    if _is_depth(word) is None:
        return None
    level = int(word)
    return level if level <= MAX_DEPTH else None


@value
class Marks:
    """The marks that apply at a place."""

    disclosure: Disclosure | None = None
    depth: int | None = None

    def over(self, outer: Marks) -> Marks:
        """These marks, and those of the outer place where there is none here."""
        if self is UNMARKED:
            return outer
        return Marks(
            outer.disclosure if self.disclosure is None else self.disclosure,
            outer.depth if self.depth is None else self.depth,
        )

    def and_(self, other: Marks) -> Marks:
        """Both marks of one place: the stricter disclosure, the first depth."""
        if self is UNMARKED:
            return other
        return Marks(
            strictest((self.disclosure, other.disclosure)),
            other.depth if self.depth is None else self.depth,
        )


UNMARKED: Final = Marks()


def mark_of(name: str, text: str) -> Marks:
    """What the field of a mark's name says."""
    if name in DISCLOSURE_NAMES:
        return Marks(disclosure=disclosure_of(text))
    return Marks(depth=depth_of(text))
