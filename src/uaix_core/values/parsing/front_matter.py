"""Front matter: a small safe subset of YAML, read as strings.

Read are ``key: scalar`` with plain, single- or double-quoted scalars, lists of such
scalars in brackets on one line or as ``- item`` lines, and comments. Everything else
(nesting, block scalars, anchors, tags, other escapes) stays raw with a note. No
scalar becomes a number, a date or a truth value.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from uaix_core.values.parsing.scalars import quoted
from uaix_core.values.parsing.view import BodyField, BodyNote, note

_is_key = re.compile(
    r"""[^\s:,;!?"'`#*&|<>{}\[\]=\\%@-][^:"'`#{}\[\]]*+""", re.DOTALL
).fullmatch
#: Nearly every entry: a plain key with a scalar that needs no second look.
_simple = re.compile(
    r"""([A-Za-z_][A-Za-z0-9_.-]*+):[ \t]++"""
    r"""(?:"([^"\\]*+)"|'([^']*+)'|(\w[^#:]*+))[ \t]*+$"""
).match
_item = re.compile(r"[ \t]*-(?:[ \t]++(?P<item>.*))?$").match
_comment = re.compile(r"[ \t]#").search
_closed = re.compile(
    r"""("(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+')[ \t]*+((?:#.*)?)$"""
).match
_flow_item = re.compile(
    r"""[ \t]*+("(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+'|[^,\[\]{}"'#&*!|>%@`]++)"""
    r"""[ \t]*+(,|$)"""
).match

#: The group of a scalar without quotes.
_PLAIN: Final = 4

_FENCE: Final = "---"
_ENDS: Final = frozenset(("---", "..."))
#: What a plain scalar doesn't begin with: it would mean something else in YAML.
_INDICATORS: Final = frozenset("&*!|>{}[]%@`\"',#")
_INDENTS: Final = frozenset(" \t")
_AFTER_COLON: Final = frozenset(("", " ", "\t"))


class FrontMatter(NamedTuple):
    """What the front matter says, where the text begins, and what wasn't read."""

    fields: tuple[BodyField, ...]
    end: int
    unparsed: str
    notes: tuple[BodyNote, ...]


def front_matter_end(lines: list[str]) -> int | None:
    """The line that closes the front matter; None when it is never closed.

    The caller has seen that the first line opens it.
    """
    for at in range(1, len(lines)):
        if lines[at].rstrip(" \t") in _ENDS:
            return at
    return None


def opens_front_matter(lines: list[str]) -> bool:
    """Whether the first line is the fence of front matter."""
    return lines[0].rstrip(" \t") == _FENCE


def read_front_matter(lines: list[str], end: int) -> FrontMatter:
    """Read the lines between the fences; ``end`` is the closing one."""
    reader = _Reader()
    at = 1
    while at < end:
        match = _simple(lines[at])
        if match is None or lines[at + 1][:1] in _INDENTS:
            at = reader.take(lines, at, end)
        else:
            value = match[match.lastindex or 0]
            if match.lastindex == _PLAIN:
                value = value.rstrip(" \t")
            at += 1
            reader.keep(match[1], value, (), (at, at), is_list=False)
    return FrontMatter(
        tuple(reader.fields), end + 1, "\n".join(reader.raw), tuple(reader.notes)
    )


