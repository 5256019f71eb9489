"""The verb that makes archives of folders: pack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from uaix_backends.files import archive_timestamp
from uaix_core.packages.archive.reader import EXTENSION
from uaix_core.packages.archive.writer import write_archive
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.packages.source import PackageSource
from uaix_core.packages.templates.repack import repack
from uaix_core.values.canonical import sha256_hex
from uaix_surfaces.cli.failures import OK, REFUSED, usable
from uaix_surfaces.cli.judging import judge, say_report
from uaix_surfaces.cli.options import (
    PATH,
    json_option,
    judging_options,
    overwrite_option,
)
from uaix_surfaces.cli.output import Output
from uaix_surfaces.cli.places import (
    new_place,
    put_archive,
    read_as,
    refuse_inside,
    write_manifest,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from uaix_core.packages.lint import Checks, Report


def judged_archive(
    name: str, files: Mapping[str, bytes], checks: Checks
) -> tuple[bytes, Report]:
    """The archive of these files and the verdict on it; empty when it is refused."""
    with usable():
        timestamp = archive_timestamp()
    report = judge(PackageSource(files=files), checks)
    if not report.is_accepted:
        return b"", report
    # A limit of archives may refuse what is well as a folder.
    data = write_archive(files, timestamp=timestamp)
    packed = PackageSource(name, archive=data)
    return data, judge(packed, checks)


@click.command("pack")
@click.argument("folder", type=PATH, metavar="DIR")
@click.option(
    "-o",
    "--output",
    "target",
    type=PATH,
    metavar="F.uaix",
    help="The archive to write.",
)
@click.option(
    "--write-back",
    is_flag=True,
    help="Also write the manifest that fits into DIR.",
)
@overwrite_option
@judging_options
@json_option
def pack_verb(  # noqa: PLR0913 - the options of the verb
    folder: Path,
    *,
    target: Path | None,
    write_back: bool,
    overwrite: bool,
    checks: Checks,
    as_json: bool,
) -> int:
    r"""Make an archive of the folder DIR.

    Sizes and digests in the archive's manifest are recomputed; where that changes it,
    basedOn says which manifest the edits were made over. The folder stays as it is
    unless --write-back says otherwise. A package that would be refused is not written.
    The same files always give the same bytes; SOURCE_DATE_EPOCH sets the
    time of the entries.

    \b
    Examples:
      uaix pack my-persona -o my-persona.uaix
      uaix pack my-persona --write-back
    """
    out = Output(as_json=as_json)
    if target is None and not write_back:
        raise click.UsageError("name an archive with -o, or --write-back")
    if target is not None and target.suffix != EXTENSION:
        raise click.UsageError(f"the name of an archive ends in {EXTENSION}")
    place = None if target is None else new_place(target)
    source = read_as(folder, archive=False)
    refuse_inside(target, folder)
    repacked = repack(source.files or {}, says_base=True)
    shown = folder if target is None else target
    with out.working(f"judging {folder}"):
        if target is None:
            data, report = b"", judge(PackageSource(files=repacked.files), checks)
        else:
            data, report = judged_archive(target.name, repacked.files, checks)
    if not report.is_accepted:
        say_report(out, shown, report, written=False)
        return REFUSED
    if place is not None:
        put_archive(place, data, overwrite=overwrite)
    manifest = repacked.files[MANIFEST_PATH]
    is_new = manifest != (source.files or {})[MANIFEST_PATH]
    if write_back and is_new:
        write_manifest(folder, manifest)
    digest = sha256_hex(data) if data else None
    say_report(
        out,
        shown,
        report,
        written=True,
        changed=list(repacked.changed),
        written_back=write_back and is_new,
        archive_sha256=digest,
    )
    if not as_json:
        out.pairs(
            (
                ("files", len(repacked.files)),
                ("brought up to date", ", ".join(repacked.changed) or None),
                ("written back", f"{folder / MANIFEST_PATH}" if write_back else None),
                ("bytes", len(data) or None),
                ("sha256", digest),
            )
        )
    return OK
