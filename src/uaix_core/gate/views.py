"""The views of a text in which a rule may match, each with a way back.

A secret can be written so that a plain search misses it. The gate therefore judges
the text as given and as a reader, a terminal or a decoder would see it. A view keeps
pieces that say where in its parent its characters come from, so that a hit is always
reported where it stands in the text that was handed in. Work is bounded: at most
``MAX_VIEWS`` views, ``MAX_DEPTH`` decodings, ``MAX_EXPANSION`` times the input in all.

Source: the gate rules of the memory semantics.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from uaix_core.gate.decoding import escape_edits, run_edits
from uaix_core.gate.joining import joined_view
from uaix_core.gate.view import View, edited_view, folded_view

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_VIEWS: Final = 12
MAX_DEPTH: Final = 2
MAX_EXPANSION: Final = 8

_OVERRIDDEN: Final = re.compile(
    "\u202e([^\u202c-\u202e\u2066-\u2069\n\r\u2029]*)[\u202c\u2069]?"
)


def _reversed_view(view: View) -> View | None:
    """The text as shown: what an override turns round is turned back."""
    if "\u202e" not in view.text:
        return None
    return edited_view(
        view,
        (
            (match.start(), match.end(), match[1][::-1], match.end(1) - 1, -1)
            for match in _OVERRIDDEN.finditer(view.text)
        ),
    )


def _surface(given: View) -> list[View]:
    """The text as given, as read, as shown, and with split runs joined."""
    read = folded_view(given)
    shown = _reversed_view(given)
    joined = joined_view(read)
    return [
        given,
        *([] if read is given else [read]),
        *([] if shown is None else [folded_view(shown)]),
        *([] if joined is None else [joined]),
    ]


def _decoded(view: View) -> list[View]:
    """What a view says with its escapes decoded, then with its runs decoded."""
    found = []
    escaped = edited_view(view, escape_edits(view.text))
    if escaped is not None:
        view = folded_view(escaped)
        found.append(view)
    unpacked = edited_view(view, run_edits(view.text, view.long_words))
    if unpacked is not None:
        found.append(folded_view(unpacked))
    return found


def views_of(text: str) -> Iterator[View]:
    """The views of a text, the plain ones first, each only when it differs.

    The first is always the text as given. What is decoded is decoded once more.
    """
    budget = MAX_EXPANSION * max(len(text), 1)
    seen: set[str] = set()
    bases = layer = _surface(View(text))
    for depth in range(MAX_DEPTH + 1):
        for view in layer:
            budget -= len(view.text)
            if len(seen) >= MAX_VIEWS or budget < 0:
                return
            if view.text not in seen:
                seen.add(view.text)
                yield view
        if depth < MAX_DEPTH:
            decoded = [found for view in bases if (found := _decoded(view))]
            layer = [view for found in decoded for view in found]
            bases = [found[-1] for found in decoded]


def plain_views(text: str) -> list[View]:
    """The text as given and, when it differs, folded: what a reader takes in."""
    given = View(text)
    folded = folded_view(given)
    return [given] if folded is given else [given, folded]
