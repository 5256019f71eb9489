"""The verbs that change one record: revise, tombstone, revert."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from uaix_surfaces.cli.changing import changing_options
from uaix_surfaces.cli.failures import OK, usable
from uaix_surfaces.cli.judging import show_findings, shown_refusal
from uaix_surfaces.cli.options import (
    PATH,
    package_argument,
)
from uaix_surfaces.cli.output import Output
from uaix_surfaces.cli.places import file_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from uaix_core.packages.revisions import Revised
    from uaix_core.session.session import Session
    from uaix_surfaces.cli.acting import At
    from uaix_surfaces.cli.changing import How

path_argument = click.argument("path", metavar="PATH")
expect_option = click.option(
    "--expect",
    "expected",
    required=True,
    metavar="REVISION",
    help="The revision that was seen, as uaix show names it; none for a new record.",
)

#: How a record that isn't there yet is expected.
_NONE = "none"


def revised(out: Output, name: str, at: At, call: Callable[[Session], Revised]) -> int:
    """Open the store, change a record, and tell what came of it."""
    with (
        shown_refusal(out, name),
        out.working(name),
        at.session() as session,
    ):
        answer = call(session)
    if out.as_json:
        out.line(answer.as_dict())
        return OK
    done = f"revision {answer.number}" if answer.is_first else "nothing to do"
    if not answer.is_current:
        done += ": it was made before, and the record has moved on"
    out.say(f"{name}: {answer.change}: {done}", "accepted")
    line = answer.as_dict()
    del line["notices"]
    out.pairs(line.items())
    show_findings(out, answer.notices)
    return OK


@click.command("revise")
@package_argument
@path_argument
@click.argument("file", type=PATH, metavar="F")
@expect_option
@changing_options
def revise_verb(  # noqa: PLR0913 - the options of the verb
    package_id: str,
    path: str,
    file: Path,
    *,
    expected: str,
    how: How,
    as_json: bool,
    at: At,
) -> int:
    r"""Make the bytes of the file F the next revision of the record at PATH.

    It goes through only when the revision that --expect names still stands. Otherwise
    the record stays, and F is kept as a conflict. The same call again writes nothing.

    \b
    Example:
      uaix revise ada .uai/world-context.uai world.uai --expect REVISION \
        --store sqlite:my.db --scope me/personal/main
    """
    with usable():
        content = file_bytes(file)
    return revised(
        Output(as_json=as_json),
        path,
        at,
        lambda session: session.packages.revise(
            package_id,
            path,
            content,
            expected_revision=None if expected == _NONE else expected,
            **how,
        ),
    )


@click.command("tombstone")
@package_argument
@path_argument
@expect_option
@click.option("--reason", required=True, metavar="TEXT", help="Why: it is recorded.")
@changing_options
def tombstone_verb(  # noqa: PLR0913 - the options of the verb
    package_id: str,
    path: str,
    *,
    expected: str,
    reason: str,
    how: How,
    as_json: bool,
    at: At,
) -> int:
    r"""Retire the record at PATH: its file goes, its history stays.

    A file that the package needs can't go. uaix revive brings a record back.

    \b
    Example:
      uaix tombstone ada .uai/notes.uai --expect REVISION --reason "out of date" \
        --store sqlite:my.db --scope me/personal/main
    """
    return revised(
        Output(as_json=as_json),
        path,
        at,
        lambda session: session.packages.tombstone(
            package_id,
            path,
            expected_revision=expected,
            reason=reason,
            **how,
        ),
    )


@click.command("revert")
@package_argument
@path_argument
@click.option(
    "--to",
    "revision_id",
    required=True,
    metavar="REVISION",
    help="The older revision, as uaix history names it.",
)
@expect_option
@changing_options
def revert_verb(  # noqa: PLR0913 - the options of the verb
    package_id: str,
    path: str,
    *,
    revision_id: str,
    expected: str,
    how: How,
    as_json: bool,
    at: At,
) -> int:
    r"""Make what an older revision says the next revision of the record at PATH.

    \b
    Example:
      uaix revert ada .uai/notes.uai --to OLDER --expect REVISION \
        --store sqlite:my.db --scope me/personal/main
    """
    return revised(
        Output(as_json=as_json),
        path,
        at,
        lambda session: session.packages.revert(
            package_id,
            path,
            revision_id=revision_id,
            expected_revision=expected,
            **how,
        ),
    )
