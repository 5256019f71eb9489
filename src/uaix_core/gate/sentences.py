"""Where a sentence begins and ends, as far as judging a command or a probe needs it."""

from __future__ import annotations

import re
from typing import Final

#: A sentence ends at its mark, at an empty line, and where a line begins a list item,
#: a labelled field, a heading or a shell prompt. Wrapped lines go on.
_END: Final = re.compile(
    r"[.!?](?=\s|$)|[\u3002\uff01\uff1f]|\n[ \t]*\r?\n"
    r"|\n(?=[ \t]{0,16}(?:[-*+#>$]|\d{1,3}[.)]|[A-Za-z_][\w .-]{0,40}:\s))"
)

#: A sentence is looked for this far on either side.
REACH: Final = 400


def sentence_at(text: str, start: int, end: int) -> tuple[int, int]:
    """The bounds of the sentence that holds the span from ``start`` to ``end``.

    At most ``REACH`` characters on either side are looked at.
    """
    low, high = max(0, start - REACH), min(len(text), end + REACH)
    first = low
    for match in _END.finditer(text, low, start):
        first = match.end()
    last = _END.search(text, end, high)
    return first, last.start() if last else high
