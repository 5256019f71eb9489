"""The verbs that make folders: new, unpack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from uaix_backends.files import write_folder
from uaix_backends.system import SystemClock
from uaix_core.packages.archive.reader import EXTENSION
from uaix_core.packages.source import PackageSource
from uaix_core.packages.templates.new import FURTHER_SCOPES, KINDS, new_package
from uaix_surfaces.cli.failures import OK, REFUSED, usable
from uaix_surfaces.cli.judging import judge, say_report
from uaix_surfaces.cli.options import PATH, json_option, judging_options
from uaix_surfaces.cli.output import Output
from uaix_surfaces.cli.places import files_of, make_around, new_place, read_as

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from uaix_core.packages.lint import Checks
    from uaix_core.packages.templates.new import FurtherScope, Kind


@click.command("new")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("folder", type=PATH, metavar="DIR")
@click.option("--id", "package_id", metavar="ID", help="Default: the name of DIR.")
@click.option(
    "--issuer",
    default="local",
    show_default=True,
    metavar="TEXT",
    help="Who answers for the package.",
)
@click.option(
    "--also",
    type=click.Choice(FURTHER_SCOPES),
    multiple=True,
    help="A scope to declare as well, with its files; may be repeated.",
)
@json_option
def new_verb(  # noqa: PLR0913 - the options of the verb
    kind: Kind,
    folder: Path,
    *,
    package_id: str | None,
    issuer: str,
    also: tuple[FurtherScope, ...],
    as_json: bool,
) -> int:
    r"""Make a complete, valid package in DIR, to be edited.

    DIR must not be there yet, or be empty; folders around it are made. A package that
    would be refused is not written.

    \b
    Examples:
      uaix new persona my-persona
      uaix new advanced-persona ada --id ada-1 --issuer "Example Ltd"
      uaix new handoff apollo --also agent_file_handoff
    """
    out = Output(as_json=as_json)
    place = new_place(folder, deep=True)
    with usable():
        files = new_package(
            kind,
            package_id=place.name if package_id is None else package_id,
            created_at=SystemClock().now(),
            issuer=issuer,
            also=also,
        )
    # Judged before anything is made: what was asked for may hold a secret or a path.
    report = judge(PackageSource(place.name, files=files), {})
    if not report.is_accepted:
        say_report(out, folder, report, written=False)
        return REFUSED
    make_around(place)
    write_folder(place, files)
    if as_json:
        out.line({"path": str(folder), "kind": kind, "files": sorted(files)})
    else:
        out.say(f"{folder}: a new {kind} package of {len(files)} files")
        out.say(f"edit them, then: uaix pack {folder} -o {place.name}{EXTENSION}")
    return OK


@click.command("unpack")
@click.argument("archive", type=PATH, metavar="F.uaix")
@click.argument("folder", type=PATH, metavar="DIR")
@judging_options
@json_option
def unpack_verb(archive: Path, folder: Path, *, checks: Checks, as_json: bool) -> int:
    r"""Make the folder DIR of an archive.

    The archive is judged first; of a refused one nothing is written. DIR must not be
    there yet, or be empty.

    \b
    Example:
      uaix unpack my-persona.uaix my-persona
    """
    out = Output(as_json=as_json)
    place = new_place(folder)
    source = read_as(archive, archive=True)
    with out.working(f"judging {archive}"):
        report = judge(source, checks)
    if report.package is None:
        say_report(out, archive, report, written=False)
        return REFUSED
    files: Mapping[str, bytes] = files_of(report.package)
    write_folder(place, files)
    say_report(out, archive, report, written=True, folder=str(folder))
    if not as_json:
        out.say(f"{folder}: {len(files)} files")
    return OK
