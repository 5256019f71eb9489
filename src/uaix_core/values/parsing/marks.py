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

import attrs

from uaix_core.values.parsing.scalars import bare
from uaix_core.values.parsing.view import fold_label

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
DEPTH_NAMES: Final = frozenset(
    ("depth_level_0_to_10", "depth_level", "depth_0_to_10")
)
MARK_NAMES: Final = DISCLOSURE_NAMES | DEPTH_NAMES

MAX_DEPTH: Final = 10

_BY_WORD: Final[Mapping[str, Disclosure]] = {word: word for word in DISCLOSURES}
_SUFFIX: Final = "_disclosure"
_bracketed = re.compile(
    r"(?P<label>.*?)[ \t]*[(](?P<word>none|private|sensitive|public)[)]",
    re.IGNORECASE | re.DOTALL,
).fullmatch
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
    found = [word for word in words if word is not None]
    return min(found, key=DISCLOSURES.index, default=None)


def split_label(label: str) -> tuple[str, Disclosure | None]:
    """A label without the mark in brackets behind it, and the mark."""
    match = _bracketed(label) if label.endswith(")") else None
    if match is None:
        return label, None
    return match["label"], known_word(match["word"])


@attrs.frozen
class Marks:
    """The marks that apply at a place."""

    disclosure: Disclosure | None = None
    depth: int | None = None

    def over(self, outer: Marks) -> Marks:
        """These marks, and those of the outer place where there is none here."""
        return Marks(
            outer.disclosure if self.disclosure is None else self.disclosure,
            outer.depth if self.depth is None else self.depth,
        )


@attrs.frozen
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


def marked_parts(parsed: ParsedBody) -> Iterator[MarkedPart]:
    """Every field and every section's own text, in order, with its marks."""
    sections = parsed.sections
    names = {id(field): field.name for field in parsed.fields}
    file_fields = _file_fields(parsed)
    parents = list(_parents(sections))
    file_marks, own = _stated(parsed, names, parents)
    file_siblings = _siblings(file_fields, names)
    every = set(names.values()) | {s.name for s in sections}
    for field in parsed.front_matter:
        yield _field_part(field, names, None, file_marks, file_siblings, every)
    applied: dict[int, Marks] = {}
    for section, parent in parents:
        outer = file_marks if parent is None else applied[id(parent)]
        label, word = split_label(section.heading)
        name = fold_label(label)
        here = Marks(word or file_siblings.get(name)).over(own[id(section)])
        marks = applied[id(section)] = here.over(outer)
        is_mark = name in MARK_NAMES
        yield MarkedPart(label, name, section, None, marks, is_mark)
        siblings = {**file_siblings, **_siblings(section.fields, names)}
        for field in section.fields:
            yield _field_part(field, names, section, marks, siblings, every)


def file_marks_of(parsed: ParsedBody) -> Marks:
    """The marks of the body as a whole."""
    names = {id(field): field.name for field in parsed.fields}
    return _stated(parsed, names, list(_parents(parsed.sections)))[0]


def _file_fields(parsed: ParsedBody) -> tuple[BodyField, ...]:
    top = (section for section in parsed.sections if not section.level)
    return (*parsed.front_matter, *(field for s in top for field in s.fields))


def _stated(
    parsed: ParsedBody,
    names: Mapping[int, str],
    parents: list[tuple[BodySection, BodySection | None]],
) -> tuple[Marks, dict[int, Marks]]:
    """The marks stated for the file, and for each section by its identity."""
    file_marks = _own(_file_fields(parsed), names)
    own = {id(section): _own(section.fields, names) for section in parsed.sections}
    for section, parent in parents:
        name = section.name
        if name not in MARK_NAMES:
            continue
        mark = _mark(name, section.prose)
        if parent is None:
            file_marks = _both(file_marks, mark)
        else:
            own[id(parent)] = _both(own[id(parent)], mark)
    return file_marks, own


def _parents(
    sections: tuple[BodySection, ...],
) -> Iterator[tuple[BodySection, BodySection | None]]:
    """Each section and the one it stands in; None: the body as a whole."""
    stack: list[BodySection] = []
    for section in sections:
        while stack and stack[-1].level >= section.level:
            stack.pop()
        yield section, stack[-1] if stack else None
        if section.level:
            stack.append(section)


def _own(fields: Iterable[BodyField], names: Mapping[int, str]) -> Marks:
    marks = Marks()
    for field in fields:
        name = names[id(field)]
        if name in MARK_NAMES:
            marks = _both(marks, _mark(name, field.text))
    return marks


def _mark(name: str, text: str) -> Marks:
    if name in DISCLOSURE_NAMES:
        return Marks(disclosure=disclosure_of(text))
    return Marks(depth=depth_of(text))


def _both(first: Marks, second: Marks) -> Marks:
    word = strictest((first.disclosure, second.disclosure))
    return Marks(word, second.depth if first.depth is None else first.depth)


def _siblings(
    fields: Iterable[BodyField], names: Mapping[int, str]
) -> dict[str, Disclosure | None]:
    """The marks that are fields of their own, by the name of what they mark."""
    found: dict[str, Disclosure | None] = {}
    for field in fields:
        name = names[id(field)]
        if name.endswith(_SUFFIX):
            about = name.removesuffix(_SUFFIX)
            found[about] = strictest((found.get(about), disclosure_of(field.text)))
    return found


def _field_part(  # noqa: PLR0913 - each is looked up once for all fields
    field: BodyField,
    names: Mapping[int, str],
    section: BodySection | None,
    outer: Marks,
    siblings: Mapping[str, Disclosure | None],
    every: set[str],
) -> MarkedPart:
    label, word = split_label(field.label)
    name = names[id(field)] if word is None else fold_label(label)
    is_mark = name in MARK_NAMES or (
        name.endswith(_SUFFIX) and name.removesuffix(_SUFFIX) in every
    )
    marks = Marks(strictest((word, siblings.get(name)))).over(outer)
    return MarkedPart(label, name, section, field, marks, is_mark)
