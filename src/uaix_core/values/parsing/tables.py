"""Tables in a text, looked at for a column or a cell that names a limit."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_is_rule = re.compile(r"[\s|:+=-]*-[\s|:+=-]*").fullmatch
_between = re.compile(r"[\s*_`~?!:\\\"']+")

_DISCLOSURES: Final = ("disclosure", "disclosurelevel", "disclosuretag")
_OPEN: Final = frozenset(("", "public", "open", "everyone", "everybody", "all", "-"))
_NO: Final = frozenset(("", "no", "n", "false", "0", "-", "public", "none"))
#: Columns that say of each row to whom it may be shown, or whether it is limited, each
#: with the words that limit nothing.
_COLUMNS: Final = {
    **dict.fromkeys((*_DISCLOSURES, "visibility", "confidentiality", "privacy"), _OPEN),
    "sensitivity": _OPEN | {"low", "none"},
    **dict.fromkeys(
        ("private", "isprivate", "confidential", "sensitive", "secret", "restricted"),
        _NO,
    ),
}


def limited_rows(text: str, is_limit: Callable[[str], bool]) -> Iterator[list[str]]:
    """The cells of every row that a table limits; ``text`` is in plain spelling.

    The head of a table names its columns and limits nothing by itself.
    """
    if "|" not in text:
        return
    lines = text.split("\n")
    columns: dict[int, frozenset[str]] = {}
    for line, below in zip_longest(lines, lines[1:], fillvalue=""):
        if "|" not in line:
            columns = {}
            continue
        if _is_rule(line):
            continue
        bare = line.strip(" \t>")
        cells = [cell.strip() for cell in bare.strip("|").split("|")]
        if "|" in below and _is_rule(below):
            columns = dict(_judged(cells))
        else:
            is_table = bare[:1] == "|" or len(cells) > len("ab")
            if _is_limited(cells, columns) or (is_table and any(map(is_limit, cells))):
                yield cells


def _judged(head: list[str]) -> Iterator[tuple[int, frozenset[str]]]:
    """The columns that judge rows."""
    for at, cell in enumerate(head):
        name = _between.sub("", cell).lower()
        if name in _COLUMNS:
            yield at, _COLUMNS[name]
        elif name.startswith(("private", "confidential")):
            yield at, _NO


def _is_limited(cells: list[str], columns: dict[int, frozenset[str]]) -> bool:
    words = [_between.sub("", cell).lower() for cell in cells]
    if any(words[at] not in columns[at] for at in columns if at < len(words)):
        return True
    # A row that is a mark itself, as in "Disclosure | private".
    is_mark = len(words) == len("ab") and words[0] in _DISCLOSURES
    return is_mark and words[1] not in _OPEN
