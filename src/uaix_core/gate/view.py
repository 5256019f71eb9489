"""One view of a text, with the way back to the text it was made from."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple

from uaix_core.values.folding import fold, fold_lengths

if TYPE_CHECKING:
    from collections.abc import Iterable

    from uaix_core.gate.decoding import Edit

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
            first, last = sorted((view.back(first), view.back(last)))
            view = view.parent
        return first

    def _way_back(self) -> list[Piece]:
        if self._pieces is None:
            self._pieces = _fold_pieces(self.parent.text if self.parent else "")
        return self._pieces

    def back(self, index: int) -> int:
        """The place in the parent's text of a character of this one."""
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


def edited_view(view: View, edits: Iterable[Edit]) -> View | None:
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
