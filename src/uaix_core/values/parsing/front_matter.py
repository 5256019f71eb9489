"""Front matter: a small safe subset of YAML, read as strings.

Read are ``key: scalar`` with plain, single- or double-quoted scalars, lists of such
scalars in brackets on one line or as ``- item`` lines, and comments. Everything else
(nesting, block scalars, anchors, tags, other escapes) stays raw with a note. No
scalar becomes a number, a date or a truth value.
"""

from __future__ import annotations

import re
from typing import Final

import attrs

from uaix_core.values.parsing.scalars import quoted
from uaix_core.values.parsing.view import BodyField, BodyNote, note

_KEY = re.compile(
    r"""(?P<key>[^\s:,;!?"'`\#*&|<>{}\[\]=\\%@-][^:"'`\#{}\[\]\n]*?)[ \t]*+:"""
    r"(?:[ \t]++(?P<value>.*))?$",
).match
_ITEM = re.compile(r"[ \t]*-(?:[ \t]++(?P<item>.*))?$").match
_COMMENT = re.compile(r"[ \t]#")
_QUOTED = re.compile(
    r"""("(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+')[ \t]*+((?:\#.*)?)$"""
).match
_FLOW = re.compile(
    r"""[ \t]*+("(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+'|[^,\[\]{}"'\#&*!|>%@`]++)[ \t]*+(,|$)"""
)

_FENCE: Final = "---"
_ENDS: Final = frozenset(("---", "..."))
#: What a plain scalar doesn't begin with: it would mean something else in YAML.
_INDICATORS: Final = frozenset("&*!|>{}[]%@`\"',#")


@attrs.frozen
class FrontMatter:
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
        at = reader.take(lines, at, end)
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
        text = line.strip(" \t")
        if not text:
            return at + 1
        if text[0] == "#":
            self.raw.append(line)
            return at + 1
        after = at + 1
        while after < end and _continues(lines[after]):
            after += 1
        match = _KEY(line)
        if match is None:
            return self._refuse(lines, at, after)
        key, value = match.group("key"), match.group("value")
        value, comment = _without_comment(value or "")
        below = [li for li in lines[at + 1 : after] if li.strip(" \t")]
        if below:
            items = None if value else _block_list(below)
        else:
            items = _flow_list(value) if value[:1] == "[" else ()
        scalar = "" if value[:1] == "[" else _scalar(value)
        if items is None or scalar is None:
            return self._refuse(lines, at, after)
        if comment:
            self.raw.append(comment)
        self._keep(key, scalar, items, at, is_list=bool(below) or value[:1] == "[")
        return after

    def _keep(
        self, key: str, scalar: str, items: tuple[str, ...], at: int, *, is_list: bool
    ) -> None:
        if key in self._seen:
            self.notes.append(note("body.repeated", at + 1))
        self._seen.add(key)
        text = "\n".join(f"- {item}" for item in items) if is_list else scalar
        self.fields.append(BodyField(key, text, items, is_list, at + 1))

    def _refuse(self, lines: list[str], at: int, after: int) -> int:
        self.raw += lines[at:after]
        self.notes.append(note("body.front-matter", at + 1))
        return after


def _continues(line: str) -> bool:
    """Whether a line belongs to the entry above: it is indented, or a list item."""
    return line[:1] in (" ", "\t") or _ITEM(line) is not None


def _without_comment(value: str) -> tuple[str, str]:
    """A value and the comment behind it."""
    match = _QUOTED(value)
    if match is not None:
        return match.group(1), match.group(2)
    if value[:1] == "#":
        return "", value
    found = _COMMENT.search(value)
    if found is None:
        return value.strip(" \t"), ""
    return value[: found.start()].strip(" \t"), value[found.start() + 1 :]


def _scalar(value: str) -> str | None:
    """The string that a scalar stands for; None when it is anything else."""
    if not value or value[0] not in _INDICATORS:
        is_other = value[:2] in ("- ", "? ") or ": " in value or value[-1:] == ":"
        return None if is_other else value
    return quoted(value)


def _block_list(lines: list[str]) -> tuple[str, ...] | None:
    items = []
    indents = set()
    for line in lines:
        match = _ITEM(line)
        if match is None:
            return None
        indents.add(line.index("-"))
        value, comment = _without_comment(match.group("item") or "")
        item = _scalar(value)
        if item is None or comment or len(indents) > 1:
            return None
        items.append(item)
    return tuple(items)


def _flow_list(value: str) -> tuple[str, ...] | None:
    if value[-1:] != "]":
        return None
    inner = value[1:-1]
    items: list[str] = []
    at = 0
    while at < len(inner):
        match = _FLOW.match(inner, at)
        item = None if match is None else _scalar(match.group(1).strip(" \t"))
        if match is None or item is None:
            return items_if_blank(inner, items)
        items.append(item)
        at = match.end()
    return tuple(items)


def items_if_blank(inner: str, items: list[str]) -> tuple[str, ...] | None:
    """An empty tuple for ``[ ]``; None for brackets that can't be read."""
    return () if not items and not inner.strip(" \t") else None
