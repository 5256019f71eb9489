"""Reading a body: which dialect it is in, and what it says.

The order of detection is front matter, Markdown sections, labelled text, flat
``key: value``; what has none of them is raw text. Reading never fails, takes time
linear in the length, and infers nothing: what isn't there stays absent, and words
such as "none" and "mixed" are kept as said.

Source: UAIX package format v0.1, "Bodies".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from uaix_core.values.parsing.blocks import BlockReader, heading_of, title_line
from uaix_core.values.parsing.front_matter import (
    front_matter_end,
    opens_front_matter,
    read_front_matter,
)
from uaix_core.values.parsing.json_view import parse_json
from uaix_core.values.parsing.view import BodyNote, Dialect, ParsedBody, note

if TYPE_CHECKING:
    from uaix_core.values.parsing.view import BodySection

JSON_MEDIA: Final = "application/json"
#: Media types of this family are read as text, and no others but JSON.
TEXT_FAMILY: Final = "text/"

_BOM: Final = "\ufeff"


def text_of(data: bytes) -> str | None:
    """The text with LF newlines, without a byte order mark; None for no text.

    Only CR LF and a lone CR are newlines beside LF. Text with a NUL is none, since no
    store would hold its fields.
    """
    if b"\0" in data:
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.removeprefix(_BOM)


def parse_body(data: bytes, media_type: str) -> ParsedBody:
    """Read a body of this media type; bytes that are no text give ``binary``."""
    is_json = media_type == JSON_MEDIA
    if not is_json and not media_type.startswith(TEXT_FAMILY):
        return ParsedBody("binary")
    text = text_of(data)
    if text is None:
        return ParsedBody("binary", notes=(note("body.encoding"),))
    return parse_json(data, text) if is_json else parse_text(text)


def parse_text(text: str) -> ParsedBody:
    """Read text with LF newlines."""
    lines = text.split("\n")
    notes: list[BodyNote] = []
    first, front = 0, None
    if opens_front_matter(lines):
        end = front_matter_end(lines)
        if end is None:
            notes.append(note("body.front-matter-open", 1))
        else:
            front = read_front_matter(lines, end)
            first = front.end
            notes += front.notes
    title, is_markdown, first = _title(lines, first)
    reader = BlockReader(lines, first)
    sections = tuple(reader.sections)
    notes += reader.notes
    if front is not None:
        if title is None:
            title = next((f.text for f in front.fields if f.label == "title"), None)
        return ParsedBody(
            "front_matter", title, front.fields, sections, front.unparsed, tuple(notes)
        )
    dialect = _dialect(sections, is_markdown=is_markdown, has_title=title is not None)
    if dialect != "text":
        return ParsedBody(dialect, title, (), sections, "", tuple(notes))
    if text.strip():
        notes.append(note("body.unparsed"))
    return ParsedBody("text", unparsed=text, notes=tuple(notes))


def _title(lines: list[str], first: int) -> tuple[str | None, bool, int]:
    """The title, whether it is a heading, and the line after it."""
    at = next((i for i in range(first, len(lines)) if lines[i].strip(" \t")), None)
    if at is None:
        return None, False, first
    heading = heading_of(lines[at])
    if heading is not None:
        level, text = heading
        return (text, True, at + 1) if level == 1 else (None, True, first)
    at_top = title_line(lines, at)
    if at_top is None:
        return None, False, first
    return lines[at_top].rstrip(" \t"), False, at_top + 1


def _dialect(
    sections: tuple[BodySection, ...], *, is_markdown: bool, has_title: bool
) -> Dialect:
    if is_markdown or any(section.level for section in sections):
        return "markdown"
    fields = [field for section in sections for field in section.fields]
    if not fields:
        return "text"
    is_flat = not has_title and not any(section.prose for section in sections)
    if is_flat and not any(" " in f.label or "\n" in f.text for f in fields):
        return "flat"
    return "labelled"
