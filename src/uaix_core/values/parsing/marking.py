"""Which marks apply to each part of a body.

A mark stands at the file (front matter, or labels above the first heading), in a
section (which passes it on to the sections within it), or at one field: in brackets
behind the label, ``Birth date (private): ...``, or as a field of its own,
``birth_date_disclosure: private``, in the section of what it marks, in one around it,
or anywhere where nothing nearer has that name. The nearest mark applies; of two at one
place the stricter one. A word that isn't known is read as ``private``: whoever wrote
it meant some limit. What isn't marked has no disclosure.

Source: UAIX package format v0.1, "Bodies".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_core.values.parsing.marks import MARK_NAMES, UNMARKED, Marks, depth_of
from uaix_core.values.parsing.stated_marks import StatedMarks
from uaix_core.values.parsing.statements import is_denied, is_plain
from uaix_core.values.parsing.view import value
from uaix_core.values.parsing.words import HIDDEN, known_word, strictest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from uaix_core.values.parsing.stated_marks import Named
    from uaix_core.values.parsing.view import BodyField, BodySection, ParsedBody
    from uaix_core.values.parsing.words import Disclosure

    #: Disclosures by the name of what they are about.
    _About = Mapping[str, Disclosure | None]


@value
class MarkedPart:
    """A part of a body under the marks that apply to it.

    ``field`` is None for the section's own text. ``section`` is None for the front
    matter. ``label`` is without the mark in it. ``is_mark`` tells the marks themselves
    from what they mark; ``states`` also those under other names. ``hides`` is the name
    of what a mark hides that is a field of its own.
    """

    label: str
    name: str
    section: BodySection | None
    field: BodyField | None
    marks: Marks
    is_mark: bool = False
    states: bool = False
    hides: str = ""

    @property
    def said(self) -> str:
        """What the part says: the field's text, or the section's beside its fields."""
        if self.field is not None:
            return self.field.text
        return "" if self.section is None else self.section.prose

    @property
    def is_plain_mark(self) -> bool:
        """Whether this is a mark and holds nothing beside one that is understood."""
        if self.states:
            return True
        if not self.is_mark:
            return False
        return (known_word(self.said) or depth_of(self.said)) is not None


def marked_parts(parsed: ParsedBody) -> Iterator[MarkedPart]:
    """Every field and every section's own text, in order, with its marks."""
    yield from Marking(parsed).parts()


def file_marks_of(parsed: ParsedBody) -> Marks:
    """The marks of the body as a whole."""
    return Marking(parsed).file_marks


class Marking:
    """The parts of a body with the marks that apply to each.

    ``is_unread`` says that something limits a part, and nobody can say which; where
    not ``may_say``, no text in it names a limit.
    """

    def __init__(self, parsed: ParsedBody) -> None:
        self._parsed = parsed
        self._stated = StatedMarks(parsed)
        self.file_marks = self._stated.file_marks
        self.is_unread = self._stated.is_unread
        self.may_say = self._stated.may_say

    def parts(self) -> Iterator[MarkedPart]:
        """All parts in order."""
        stated = self._stated
        top = stated.about[None]
        for field in self._parsed.front_matter:
            yield self._field(field, None, self.file_marks, top)
        applied: list[Marks] = []
        within: list[_About] = []
        for at, section in enumerate(self._parsed.sections):
            parent = stated.parents[at]
            outer = self.file_marks if parent is None else applied[parent]
            about: _About = top if parent is None else within[parent]
            own = stated.about.get(at)
            if own:
                about = dict(about)
                about.update(own)
            heading = stated.headings[at]
            marks = _nearer(heading, about).over(stated.of_sections[at].over(outer))
            applied.append(marks)
            within.append(about)
            yield MarkedPart(
                heading.label,
                heading.name,
                section,
                None,
                marks,
                heading.plain in MARK_NAMES or id(section) in stated.stating,
            )
            for field in section.fields:
                yield self._field(field, section, marks, about)

    def _field(
        self,
        field: BodyField,
        section: BodySection | None,
        outer: Marks,
        about: _About,
    ) -> MarkedPart:
        named = self._stated.fields[id(field)]
        marks = _nearer(named, about).over(outer)
        said = self._stated.said.get(id(field), ())
        is_stating = bool(said) and said[0].is_sure
        is_disclosure = "disclosure" in named.plain
        is_mark = named.plain in MARK_NAMES or (
            is_disclosure and is_stating and said[0].about in self._stated.every
        )
        states = (
            named.may_state
            and not is_disclosure
            and (
                is_plain(field.text, field.items)
                if is_stating
                else is_denied(named.plain, field.text)
            )
        )
        is_hiding = is_stating and said[0].disclosure in HIDDEN
        hides = said[0].about if is_hiding else ""
        return MarkedPart(
            named.label, named.name, section, field, marks, is_mark, states, hides
        )


def _nearer(named: Named, about: _About) -> Marks:
    """The marks that stand with a label, or are about its name."""
    beside = about.get(named.plain) if about else None
    if named.mark is None and beside is None:
        return UNMARKED
    return Marks(strictest((named.mark, beside)))
