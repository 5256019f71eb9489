"""Where in a body the texts stand that aren't to be shown: spans of its bytes.

Taking these spans out leaves every other byte as it is. Labels, headings and marks
stay, so that a reader sees that something was said. As soon as anything in a body is
hidden, only what was read is shown: lines that belong to no part go as well, and so
does a text that itself names a limit where no mark is read.

Source: UAIX package format v0.1, "Bodies".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, cast

import attrs

from uaix_core.values.parsing.blocks import heading_of
from uaix_core.values.parsing.body import JSON_MEDIA, parse_body
from uaix_core.values.parsing.front_matter import comment_of, front_matter_end
from uaix_core.values.parsing.hiding import Hiding
from uaix_core.values.parsing.json_places import value_places
from uaix_core.values.parsing.limits import may_limit, plain
from uaix_core.values.parsing.marked_labels import split_label
from uaix_core.values.parsing.view import fold_label

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from uaix_core.values.parsing.marking import MarkedPart
    from uaix_core.values.parsing.view import BodyField, BodySection, ParsedBody

#: The names of what has no label of its own.
FRONT_MATTER: Final = "front_matter"
TITLE: Final = "title"
TEXT: Final = "text"

#: How many lines are tried when one is sought that keeps a body back, and in bodies of
#: how many bytes.
_MOST_TRIED: Final = 20
_MOST_BYTES: Final = 32 * 1024

_BOM: Final = b"\xef\xbb\xbf"
_newline = re.compile(rb"\r\n|\r|\n")


@attrs.frozen
class HiddenSpan:
    """Bytes from ``start`` up to ``stop`` that aren't to be shown.

    ``part`` counts the parts of the body: spans of one part have one number. ``name``
    is its label in folded spelling, ``section`` that of the heading above it; ``fill``
    is what takes the place of the bytes.
    """

    start: int
    stop: int
    part: int
    name: str
    section: str = ""
    fill: bytes = b""

    def is_named(self, names: Collection[str]) -> bool:
        """Whether the part or the section that it stands in is among these names."""
        return self.name in names or self.section in names


def may_hide(data: bytes) -> bool:
    """Whether a body is worth reading for marks; where not, it hides nothing."""
    # JSON may escape any character.
    return b"\\u" in data or may_limit(plain(data.decode("utf-8", "replace")))


def hidden_spans(data: bytes, media_type: str) -> tuple[HiddenSpan, ...] | None:
    """The spans of a body that aren't to be shown, in order.

    None when the body names a limit and can't be read well enough to say where: then
    all of it has to be kept back.
    """
    if not may_hide(data):
        return ()
    parsed = parse_body(data, media_type)
    hiding = Hiding(parsed)
    is_other = media_type != JSON_MEDIA and _hides_as_json(data, parsed)
    if hiding.is_kept_back or is_other:
        return None
    if not hiding.hidden and not hiding.is_whole:
        return ()
    if parsed.dialect == "json":
        return tuple(_json_spans(data, parsed, hiding.hidden))
    return tuple(_Page(data, parsed, hiding).spans())


def unread_line(data: bytes, media_type: str) -> int:
    """The line, from 1, that keeps a body back on its own; 0 for none or no single one.

    Without that line the body could be read. In long bodies none is sought.
    """
    if len(data) > _MOST_BYTES:
        return 0
    lines = data.splitlines(keepends=True)
    for at in [at for at, line in enumerate(lines) if may_hide(line)][:_MOST_TRIED]:
        rest = b"".join((*lines[:at], *lines[at + 1 :]))
        if hidden_spans(rest, media_type) is not None:
            return at + 1
    return 0


def blanked(data: bytes, spans: Iterable[HiddenSpan]) -> bytes:
    """The body without these spans, every other byte as it is."""
    pieces: list[bytes] = []
    at = 0
    for span in spans:
        pieces += (data[at : span.start], span.fill)
        at = span.stop
    return b"".join((*pieces, data[at:]))


def _name_of(section: BodySection) -> str:
    return fold_label(split_label(section.heading)[0])


def _hides_as_json(data: bytes, parsed: ParsedBody) -> bool:
    """Whether text without structure is JSON all the same, and hides something."""
    is_json = data.lstrip(_BOM + b" \t\r\n")[:1] in (b"{", b"[")
    return parsed.dialect == "text" and is_json and hidden_spans(data, JSON_MEDIA) != ()


def _json_spans(
    data: bytes, parsed: ParsedBody, hidden: dict[int, MarkedPart]
) -> Iterator[HiddenSpan]:
    text = data.decode("utf-8")
    found = []
    for section, places in zip(parsed.sections, value_places(text), strict=True):
        for field, (start, stop) in zip(section.fields, places, strict=True):
            part = hidden.get(id(field))
            if part is not None:
                at = len(text[:start].encode())
                end = at + len(text[start:stop].encode())
                found.append((at, end, part.name, _name_of(section)))
    for number, (at, end, name, around) in enumerate(sorted(found)):
        yield HiddenSpan(at, end, number, name, around, b"null")


class _Page:
    """The lines of a body of which something is hidden, and who speaks for each.

    Of each line it is known how many bytes are shown (None: nobody has spoken for it),
    and to which part the rest belongs.
    """

    def __init__(self, data: bytes, parsed: ParsedBody, hiding: Hiding) -> None:
        self._parsed, self._is_whole = parsed, hiding.is_whole
        self._hidden, self._beside = hiding.hidden, hiding.beside
        skipped = len(_BOM) if data.startswith(_BOM) else 0
        self._starts = [skipped, *(found.end() for found in _newline.finditer(data))]
        stops = [*(found.start() for found in _newline.finditer(data)), len(data)]
        self._lines = [
            data[start:stop] for start, stop in zip(self._starts, stops, strict=True)
        ]
        self._shown: list[int | None] = [None] * len(self._lines)
        self._owners = [_Owner(TEXT)] * len(self._lines)
        front = self._read_front() if parsed.dialect == "front_matter" else 0
        for section in parsed.sections:
            self._read_section(section)
        self._read_title(front)

    def spans(self) -> Iterator[HiddenSpan]:
        """The hidden rest of every line."""
        numbers: dict[_Owner, int] = {}
        for at, line in enumerate(self._lines):
            shown, owner = self._shown[at] or 0, self._owners[at]
            if shown < len(line) and line.strip(b" \t"):
                number = numbers.setdefault(owner, len(numbers))
                start, stop = self._starts[at] + shown, self._starts[at] + len(line)
                yield HiddenSpan(start, stop, number, owner.name, owner.section)

    def _show(self, at: int) -> None:
        self._shown[at] = len(self._lines[at])

    def _hide(self, at: int, owner: _Owner) -> None:
        self._shown[at], self._owners[at] = 0, owner

    def _read_front(self) -> int:
        """Speak for the front matter; the line after it."""
        lines = [line.decode("utf-8") for line in self._lines]
        end = cast("int", front_matter_end(lines))
        self._owners[:end] = [_Owner(FRONT_MATTER)] * end
        self._show(0)
        self._show(end)
        for field in self._parsed.front_matter:
            if id(field) in self._hidden:
                self._hide_field(field, field.end)
                continue
            first = field.line - 1
            key, colon, value = lines[first].partition(":")
            self._shown[first] = len((key + colon + _without_comment(value)).encode())
            for at in range(field.line, field.end):
                self._shown[at] = len(_without_comment(lines[at]).encode())
        return end + 1

    def _read_section(self, section: BodySection) -> None:
        """Speak for a section: its heading, its own text, and its fields."""
        start = section.line - 1
        if section.level:
            # Between a heading and the text below it there are only blank lines.
            at = start - 1
            while heading_of(self._lines[at].decode("utf-8")) is None:
                at -= 1
            self._show(at)
        part = self._hidden.get(id(section))
        count = section.text.count("\n") + 1 if section.text else 0
        for at in range(start, start + count):
            if part is None:
                self._show(at)
            else:
                self._hide(at, _owner_of(part))
        # What follows a hidden field, or the mark of one, belongs to it up to the next
        # label; where the section is hidden, it is the section's as much as the rest.
        stops = [field.line - 1 for field in section.fields[1:]] + [start + count]
        owners = {
            owner.name: owner
            for field in section.fields
            if id(field) in self._hidden
            for owner in [_owner_of(self._hidden[id(field)])]
        }
        for field, stop in zip(section.fields, stops, strict=False):
            after = field.end if part is not None else stop
            if id(field) in self._hidden:
                self._hide_field(field, after)
                continue
            for at in range(field.line - 1, field.end):
                self._show(at)
            mark = self._beside.get(id(field))
            if mark is not None:
                named = _Owner(mark.hides, _owner_of(mark).section, id(mark))
                owner = owners.get(mark.hides, named)
                for at in range(field.end, after):
                    self._hide(at, owner)

    def _hide_field(self, field: BodyField, stop: int) -> None:
        """Hide all of a field but its label, up to the line before ``stop``."""
        owner = _owner_of(self._hidden[id(field)])
        first = field.line - 1
        for at in range(first, stop):
            self._hide(at, owner)
        label, colon, value = self._lines[first].partition(b":")
        bold = b"**" if value.startswith(b"**") else b""
        self._shown[first] = len(label + colon + bold)

    def _read_title(self, front: int) -> None:
        """Speak for the title, which stands above the sections and is in none."""
        for at in range(front, len(self._lines)):
            if self._shown[at] is not None:
                return
            self._owners[at] = _Owner(TITLE)
            if not self._is_whole:
                self._show(at)


@attrs.frozen
class _Owner:
    """To which part bytes belong; ``part`` tells parts of one name apart."""

    name: str
    section: str = ""
    part: int = 0


def _owner_of(part: MarkedPart) -> _Owner:
    section = "" if part.section is None else _name_of(part.section)
    return _Owner(part.name or TEXT, section, id(part))


def _without_comment(text: str) -> str:
    """A value of front matter without the comment behind it."""
    comment = comment_of(text.lstrip(" \t-"))
    return text.rstrip(" \t").removesuffix(comment) if comment else text