class _Reader:
    def __init__(self) -> None:
        self.fields: list[BodyField] = []
        self.raw: list[str] = []
        self.notes: list[BodyNote] = []
        self._seen: set[str] = set()

    def take(self, lines: list[str], at: int, end: int) -> int:
        """Read one entry; the line after it."""
        line = lines[at]
        first = line.lstrip(" \t")[:1]
        if first in ("", "#"):
            if first:
                self.raw.append(line)
            return at + 1
        key, colon, value = line.partition(":")
        is_entry = bool(colon) and value[:1] in _AFTER_COLON and bool(_is_key(key))
        value, comment = _without_comment(value.strip(" \t"))
        after, below = _below(lines, at, end, items=is_entry and not value)
        if not is_entry:
            return self._refuse(lines, at, after)
        comments = [text for text in (comment, *map(_bare_comment, below)) if text]
        below = [text for text in below if not _bare_comment(text)]
        is_list = bool(below) or value[:1] == "["
        items: tuple[str, ...] | None = ()
        if below:
            items = None if value else _block_list(below, comments)
        elif is_list:
            items = _flow_list(value)
        scalar = "" if is_list else _scalar(value)
        if items is None or scalar is None:
            return self._refuse(lines, at, after)
        self.raw += comments
        place = (at + 1, after)
        self.keep(key.rstrip(" \t"), scalar, items, place, is_list=is_list)
        return after

    def keep(
        self,
        key: str,
        scalar: str,
        items: tuple[str, ...],
        place: tuple[int, int],
        *,
        is_list: bool,
    ) -> None:
        """Add a field; a key that was there before is added all the same.

        ``place`` are its first and its last line, counted from 1.
        """
        line, end = place
        if key in self._seen:
            self.notes.append(note("body.repeated", line))
        self._seen.add(key)
        text = "\n".join(f"- {item}" for item in items) if is_list else scalar
        self.fields.append(BodyField(key, text, items, is_list, line, end))

    def _refuse(self, lines: list[str], at: int, after: int) -> int:
        self.raw += lines[at:after]
        self.notes.append(note("body.front-matter", at + 1))
        return after


def _below(
    lines: list[str], at: int, end: int, *, items: bool
) -> tuple[int, list[str]]:
    """The line after an entry, and the lines below it that belong to it.

    Those are indented, or list items where the entry may have some; blank lines
    between them are left out.
    """
    below = []
    after = at + 1
    for place in range(after, end):
        line = lines[place]
        if not line.strip(" \t"):
            continue
        is_item = items and line[0] == "-" and _item(line) is not None
        if line[0] not in _INDENTS and not is_item:
            break
        below.append(line)
        after = place + 1
    return after, below


def comment_of(value: str) -> str:
    """The comment behind a value in front matter, or that a line consists of."""
    return _without_comment(value.strip(" \t"))[1]


def _bare_comment(line: str) -> str:
    """The comment that a line consists of; empty for any other line."""
    text = line.strip(" \t")
    return text if text[:1] == "#" else ""


def _without_comment(value: str) -> tuple[str, str]:
    """A value and the comment behind it."""
    if "#" not in value:
        return value, ""
    closed = _closed(value)
    if closed is not None:
        return closed.group(1), closed.group(2)
    if value[0] == "#":
        return "", value
    found = _comment(value)
    if found is None:
        return value, ""
    return value[: found.start()].rstrip(" \t"), value[found.start() + 1 :]


def _scalar(value: str) -> str | None:
    """The string that a scalar stands for; None when it is anything else."""
    if value and value[0] in _INDICATORS:
        return quoted(value)
    is_other = value.startswith(("- ", "? ")) or ": " in value or value[-1:] == ":"
    return None if is_other else value


def _block_list(lines: list[str], comments: list[str]) -> tuple[str, ...] | None:
    """The items of ``- item`` lines of one indentation; None for anything else."""
    items = []
    indents = set()
    for line in lines:
        match = _item(line)
        if match is None:
            return None
        indents.add(line.index("-"))
        value, comment = _without_comment((match["item"] or "").rstrip(" \t"))
        item = _scalar(value)
        if item is None or len(indents) > 1:
            return None
        if comment:
            comments.append(comment)
        items.append(item)
    return tuple(items)


def _flow_list(value: str) -> tuple[str, ...] | None:
    """The items of a list in brackets; None when it is no list of scalars."""
    inner = value[1:-1].strip(" \t")
    if value[-1] != "]" or len(value) < len("[]"):
        return None
    items: list[str] = []
    at = 0
    while at < len(inner):
        match = _flow_item(inner, at)
        item = None if match is None else _scalar(match.group(1).strip(" \t"))
        if match is None or item is None:
            return None
        items.append(item)
        at = match.end()
    return tuple(items)
