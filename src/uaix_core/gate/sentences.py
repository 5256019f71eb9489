"""Where a sentence begins and ends, as far as judging a command or a probe needs it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import Final

#: A sentence ends at its mark, at an empty line, and where a line begins a list item,
#: a labelled field, a heading or a shell prompt. Wrapped lines go on.
_END: Final = re.compile(
    r"[.!?](?=\s|$)|[\u3002\uff01\uff1f]|\n[ \t]*\r?\n"
    r"|\n(?=[ \t]{0,16}(?:[-*+#>$]|\d{1,3}[.)]|[A-Za-z_][\w .-]{0,40}:\s))"
)

#: A sentence is looked for this far on either side.
REACH: Final = 400

Span = tuple[int, int]


class Sentences:
    """The sentences of a text, and which of them hold what a pattern finds."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ends = [match.span() for match in _END.finditer(text)]
        self._starts_of_ends = [start for start, _end in self._ends]

    def around(self, start: int) -> Span:
        """The bounds of the sentence of the character at ``start``.

        They are at most ``REACH`` characters away.
        """
        first, last = max(0, start - REACH), min(len(self.text), start + REACH)
        before = bisect_left(self._starts_of_ends, start) - 1
        if before >= 0:
            first = max(first, min(start, self._ends[before][1]))
        after = bisect_left(self._starts_of_ends, start)
        if after < len(self._ends):
            last = min(last, self._starts_of_ends[after])
        return first, last


def places_of(pattern: re.Pattern[str], text: str) -> list[int]:
    """Where what a pattern finds begins, in order."""
    return [match.start() for match in pattern.finditer(text)]


def words(listed: str, *, after: str = "") -> dict[str, re.Pattern[str]]:
    """A pattern for each of the words, which are in lower case with spaces between.

    ``after`` is a pattern that has to match where a word ends; ``{0}`` in it is the
    word. Each pattern begins with its word, which makes it fast to search.
    """
    return {
        word: re.compile(
            f"{re.escape(word)}(?<!\\w{re.escape(word)})(?!\\w)"
            + after.replace("{0}", re.escape(word)),
            re.ASCII,
        )
        for word in listed.split()
    }


def places_of_words(table: dict[str, re.Pattern[str]], lowered: str) -> list[int]:
    """Where the words of a table begin in a text in lower case, in order."""
    return sorted(
        match.start()
        for word, pattern in table.items()
        if word in lowered
        for match in pattern.finditer(lowered)
    )


def any_within(places: list[int], first: int, last: int) -> bool:
    """Whether any of the places, given in order, lies in ``[first, last)``."""
    at = bisect_right(places, first - 1)
    return at < len(places) and places[at] < last
