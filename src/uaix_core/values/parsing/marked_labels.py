"""Labels and headings with a mark in them.

A mark stands in brackets behind the label or before it, ``Birth date (private)``, or
behind a dash, a comma or a colon, ``Diary - private``; and a label may be a mark as a
whole, as ``Private note`` is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from uaix_core.values.parsing.limit_words import BRACKETS_CLOSE, BRACKETS_OPEN
from uaix_core.values.parsing.limits import (
    is_behind,
    is_limit,
    is_limiting_label,
    is_remark,
    may_limit,
    plain,
)
from uaix_core.values.parsing.words import known_word

if TYPE_CHECKING:
    from uaix_core.values.parsing.words import Disclosure

#: A longer label that may limit is taken for one that does.
MAX_READ: Final = 200

_IN = f"[^{re.escape(BRACKETS_OPEN + BRACKETS_CLOSE)}]"
_behind = re.compile(
    rf"(?P<label>.*?)[\s*_~`\\]*(?P<open>[{re.escape(BRACKETS_OPEN)}])(?P<word>{_IN}+)"
    rf"[{re.escape(BRACKETS_CLOSE)}][^\w{re.escape(BRACKETS_OPEN)}]*",
    re.DOTALL,
).fullmatch
_before = re.compile(
    rf"\W*?(?P<open>[{re.escape(BRACKETS_OPEN)}])(?P<word>{_IN}+)"
    rf"[{re.escape(BRACKETS_CLOSE)}][\s*_~`:-]*(?P<label>.+)",
    re.DOTALL,
).fullmatch
_apart = re.compile(
    r"(?P<label>.*\w\W*?)(?P<by>\s+[-\u2010-\u2015\u2212|/#@]+|[,:;\u2013\u2014\uff0c\uff1a])"
    r"\s*(?P<word>[^,:;]+)",
    re.DOTALL,
).fullmatch
#: What ``none`` stands behind as a value, as in "Pets: none".
_COLONS: Final = frozenset(":\uff1a")
_ahead = re.compile(r"(?P<word>[^:]+):\s+(?P<label>.+)", re.DOTALL).fullmatch


def split_label(label: str) -> tuple[str, Disclosure | None]:
    """A label without the mark in it, and the mark.

    A label that is a mark as a whole stays as it is.
    """
    is_simple = label.isascii() and "&" not in label
    shown = label if is_simple else plain(label)
    if not may_limit(shown):
        return label, None
    if len(label) > MAX_READ:
        return label, "private"
    found = _split(label) or (None if is_simple else _split(shown))
    if found is not None:
        return found
    is_whole = is_limiting_label(shown)
    return label, "private" if is_whole else None


def _split(label: str) -> tuple[str, Disclosure] | None:
    for form in (_behind, _before):
        if found := form(label):
            word = _remark(found["word"], found["open"])
            if word is not None:
                return found["label"].rstrip(" \t" + BRACKETS_OPEN), word
    found = _apart(label)
    if found and known_word(found["word"]) == "none" and found["by"] not in _COLONS:
        return found["label"].rstrip(" \t"), "none"
    if not found or not is_limit(found["word"]):
        found = _ahead(label)
    if found and is_limit(found["word"]):
        return found["label"].rstrip(" \t"), known_word(found["word"]) or "private"
    return None


def _remark(inside: str, bracket: str) -> Disclosure | None:
    word = known_word(inside)
    if word is None and (is_remark(inside, bracket) or is_behind(inside)):
        return "private"
    return word
