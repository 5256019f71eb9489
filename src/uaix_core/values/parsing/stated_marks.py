"""The marks that a body states, in fields, headings, lines and tables, and their reach.

Source: UAIX package format v0.1, "Bodies".
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from uaix_core.values.parsing.limits import may_name, plain
from uaix_core.values.parsing.marked_labels import split_label
from uaix_core.values.parsing.marks import (
    DISCLOSURE_NAMES,
    MARK_NAMES,
    UNMARKED,
    Marks,
    mark_of,
)
from uaix_core.values.parsing.statements import (
    OWN_PARTS,
    Statement,
    is_limits,
    is_plain,
    is_unread,
    may_state,
    name_of,
    stated_in,
    statements,
)
from uaix_core.values.parsing.view import fold_label, value
from uaix_core.values.parsing.words import HIDDEN, disclosure_of, strictest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from uaix_core.values.parsing.view import BodyField, BodySection, ParsedBody
    from uaix_core.values.parsing.words import Disclosure


@value
class Named:
    """A label without its mark, the mark, and two spellings of the name.

    ``name`` is the one that is told, ``plain`` the one that is compared. ``may_state``
    says whether it may be the name of a mark that isn't among the usual ones.
    """

    label: str
    mark: Disclosure | None
    name: str
    plain: str
    may_state: bool


class _Told(NamedTuple):
    """What a section about disclosures says of a name; ``parent`` is around it."""

    parent: int | None
    name: str
    disclosure: Disclosure


def _named(label: str) -> Named:
    bare, mark = split_label(label)
    name = fold_label(bare)
    is_usual = bare.isascii() and not _SIGNS.intersection(bare)
    plain_name = name if is_usual else name_of(bare)
    may = plain_name not in MARK_NAMES and may_state(plain_name)
    return Named(bare, mark, name, plain_name, may)


#: What may stand in the names of members and isn't folded.
_SIGNS: Final = frozenset("$@:")

#: The labels of nearly every file, made once. None of them is anybody's own.
_USUAL: Final = {
    label: _named(label)
    for label in ("", "uaix", "type", "title", "Description", *sorted(MARK_NAMES))
}


def _named_once(label: str) -> Named:
    return _USUAL.get(label) or _named(label)


_NAMES_IN_FRONT: Final = DISCLOSURE_NAMES | {"disclosures"}


class StatedMarks:
    """All that a body states about disclosure and depth.

    ``file_marks`` apply to all of it, ``of_sections`` to each section by its place, and
    ``about`` holds the marks about a name, by the place of the section that they stand
    in (None for those that apply everywhere). ``said`` are the statements of a field,
    ``stating`` the sections that are marks. ``may_say`` says whether a text in it may
    name a limit, and ``is_unread`` that a mark is about
    something that can't be found, or in words that can't be judged.
    """

    def __init__(self, parsed: ParsedBody) -> None:
        self._parsed = parsed
        self.is_unread = False
        sections = parsed.sections
        self.file_marks = _unread_front(parsed)
        self.fields = {id(field): _named_once(field.label) for field in parsed.fields}
        self.may_say = may_name(plain("\n".join(_texts(parsed))))
        self.said: dict[int, tuple[Statement, ...]] = {}
        self.headings = [_named_once(section.heading) for section in sections]
        self.parents = list(_parents(sections))
        self.of_sections = [UNMARKED] * len(sections)
        self.about: dict[int | None, dict[str, Disclosure | None]] = {None: {}}
        self._unsure: list[Statement] = []
        self._told: list[_Told] = []
        self.stating: set[int] = set()
        for field in parsed.front_matter:
            self._take_field(field, None)
        for at, section in enumerate(sections):
            self._take_section(at, section)
        self.every = Counter(
            named.plain for named in (*self.fields.values(), *self.headings)
        )
        self._settle()

    def _take_field(self, field: BodyField, scope: int | None) -> None:
        named = self.fields[id(field)]
        if named.plain in MARK_NAMES:
            self._mark(scope, mark_of(named.plain, field.text))
            return
        if named.may_state:
            found = statements(named.plain, field.text, field.items)
            self.said[id(field)] = found
            self._take(scope, found)
            self.is_unread |= not found and is_unread(named.plain, field.text)
        if self.may_say:
            self._take(scope, stated_in(field.text, is_prose=False))

    def _take_section(self, at: int, section: BodySection) -> None:
        """What a section says: as a mark itself, in its fields, between its lines."""
        scope = at if section.level else None
        parent, heading = self.parents[at], self.headings[at]
        name = heading.plain
        may = heading.may_state and section.level > 0
        found = statements(name, section.prose) if may else ()
        if parent is not None and name in OWN_PARTS and self._is_stating(parent):
            # A disclosure that is told in parts, each in an object of its own.
            parent, found = self.parents[parent], (Statement("", None),)
        elif name in MARK_NAMES:
            self._mark(parent, mark_of(name, section.prose))
            found = (Statement("", None),) if name in DISCLOSURE_NAMES else ()
        elif found and found[0].is_sure:
            self._take(parent, found)
        else:
            # A heading that limits may be above the names of what is limited.
            self._take(parent, found)
            found = ()
            self.is_unread |= may and is_unread(name, section.prose)
        for field in section.fields:
            self._take_field(field, scope)
        if found:
            self.stating.add(id(section))
            self._take_told(parent, found[0].about, section)
            return
        if may and is_limits(name):
            self._take_told(parent, "", section)
        for one in stated_in(section.prose, is_prose=True) if self.may_say else ():
            if one.reach == "section":
                self.of_sections[at] = self.of_sections[at].and_(Marks(one.disclosure))
            else:
                self._take(None if one.reach == "file" else scope, (one,))

    def _is_stating(self, at: int) -> bool:
        return id(self._parsed.sections[at]) in self.stating

    def _take_told(self, parent: int | None, about: str, section: BodySection) -> None:
        """What the fields of a section about disclosures say of other places.

        They only ever limit: what opens something stands where it is.
        """
        is_strict = not is_limits(name_of(section.heading))
        for field in section.fields:
            said = disclosure_of(field.text)
            if said in (None, "public") or not (
                is_strict or is_plain(field.text, field.items)
            ):
                continue
            name = self.fields[id(field)].plain
            if name in OWN_PARTS or name in MARK_NAMES:
                self._take(parent, (Statement(about, said),))
            else:
                self._told.append(_Told(parent, name, said))

    def _mark(self, scope: int | None, marks: Marks) -> None:
        if scope is None:
            self.file_marks = self.file_marks.and_(marks)
        else:
            self.of_sections[scope] = self.of_sections[scope].and_(marks)

    def _take(self, scope: int | None, found: Iterable[Statement]) -> None:
        for one in found:
            if not one.is_sure:
                self._unsure.append(one)
            elif not one.about:
                self._mark(scope, Marks(one.disclosure))
            else:
                about = self.about.setdefault(scope, {})
                about[one.about] = strictest((about.get(one.about), one.disclosure))

    def _settle(self) -> None:
        """Let marks about what isn't near them apply wherever it is."""
        top = self.about[None]
        for told in self._told:
            # The place where it is told has that name as well.
            about = told.name if self.every[told.name] > 1 else ""
            self._take(told.parent, (Statement(about, told.disclosure),))
        for one in self._unsure:
            if one.about in self.every:
                top[one.about] = strictest((top.get(one.about), one.disclosure))
        for scope, names in self.about.items():
            near = self.every if scope is None else self._names_in(scope)
            for name in names.keys() - near:
                if names[name] not in HIDDEN:
                    continue
                if scope is not None and name in self.every:
                    top[name] = strictest((top.get(name), names[name]))
                else:
                    self.is_unread = True

    def _names_in(self, at: int) -> set[str]:
        """The names of a section, of its fields, and of all that stands within it."""
        sections, level = self._parsed.sections, self._parsed.sections[at].level
        found = set()
        for place in range(at, len(sections)):
            section = sections[place]
            if place > at and section.level <= level:
                break
            found.add(self.headings[place].plain)
            found.update(self.fields[id(field)].plain for field in section.fields)
        return found


def _texts(parsed: ParsedBody) -> Iterator[str]:
    for field in parsed.front_matter:
        yield field.text
    for section in parsed.sections:
        yield section.text


def _unread_front(parsed: ParsedBody) -> Marks:
    """Strict marks for a disclosure in front matter that couldn't be read."""
    is_read = parsed.dialect == "front_matter"
    for line in parsed.unparsed.split("\n") if is_read else ():
        key, colon, _value = line.partition(":")
        if colon and name_of(key.strip(" \t{\"'?")) in _NAMES_IN_FRONT:
            return Marks(disclosure="private")
    return UNMARKED


def _parents(sections: tuple[BodySection, ...]) -> Iterator[int | None]:
    """The place of the section that each one stands in; None: the whole body."""
    stack: list[int] = []
    for at, section in enumerate(sections):
        while stack and sections[stack[-1]].level >= section.level:
            stack.pop()
        yield stack[-1] if stack else None
        if section.level:
            stack.append(at)
