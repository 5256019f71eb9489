"""Runs that a line break splits, joined: tokens and base64 that were wrapped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from uaix_core.gate.view import Piece, View

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What a run that a line break splits is made of.
_RUN_CHARACTER: Final = "[A-Za-z0-9+/=_.:%~$|@&?-]"
_RUN_CHARACTERS: Final = (
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_.:%~$|@&?-"
)

#: The part at the start of a line, after what indents, quotes or continues it. The
#: label of a labelled line goes on with nothing.
_HEAD: Final = re.compile(
    r"[ \t>#*]{0,16}(?![A-Za-z][\w.-]{0,60}:(?:\s|\Z))([A-Za-z0-9+/=_.:%~$|@&?-]+)"
)

#: A word of prose beside a split run, which is judged with and without it.
_WORD: Final = re.compile(r"[A-Za-z]{1,20}[.:]?\Z")

#: Shorter joined runs are words that a line break parts.
_MIN_JOINED: Final = 20

#: A line break with a long part of a run on either side.
_SPLIT: Final = re.compile(
    rf"\n(?:(?<={_RUN_CHARACTER}{{10}}\n)|(?<={_RUN_CHARACTER}{{10}}[\r \t\\]\n)"
    rf"|[ \t>#*]{{0,16}}{_RUN_CHARACTER}{{10}})"
)

#: What is drawn by lot or encoded holds digits or changes its case; words that a line
#: break parts don't.
_DRAWN: Final = re.compile("[0-9]|[a-z][A-Z]")

#: How far back from a line's end its run is followed.
_MAX_TAIL: Final = 4096

Span = tuple[int, int]


def joined_view(view: View) -> View | None:
    """The runs that a line break splits, each made whole, one on a line."""
    text = view.text
    if "\n" not in text or not _SPLIT.search(text):
        return None
    parts: list[str] = []
    pieces: list[Piece] = []
    place = 0
    for run in _split_runs(text):
        if not any(_DRAWN.search(text, *span) for span in run):
            continue
        for spans in _with_and_without_words(text, run):
            if sum(end - start for start, end in spans) < _MIN_JOINED:
                continue
            for start, end in spans:
                pieces.append(Piece(place, start, 1))
                parts.append(text[start:end])
                place += end - start
            parts.append("\n")
            place += 1
    if not pieces:
        return None
    return View("".join(parts), view, pieces, joined=True)


def _with_and_without_words(text: str, run: list[Span]) -> Iterator[list[Span]]:
    yield run
    first = 1 if _WORD.match(text[slice(*run[0])]) else 0
    last = -1 if _WORD.match(text[slice(*run[-1])]) else None
    trimmed = run[first:last]
    if len(run) > len(trimmed) > 1:
        yield trimmed


def _split_runs(text: str) -> Iterator[list[Span]]:
    """The spans of each run that goes on over one or more line breaks."""
    run: list[Span] = []
    for match in _SPLIT.finditer(text):
        end = match.start()
        low = max(text.rfind("\n", 0, end) + 1, end - _MAX_TAIL)
        line = text[low:end].rstrip("\r\\ \t")
        tail = (low + len(line.rstrip(_RUN_CHARACTERS)), low + len(line))
        head = _HEAD.match(text, end + 1) if tail[0] < tail[1] else None
        if not head:
            continue
        if run and run[-1][0] <= tail[0] < run[-1][1]:
            run.append(head.span(1))
            continue
        if run:
            yield run
        run = [tail, head.span(1)]
    if run:
        yield run
