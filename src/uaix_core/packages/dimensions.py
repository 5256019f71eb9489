"""Dimensions: the labelled fields of a file as rows that can be asked for.

Nothing is inferred: a value is as said, and what isn't stated is None. What may not
be said where is judged in `uaix_core.packages.dimension_rules`.

Source: UAIX package format v0.1, "Bodies".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from uaix_core.values.parsing.blocks import MAX_LABEL, label_of
from uaix_core.values.parsing.hiding import Hiding
from uaix_core.values.parsing.marked_labels import split_label
from uaix_core.values.parsing.marks import DEPTH_NAMES, DISCLOSURE_NAMES, MARK_NAMES
from uaix_core.values.parsing.scalars import list_items
from uaix_core.values.parsing.view import fold_label
from uaix_core.values.parsing.words import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from uaix_core.values.parsing.marking import MarkedPart
    from uaix_core.values.parsing.view import BodySection, ParsedBody
    from uaix_core.values.parsing.words import Disclosure

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

    A section is a field under its heading; a recognised one is all that stands in it
    but the marks, another what stands outside its own labels. Text without any label
    and fields without a value give no row, nor do headings too long for a name. What a
    start wouldn't show, for whatever reason, is at least private.
    """
    rows: list[DimensionField] = []
    whole: BodySection | None = None
    hiding = Hiding(parsed)
    for part in hiding.parts:
        if part.field is None:
            whole = part.section if part.name in RECOGNISED else None
            if not part.label:
                continue
        elif whole is not None and part.section is whole and not part.is_mark:
            continue
        if part.is_mark and part.name not in MARK_NAMES:
            continue
        if len(part.name) > MAX_LABEL:
            continue
        disclosure = hiding.disclosure_of(part)
        # Such a row holds the section's fields as well.
        if whole is not None and part.field is None and disclosure not in HIDDEN:
            disclosure = "private" if hiding.hides_field_of(whole) else disclosure
        for value in _values(part, is_whole=whole is not None):
            rows.append(_row(part, len(rows), value, disclosure))
    return tuple(rows)


def _row(
    part: MarkedPart, ordinal: int, value: str, disclosure: Disclosure | None
) -> DimensionField:
    section = part.section if part.field is not None else None
    return DimensionField(
        RECOGNISED.get(part.name, part.name),
        ordinal,
        value,
        part.marks.depth,
        disclosure,
        part.label,
        "" if section is None else fold_label(split_label(section.heading)[0]),
    )


def _values(part: MarkedPart, *, is_whole: bool) -> Iterator[str]:
    """The values of a field or of a section's own text, without empty ones."""
    text = part.said
    items: tuple[str, ...] = ()
    if part.field is not None:
        items = part.field.items if part.field.is_list else ()
    elif part.section is not None:
        text = _without_marks(part.section) if is_whole else text
        found, is_list = list_items(text)
        items = found if is_list else ()
    return (value for value in items or (text,) if value.strip())


def _without_marks(section: BodySection) -> str:
    if not any(field.name in MARK_NAMES for field in section.fields):
        return section.text
    kept = (
        line
        for line in section.text.split("\n")
        if (found := label_of(line)) is None or fold_label(found[0]) not in MARK_NAMES
    )
    return "\n".join(kept).strip("\n")
