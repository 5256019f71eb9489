"""What the detectors find in one view of a text.

Cheap tests come first, since almost no text holds a secret: most rules need a long
word, each detector one of its keywords.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from uaix_core.gate.assignments import ASSIGNMENT, HEADER, LOGIN, assigned
from uaix_core.gate.checksums import has_crc_base62
from uaix_core.gate.detectors import compiled
from uaix_core.gate.detectors_keys import ARMOUR
from uaix_core.gate.entropy import entropy_spans, is_mixed, may_hold
from uaix_core.gate.placeholders import is_placeholder
from uaix_core.gate.shapes import is_slug
from uaix_core.gate.structured import JWT, URL, url_credentials, web_tokens
from uaix_core.gate.table import HIGH_ENTROPY, TOKENS
from uaix_core.values.folding import lowered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from uaix_core.gate.detectors import Check, Detector
    from uaix_core.gate.hits import Confidence
    from uaix_core.gate.view import View

#: Every secret that a token detector finds has a run of at least so many characters.
_LONG: Final = re.compile(r"[A-Za-z0-9+/=_.:~%@$?&|-]{16,}")

#: Every value that a key can tell holds a digit or is a long run.
_VALUE_SIGN: Final = re.compile(r"[0-9]|[A-Za-z0-9_-]{24}|=\Z|= ")

#: Every armour has one of these, in lower case.
_ARMOUR_SIGNS: Final = (
    "private",
    "-key",
    "static key",
    "secret key",
    "age-plugin-",
    "kty",
)

#: Detector, start, end in a view, and how sure it is.
Match = tuple[str, int, int, "Confidence"]

_NAMED_CONFIDENCE: Final[dict[str, Confidence]] = {
    URL: "likely",
    JWT: "certain",
    HIGH_ENTROPY: "possible",
    ASSIGNMENT: "possible",
    HEADER: "possible",
    LOGIN: "possible",
}


def _passes(check: Check | None, found: str) -> bool:
    return check != "mixed" or is_mixed(found)


_Words = tuple[tuple[str, "Detector"], ...]


def _by_keyword(detectors: Iterable[Detector]) -> _Words:
    return tuple(
        (keyword, detector) for detector in detectors for keyword in detector.keywords
    )


def _starts(detector: Detector, keyword: str) -> bool:
    """Whether a detector's keyword is what its matches begin with, at a boundary."""
    literal = re.escape(keyword)
    return detector.pattern.lower().startswith(f"{literal}(?<![a-za-z0-9]{literal})")


def _by_start() -> tuple[dict[str, _Words], _Words]:
    """Token detectors by the two characters they begin with, and the others."""
    index: dict[str, list[tuple[str, Detector]]] = {}
    others: list[tuple[str, Detector]] = []
    for keyword, detector in _by_keyword(TOKENS):
        if _starts(detector, keyword):
            index.setdefault(keyword[:2], []).append((keyword, detector))
        else:
            others.append((keyword, detector))
    return {start: tuple(words) for start, words in index.items()}, tuple(others)


_ARMOUR_WORDS: Final = _by_keyword(ARMOUR)
_TOKEN_STARTS, _TOKEN_WORDS = _by_start()
_BOUNDARY: Final = re.compile("(?<![a-z0-9])(?=([a-z0-9].))")


def _token_words(runs: str) -> _Words:
    """The token detectors that can match in runs, given in lower case."""
    starts = _TOKEN_STARTS.keys() & set(_BOUNDARY.findall(runs))
    return sum((_TOKEN_STARTS[start] for start in starts), _TOKEN_WORDS)


def _is_slug(text: str, start: int, end: int, seams: list[int]) -> bool:
    """Whether a span is a slug, or slugs and words that a line break parts."""
    places = [start, *(seam for seam in seams if start < seam < end), end]
    return is_slug("-".join(text[a:b] for a, b in pairwise(places)))


def _table_matches(
    words: _Words, text: str, where: str, seams: list[int]
) -> Iterator[Match]:
    """What the detectors find in a text, of which ``where`` holds their keywords."""
    present = [detector for keyword, detector in words if keyword in where]
    for detector in present:
        for match in compiled(detector.pattern).finditer(text):
            found = match[0]
            if (
                (detector.placeholder and is_placeholder(found))
                or (detector.slug and _is_slug(text, *match.span(), seams))
                or not _passes(detector.check, found)
            ):
                continue
            sure = detector.confidence
            if detector.check == "crc-base62" and has_crc_base62(found):
                sure = "certain"
            yield detector.id, *match.span(), sure


def matches(view: View) -> Iterator[Match]:
    """Every match of every detector in one view, in no order."""
    text = view.text
    lower = lowered(text)
    if any(sign in lower for sign in _ARMOUR_SIGNS):
        yield from _table_matches(_ARMOUR_WORDS, text, lower, [])
    words = view.long_words
    if not words:
        return
    runs = _LONG.findall(words)
    if runs:
        where = " ".join(runs).lower()
        yield from _table_matches(_token_words(where), text, where, view.seams)
        yield from _named(web_tokens(text))
        if may_hold(words):
            for start, end in entropy_spans(text, view.seams if view.joined else None):
                yield HIGH_ENTROPY, start, end, "possible"
    yield from _named(url_credentials(text))
    if not view.joined and (_VALUE_SIGN.search(words) or "authorization" in lower):
        yield from _named(assigned(text, lower))


def _named(found: Iterable[tuple[str, int, int]]) -> Iterator[Match]:
    for name, start, end in found:
        yield name, start, end, _NAMED_CONFIDENCE[name]
