"""Sections and labelled texts: one pass over the lines of a body.

A line ``Label: text`` opens a field at the beginning of a block, or directly below
another field or a list; inside a paragraph it is part of the sentence. A field with
text on its line ends at the next blank line; a label alone on its line takes all up
to the next label or heading. Nothing inside a code fence is read.
"""

from __future__ import annotations

import re
from typing import Final

from uaix_core.values.parsing.scalars import bare, list_items
from uaix_core.values.parsing.view import BodyField, BodyNote, BodySection, note

#: The longest label or heading that names a field, in characters.
MAX_LABEL: Final = 80

_WORD = r"""[^\s:,;!?"`\#*|<>{}\[\]=\\]"""
_label = re.compile(
    rf"(?:\*\*)?+(?P<label>(?![-+~./&()'0-9]){_WORD}++(?:\ {_WORD}++){{0,7}}+)"
    r"(?:\*\*)?+:(?:\*\*)?+(?:[\ \t]++(?P<text>.*))?$",
    re.VERBOSE,
).match
_fence = re.compile(r" {0,3}(?:(`{3,})[^`]*|(~{3,}).*)$").match

#: What a line begins with that may be a fence, and what may be a list item.
_FENCES: Final = frozenset("`~ ")
_INDENTS_AND_MARKERS: Final = frozenset(" \t-*+0123456789")

_MAX_LEVEL: Final = 6
#: How far a closing fence may be indented.
_FENCE_INDENT: Final = 3


def label_of(line: str) -> tuple[str, str] | None:
    """The label and the text beside it, when the line begins with a label."""
    if ":" not in line:
        return None
    match = _label(line)
    if match is None:
        return None
    label, text = match.groups()
    if len(label) > MAX_LABEL or ". " in label:
        return None
    return label, "" if text is None else text.rstrip(" \t")


def heading_of(line: str) -> tuple[int, str] | None:
    """The level and text of an ATX heading; None for one without text."""
    rest = line.lstrip("#")
    level = len(line) - len(rest)
    if not 0 < level <= _MAX_LEVEL or rest[:1] not in (" ", "\t"):
        return None
    text = rest.strip(" \t")
    shorter = text.rstrip("#")
    if not shorter or shorter[-1] in " \t":
        text = shorter.rstrip(" \t")
    return (level, text) if text else None


def title_line(lines: list[str], at: int) -> int | None:
    """Where a title without ``#`` stands: alone at the top, and a label follows it.

    ``at`` is the first line that isn't blank, and no heading.
    """
    count = len(lines)
    if at + 1 >= count or lines[at + 1].strip(" \t"):
        return None
    line = lines[at]
    if line[0] in _FENCES | _INDENTS_AND_MARKERS or label_of(line):
        return None
    after = next((i for i in range(at + 1, count) if lines[i].strip(" \t")), None)
    return None if after is None or label_of(lines[after]) is None else at


class BlockReader:
    """Reads the lines of a body from ``first`` on into sections."""

    def __init__(self, lines: list[str], first: int) -> None:
        self._lines = lines
        self.sections: list[BodySection] = []
        self.notes: list[BodyNote] = []
        self._level, self._heading, self._start = 0, "", first
        self._fields: list[BodyField] = []
        self._prose: list[str] = []
        #: Where the text began that belongs to no field.
        self._rest = first
        self._label: str | None = None
        self._inline = ""
        self._opened = first
        self._opens = True
        self._read(first)

    def _read(self, first: int) -> None:
        lines = self._lines
        may_open = after_gap = True
        fenced_to = -1
        for at in range(first, len(lines)):
            line = lines[at]
            if at <= fenced_to:
                continue
            if not line or not line.strip(" \t"):
                if self._inline:
                    self._close_field(at)
                may_open = after_gap = True
                continue
            start = line[0]
            if start == "#" and (heading := heading_of(line)) is not None:
                self._close_section(at)
                self._level, self._heading = heading
                if len(self._heading) > MAX_LABEL:
                    self.notes.append(note("body.long-label", at + 1))
                self._start = self._rest = at + 1
                may_open = after_gap = True
                continue
            if may_open and (found := label_of(line)) is not None:
                self._close_field(at)
                self._open_field(at, found, opens=after_gap)
            elif start in _FENCES and (fence := _fence(line)) is not None:
                fenced_to = self._fence_end(at, fence.group(1) or fence.group(2))
                may_open = False
            elif may_open and not self._inline and start not in _INDENTS_AND_MARKERS:
                may_open = False
            after_gap = False
        self._close_section(len(lines))

    def _fence_end(self, at: int, mark: str) -> int:
        """The line that closes the fence of line ``at``, else the last one."""
        lines, start, size = self._lines, mark[0], len(mark)
        for end in range(at + 1, len(lines)):
            line = lines[end]
            if mark in line[: size + _FENCE_INDENT]:
                text = line.strip(" \t")
                if len(text) >= size and not text.strip(start):
                    return end
        self.notes.append(note("body.fence-open", at + 1))
        return len(lines) - 1

    def _open_field(self, at: int, found: tuple[str, str], *, opens: bool) -> None:
        self._flush(at)
        self._label, self._inline = found
        self._opened, self._opens = at, opens

    def _close_field(self, end: int) -> None:
        label, first = self._label, self._opened + 1
        if label is None:
            return
        text, is_list = self._inline, False
        items: tuple[str, ...] = ()
        if end > first:
            below = "\n".join(self._lines[first:end]).rstrip(" \t\n")
            if below:
                text = f"{text}\n{below}" if text else below.lstrip("\n")
                items, is_list = list_items(text)
        if "\n" not in text:
            text = bare(text.strip(" \t"))
        self._fields.append(
            BodyField(label, text, items, is_list, first, end, self._opens)
        )
        self._label, self._inline, self._rest = None, "", end

    def _flush(self, end: int) -> None:
        """Keep the text since the last field as prose."""
        if end > self._rest:
            text = "\n".join(self._lines[self._rest : end]).strip("\n")
            if text.strip(" \t\n"):
                self._prose.append(text)

    def _close_section(self, end: int) -> None:
        self._close_field(end)
        text = "\n".join(self._lines[self._start : end])
        size = len(text)
        text = text.lstrip("\n")
        line = self._start + 1 + size - len(text)
        text = text.rstrip("\n")
        prose = text
        if self._fields:
            self._flush(end)
            prose = "\n\n".join(self._prose)
            self._prose = []
        if self._level or text.strip(" \t\n"):
            fields = tuple(self._fields)
            self.sections.append(
                BodySection(self._level, self._heading, text, fields, prose, line)
            )
        self._fields = []
