"""The verb that lists what the files of a package say: dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from uaix_core.gate.said import shown_name
from uaix_core.schema.rows import fields_of
from uaix_core.store.port import MAX_SCAN
from uaix_surfaces.cli.acting import reading_options
from uaix_surfaces.cli.failures import OK
from uaix_surfaces.cli.options import (
    json_option,
    package_argument,
)
from uaix_surfaces.cli.output import Output, safe, write_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core.packages.relations import Dimension
    from uaix_core.session.packages import Packages
    from uaix_surfaces.cli.acting import At


@click.command("dimensions")
@package_argument
@reading_options
@click.option("--field", metavar="NAME", help="Only this field, for example voice.")
@json_option
def dimensions_verb(
    package_id: str, *, at: At, field: str | None, as_json: bool
) -> int:
    r"""List what the files of a package say, field by field.

    NAME is a label in lower case with _ for spaces, or one of the recognised names:
    description, enumerated_values, semantic_content, reviewed_excerpts,
    depth_level_0_to_10, disclosure. Nothing is hidden, whatever its disclosure is.

    \b
    Examples:
      uaix dimensions ada --store sqlite:my.db --scope me/personal/main
      uaix dimensions ada --field name --store dir:my --scope me/personal/main
    """
    out = Output(as_json=as_json)
    with at.session() as session:
        files = session.packages.show(package_id).files
        paths = {file.record_id: file.path for file in files}
        rows = list(_all(session.packages, package_id, field))
    if field is not None and not rows:
        write_error(f"no such field here: {safe(shown_name(field))}")
        return OK
    if as_json:
        for row in rows:
            names = (name for name in fields_of(type(row)) if name != "package_id")
            line = {name: getattr(row, name) for name in names}
            out.line({"path": paths.get(row.record_id), **line})
        return OK
    rows.sort(key=lambda row: (paths.get(row.record_id) or "", row.ordinal))
    out.table(
        ("file", "section", "field", "value", "disclosure", "depth"),
        (
            (
                paths.get(row.record_id),
                row.section or None,
                row.field,
                row.value,
                row.disclosure,
                row.depth_level,
            )
            for row in rows
        ),
    )
    return OK


def _all(packages: Packages, package_id: str, field: str | None) -> Iterator[Dimension]:
    after = None
    while page := packages.dimensions(
        package_id, field=field, after=after, limit=MAX_SCAN
    ):
        yield from page
        after = (page[-1].record_id, page[-1].ordinal)
