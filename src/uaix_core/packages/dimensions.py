"""Dimensions: the fields of persona files as rows, and what must not be public.

Source: UAIX package format v0.1, "Bodies" and "Required sets".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from uaix_core.values.parsing.blocks import label_of
from uaix_core.values.parsing.marks import (
    DEPTH_NAMES,
    DISCLOSURE_NAMES,
    MARK_NAMES,
    marked_parts,
)
from uaix_core.values.parsing.scalars import list_items
from uaix_core.values.parsing.view import fold_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from uaix_core.values.parsing.marks import Disclosure, MarkedPart
    from uaix_core.values.parsing.view import BodySection, ParsedBody

DESCRIPTION: Final = "description"
ENUMERATED_VALUES: Final = "enumerated_values"
SEMANTIC_CONTENT: Final = "semantic_content"
REVIEWED_EXCERPTS: Final = "reviewed_excerpts"
DEPTH_LEVEL: Final = "depth_level_0_to_10"
DISCLOSURE: Final = "disclosure"

#: The name of a recognised field by each folded label that it is read under.
RECOGNISED: Final[Mapping[str, str]] = {
    **dict.fromkeys((DESCRIPTION, "open_description", "open_text"), DESCRIPTION),
    **dict.fromkeys(
        (ENUMERATED_VALUES, "enumerated", "enum_values", "optional_enumerated_values"),
        ENUMERATED_VALUES,
    ),
    SEMANTIC_CONTENT: SEMANTIC_CONTENT,
    **dict.fromkeys(
        (
            REVIEWED_EXCERPTS,
            "reviewed_source_excerpts",
            "source_excerpts",
            "excerpts",
            "excerpt_references",
            "references_to_reviewed_excerpts",
        ),
        REVIEWED_EXCERPTS,
    ),
    **dict.fromkeys(DEPTH_NAMES, DEPTH_LEVEL),
    **dict.fromkeys(DISCLOSURE_NAMES, DISCLOSURE),
}


@attrs.frozen
class DimensionField:
    """One value of one field of a file.

    ``field`` is the recognised name, else the label in folded spelling; ``ordinal``
    is the place in the file, counted from 0 over all fields. ``value`` is as said.
    ``depth_level`` (0 to 10) and ``disclosure`` are those that apply here, None where
    none is stated. ``label`` is as written; ``section`` is the folded heading that
    the field stands under, empty for the file's own fields and for a heading itself.
    """

    field: str
    ordinal: int
    value: str
    depth_level: int | None
    disclosure: Disclosure | None
    label: str
    section: str = ""


def dimension_fields(parsed: ParsedBody) -> tuple[DimensionField, ...]:
    """The labelled fields of a body in order, each list item a row of its own.

    A section is a field under its heading; the prose of a recognised one is its whole
    text, that of another what stands outside its own labels. Text without any label,
    and fields without a value, give no row.
    """
    rows: list[DimensionField] = []
    whole: BodySection | None = None
    for part in marked_parts(parsed):
        if part.field is not None and part.section is not None:
            if part.section is whole and part.name not in MARK_NAMES:
                continue
        elif part.field is None:
            is_whole = part.name in RECOGNISED and not part.is_mark
            whole = part.section if is_whole else None
            if not part.label:
                continue
        if part.is_mark and part.name not in MARK_NAMES:
            continue
        values = _values(part, is_whole=part.section is whole and part.field is None)
        rows += (_row(part, len(rows) + i, v) for i, v in enumerate(values))
    return tuple(rows)


def _row(part: MarkedPart, ordinal: int, value: str) -> DimensionField:
    in_section = part.field is not None and part.section is not None
    return DimensionField(
        RECOGNISED.get(part.name, part.name),
        ordinal,
        value,
        part.marks.depth,
        part.marks.disclosure,
        part.label,
        part.section.name if in_section and part.section is not None else "",
    )


def _values(part: MarkedPart, *, is_whole: bool) -> tuple[str, ...]:
    """The values of a field or of a section's own text, without empty ones."""
    field, section = part.field, part.section
    if field is not None:
        values = field.items if field.is_list else (field.text,)
    elif section is None:
        values = ()
    else:
        text = _without_marks(section) if is_whole else section.prose
        items, is_list = list_items(text)
        values = items if is_list else (text,)
    return tuple(value for value in values if value.strip())


def _without_marks(section: BodySection) -> str:
    if not any(field.name in MARK_NAMES for field in section.fields):
        return section.text
    kept: Iterator[str] = (
        line
        for line in section.text.split("\n")
        if (found := label_of(line)) is None or fold_label(found[0]) not in MARK_NAMES
    )
    return "\n".join(kept).strip("\n")
