"""Extra fields of the manifest that ask for a change of a protected anchor.

Only a human may allow such a change, and no package speaks for one.

Source: UAIX package format v0.1, protected anchors.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from uaix_core.packages.anchors import ANCHORS
from uaix_core.packages.content.words import is_denial, runs_of, says_yes, words_of
from uaix_core.packages.paths import alias_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Keys that list changes.
_CHANGE_WORDS: Final = frozenset(("operation", "operations", "mutation", "mutations"))
_may_change = re.compile(r"operation|mutation", re.IGNORECASE).search

#: Members beside a change that say what it is made to.
_OBJECTS: Final = ("path", "target", "file", "anchor", "paths", "targets", "files")

_STEMS: Final = "|".join(
    sorted(path.rpartition("/")[2].removesuffix(".uai") for path in ANCHORS)
)
_is_anchor = re.compile(rf"(?:\.{{0,2}}/)*(?:\.?uai/)?(?:{_STEMS})(?:\.uai)?").fullmatch
_is_whole_anchor = re.compile(
    rf"(?:\.{{0,2}}/)*(?:\.?uai/(?:{_STEMS})(?:\.uai)?|(?:{_STEMS})\.uai)"
).fullmatch
#: Part an operation from the file that it is made to.
_parts = re.compile(r"[^\s:,;=|<>()\[\]{}'\"`#@!]+").findall
_idle_steps = re.compile(r"/(?:\.?/)+").sub

#: Texts of more words are prose, where the bare word for an anchor names none.
_MOST_WORDS: Final = 2
#: So much of a text is read, and so many items of a list beside a change.
_READ: Final = 4096
_MOST_OBJECTS: Final = 32
#: Longer texts are judged anew each time, so that the cache stays small.
_CACHED: Final = 256


def mutates_anchor(key: str, value: Any, holder: Mapping[str, Any]) -> bool:
    """Whether a key with its value asks for a change of an anchor.

    ``holder`` is the object around the key: the file may be named beside the change.
    """
    if key.isascii() and not _may_change(key):
        return False
    if _CHANGE_WORDS.isdisjoint((*words_of(key), *runs_of(key))):
        return False
    if any(map(_names_anchor, _texts(value))):
        return True
    return says_yes(value) and any(_is_object(holder.get(name)) for name in _OBJECTS)


def _is_object(value: Any) -> bool:
    # One list may lie beside many changes, and is looked at for each of them.
    if isinstance(value, list):
        items = value[:_MOST_OBJECTS]
        return any(isinstance(item, str) and _names_anchor(item) for item in items)
    return isinstance(value, str) and _names_anchor(value)


def _names_anchor(text: str) -> bool:
    """Whether a text is an anchor, or one with an operation before or behind it."""
    return _names(text) if len(text) <= _CACHED else _names.__wrapped__(text)


@lru_cache(maxsize=1024)
def _names(text: str) -> bool:
    if is_denial(text):
        return False
    plain = alias_key(text[:_READ]).replace("\\", "/")
    words = _parts(_idle_steps("/", plain))
    if len(words) <= _MOST_WORDS:
        return any(map(_is_anchor, words))
    return any(map(_is_whole_anchor, words))


def _texts(value: Any) -> Iterator[str]:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, list):
            pending += item
        elif isinstance(item, dict):
            pending += (*item.keys(), *item.values())
