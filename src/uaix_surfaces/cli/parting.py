"""The verbs by which packages part: branch, derive, pick."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from uaix_core.review.notes import ReviewNote
from uaix_core.values.errors import CallerError
from uaix_surfaces.cli.acting import at_options
from uaix_surfaces.cli.choosing import (
    based_on_option,
    choosing_options,
    edited_in,
)
from uaix_surfaces.cli.failures import OK, usable
from uaix_surfaces.cli.options import (
    PATH,
    authorise_option,
    checked_id,
    json_option,
    judging_options,
    key_option,
    note_option,
    package_argument,
)
from uaix_surfaces.cli.output import Output
from uaix_surfaces.cli.storing import read_source, state_option, stored
from uaix_surfaces.cli.telling import show_reviewed

if TYPE_CHECKING:
    from pathlib import Path

    from uaix_core.packages.anchors import Authorisation
    from uaix_core.packages.answers import Stored
    from uaix_core.packages.lint import Checks
    from uaix_core.packages.source import PackageSource
    from uaix_core.session.session import Session
    from uaix_surfaces.cli.acting import At
    from uaix_surfaces.cli.choosing import Chosen

id_option = click.option(
    "--id", "new_id", metavar="NEW_ID", help="Default: a new UUID."
)


@click.command("branch")
@click.argument("path", type=PATH, metavar="F")
@id_option
@state_option
@key_option
@at_options
@judging_options
@json_option
def branch_verb(  # noqa: PLR0913 - the options of the verb
    path: Path,
    *,
    new_id: str | None,
    based_on: str | PackageSource | None,
    key: str | None,
    checks: Checks,
    as_json: bool,
    at: At,
) -> int:
    r"""Store F, a divergent state of a stored package, as a package of its own.

    It is for a package that was changed elsewhere while the stored one moved on.
    Nothing is merged; the lineage of the branch names the stored package, and the
    checkpoint at which they parted, if --based-on or the manifest says it. uaix pick
    decides for one of them.

    \b
    Example:
      uaix branch theirs.uaix --id ada-2 --store sqlite:my.db --scope me/personal/main
    """
    if new_id is not None:
        checked_id(new_id, "--id")
    source = read_source(path)

    def call(session: Session) -> Stored:
        return session.packages.branch(
            source, package_id=new_id, based_on=based_on, key=key, **checks
        )

    return stored("branch", Output(as_json=as_json), str(path), call, at, create=False)


@click.command("derive")
@package_argument
@click.argument("folder", type=PATH, metavar="FOLDER")
@id_option
@click.option("--reason", required=True, metavar="TEXT", help="Why: it is recorded.")
@click.option(
    "--note",
    "notes",
    multiple=True,
    metavar="PATH=TEXT",
    help="What was changed in a file; each changed file of the persona needs one.",
)
@based_on_option
@choosing_options
@key_option
@authorise_option
@at_options
@judging_options
@json_option
def derive_verb(  # noqa: PLR0913 - the options of the verb
    package_id: str,
    folder: Path,
    *,
    new_id: str | None,
    reason: str,
    notes: tuple[str, ...],
    based_on: str | None,
    chosen: Chosen,
    key: str | None,
    authorisations: tuple[Authorisation, ...],
    checks: Checks,
    as_json: bool,
    at: At,
) -> int:
    r"""Store what the persona of a package is to become as another package.

    FOLDER is an export of the package with the files changed as they are wanted. What
    was changed is told as uaix status tells it: against the state that FOLDER is of. A
    changed file that has moved on since is a conflict, and nothing is made. The
    original stays byte for byte, and the derivative says why it was made and what was
    changed in each file.

    \b
    Example:
      uaix derive ada work --id ada-radio --reason "for a radio play" \
        --note ".uai/persona.uai=speaks faster" \
        --store sqlite:my.db --scope me/personal/main
    """
    if new_id is not None:
        checked_id(new_id, "--id")
    with usable():
        said = dict(_note(text) for text in notes)

    def call(session: Session) -> Stored:
        edited = edited_in(session, package_id, folder, based_on)
        return session.packages.derive_edits(
            package_id,
            edited,
            reason=reason,
            notes=said,
            authorisations=authorisations,
            package_id=new_id,
            key=key,
            **chosen,
            **checks,
        )

    out = Output(as_json=as_json)
    return stored("derive", out, package_id, call, at, create=False)


def _note(text: str) -> tuple[str, str]:
    path, mark, note = text.partition("=")
    if not mark:
        raise CallerError("a note is PATH=TEXT", code="derive.note", path="--note")
    return path, note


@click.command("pick")
@package_argument
@click.option(
    "--over", required=True, metavar="PACKAGE_ID", help="The one that is rejected."
)
@note_option
@at_options
@json_option
def pick_verb(package_id: str, *, over: str, note: str, as_json: bool, at: At) -> int:
    r"""Decide for one of two packages that have parted; the other one is rejected.

    \b
    Example:
      uaix pick ada-2 --over ada --store sqlite:my.db --scope me/personal/main
    """
    checked_id(over, "--over")
    with usable():
        said = ReviewNote(note)
    with at.session() as session:
        answer = session.review.pick(package_id, over=over, note=said)
    show_reviewed(Output(as_json=as_json), package_id, answer)
    return OK
