"""The verb that compares two packages: diff."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from uaix_backends.files import read_package
from uaix_core.packages.diff import diff_packages, read_manifest, readable_files
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.values.ids import ScopeId
from uaix_surfaces.cli.acting import acting_at, credential_options
from uaix_surfaces.cli.choosing import (
    based_on_option,
    edited_files,
    edited_in,
    edited_tree,
)
from uaix_surfaces.cli.failures import OK, REFUSED, usable
from uaix_surfaces.cli.options import json_option
from uaix_surfaces.cli.output import Output
from uaix_surfaces.cli.places import names_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from uaix_core.packages.diff import ChangedFile, FieldDiff, PackageDiff
    from uaix_core.packages.dimensions import DimensionField
    from uaix_surfaces.cli.acting import At

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
@click.argument("before", metavar="A")
@click.argument("after", required=False, metavar="[B]")
@click.option("--store", "url", metavar="URL", help="Where A and B may be stored.")
@click.option("--scope", metavar="SCOPE", help="With --store: TENANT/KIND/KEY.")
@credential_options
@based_on_option
@json_option
def diff_verb(  # noqa: PLR0913 - the options of the verb
    before: str,
    after: str | None,
    *,
    url: str | None,
    scope: str | None,
    credential_file: Path | None,
    keys_file: Path | None,
    based_on: str | None,
    as_json: bool,
) -> int:
    r"""Show what differs between the packages A and B, archives or folders.

    Files are the same ones by their stable ids, else by their paths; of those that
    changed the labelled fields are compared. Nothing is judged, so that an edited
    folder can be looked at before it is packed.

    With --store, A and B are stored states: PACKAGE_ID, or PACKAGE_ID@CHECKPOINT with
    its number, its id, or the SHA-256 of its manifest; a path ends in .uaix or holds a
    / (a folder here is ./NAME). Without B, the folder A, or the package A in
    the working tree of a directory store, is compared with the stored state that it was
    edited from.

    \b
    Examples:
      uaix diff ada.uaix ada
      uaix diff ada.uaix ada-2.uaix --json
      uaix diff ada@1 ada --store sqlite:my.db --scope me/personal/main
      uaix diff ./work --store sqlite:my.db --scope me/personal/main

    \b
    Exit codes:
      0  every byte is equal
      1  something differs
      2  a package could not be read
    """
    out = Output(as_json=as_json)
    if url is None and after is None:
        raise click.UsageError("one package is compared with what a --store holds")
    at = _at(url, scope, credential_file, keys_file)
    with out.working(f"comparing {after or before}"), usable():
        # Both are read first: that one isn't there matters more than what is in it.
        if after is None:
            sides = _edited(at, before, based_on)
        else:
            sides = [_side(at, name) for name in (before, after)]
        found = diff_packages(*sides)
    names = (before, after) if after is not None else (f"what {before} was", before)
    if as_json:
        out.line({"a": names[0], "b": names[1], **found.as_dict()})
    elif found.is_equal:
        out.say(f"{names[0]} and {names[1]} are equal", "ok")
    else:
        out.say(f"{names[0]} and {names[1]} differ", "warning")
        out.table(("where", "what", "before", "after"), _rows(found))
    return OK if found.is_equal else REFUSED


def _at(
    url: str | None,
    scope: str | None,
    credential_file: Path | None,
    keys_file: Path | None,
) -> At | None:
    if (url is None) is not (scope is None):
        raise click.UsageError("--store and --scope go together")
    if url is None or scope is None:
        return None
    with usable():
        where = ScopeId.parse(scope)
    return acting_at(url, where, credential_file, keys_file)


def _edited(
    at: At | None, name: str, based_on: str | None
) -> list[Mapping[str, bytes]]:
    """What a folder was, and what it is without what only an editor did."""
    assert at is not None  # noqa: S101 - `_at` has seen to it
    with at.session() as session:
        if names_path(name):
            folder = Path(name)
            edited = edited_files(folder, based_on)
            package_id = str(read_manifest(edited.files).get("packageId"))
            edited = edited_in(session, package_id, folder, based_on)
        else:
            package_id = name
            edited = edited_tree(session, package_id)
        edits = session.packages.edits(package_id, edited)
    return [edits.before, edits.after]


def _side(at: At | None, name: str) -> Mapping[str, bytes]:
    """The files of a package outside of the store, or of a stored state."""
    if at is None or names_path(name):
        return readable_files(read_package(Path(name)))
    package_id, mark, checkpoint = name.partition("@")
    with at.session() as session:
        if not mark:
            return session.packages.read(package_id)
        return session.packages.read_at(package_id, checkpoint)


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
