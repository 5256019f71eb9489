"""The verb that compares two packages: diff."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from uaix_backends.files import read_package
from uaix_core.packages.diff import diff_packages, readable_files
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_surfaces.cli.failures import OK, REFUSED, usable
from uaix_surfaces.cli.options import PATH, json_option
from uaix_surfaces.cli.output import Output

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from uaix_core.packages.diff import ChangedFile, FieldDiff, PackageDiff
    from uaix_core.packages.dimensions import DimensionField

#: How much of a value people see, in characters; JSON has all of it.
_SHOWN = 60

#: Fields of an entry that differ whenever its file does, and tell people nothing new.
_OF_BYTES = frozenset(("sha256", "sizeBytes"))

_KINDS = {
    "line_ends": "only line ends differ",
    "spelling": "written differently, says the same",
    "content": "says something else",
}


@click.command("diff")
@click.argument("before", type=PATH, metavar="A")
@click.argument("after", type=PATH, metavar="B")
@json_option
def diff_verb(before: Path, after: Path, *, as_json: bool) -> int:
    r"""Show what differs between the packages A and B, archives or folders.

    Files are the same ones by their stable ids, else by their paths; of those that
    changed the labelled fields are compared. Nothing is judged, so that an edited
    folder can be looked at before it is packed.

    \b
    Examples:
      uaix diff ada.uaix ada
      uaix diff ada.uaix ada-2.uaix --json

    \b
    Exit codes:
      0  every byte is equal
      1  something differs
      2  a package could not be read
    """
    out = Output(as_json=as_json)
    with out.working(f"comparing {after}"), usable():
        # Both are read first: that one isn't there matters more than what is in it.
        packages = [read_package(path) for path in (before, after)]
        found = diff_packages(*map(readable_files, packages))
    if as_json:
        out.line({"a": str(before), "b": str(after), **found.as_dict()})
    elif found.is_equal:
        out.say(f"{before} and {after} are equal", "ok")
    else:
        out.say(f"{before} and {after} differ", "warning")
        out.table(("where", "what", "before", "after"), _rows(found))
    return OK if found.is_equal else REFUSED


_Row = tuple[str | None, ...]


def _rows(found: PackageDiff) -> Iterator[_Row]:
    if found.manifest_kind is not None:
        yield MANIFEST_PATH, _KINDS[found.manifest_kind], None, None
    for field in found.manifest:
        yield _field_row(field.place, field)
    yield from ((path, "removed", path, None) for path in found.removed)
    yield from ((path, "added", None, path) for path in found.added)
    yield from ((m.path, "moved", m.path_before, m.path) for m in found.moved)
    for changed in found.changed:
        yield from _changed_rows(changed)
    told = {changed.path for changed in found.changed}
    for entry in found.entries:
        for field in entry.fields:
            if entry.path not in told or field.place not in _OF_BYTES:
                yield _field_row(f"{entry.path}: {field.place}", field)


def _changed_rows(changed: ChangedFile) -> Iterator[_Row]:
    sizes = f"{changed.size_before} bytes", f"{changed.size} bytes"
    yield changed.path, _KINDS[changed.kind], *sizes
    for one in changed.dimensions:
        name = f"{one.section}: {one.field}" if one.section else one.field
        yield f"  {name}", one.change, _said(one.before), _said(one.after)


def _field_row(where: str, field: FieldDiff) -> _Row:
    row = field.as_dict()
    return where, field.change, _text(row, "before"), _text(row, "after")


def _text(row: dict[str, Any], name: str) -> str | None:
    if name not in row:
        return None
    value = row[name]
    return _cut(value if isinstance(value, str) else json.dumps(value))


def _said(field: DimensionField | None) -> str | None:
    if field is None:
        return None
    mark = f" ({field.disclosure})" if field.disclosure else ""
    return _cut(field.value) + mark


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
