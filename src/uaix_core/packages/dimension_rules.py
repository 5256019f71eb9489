"""What persona files may say where: marks, registered labels, and leaks.

Source: UAIX package format v0.1, "Bodies" and "Required sets".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import attrs

from uaix_core.packages.dimensions import (
    DESCRIPTION,
    ENUMERATED_VALUES,
    SEMANTIC_CONTENT,
    DimensionField,
    dimension_fields,
)
from uaix_core.packages.paths import shown
from uaix_core.packages.required.files import PERSONA_FILE
from uaix_core.values.errors import CallerError
from uaix_core.values.instants import parse_instant
from uaix_core.values.parsing.marking import file_marks_of, marked_parts
from uaix_core.values.parsing.marks import (
    DEPTH_NAMES,
    DISCLOSURE_NAMES,
    MARK_NAMES,
    depth_of,
)
from uaix_core.values.parsing.view import NOTES, fold_label
from uaix_core.values.parsing.words import HIDDEN, disclosure_of, known_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from uaix_core.packages.findings import Severity
    from uaix_core.values.parsing.marking import MarkedPart
    from uaix_core.values.parsing.view import ParsedBody


LEAK: Final = "persona.disclosure-leak"


class DimensionFinding(NamedTuple):
    """Something found: a code of `DIMENSION_CODES`, the file, and no content."""

    code: str
    path: str
    message: str


#: Every code of this module with its severity; the ``body.`` codes are the notes of
#: the parsed view.
DIMENSION_CODES: Final[Mapping[str, Severity]] = {
    "persona.age-undated": "warning",
    "persona.depth-range": "error",
    LEAK: "warning",
    "persona.disclosure-word": "warning",
    "persona.label": "warning",
    **dict.fromkeys(NOTES, "info"),
}

PERSONALITY_FOLDER: Final = ".uai/personality/"
BIRTH_FILE: Final = ".uai/personality/birth-age-generation.uai"

EXACT_AGE_LABELS: Final = frozenset(("exact_age", "precise_age"))
AGE_LABELS: Final = EXACT_AGE_LABELS | {"age"}
#: Of these one may be public in the file about birth, age and generation.
BIRTH_LABELS: Final = AGE_LABELS | {
    "birth",
    "birth_date",
    "birth_year",
    "birthday",
    "born",
    "date_of_birth",
    "year_of_birth",
    "generation",
    "generation_cohort",
    "generation_label",
    "cohort",
    "public_label",
}
#: What can't be a public label of intimacy beside romantic orientation.
OTHER_INTIMACY_LABELS: Final = frozenset(
    (
        "affectional_orientation",
        "attraction",
        "intimacy",
        "intimacy_label",
        "relationship_orientation",
        "sexual_identity",
        "sexual_orientation",
        "sexual_preference",
        "sexuality",
    )
)
AS_OF_LABELS: Final = frozenset(
    ("age_as_of", "as_of", "as_of_date", "as_of_utc", "exact_age_as_of")
)

#: Fields whose name says nothing without the file or section that they stand in.
_GENERIC: Final = frozenset(
    (DESCRIPTION, ENUMERATED_VALUES, SEMANTIC_CONTENT, "label", "value", "values")
)
#: Fields about the file and not about the persona.
_ABOUT_THE_FILE: Final = MARK_NAMES | {
    "author",
    "created",
    "format",
    "release",
    "review_state",
    "review_status",
    "status",
    "type",
    "uaix",
    "updated",
    "updated_utc",
    "version",
}
#: Values that stand in many files and give nobody away; also anything shorter.
_TRIVIAL: Final = frozenset(
    (
        "false",
        "high",
        "medium",
        "mixed",
        "none",
        "not disclosed",
        "not stated",
        "private",
        "public",
        "sensitive",
        "true",
        "undisclosed",
        "unknown",
    )
)
_SHORTEST: Final = 4

_as_of_date = re.compile(
    r"as of\s+(\d{4}-\d{2}-\d{2})", re.ASCII | re.IGNORECASE
).search
_any_date = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII).search
_has_number = re.compile(r"[0-9]").search


def judge_dimension(path: str, parsed: ParsedBody) -> Iterator[DimensionFinding]:
    """What is wrong within one file: unread parts, marks, and registered labels."""
    unread: dict[str, int] = {}
    for note in parsed.notes:
        unread.setdefault(note.code, note.line)
    for code, line in unread.items():
        where = f", line {line}" if line else ""
        yield DimensionFinding(code, path, NOTES[code] + where)
    for part in marked_parts(parsed):
        found = _judge_mark(part) if part.is_mark and part.said.strip() else None
        if found is not None:
            yield DimensionFinding(found[0], path, found[1])
    if path == PERSONA_FILE or path.startswith(PERSONALITY_FOLDER):
        yield from _judge_labels(path, dimension_fields(parsed))


def _judge_mark(part: MarkedPart) -> tuple[str, str] | None:
    if part.name in DEPTH_NAMES:
        if depth_of(part.said) is not None:
            return None
        return "persona.depth-range", "a depth level isn't an integer from 0 to 10"
    word = known_word(part.said)
    if word is None and disclosure_of(part.said) is None:
        # A sentence that is no level.
        return None
    if word is None:
        message = "a disclosure that isn't one of the known words is read as private"
    elif word == "sensitive":
        message = "sensitive is read; the words are none, private and public"
    else:
        return None
    return "persona.disclosure-word", message


def _judge_labels(
    path: str, rows: tuple[DimensionField, ...]
) -> Iterator[DimensionFinding]:
    said = [row for row in rows if not is_trivial(row.value, shortest=1)]
    public = {row.field for row in said if row.disclosure == "public"}
    is_birth = path == BIRTH_FILE
    if is_birth and len(public & BIRTH_LABELS) > 1:
        message = "more than one label of birth, age and generation is public"
        yield DimensionFinding("persona.label", path, message)
    if public & OTHER_INTIMACY_LABELS:
        message = "romantic orientation is the only intimacy label that may be public"
        yield DimensionFinding("persona.label", path, message)
    ages = AGE_LABELS if is_birth else EXACT_AGE_LABELS
    exact = [row for row in said if row.field in ages and _has_number(row.value)]
    is_dated = any(
        row.field in AS_OF_LABELS and _is_date(_any_date(row.value)) for row in rows
    )
    if not is_dated and not all(_is_date(_as_of_date(row.value)) for row in exact):
        message = "an exact age stands without the UTC date as of which it held"
        yield DimensionFinding("persona.age-undated", path, message)


def _is_date(match: re.Match[str] | None) -> bool:
    """Whether the date that was found exists."""
    if match is None:
        return False
    try:
        parse_instant(match.group()[-len("2026-01-02") :] + "T00:00:00Z")
    except CallerError:
        return False
    return True


def is_trivial(value: str, *, shortest: int = _SHORTEST) -> bool:
    """Whether a value says too little to give anything away."""
    text = _compared(value)
    return len(text) < shortest or text in _TRIVIAL


def _compared(value: str) -> str:
    """The form in which values are compared: one space, no case, no last full stop."""
    return " ".join(value.split()).casefold().rstrip(".")


@attrs.frozen
class Disclosed:
    """What of a body could leak, or be leaked, without saying it.

    ``facts`` are the disclosure of a field and a hash of its name and value, which is
    enough to find the same one elsewhere. ``is_hidden`` says whether the file as a
    whole is.
    """

    facts: tuple[tuple[str, int], ...]
    is_hidden: bool


def disclosed(path: str, parsed: ParsedBody) -> Disclosed:
    """What of the body at a path could leak, or be leaked."""
    return Disclosed(
        tuple(_facts(path, parsed)), file_marks_of(parsed).disclosure in HIDDEN
    )


def leaks(
    files: Mapping[str, Disclosed],
    entries: Mapping[str, Mapping[str, Any]] | None = None,
) -> Iterator[DimensionFinding]:
    """Where something hidden in one place stands as public in another.

    A leak is a field under none, private or sensitive whose value stands under the
    same field name where the disclosure is public: in the same file, in another one,
    or in a manifest entry, which everybody reads. A field of a generic name
    (description, label) is named by its section or file. Names are compared folded,
    values with white space, case and a last full stop apart; trivial values and
    fields about the file itself don't count, and what has no disclosure isn't public.
    A manifest entry that calls a hidden file public is a leak as well. Each place is
    told once for a file, and of several public places of one field the first.

    ``files`` maps paths to what their bodies disclose; ``entries`` maps paths to the
    members of their manifest entry that could repeat a field (the unknown ones, the
    source).
    """
    public: dict[int, str] = {}
    # Ordered and without repeats, as a set of what was seen would not be.
    hidden: dict[tuple[str, int], None] = {}
    for path, found in files.items():
        for disclosure, fact in found.facts:
            if disclosure == "public":
                public.setdefault(fact, path)
            else:
                hidden[path, fact] = None
    members = [
        (path, name, value)
        for path, entry in (entries or {}).items()
        for name, value in _members(entry)
    ]
    yield from _called_public(files, members)
    listed = {_fact(name, value) for _path, name, value in members}
    told = set()
    for path, fact in hidden:
        places = [_place(path, public[fact])] if fact in public else []
        places += ["the manifest"] * (fact in listed)
        for place in places:
            if (path, place) not in told:
                told.add((path, place))
                message = f"a field that is hidden here stands as public in {place}"
                yield DimensionFinding(LEAK, path, message)


def _called_public(
    files: Mapping[str, Disclosed], members: Iterable[tuple[str, str, str]]
) -> Iterator[DimensionFinding]:
    for path, name, value in members:
        is_public = name in DISCLOSURE_NAMES and known_word(value) == "public"
        found = files.get(path) if is_public else None
        if found is not None and found.is_hidden:
            message = "the manifest calls the file public, and the file is hidden"
            yield DimensionFinding(LEAK, path, message)


def _place(path: str, other: str) -> str:
    return "the same file" if other == path else shown(other)


def _fact(name: str, value: str) -> int:
    """A name and a value as they are compared with others of this process."""
    return hash((name, _compared(value)))


def _facts(path: str, parsed: ParsedBody) -> Iterator[tuple[str, int]]:
    """The disclosure, and the name and value as compared, of all that could leak."""
    stem = path.rpartition("/")[2].removesuffix(".uai")
    skipped = _ABOUT_THE_FILE
    if parsed.dialect == "front_matter":
        skipped = skipped | {"title"}
    for row in dimension_fields(parsed):
        if row.field in skipped or row.disclosure is None or is_trivial(row.value):
            continue
        name = row.field
        if name in _GENERIC:
            name = row.section or fold_label(stem)
        yield row.disclosure, _fact(name, row.value)


def _members(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Every text within a manifest entry, under the folded name of its member."""
    pending: list[tuple[str, Any]] = [(name, value)]
    while pending:
        name, value = pending.pop()
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield name, str(value)
        elif isinstance(value, dict):
            pending += ((fold_label(key), item) for key, item in value.items())
        elif isinstance(value, list):
            pending += ((name, item) for item in value)
