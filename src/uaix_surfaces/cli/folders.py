"""The verbs between folders and archives: new, pack, unpack."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from uaix_backends.files import (
    archive_timestamp,
    read_package,
    write_archive_file,
    write_folder,
)
from uaix_backends.system import SystemClock
from uaix_core.packages.archive.reader import EXTENSION
from uaix_core.packages.archive.writer import write_archive
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.packages.source import PackageSource
from uaix_core.packages.templates.new import KINDS, new_package, repack
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.errors import CallerError, NotFoundError
from uaix_surfaces.cli.failures import OK, REFUSED, usable
from uaix_surfaces.cli.judging import judge, report_line, show_report
from uaix_surfaces.cli.options import (
    PATH,
    json_option,
    judging_options,
    overwrite_option,
)
from uaix_surfaces.cli.output import Output

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.packages.checked import CheckedPackage
    from uaix_core.packages.lint import Report
    from uaix_core.packages.templates.new import Kind


def new_place(path: Path) -> Path:
    """A path where a folder or file can be made.

    Raises:
        Unusable: ``files.missing`` when the folder around it isn't there;
            ``files.target`` for the folder that the caller stands in, which can't be
            replaced from inside.

    """
    place = path.absolute()
    with usable():
        if not place.parent.is_dir():
            raise NotFoundError(
                "there is no such folder", code="files.missing", path=str(path.parent)
            )
        if place.exists() and place.samefile(Path.cwd()):
            raise CallerError(
                "the current folder can't be made anew",
                code="files.target",
                path=str(path),
                hint="name another folder",
            )
    return place


def read_as(path: Path, *, archive: bool) -> PackageSource:
    """Read an archive or a folder, and nothing but the one that is wanted."""
    with usable():
        source = read_package(path)
        if (source.archive is not None) is not archive:
            raise CallerError(
                "not an archive" if archive else "not a folder",
                code="files.form",
                path=str(path),
            )
    return source


def files_of(package: CheckedPackage) -> dict[str, bytes]:
    """All files of a package, its manifest included."""
    files = {file.path: file.read() for file in package.files}
    return {MANIFEST_PATH: package.manifest_bytes, **files}


def _say_report(out: Output, path: Path, report: Report, **more: Any) -> None:
    if out.as_json:
        out.line({**report_line(path, report), **more})
    else:
        show_report(out, path, report)


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
@json_option
def new_verb(
    kind: Kind, folder: Path, *, package_id: str | None, issuer: str, as_json: bool
) -> int:
    r"""Make a complete, valid package in DIR, to be edited.

    DIR must not be there yet, or be empty.

    \b
    Examples:
      uaix new persona my-persona
      uaix new advanced-persona ada --id ada-1 --issuer "Example Ltd"
    """
    out = Output(as_json=as_json)
    place = new_place(folder)
    with usable():
        files = new_package(
            kind,
            package_id=place.name if package_id is None else package_id,
            created_at=SystemClock().now(),
            issuer=issuer,
        )
    write_folder(place, files)
    if as_json:
        out.line({"path": str(folder), "kind": kind, "files": sorted(files)})
    else:
        out.say(f"{folder}: a new {kind} package of {len(files)} files")
        out.say(f"edit them, then: uaix pack {folder} -o {place.name}{EXTENSION}")
    return OK


@click.command("pack")
@click.argument("folder", type=PATH, metavar="DIR")
@click.option(
    "-o",
    "--output",
    "target",
    type=PATH,
    required=True,
    metavar="F.uaix",
    help="The archive to write.",
)
@overwrite_option
@judging_options
@json_option
def pack_verb(  # noqa: PLR0913 - the options of the verb
    folder: Path,
    *,
    target: Path,
    overwrite: bool,
    ruleset: str,
    lenient: bool,
    as_json: bool,
) -> int:
    r"""Make an archive of the folder DIR.

    Sizes and digests in the archive's manifest are recomputed; the folder stays as it
    is. A package that would be refused is not written. The same files always give
    the same bytes; SOURCE_DATE_EPOCH sets the time of the entries.

    \b
    Example:
      uaix pack my-persona -o my-persona.uaix
    """
    out = Output(as_json=as_json)
    if target.suffix != EXTENSION:
        raise click.UsageError(f"the name of an archive ends in {EXTENSION}")
    place = new_place(target)
    source = read_as(folder, archive=False)
    with usable():
        timestamp = archive_timestamp()
    repacked = repack(source.files or {})
    with out.working(f"judging {folder}"):
        whole = PackageSource(source.name, files=repacked.files)
        report = judge(whole, ruleset=ruleset, lenient=lenient)
        data = b""
        if report.is_accepted:
            # A limit of archives may refuse what is well as a folder.
            data = write_archive(repacked.files, timestamp=timestamp)
            packed = PackageSource(target.name, archive=data)
            report = judge(packed, ruleset=ruleset, lenient=lenient)
    if not report.is_accepted:
        _say_report(out, target, report, written=False)
        return REFUSED
    write_archive_file(place, [data], overwrite=overwrite)
    _say_report(
        out,
        target,
        report,
        written=True,
        changed=list(repacked.changed),
        archive_sha256=sha256_hex(data),
    )
    if not as_json:
        out.pairs(
            (
                ("files", len(repacked.files)),
                ("brought up to date", ", ".join(repacked.changed) or None),
                ("bytes", len(data)),
                ("sha256", sha256_hex(data)),
            )
        )
    return OK


@click.command("unpack")
@click.argument("archive", type=PATH, metavar="F.uaix")
@click.argument("folder", type=PATH, metavar="DIR")
@judging_options
@json_option
def unpack_verb(
    archive: Path, folder: Path, *, ruleset: str, lenient: bool, as_json: bool
) -> int:
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
        report = judge(source, ruleset=ruleset, lenient=lenient)
    if report.package is None:
        _say_report(out, archive, report, written=False)
        return REFUSED
    files: Mapping[str, bytes] = files_of(report.package)
    write_folder(place, files)
    _say_report(out, archive, report, written=True, folder=str(folder))
    if not as_json:
        out.say(f"{folder}: {len(files)} files")
    return OK
