"""Views that leave out what isn't to be shown. The stored bytes never change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from uaix_core.values.canonical import canonical_text
from uaix_core.values.parsing.marks import HIDDEN, file_marks_of, marked_parts
from uaix_core.values.parsing.view import BodyField, BodySection, ParsedBody

if TYPE_CHECKING:
    from collections.abc import Collection


#: Front matter that says what kind of file this is, and nothing about the persona.
KEPT: Final = frozenset(("uaix", "type"))


def redacted(parsed: ParsedBody, allow: Collection[str] = ("public",)) -> ParsedBody:
    """A copy in which texts under a hidden disclosure that isn't allowed are blank.

    ``allow`` names the disclosures that may be shown; text without any mark stays.
    Labels, headings and the marks stay too, and so do line numbers. What wasn't read
    can't be judged: it goes, unless the whole body is text without structure.
    """
    words = HIDDEN.difference(allow)
    hidden = {
        id(part.section if part.field is None else part.field)
        for part in marked_parts(parsed)
        if part.marks.disclosure in words
        and not part.is_plain_mark
        and not (part.section is None and part.name in KEPT)
    }
    is_json = parsed.dialect == "json"
    return ParsedBody(
        parsed.dialect,
        None if file_marks_of(parsed).disclosure in words else parsed.title,
        tuple(_field(field, hidden) for field in parsed.front_matter),
        tuple(_section(part, hidden, is_json=is_json) for part in parsed.sections),
        parsed.unparsed if parsed.dialect == "text" else "",
        parsed.notes,
    )


def _field(field: BodyField, hidden: set[int]) -> BodyField:
    if id(field) not in hidden:
        return field
    return BodyField(field.label, "", line=field.line, end=field.end, opens=field.opens)


def _section(section: BodySection, hidden: set[int], *, is_json: bool) -> BodySection:
    is_hidden = id(section) in hidden
    if not is_hidden and not any(id(field) in hidden for field in section.fields):
        return section
    fields = tuple(_field(field, hidden) for field in section.fields)
    if is_json:
        text = canonical_text({f.label: list(f.items) or f.text for f in fields})
    else:
        text = _text(section, hidden, is_hidden=is_hidden)
    prose = "" if is_hidden else section.prose
    return BodySection(
        section.level, section.heading, text, fields, prose, section.line
    )


def _text(section: BodySection, hidden: set[int], *, is_hidden: bool) -> str:
    """The section's text with blank lines for what is hidden, so that lines stay."""
    lines = section.text.split("\n")
    shown = [""] * len(lines) if is_hidden else list(lines)
    for field in section.fields:
        start = field.line - section.line
        stop = min(field.end - section.line + 1, len(lines))
        if id(field) in hidden:
            shown[start:stop] = [f"{field.label}:", *[""] * (stop - start - 1)]
        else:
            shown[start:stop] = lines[start:stop]
    return "\n".join(shown).rstrip("\n")
