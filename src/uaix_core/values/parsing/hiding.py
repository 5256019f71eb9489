"""Which parts of a body aren't to be shown: those under a mark, and those in doubt.

Source: UAIX package format v0.1, "Bodies".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from uaix_core.values.parsing.limit_words import BRACKETS_OPEN
from uaix_core.values.parsing.limits import (
    has_remark,
    is_limit,
    is_limiting_label,
    may_limit,
    names_limit,
    plain,
)
from uaix_core.values.parsing.marked_labels import split_label
from uaix_core.values.parsing.marking import Marking
from uaix_core.values.parsing.words import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from uaix_core.values.parsing.marking import MarkedPart
    from uaix_core.values.parsing.view import BodyField, BodySection, ParsedBody
    from uaix_core.values.parsing.words import Disclosure

#: Front matter that says what kind of file this is, and nothing about the persona.
KEPT: Final = frozenset(("uaix", "type"))
_QUOTES: Final = " \t\"'"
_opens = re.compile(f"[{re.escape(BRACKETS_OPEN)}]").search


class Hiding:
    """What of a body is hidden.

    ``hidden`` are the parts, by the identity of the field or section; ``beside`` the
    fields that are marks of hidden ones. ``is_whole`` says that the body as a whole is
    marked, and ``is_kept_back`` that a limit is named and nobody can say of what.
    """

    def __init__(self, parsed: ParsedBody) -> None:
        marking = Marking(parsed)
        self.parts = tuple(marking.parts())
        self.is_whole = marking.file_marks.disclosure in HIDDEN
        self.hidden = {
            id(_place(part)): part
            for part in self.parts
            if _hides(part, may_say=marking.may_say)
        }
        self.beside = {id(part.field): part for part in self.parts if part.hides}
        shown = [part for part in self.parts if id(_place(part)) not in self.hidden]
        # Where all of a body is hidden, no mark can be about anything else.
        is_open = not self.is_whole or any(map(_speaks, shown))
        self.is_kept_back = parsed.dialect == "binary" or (
            is_open
            and (
                marking.is_unread
                or _is_unread(parsed, self.parts)
                or names_limit(parsed.unparsed)
                or _limits_front(parsed)
                or any(map(_is_split, shown))
            )
        )

    def disclosure_of(self, part: MarkedPart) -> Disclosure | None:
        """The disclosure of a part: ``private`` where a doubt hides any of it."""
        said = part.marks.disclosure
        if said in HIDDEN:
            return said
        is_hidden = self.is_kept_back or id(_place(part)) in self.hidden
        if not is_hidden and part.field is None and part.section is not None:
            is_hidden = self._hides_after_fields(part.section)
        return "private" if is_hidden else said

    def hides_field_of(self, section: BodySection) -> bool:
        """Whether a field of a section is hidden."""
        return any(id(field) in self.hidden for field in section.fields)

    def _hides_after_fields(self, section: BodySection) -> bool:
        """Whether some text of a section is hidden with the field that it follows."""
        lines = section.text.split("\n")
        stops = [field.line for field in section.fields[1:]]
        stops.append(len(lines) + section.line)
        for field, stop in zip(section.fields, stops, strict=False):
            is_hiding = id(field) in self.hidden or id(field) in self.beside
            after = lines[field.end + 1 - section.line : stop - section.line]
            if is_hiding and any(line.strip() for line in after):
                return True
        return False


def _place(part: MarkedPart) -> BodyField | BodySection | None:
    return part.section if part.field is None else part.field


def _speaks(part: MarkedPart) -> bool:
    """Whether a part says something that isn't a mark, nor what every file says."""
    is_kept = part.section is None and part.name in KEPT
    return not (part.is_mark or part.is_plain_mark or is_kept) and bool(part.said)


def _hides(part: MarkedPart, *, may_say: bool) -> bool:
    if part.is_plain_mark or (part.section is None and part.name in KEPT):
        return False
    if part.marks.disclosure in HIDDEN:
        return True
    return may_say and names_limit(part.said)


def _is_unread(parsed: ParsedBody, parts: Iterable[MarkedPart]) -> bool:
    """Whether a title, a heading or a label names a limit where no mark is read."""
    title = parsed.title or ""
    labels = [part.label for part in parts if not part.is_mark]
    if not may_limit(plain("\n".join((title, *labels)))):
        return False
    is_title = names_limit(title) or split_label(title)[1] in HIDDEN
    return is_title or any(
        names_limit(label) and not is_limiting_label(label) for label in labels
    )


def _limits_front(parsed: ParsedBody) -> bool:
    """Whether a comment or an unread key of front matter is a mark."""
    for line in parsed.unparsed.split("\n") if parsed.dialect == "front_matter" else ():
        key, colon, _value = line.partition(":")
        is_comment = line[:1] == "#" and is_limit(line)
        if is_comment or (colon and split_label(key.strip(_QUOTES))[1] in HIDDEN):
            return True
    return False


def _is_split(part: MarkedPart) -> bool:
    """Whether brackets that open in a label close in its text, around a limit."""
    if part.field is None or not _opens(part.label):
        return False
    return has_remark(f"{part.label}: {part.said}")
