"""The verb that carries packages out of a store: export."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from uaix_backends.files import write_folder
from uaix_core.packages.archive.reader import EXTENSION
from uaix_core.values.errors import CallerError
from uaix_surfaces.cli.acting import at_options
from uaix_surfaces.cli.failures import OK
from uaix_surfaces.cli.options import (
    PATH,
    json_option,
    overwrite_option,
    package_argument,
)
from uaix_surfaces.cli.output import Output
from uaix_surfaces.cli.places import OVERWRITE_HINT, new_place, put_archive

if TYPE_CHECKING:
    from pathlib import Path

    from uaix_surfaces.cli.acting import At

#: Endings that nobody gives to a folder, in lower case.
_OF_ARCHIVES = frozenset((EXTENSION, ".zip"))


@click.command("export")
@package_argument
@at_options
@click.option(
    "-o",
    "--output",
    "target",
    type=PATH,
    required=True,
    metavar="F.uaix|DIR",
    help="A name that ends in .uaix is an archive, any other a folder.",
)
@overwrite_option
@json_option
def export_verb(
    package_id: str,
    *,
    target: Path,
    overwrite: bool,
    as_json: bool,
    at: At,
) -> int:
    r"""Read a package back, byte for byte, into an archive or a folder.

    A folder is never overwritten. The export leaves a receipt in the store.

    \b
    Examples:
      uaix export ada --store sqlite:my.db --scope me/personal/main -o ada.uaix
      uaix export ada --store sqlite:my.db --scope me/personal/main -o ada
    """
    out = Output(as_json=as_json)
    is_archive = target.name.endswith(EXTENSION)
    if not is_archive and target.suffix.lower() in _OF_ARCHIVES:
        raise click.UsageError(f"the name of an archive ends in {EXTENSION}")
    if overwrite and not is_archive:
        raise click.UsageError("--overwrite is for archives, never for folders")
    place = new_place(target)
    # Looked at first, so that no receipt tells of an export that went nowhere.
    if not _is_free(place, is_archive=is_archive, overwrite=overwrite):
        raise CallerError(
            "the target is already there",
            code="files.exists",
            path=str(target),
            hint=_hint(place, is_archive=is_archive),
        )
    with (
        out.working(f"exporting {package_id}"),
        at.session() as session,
    ):
        answer = session.packages.export(
            package_id, form="archive" if is_archive else "folder"
        )
    if answer.archive is not None:
        put_archive(place, answer.archive, overwrite=overwrite)
    else:
        write_folder(place, answer.files)
    if as_json:
        out.line({"path": str(target), **answer.as_dict()})
    else:
        out.say(f"{target}: exported", "accepted")
        out.pairs(answer.as_dict().items())
    return OK


def _hint(place: Path, *, is_archive: bool) -> str:
    """What helps when something is at the place."""
    if is_archive and not place.is_dir():
        return OVERWRITE_HINT
    return "choose another name, or remove it"


def _is_free(place: Path, *, is_archive: bool, overwrite: bool) -> bool:
    """Whether an archive or a folder may be written there."""
    if not os.path.lexists(place):
        return True
    if is_archive:
        return overwrite and not place.is_dir()
    return place.is_dir() and not any(place.iterdir())
