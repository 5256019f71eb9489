"""The verbs about what lost: conflict, resolve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from uaix_backends.files import write_archive_file
from uaix_core.review.notes import ReviewNote
from uaix_core.store.port import MAX_SCAN
from uaix_core.values.errors import CallerError, NotFoundError
from uaix_surfaces.cli.acting import at_options, reading_options
from uaix_surfaces.cli.failures import OK, usable
from uaix_surfaces.cli.options import (
    PATH,
    authorise_option,
    checked_id,
    json_option,
    judging_options,
    note_option,
)
from uaix_surfaces.cli.output import Output
from uaix_surfaces.cli.places import new_place
from uaix_surfaces.cli.revising import revised
from uaix_surfaces.cli.storing import stored
from uaix_surfaces.cli.telling import show_reviewed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from uaix_core.packages.anchors import Authorisation
    from uaix_core.packages.answers import Stored
    from uaix_core.packages.lint import Checks
    from uaix_core.packages.revisions import Revised
    from uaix_core.review.relations import OpenConflict
    from uaix_core.session.packages import Packages
    from uaix_core.session.session import Session
    from uaix_surfaces.cli.acting import At


#: Which options a decision takes beside the note.
_TAKES: Final = {
    "keep": {"--expect"},
    "take": {"--expect", "--authorise"},
    "branch": {"--id"},
}


def open_conflicts(packages: Packages, package_id: str) -> Sequence[OpenConflict]:
    """All conflicts of a package that wait."""
    found: list[OpenConflict] = []
    after = None
    while page := packages.conflicts(package_id, after=after, limit=MAX_SCAN):
        found += page
        after = (package_id, page[-1].record_id, page[-1].conflict_id)
    return found


@click.command("conflict")
@click.argument("conflict_id", metavar="CONFLICT_ID")
@click.option(
    "-o",
    "--output",
    "target",
    type=PATH,
    metavar="F",
    help="Write the candidate's bytes into this new file.",
)
@reading_options
@json_option
def conflict_verb(
    conflict_id: str, *, target: Path | None, at: At, as_json: bool
) -> int:
    r"""Show a candidate that lost: who wanted what, over which revision.

    With -o its bytes are written, so that somebody can look at them before deciding.

    \b
    Example:
      uaix conflict CONFLICT -o theirs.uai \
        --store sqlite:my.db --scope me/personal/main
    """
    out = Output(as_json=as_json)
    place = None if target is None else new_place(target)
    with at.session() as session:
        kept = session.packages.conflict(conflict_id)
    if place is not None:
        if kept.content is None:
            raise CallerError(
                "the candidate was erased", code="conflict.erased", path=conflict_id
            )
        write_archive_file(place, [kept.content])
    line = {
        "conflict_id": kept.conflict_id,
        "package_id": kept.package_id,
        "record_id": kept.record_id,
        "path": kept.path,
        "change": kept.change,
        "sha256": kept.sha256,
        "expected_revision": kept.expected_revision_id,
        "head_revision": kept.head_revision_id,
        "actor": f"{kept.actor_kind}:{kept.actor_id}",
        "written": None if target is None else str(target),
    }
    if as_json:
        out.line(line)
    else:
        out.pairs(line.items())
    return OK


@click.command("resolve")
@click.argument("conflict_id", metavar="CONFLICT_ID")
@click.argument(
    "decision", type=click.Choice(["keep", "take", "branch"]), metavar="DECISION"
)
@click.option(
    "--expect",
    "expected",
    metavar="REVISION",
    help="The revision that stands: for take it gives way, for keep it stays.",
)
@click.option(
    "--id", "package_id", metavar="NEW_ID", help="For branch; default: a new UUID."
)
@note_option
@authorise_option
@at_options
@judging_options
@json_option
def resolve_verb(  # noqa: PLR0913 - the options of the verb
    conflict_id: str,
    decision: str,
    *,
    expected: str | None,
    package_id: str | None,
    note: str,
    authorisations: tuple[Authorisation, ...],
    checks: Checks,
    as_json: bool,
    at: At,
) -> int:
    r"""Decide a conflict: keep what stands, take the candidate, or let it branch off.

    A branch is a package of its own in which the candidate stands.

    \b
    Examples:
      uaix resolve CONFLICT keep --store sqlite:my.db --scope me/personal/main
      uaix resolve CONFLICT branch --id ada-2 \
        --store sqlite:my.db --scope me/personal/main
      uaix resolve CONFLICT take --expect REVISION \
        --store sqlite:my.db --scope me/personal/main
    """
    out = Output(as_json=as_json)
    given = {
        "--expect": expected is not None,
        "--id": package_id is not None,
        "--authorise": bool(authorisations),
    }
    for option, is_given in given.items():
        if is_given and option not in _TAKES[decision]:
            raise click.UsageError(f"{decision} takes no {option}")
    if package_id is not None:
        checked_id(package_id, "--id")
    with usable():
        said = ReviewNote(note)
    if decision == "keep":
        with at.session() as session:
            opened = _opened(session.packages, conflict_id)
            answer = session.review.keep(opened, expected_revision=expected, note=said)
        return show_reviewed(out, conflict_id, answer)
    if decision == "branch":

        def branch(session: Session) -> Stored:
            opened = _opened(session.packages, conflict_id)
            return session.review.branch(
                opened, package_id=package_id, note=said, **checks
            )

        return stored("branch", out, conflict_id, branch, at, create=False)
    if expected is None:
        raise click.UsageError("take needs --expect")

    def take(session: Session) -> Revised:
        return session.review.take(
            _opened(session.packages, conflict_id),
            expected_revision=expected,
            note=said,
            authorisations=authorisations,
            **checks,
        )

    return revised(out, conflict_id, at, take)


def _opened(packages: Packages, conflict_id: str) -> OpenConflict:
    kept = packages.conflict(conflict_id)
    for row in open_conflicts(packages, kept.package_id):
        if row.conflict_id == conflict_id:
            return row
    raise NotFoundError(
        "no such conflict is open", code="conflict.not-open", path=conflict_id
    )
