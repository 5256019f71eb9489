"""Scanning text for secrets: the public door of the gate's detectors.

Every view of a text is judged by every detector that can match in it. Source: the gate
rules of the memory semantics.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from uaix_core.gate.hits import FieldHit, Hit, byte_offset, byte_offsets
from uaix_core.gate.matching import matches
from uaix_core.gate.table import RANKS
from uaix_core.gate.views import views_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from uaix_core.gate.matching import Match

    Leaves = str | Sequence["Leaves"] | Mapping[str, "Leaves"] | float | None

#: Longer texts are scanned in windows that overlap, which bounds memory.
WINDOW: Final = 512 * 1024
OVERLAP: Final = 8 * 1024


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


def _found_in(text: str) -> Iterator[list[tuple[int, int, Match]]]:
    """The matches of each view that has any, with their span in the text."""
    for view in views_of(text):
        placed = []
        for match in matches(view):
            _name, start, end, _sure = match
            first = view.source(start, end)
            placed.append((first, max(first + 1, view.source(end - 1, end) + 1), match))
        if placed:
            yield placed


def _order(placed: tuple[int, int, Match]) -> tuple[int, int]:
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
    found: list[tuple[int, int, Match]] = []
    for start, window in _windows(_without(text, excuse)):
        for placed in _found_in(window):
            found += [(start + a, start + b, match) for a, b, match in placed]
    # The sort is stable: of one detector's matches those in plainer views come first.
    found.sort(key=lambda one: RANKS[one[2][0]])
    kept: list[tuple[int, int, Match]] = []
    for one in found:
        at = bisect_left(kept, one[0], key=lambda other: other[0])
        clear_before = at == 0 or kept[at - 1][1] <= one[0]
        clear_after = at == len(kept) or one[1] <= kept[at][0]
        if clear_before and clear_after:
            kept.insert(at, one)
    offsets = byte_offsets(text, (first for first, *_rest in kept))
    return [
        Hit(name, offsets[first], sure)
        for first, _last, (name, _start, _end, sure) in kept
    ]


def leaves_of(name: str, value: Leaves) -> Iterator[tuple[str, str]]:
    """Each string inside a value with its place, keys before what they name."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping):
        for index, (key, inner) in enumerate(value.items()):
            place = f"{name}[{index}]"
            yield from leaves_of(f"{place}.key", key)
            yield from leaves_of(f"{place}.value", inner)
    elif isinstance(value, (list, tuple)):
        for index, inner in enumerate(value):
            yield from leaves_of(f"{name}[{index}]", inner)


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
        for place, text in leaves_of(name, value):
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
