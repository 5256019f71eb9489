"""Disclosures as words: to whom a text may be shown, and which of them is stricter.

Source: UAIX package format v0.1, "Bodies".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, get_args

from uaix_core.values.folding import fold
from uaix_core.values.parsing.limits import is_sentence
from uaix_core.values.parsing.scalars import bare

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: To whom a text may be shown: nobody, nobody outside, everybody. ``sensitive`` is
#: read as well and kept as said.
Disclosure = Literal["none", "private", "sensitive", "public"]
#: From the strictest to the widest.
DISCLOSURES: Final[tuple[Disclosure, ...]] = get_args(Disclosure)
#: The words under which a view hides a text.
HIDDEN: Final[frozenset[Disclosure]] = frozenset(("none", "private", "sensitive"))

_BY_WORD: Final[Mapping[str, Disclosure]] = {word: word for word in DISCLOSURES}


def known_word(text: str) -> Disclosure | None:
    """The disclosure that a text is, whatever its case; None for any other text.

    A word in disguise is known as well, but none in disguise opens anything.
    """
    word = bare(text.strip(" \t\n")).lower()
    known = _BY_WORD.get(word)
    if known is None and not word.isascii():
        known = _BY_WORD.get(bare(fold(word).strip()))
        return None if known == "public" else known
    return known


def disclosure_of(text: str) -> Disclosure | None:
    """What a mark means: ``private`` for an unknown word.

    None for an empty one, and for a sentence that names no limit.
    """
    if not text.strip() or is_sentence(text):
        return None
    return known_word(text) or "private"


def strictest(words: Iterable[Disclosure | None]) -> Disclosure | None:
    """The word that lets the fewest see; None when there is none."""
    found = {word for word in words if word is not None}
    return next((word for word in DISCLOSURES if word in found), None)
