"""The verbs that carry packages into a store and out of it: install, export."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from uaix_backends.files import read_package, write_archive_file, write_folder
from uaix_backends.opening import open_session
from uaix_core.packages.archive.reader import EXTENSION
from uaix_core.packages.answers import PackageRefusedError
from uaix_core.values.errors import CallerError
from uaix_surfaces.cli.failures import OK, usable
from uaix_surfaces.cli.folders import new_place
from uaix_surfaces.cli.judging import report_line, show_report
from uaix_surfaces.cli.options import (
    PATH,
    actor_option,
    json_option,
    judging_options,
    overwrite_option,
    scope_option,
    store_option,
)
from uaix_surfaces.cli.output import Output

if TYPE_CHECKING:
    from pathlib import Path

    from uaix_core.packages.answers import Stored
    from uaix_core.values.ids import Principal, ScopeId


@click.command("install")
@click.argument("path", type=PATH, metavar="F")
@store_option
@scope_option
@actor_option
@click.option(
    "--key", metavar="KEY", help="An idempotency key: a repeated call writes nothing."
)
@judging_options
@json_option
def install_verb(  # noqa: PLR0913 - the options of the verb
    path: Path,
    *,
    url: str,
    scope: ScopeId,
    actor: Principal,
    key: str | None,
    ruleset: str,
    lenient: bool,
    as_json: bool,
) -> int:
    r"""Judge the package F (archive or folder) and store all of it, in quarantine.

    The store is made when it isn't there. The same package again gives the first
    answer and writes nothing. A refused package leaves a receipt and nothing else.

    \b
    Example:
      uaix install ada.uaix --store sqlite:my.db --scope me/personal/main
    """
    out = Output(as_json=as_json)
    with usable():
        source = read_package(path)
    with (
        out.working(f"installing {path}"),
        open_session(url, scope=scope, principal=actor, create=True) as session,
    ):
        try:
            answer = session.packages.install(
                source, key=key, ruleset=ruleset, lenient=lenient
            )
        except PackageRefusedError as error:
            refused = error
        else:
            _tell_installed(out, path, answer)
            return OK
    # Told out here, where no sign of work goes on beside it.
    if as_json:
        out.line({**report_line(path, refused.report), "receipt": refused.receipt})
    else:
        show_report(out, path, refused.report)
    raise refused


def _tell_installed(out: Output, path: Path, answer: Stored) -> None:
    if out.as_json:
        out.line({"path": str(path), **answer.as_dict()})
    else:
        again = "" if answer.is_first else ", as it was already"
        out.say(f"{path}: installed{again}", "accepted")
        out.pairs(answer.as_dict().items())


@click.command("export")
@click.argument("package_id", metavar="PACKAGE_ID")
@store_option
@scope_option
@actor_option
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
def export_verb(  # noqa: PLR0913 - the options of the verb
    package_id: str,
    *,
    url: str,
    scope: ScopeId,
    actor: Principal,
    target: Path,
    overwrite: bool,
    as_json: bool,
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
    place = new_place(target)
    if overwrite and not is_archive:
        raise click.UsageError("--overwrite is for archives, never for folders")
    # Looked at first, so that no receipt tells of an export that went nowhere.
    if not _is_free(place, is_archive=is_archive, overwrite=overwrite):
        raise CallerError(
            "the target is already there",
            code="files.exists",
            path=str(target),
            hint="choose another name, or --overwrite an archive",
        )
    with (
        out.working(f"exporting {package_id}"),
        open_session(url, scope=scope, principal=actor) as session,
    ):
        answer = session.packages.export(
            package_id, form="archive" if is_archive else "folder"
        )
    if answer.archive is not None:
        write_archive_file(place, [answer.archive], overwrite=overwrite)
    else:
        write_folder(place, answer.files)
    if as_json:
        out.line({"path": str(target), **answer.as_dict()})
    else:
        out.say(f"{target}: exported", "accepted")
        out.pairs(answer.as_dict().items())
    return OK


def _is_free(place: Path, *, is_archive: bool, overwrite: bool) -> bool:
    """Whether an archive or a folder may be written there."""
    if not os.path.lexists(place):
        return True
    if is_archive:
        return overwrite and not place.is_dir()
    return place.is_dir() and not any(place.iterdir())
