"""Disclosure and depth: the marks on a body, and what each of them applies to.

A mark stands at the file (front matter, or labels above the first heading), in a
section (which passes it on to the sections within it), or at one field: as a word in
brackets behind the label, ``Birth date (private): …``, or as a field of its own,
``birth_date_disclosure: private``. The nearest mark applies; of two at one place the
stricter one. A word that isn't known is read as ``private``: whoever wrote it meant
some limit. What isn't marked has no disclosure.

Source: UAIX package format v0.1, "Bodies".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, get_args

from uaix_core.values.parsing.scalars import bare
from uaix_core.values.parsing.view import fold_label, value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from uaix_core.values.parsing.view import BodyField, BodySection, ParsedBody

#: To whom a text may be shown: nobody, nobody outside, everybody. ``sensitive`` is
#: read as well and kept as said.
Disclosure = Literal["none", "private", "sensitive", "public"]
#: From the strictest to the widest.
DISCLOSURES: Final[tuple[Disclosure, ...]] = get_args(Disclosure)
#: The words under which a view hides a text.
HIDDEN: Final[frozenset[Disclosure]] = frozenset(("none", "private", "sensitive"))

DISCLOSURE_NAMES: Final = frozenset(
    ("disclosure", "disclosure_level", "disclosure_tag")
)
DEPTH_NAMES: Final = frozenset(("depth_level_0_to_10", "depth_level", "depth_0_to_10"))
MARK_NAMES: Final = DISCLOSURE_NAMES | DEPTH_NAMES

MAX_DEPTH: Final = 10

_BY_WORD: Final[Mapping[str, Disclosure]] = {word: word for word in DISCLOSURES}
#: What the name of a mark beside its field ends with.
_SUFFIX: Final = "_disclosure"
_is_depth = re.compile(r"[0-9]{1,2}").fullmatch


def known_word(text: str) -> Disclosure | None:
    """The disclosure that a text is, whatever its case; None for any other text."""
    return _BY_WORD.get(bare(text.strip(" \t\n")).lower())


def disclosure_of(text: str) -> Disclosure | None:
    """What a mark means: None for an empty one, ``private`` for an unknown word."""
    if not text.strip():
        return None
    return known_word(text) or "private"


def depth_of(text: str) -> int | None:
    """The level from 0 to 10 that a text is; None for any other text."""
    word = bare(text.strip(" \t\n"))
    if _is_depth(word) is None:
        return None
    level = int(word)
    return level if level <= MAX_DEPTH else None


def strictest(words: Iterable[Disclosure | None]) -> Disclosure | None:
    """The word that lets the fewest see; None when there is none."""
    found = {word for word in words if word is not None}
    return next((word for word in DISCLOSURES if word in found), None)


def split_label(label: str) -> tuple[str, Disclosure | None]:
    """A label without the mark in brackets behind it, and the mark."""
    if not label.endswith(")"):
        return label, None
    before, bracket, inside = label[:-1].rpartition("(")
    word = known_word(inside) if bracket else None
    return (label, None) if word is None else (before.rstrip(" \t"), word)


@value
class Marks:
    """The marks that apply at a place."""

    disclosure: Disclosure | None = None
    depth: int | None = None

    def over(self, outer: Marks) -> Marks:
        """These marks, and those of the outer place where there is none here."""
        if self is _UNMARKED:
            return outer
        return Marks(
            outer.disclosure if self.disclosure is None else self.disclosure,
            outer.depth if self.depth is None else self.depth,
        )

    def and_(self, other: Marks) -> Marks:
        """Both marks of one place: the stricter disclosure, the first depth."""
        if self is _UNMARKED:
            return other
        return Marks(
            strictest((self.disclosure, other.disclosure)),
            other.depth if self.depth is None else self.depth,
        )


_UNMARKED: Final = Marks()


@value
class MarkedPart:
    """A part of a body under the marks that apply to it.

    ``field`` is None for the section's own text. ``section`` is None for the front
    matter. ``label`` is without a mark in brackets. ``is_mark`` tells the marks
    themselves from what they mark.
    """

    label: str
    name: str
    section: BodySection | None
    field: BodyField | None
    marks: Marks
    is_mark: bool = False

    @property
    def said(self) -> str:
        """What the part says: the field's text, or the section's beside its fields."""
        if self.field is not None:
            return self.field.text
        return "" if self.section is None else self.section.prose

    @property
    def is_plain_mark(self) -> bool:
        """Whether this is a mark and holds nothing beside one that is understood."""
        if not self.is_mark:
            return False
        return (known_word(self.said) or depth_of(self.said)) is not None


def marked_parts(parsed: ParsedBody) -> Iterator[MarkedPart]:
    """Every field and every section's own text, in order, with its marks."""
    yield from _Marking(parsed).parts()


