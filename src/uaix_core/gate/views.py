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
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple

from uaix_core.gate.decoding import escape_edits, run_edits
from uaix_core.gate.folding import fold, fold_lengths

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_VIEWS: Final = 12
MAX_DEPTH: Final = 2
MAX_EXPANSION: Final = 8

#: No secret is told by a shorter word, save those that stand in armour.
LONG_WORD: Final = 12


class Piece(NamedTuple):
    """Where the characters of a view from ``start`` on come from in the parent.

    ``step`` is 1 for copied text, -1 for reversed text and 0 for decoded text, all of
    which comes from the start of the encoded run.
    """

    start: int
    source: int
    step: int


class View:
    """One view: its ``text``, the text it was made from, and the way back.

    ``joined`` marks a view that holds only runs which a line break had split.
    """

    __slots__ = ("_long_words", "_pieces", "_starts", "joined", "parent", "text")

    def __init__(
        self,
        text: str,
        parent: View | None = None,
        pieces: list[Piece] | None = None,
        *,
        joined: bool = False,
    ) -> None:
        self.text = text
        self.parent = parent
        self.joined = joined
        self._pieces = pieces
        self._starts: list[int] | None = None
        self._long_words: str | None = None

    @property
    def long_words(self) -> str:
        """The words of the text that are long enough to matter, with spaces between.

        Nearly every text has none, and then most rules needn't look at it.
        """
        if self._long_words is None:
            self._long_words = " ".join(
                [word for word in self.text.split() if len(word) >= LONG_WORD]
            )
        return self._long_words

    @property
    def seams(self) -> list[int]:
        """The places in a joined view where a line break was taken out."""
        if not self.joined or self.parent is None:
            return []
        pieces = self._way_back()
        if not self.parent.joined:
            return [piece.start for piece in pieces]
        seams = self.parent.seams
        found = []
        for index, piece in enumerate(pieces):
            last = index + 1 == len(pieces)
            end = len(self.text) if last else pieces[index + 1].start
            shift = piece.start - piece.source
            low = bisect_left(seams, piece.source)
            high = bisect_right(seams, end - shift)
            found += [seam + shift for seam in seams[low:high] if piece.step == 1]
        return found

    def source(self, start: int, end: int) -> int:
        """Where the span from ``start`` to ``end`` begins in the text handed in."""
        first, last = start, max(start, end - 1)
        view: View | None = self
        while view is not None and view.parent is not None:
            first, last = sorted((view._back(first), view._back(last)))
            view = view.parent
        return first

    def _way_back(self) -> list[Piece]:
        if self._pieces is None:
            self._pieces = _fold_pieces(self.parent.text if self.parent else "")
        return self._pieces

    def _back(self, index: int) -> int:
        pieces = self._way_back()
        if self._starts is None:
            self._starts = [piece.start for piece in pieces]
        piece = pieces[max(0, bisect_right(self._starts, index) - 1)]
        return piece.source + piece.step * (index - piece.start)


def _fold_pieces(text: str) -> list[Piece]:
    pieces = [Piece(0, 0, 1)]
    place = 0
    plain = True
    for index, length in enumerate(fold_lengths(text)):
        if length != 1 or not plain:
            pieces.append(Piece(place, index, 1 if length == 1 else 0))
            plain = length == 1
        place += length
    return pieces


def folded_view(view: View) -> View:
    """The view with its text folded; the same view when folding changes nothing."""
    text = fold(view.text)
    return view if text == view.text else View(text, view, joined=view.joined)


_OVERRIDDEN: Final = re.compile(
    "\u202e([^\u202c-\u202e\u2066-\u2069\n\r\u2029]*)[\u202c\u2069]?"
)


def _reversed_view(view: View) -> View | None:
    """The text as shown: what an override turns round is turned back."""
    if "\u202e" not in view.text:
        return None
    return _edited(
        view,
        (
            (match.start(), match.end(), match[1][::-1], match.end(1) - 1, -1)
            for match in _OVERRIDDEN.finditer(view.text)
        ),
    )


def _edited(view: View, edits: Iterator[tuple[int, int, str, int, int]]) -> View | None:
    """A view with spans replaced; each edit is start, end, new text, source, step."""
    text = view.text
    parts: list[str] = []
    pieces: list[Piece] = []
    place = done = 0
    for start, end, new, source, step in edits:
        if start > done or not pieces:
            pieces.append(Piece(place, done, 1))
            parts.append(text[done:start])
            place += start - done
        pieces.append(Piece(place, source, step))
        parts.append(new)
        place += len(new)
        done = end
    if not pieces:
        return None
    pieces.append(Piece(place, done, 1))
    parts.append(text[done:])
    return View("".join(parts), view, pieces, joined=view.joined)


#: What a run that a line break splits is made of.
_RUN_CHARACTERS: Final = (
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_.:%-"
)

#: The part at the start of a line, after what indents, quotes or continues it. The
#: label of a labelled line goes on with nothing.
_HEAD: Final = re.compile(
    r"[ \t>#*]{0,16}(?![A-Za-z][\w.-]{0,60}:(?:\s|\Z))([A-Za-z0-9+/=_.:%-]+)"
)

#: A word of prose beside a split run, which is judged with and without it.
_WORD: Final = re.compile(r"[A-Za-z]{1,20}[.:]?\Z")

#: Shorter joined runs are words that a line break parts.
_MIN_JOINED: Final = 20

#: A line break with a long part of a run on either side.
_SPLIT: Final = re.compile(
    "\n(?:(?<=[A-Za-z0-9+/=_.:%-]{10}\n)|(?<=[A-Za-z0-9+/=_.:%-]{10}[\r \t\\\\]\n)"
    "|[ \t>#*]{0,16}[A-Za-z0-9+/=_.:%-]{10})"
)

#: What is drawn by lot or encoded holds digits; names that a line break parts don't.
_DIGIT: Final = re.compile("[0-9]")

#: How far back from a line's end its run is followed.
_MAX_TAIL: Final = 4096

Span = tuple[int, int]


def _joined_view(view: View) -> View | None:
    """The runs that a line break splits, each made whole, one on a line."""
    text = view.text
    if "\n" not in text or not _SPLIT.search(text):
        return None
    parts: list[str] = []
    pieces: list[Piece] = []
    place = 0
    for run in _split_runs(text):
        if not any(_DIGIT.search(text, *span) for span in run):
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


def _surface(given: View) -> list[View]:
    """The text as given, as read, as shown, and with split runs joined."""
    read = folded_view(given)
    shown = _reversed_view(given)
    joined = _joined_view(read)
    return [
        given,
        *([] if read is given else [read]),
        *([] if shown is None else [folded_view(shown)]),
        *([] if joined is None else [joined]),
    ]


def _decoded(view: View) -> list[View]:
    """What a view says with its escapes decoded, then with its runs decoded."""
    found = []
    escaped = _edited(view, escape_edits(view.text))
    if escaped is not None:
        view = folded_view(escaped)
        found.append(view)
    unpacked = _edited(view, run_edits(view.text, view.long_words))
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
