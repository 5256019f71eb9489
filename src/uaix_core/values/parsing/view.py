"""The parsed view as values: fields, sections, pointer records, notes.

The view is derived and read only. Everything that a text says is in it once as text,
in order; items, prose and records are the same text read more closely. Newlines are
LF; no character is folded or normalised.

Source: UAIX package format v0.1, "Bodies".
"""

from __future__ import annotations

import re
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    TypeVar,
    dataclass_transform,
    get_args,
)

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator

#: How a body is written. ``text`` has no structure that is read, ``binary`` is none.
Dialect = Literal[
    "front_matter", "markdown", "labelled", "flat", "json", "text", "binary"
]
DIALECTS: Final[tuple[Dialect, ...]] = get_args(Dialect)

_T = TypeVar("_T")

if TYPE_CHECKING:

    @dataclass_transform(frozen_default=True, field_specifiers=(attrs.field,))
    def value(cls: type[_T]) -> type[_T]:
        """Turn an annotated class into a value class."""
        ...

else:

    def value(cls):  # noqa: ANN001, ANN201 - typed above, as the checkers see it
        """Turn an annotated class into a value class.

        Type checkers see it frozen; at run time it isn't, since that makes building
        one twice as dear, and a body has hundreds.
        """
        return attrs.define(cls, slots=True, eq=True, unsafe_hash=False)


#: The form of the view that digests are made of; it changes when the reading does.
VIEW_VERSION: Final = 1

_CASE_CHANGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BETWEEN = re.compile(r"[\s_\-./()&'\u2019+]+")


def fold_label(label: str) -> str:
    """The spelling that labels are compared in: lower case, ``_`` between words.

    ``Birth date``, ``birthDate`` and ``birth-date`` are all ``birth_date``. A
    label of nothing but marks stays as it is.
    """
    if label.isidentifier() and label[1:].islower() and "__" not in label:
        # Nearly every label; the two substitutions cost ten times as much.
        return label.strip("_").lower() or label
    words = _CASE_CHANGE.sub("_", label)
    return _BETWEEN.sub("_", words).strip("_").lower() or label


@attrs.frozen
class BodyNote:
    """Something that the reading couldn't take in, or took in with a doubt.

    ``code`` is one of `NOTES`, ``line`` counts from 1 (0: the body as a whole). The
    message never quotes the body.
    """

    code: str
    line: int
    message: str


#: Every note by its code, with its sentence.
NOTES: Final = {
    "body.unparsed": "text without labels or sections, kept as it is",
    "body.front-matter": "a line of the front matter isn't read, and kept as it is",
    "body.front-matter-open": "the front matter has no closing line; read as text",
    "body.repeated": "the front matter names a key twice",
    "body.fence-open": "a code fence has no closing line",
    "body.long-label": "a heading is too long to name a field",
    "body.json": "not one strict JSON value; kept as text",
    "body.encoding": "not text in UTF-8 without NUL; not read",
}


def note(code: str, line: int = 0) -> BodyNote:
    """The note of this code at a line."""
    return BodyNote(code, line, NOTES[code])


@value
class BodyField:
    """One labelled text.

    ``label`` is as written and ``text`` the whole value with its list markers; a
    value that is one quoted string or code span as a whole is without the quotes.
    ``items`` are the list items in it; ``is_list`` says that it holds nothing else.
    ``line`` is where the label stands, counted from 1, ``end`` its last line;
    ``opens`` says whether it begins a block, after a blank line or a heading. None
    of these takes part in equality.
    """

    label: str
    text: str
    items: tuple[str, ...] = ()
    is_list: bool = False
    line: int = attrs.field(default=0, eq=False)
    end: int = attrs.field(default=0, eq=False)
    opens: bool = attrs.field(default=True, eq=False)

    @property
    def name(self) -> str:
        """The label in the spelling that labels are compared in."""
        return fold_label(self.label)


@value
class BodySection:
    """A heading and what follows it up to the next one.

    ``level`` is 1 to 6 (in JSON the depth of the object); the part before the first
    heading has level 0 and no heading. ``text`` is everything in the section as
    written, and begins at ``line``, counted from 1; ``fields`` are the labelled texts
    in it and ``prose`` is the rest of it.
    """

    level: int
    heading: str
    text: str
    fields: tuple[BodyField, ...] = ()
    prose: str = ""
    line: int = attrs.field(default=0, eq=False)

    @property
    def name(self) -> str:
        """The heading in the spelling that labels are compared in."""
        return fold_label(self.heading)


@attrs.frozen
class PointerRecord:
    """One pointer to durable memory: the fields from ``Stable id`` on."""

    fields: tuple[BodyField, ...]

    def get(self, name: str) -> str | None:
        """The text of the first field of this folded name."""
        return next((field.text for field in self.fields if field.name == name), None)


#: The labels of a pointer record in folded spelling; any ``_url`` is one as well.
POINTER_LABELS: Final = frozenset(
    (
        "path",
        "label",
        "routing_summary",
        "authority",
        "authority_source",
        "authority_or_source",
        "source",
        "review_status",
        "review_evidence",
        "checksum",
        "sha256",
        "truth_boundary",
        "protected_knowledge_route",
        "credential_storage_boundary",
    )
)
POINTER_START: Final = "stable_id"


@value
class ParsedBody:
    """A body as it reads.

    ``title`` is the heading or line at the top, else the front matter's title.
    ``front_matter`` are its fields in order, ``sections`` the parts of the text,
    ``unparsed`` what stays raw, and ``notes`` say where and why.
    """

    dialect: Dialect
    title: str | None = None
    front_matter: tuple[BodyField, ...] = ()
    sections: tuple[BodySection, ...] = ()
    unparsed: str = ""
    notes: tuple[BodyNote, ...] = attrs.field(default=(), eq=False)

    @property
    def fields(self) -> tuple[BodyField, ...]:
        """Every labelled text in order, those of the front matter first."""
        return (
            *self.front_matter,
            *(field for section in self.sections for field in section.fields),
        )

    @property
    def records(self) -> tuple[PointerRecord, ...]:
        """The pointer records in order."""
        return tuple(
            PointerRecord(tuple(fields))
            for section in self.sections
            for fields in _pointers(section.fields)
        )

    def get(self, name: str) -> str | None:
        """The text of the first field, else section, of this folded name."""
        for field in self.fields:
            if field.name == name:
                return field.text
        for section in self.sections:
            if section.heading and section.name == name:
                return section.text
        return None

    def as_dict(self) -> dict[str, Any]:
        """The view as plain data, each text once: what the canonical digest covers."""
        return {
            "view": VIEW_VERSION,
            "dialect": self.dialect,
            "title": self.title,
            "front_matter": [
                [field.label, list(field.items) if field.is_list else field.text]
                for field in self.front_matter
            ],
            "sections": [
                [section.level, section.heading, section.text]
                for section in self.sections
            ],
            "unparsed": self.unparsed,
        }


def _pointers(fields: tuple[BodyField, ...]) -> Iterator[list[BodyField]]:
    record: list[BodyField] = []
    for field in fields:
        name = field.name
        if name == POINTER_START:
            if record:
                yield record
            record = [field]
        elif record and (
            not field.opens or name in POINTER_LABELS or name.endswith("_url")
        ):
            record.append(field)
        elif record:
            yield record
            record = []
    if record:
        yield record