def file_marks_of(parsed: ParsedBody) -> Marks:
    """The marks of the body as a whole."""
    return _Marking(parsed).file_marks


class _Marking:
    """The marks stated in a body, and the parts that they apply to."""

    def __init__(self, parsed: ParsedBody) -> None:
        self._parsed = parsed
        sections = parsed.sections
        self._names = {id(field): field.name for field in parsed.fields}
        self._headings = [section.name for section in sections]
        self._every = {*self._names.values(), *self._headings}
        self._parents = list(_parents(sections))
        at_top = list(parsed.front_matter)
        for section in sections:
            if not section.level:
                at_top += section.fields
        self.file_marks = self._own(at_top).and_(_unread(parsed))
        self._stated = [
            self._own(section.fields) if section.level else _UNMARKED
            for section in sections
        ]
        for at, name in enumerate(self._headings):
            if name in MARK_NAMES:
                self._add(self._parents[at], _mark(name, sections[at].prose))
        self._beside = self._siblings(at_top)

    def parts(self) -> Iterator[MarkedPart]:
        """All parts in order."""
        file_marks, beside = self.file_marks, self._beside
        for field in self._parsed.front_matter:
            yield self._field(field, None, file_marks, beside)
        applied: list[Marks] = []
        for at, section in enumerate(self._parsed.sections):
            parent = self._parents[at]
            outer = file_marks if parent is None else applied[parent]
            label, word = split_label(section.heading)
            name = self._headings[at] if word is None else fold_label(label)
            marks = self._stated[at].over(outer)
            near = beside.get(name)
            if word is not None or near is not None:
                marks = Marks(strictest((word, near))).over(marks)
            applied.append(marks)
            is_mark = name in MARK_NAMES
            yield MarkedPart(label, name, section, None, marks, is_mark)
            within = beside
            if section.fields and section.level:
                within = dict(beside)
                within.update(self._siblings(section.fields))
            for field in section.fields:
                yield self._field(field, section, marks, within)

    def _field(
        self,
        field: BodyField,
        section: BodySection | None,
        outer: Marks,
        beside: Mapping[str, Disclosure | None],
    ) -> MarkedPart:
        label, word = split_label(field.label)
        name = self._names[id(field)] if word is None else fold_label(label)
        is_mark = name in MARK_NAMES or (
            name.endswith(_SUFFIX) and name.removesuffix(_SUFFIX) in self._every
        )
        near = beside.get(name)
        marks = outer
        if word is not None or near is not None:
            marks = Marks(strictest((word, near))).over(outer)
        return MarkedPart(label, name, section, field, marks, is_mark)

    def _own(self, fields: Iterable[BodyField]) -> Marks:
        marks = _UNMARKED
        for field in fields:
            name = self._names[id(field)]
            if name in MARK_NAMES:
                marks = marks.and_(_mark(name, field.text))
        return marks

    def _add(self, parent: int | None, mark: Marks) -> None:
        if parent is None:
            self.file_marks = self.file_marks.and_(mark)
        else:
            self._stated[parent] = self._stated[parent].and_(mark)

    def _siblings(self, fields: Iterable[BodyField]) -> dict[str, Disclosure | None]:
        """The marks that are fields of their own, by the name of what they mark."""
        found: dict[str, Disclosure | None] = {}
        for field in fields:
            name = self._names[id(field)]
            if name.endswith(_SUFFIX):
                about = name.removesuffix(_SUFFIX)
                said = disclosure_of(field.text)
                found[about] = strictest((found.get(about), said))
        return found


def _unread(parsed: ParsedBody) -> Marks:
    """Strict marks for a disclosure in front matter that couldn't be read."""
    is_read = parsed.dialect == "front_matter"
    for line in parsed.unparsed.split("\n") if is_read else ():
        key, colon, _value = line.partition(":")
        if colon and fold_label(key) in DISCLOSURE_NAMES:
            return Marks(disclosure="private")
    return _UNMARKED


def _mark(name: str, text: str) -> Marks:
    if name in DISCLOSURE_NAMES:
        return Marks(disclosure=disclosure_of(text))
    return Marks(depth=depth_of(text))


def _parents(sections: tuple[BodySection, ...]) -> Iterator[int | None]:
    """The place of the section that each one stands in; None: the whole body."""
    stack: list[int] = []
    for at, section in enumerate(sections):
        while stack and sections[stack[-1]].level >= section.level:
            stack.pop()
        yield stack[-1] if stack else None
        if section.level:
            stack.append(at)
