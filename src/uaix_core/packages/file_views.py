"""The views of one file: its row, its dimensions, and the name of a persona."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

from uaix_core.packages.dimensions import dimension_fields
from uaix_core.packages.relations import (
    DIMENSION,
    PACKAGE_FILE,
    PERSONA_NAME,
    Dimension,
    PackageFile,
    PersonaName,
)
from uaix_core.schema.relations import Ref
from uaix_core.values.parsing import parse_body
from uaix_core.values.parsing.words import HIDDEN

if TYPE_CHECKING:
    from uaix_core.history.relations import Revision
    from uaix_core.schema.rows import Row

PERSONA_FILE: Final = ".uai/persona.uai"
#: The role of files that no scope registers: their bodies are not taken apart.
UNREGISTERED: Final = "memory"


def file_ref(revision: Revision) -> Ref:
    """The name of the row of a revision's file."""
    return Ref(PACKAGE_FILE.name, (revision.package_id, revision.record_id))


def file_rows(revision: Revision) -> list[Row]:
    """The rows of the file that a revision with its body makes, its own row first."""
    dimensions = _dimensions(revision)
    name = _persona_name(revision, dimensions)
    rows: list[Row] = [_file(revision, len(dimensions), name), *dimensions]
    if name is not None:
        rows.append(PersonaName(name, revision.package_id))
    return rows


def rows_of(file: PackageFile) -> list[Ref]:
    """The names of all rows that stand because this file does."""
    refs = [PACKAGE_FILE.ref(file)]
    refs += [
        Ref(DIMENSION.name, (file.package_id, file.record_id, ordinal))
        for ordinal in range(file.dimension_count)
    ]
    if file.persona_name is not None:
        refs.append(Ref(PERSONA_NAME.name, (file.persona_name, file.package_id)))
    return refs


def folded_name(name: str) -> str:
    """A persona's name as it is compared: compatibility form, case, spaces."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _dimensions(revision: Revision) -> list[Dimension]:
    path, content = revision.path or "", revision.content
    is_taken_apart = path.endswith(".uai") and revision.role != UNREGISTERED
    if content is None or not is_taken_apart:
        return []
    return [
        Dimension(
            revision.package_id,
            revision.record_id,
            found.ordinal,
            revision.revision_id,
            found.field,
            found.value,
            found.label,
            found.section,
            found.depth_level,
            found.disclosure,
        )
        for found in dimension_fields(parse_body(content, revision.media_type or ""))
    ]


def _persona_name(revision: Revision, dimensions: list[Dimension]) -> str | None:
    if revision.path != PERSONA_FILE:
        return None
    # A name that its author hides is nobody's to look up.
    names = (
        d.value
        for d in dimensions
        if d.field == "name" and not d.section and d.disclosure not in HIDDEN
    )
    return folded_name(next(names, "")) or None


def _file(revision: Revision, dimensions: int, persona: str | None) -> PackageFile:
    return PackageFile(
        package_id=revision.package_id,
        record_id=revision.record_id,
        revision_id=revision.revision_id,
        path=revision.path or "",
        startup_order=revision.startup_order,
        role=revision.role or "",
        scope=revision.scope or "",
        media_type=revision.media_type or "",
        required_status=revision.required_status,
        review_state=revision.review_state,
        size_bytes=revision.size_bytes,
        sha256=revision.sha256 or "",
        canonical_sha256=revision.canonical_sha256 or "",
        dimension_count=dimensions,
        persona_name=persona,
    )
