"""Values within a line: quotes, code spans, list items."""

from __future__ import annotations

import re
from typing import Final

_DOUBLE = re.compile(r'"([^"\\]*+(?:\\["\\/][^"\\]*+)*+)"').fullmatch
_SINGLE = re.compile(r"'([^']*+(?:''[^']*+)*+)'").fullmatch
_CODE = re.compile(r"`([^`]+)`\\?").fullmatch
_ESCAPED = re.compile(r'\\(["\\/])')

#: The last characters of a value that may stand in quotes as a whole.
_ENDS: Final = frozenset("\"'`\\")

_ITEM = re.compile(r"([ \t]*)(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(?=\S)")
_first_item = re.compile("^" + _ITEM.pattern, re.MULTILINE).search


def quoted(text: str) -> str | None:
    r"""What stands in quotes when the text is one quoted string; else None.

    Double quotes know the escapes ``\"``, ``\\`` and ``\/`` and no others; in single
    quotes a quote is doubled.
    """
    match = _DOUBLE(text)
    if match is not None:
        inner = match.group(1)
        return _ESCAPED.sub(r"\1", inner) if "\\" in inner else inner
    match = _SINGLE(text)
    return None if match is None else match.group(1).replace("''", "'")


def bare(text: str) -> str:
    """The text without the quotes or back-ticks that enclose all of it."""
    if not text or text[-1] not in _ENDS:
        return text
    inner = quoted(text)
    if inner is not None:
        return inner
    match = _CODE(text)
    return text if match is None else match.group(1)


def list_items(text: str) -> tuple[tuple[str, ...], bool]:
    """The list items of a text, and whether there is nothing beside them.

    Bullets and numbers open an item; what is indented more deeply, and what follows
    without a blank line, belongs to it.
    """
    found = _first_item(text) if "\n" in text else _ITEM.match(text)
    if found is None:
        return (), False
    outer = len(found.group(1)) + 1
    items: list[list[str]] = []
    is_list = not text[: found.start()].strip(" \t\n")
    after_blank = in_item = False
    for line in text.split("\n"):
        stripped = line.strip(" \t")
        if not stripped:
            after_blank = True
            continue
        match = _ITEM.match(line)
        if match is not None and len(match.group(1)) <= outer:
            items.append([line[match.end() :].rstrip(" \t")])
            in_item = True
        elif in_item and (line[0] in " \t" or not after_blank):
            items[-1].append(stripped)
        else:
            in_item = is_list = False
        after_blank = False
    return tuple("\n".join(lines) for lines in items), is_list
