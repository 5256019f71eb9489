"""Scanning text for secrets: the public door of the gate's detectors.

Every view of a text is judged by every detector that can match in it; cheap tests come
first, since almost no text holds a secret. Source: the gate rules of the memory
semantics.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from uaix_core.gate.assignments import ASSIGNMENT, HEADER, LOGIN, assigned
from uaix_core.gate.checksums import has_crc_base62
from uaix_core.gate.detectors import compiled
from uaix_core.gate.detectors_keys import ARMOUR
from uaix_core.gate.entropy import entropy_spans, is_mixed, may_hold
from uaix_core.gate.hits import FieldHit, Hit, byte_offset
from uaix_core.gate.placeholders import is_placeholder
from uaix_core.gate.shapes import is_slug
from uaix_core.gate.structured import JWT, URL, url_credentials, web_tokens
from uaix_core.gate.table import HIGH_ENTROPY, RANKS, TOKENS
from uaix_core.gate.views import views_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from uaix_core.gate.detectors import Check, Detector
    from uaix_core.gate.hits import Confidence
    from uaix_core.gate.views import View

    Leaves = str | Sequence["Leaves"] | Mapping[str, "Leaves"] | float | None

#: Longer texts are scanned in windows that overlap, which bounds memory.
WINDOW: Final = 512 * 1024
OVERLAP: Final = 8 * 1024

#: Every secret that a token detector finds has a run of at least so many characters.
_LONG: Final = re.compile(r"[A-Za-z0-9+/=_.:~%@$?&-]{16,}")

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
_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}

#: Detector, start, end in a view, and how sure it is.
_Match = tuple[str, int, int, "Confidence"]

_NAMED_CONFIDENCE: Final[dict[str, Confidence]] = {
    URL: "likely",
    JWT: "certain",
    HIGH_ENTROPY: "possible",
    ASSIGNMENT: "possible",
    HEADER: "possible",
    LOGIN: "possible",
}


def _lowered(text: str) -> str:
    """The text in lower case and of the same length."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.translate(_LOWER)


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
) -> Iterator[_Match]:
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


def _matches(view: View) -> Iterator[_Match]:
    text = view.text
    lowered = _lowered(text)
    if any(sign in lowered for sign in _ARMOUR_SIGNS):
        yield from _table_matches(_ARMOUR_WORDS, text, lowered, [])
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
    if not view.joined and (_VALUE_SIGN.search(words) or "authorization" in lowered):
        yield from _named(assigned(text, lowered))


def _named(found: Iterable[tuple[str, int, int]]) -> Iterator[_Match]:
    for name, start, end in found:
        yield name, start, end, _NAMED_CONFIDENCE[name]


def _without(text: str, excuse: Iterable[str | tuple[int, int]]) -> str:
    """The text with spaces in place of what the caller vouches for."""
    for part in excuse:
        if isinstance(part, str):
            if part:
                text = text.replace(part, " " * len(part))
        else:
            start, end = part
            text = text[:start] + " " * (end - start) + text[end:]
    return text


def _windows(text: str) -> Iterator[tuple[int, str]]:
    """Windows of a long text, each with the place where it starts."""
    start = 0
    while len(text) - start > WINDOW + OVERLAP:
        stop = start + WINDOW
        yield start, text[start : stop + OVERLAP]
        start = stop
    yield start, text[start:] if start else text


def _found_in(text: str) -> Iterator[list[tuple[int, int, _Match]]]:
    """The matches of each view that has any, with their span in the text."""
    for view in views_of(text):
        placed = []
        for match in _matches(view):
            _name, start, end, _sure = match
            first = view.source(start, end)
            placed.append((first, max(first + 1, view.source(end - 1, end) + 1), match))
        if placed:
            yield placed


def _order(placed: tuple[int, int, _Match]) -> tuple[int, int]:
    return placed[0], RANKS[placed[2][0]]


def scan_text(text: str, *, excuse: Iterable[str | tuple[int, int]] = ()) -> Hit | None:
    """The first secret of a text, or None.

    Views are judged in turn, the text as given first; of the first view that holds
    anything the lowest offset is named, and of several detectors at one place the
    first of the table.

    Args:
        text: What is judged.
        excuse: Values, or spans in characters, that are known to be no secret, such as
            a package's own signatures.

    """
    for start, window in _windows(_without(text, excuse)):
        for placed in _found_in(window):
            first, _last, (name, *_span, sure) = min(placed, key=_order)
            return Hit(name, byte_offset(text, start + first), sure)
    return None


def scan_all(text: str, *, excuse: Iterable[str | tuple[int, int]] = ()) -> list[Hit]:
    """Every secret of a text in order of offset, each place named once.

    Arguments as for ``scan_text``. What lies inside a span that an earlier detector of
    the table named is not named again.
    """
    found: list[tuple[int, int, _Match]] = []
    for start, window in _windows(_without(text, excuse)):
        for placed in _found_in(window):
            found += [(start + a, start + b, match) for a, b, match in placed]
    found.sort(key=lambda one: (RANKS[one[2][0]], one[0]))
    kept: list[tuple[int, int, _Match]] = []
    for one in found:
        at = bisect_left(kept, one[0], key=lambda other: other[0])
        clear_before = at == 0 or kept[at - 1][1] <= one[0]
        clear_after = at == len(kept) or one[1] <= kept[at][0]
        if clear_before and clear_after:
            kept.insert(at, one)
    return [
        Hit(name, byte_offset(text, first), sure)
        for first, _last, (name, _start, _end, sure) in kept
    ]


def _leaves(name: str, value: Leaves) -> Iterator[tuple[str, str]]:
    """Each string inside a value with its place, keys before what they name."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping):
        for index, (key, inner) in enumerate(value.items()):
            place = f"{name}[{index}]"
            yield f"{place}.key", key
            yield from _leaves(f"{place}.value", inner)
    elif isinstance(value, (list, tuple)):
        for index, inner in enumerate(value):
            yield from _leaves(f"{name}[{index}]", inner)


def _pairs(name: str, value: Leaves) -> Iterator[tuple[str, str, str]]:
    """Each key and the string under it, with the place of the string."""
    if isinstance(value, Mapping):
        for index, (key, inner) in enumerate(value.items()):
            place = f"{name}[{index}].value"
            if isinstance(inner, str):
                yield place, key, inner
            else:
                yield from _pairs(place, inner)
    elif isinstance(value, (list, tuple)):
        for index, inner in enumerate(value):
            yield from _pairs(f"{name}[{index}]", inner)


def scan_fields(fields: Mapping[str, Leaves]) -> list[FieldHit]:
    """The first secret of every named input that holds one, in the order given.

    ``fields`` maps the caller's own names to texts, lists of texts, or mappings (whose
    keys are judged as well, and as the names of what stands under them). Numbers and
    None hold no text. Offsets are in UTF-8 bytes of the text at that place.
    """
    hits: dict[str, FieldHit] = {}
    for name, value in fields.items():
        for place, text in _leaves(name, value):
            hit = scan_text(text)
            if hit:
                hits[place] = FieldHit(place, hit.detector, hit.offset)
        for place, key, text in _pairs(name, value):
            given = f"{key}="
            for hit in scan_all(given + text) if place not in hits else ():
                offset = hit.offset - byte_offset(given, len(given))
                if offset >= 0:
                    hits[place] = FieldHit(place, hit.detector, offset)
                    break
    return list(hits.values())
