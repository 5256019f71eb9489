"""The verbs in which a person decides: waiting, review, resolve, revive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from uaix_core.packages.reviewing import PACKAGE_VERDICTS, RECORD_VERDICTS
from uaix_core.review.notes import ReviewNote
from uaix_core.values.errors import CallerError, ConflictError
from uaix_core.values.instants import format_instant
from uaix_surfaces.cli.acting import at_options, reading_options
from uaix_surfaces.cli.changing import changing_options
from uaix_surfaces.cli.conflicts import open_conflicts
from uaix_surfaces.cli.failures import OK, usable
from uaix_surfaces.cli.options import (
    json_option,
    note_option,
    package_argument,
)
from uaix_surfaces.cli.output import Output
from uaix_surfaces.cli.revising import expect_option, path_argument, revised
from uaix_surfaces.cli.telling import show_reviewed

if TYPE_CHECKING:
    from uaix_core.review.relations import OpenConflict
    from uaix_core.session.packages import Packages
    from uaix_core.session.reviews import Waiting
    from uaix_core.session.session import Session
    from uaix_surfaces.cli.acting import At
    from uaix_surfaces.cli.changing import How


@click.command("waiting")
@package_argument
@reading_options
@json_option
def waiting_verb(package_id: str, *, at: At, as_json: bool) -> int:
    r"""List what of a package waits for a person: records, conflicts, proposals.

    \b
    Example:
      uaix waiting ada --store sqlite:my.db --scope me/personal/main
    """
    out = Output(as_json=as_json)
    with at.session() as session:
        waiting = session.review.waiting(package_id)
        conflicts = [
            _conflict_line(session.packages, row)
            for row in open_conflicts(session.packages, package_id)
        ]
    records, rejected = (
        [{"path": file.path, "revision_id": file.revision_id} for file in files]
        for files in (waiting.records, waiting.rejected)
    )
    proposals = [
        {
            "proposal_id": row.proposal_id,
            "kind": row.kind,
            "actor": f"{row.actor_kind}:{row.actor_id}",
        }
        for row in waiting.proposals
    ]
    if as_json:
        out.line(
            {
                "package_id": package_id,
                "state": waiting.state,
                "checkpoint_id": waiting.checkpoint_id,
                "number": waiting.number,
                "records": records,
                "rejected": rejected,
                "conflicts": conflicts,
                "proposals": proposals,
            }
        )
        return OK
    is_done = not (records or rejected or conflicts or proposals)
    out.say(f"{package_id}: {waiting.state}", "ok" if is_done else "warning")
    out.pairs([("checkpoint", waiting.checkpoint_id), ("number", waiting.number)])
    if records:
        out.table(("unreviewed", "revision"), (tuple(row.values()) for row in records))
    if rejected:
        out.table(("rejected", "revision"), (tuple(row.values()) for row in rejected))
    if proposals:
        rows = (tuple(row.values()) for row in proposals)
        out.table(("proposal", "kind", "by"), rows)
    if conflicts:
        out.table(
            ("conflict", "file", "change", "by", "at"),
            (
                (
                    row["conflict_id"],
                    row["path"],
                    row["change"],
                    row["actor"],
                    row["opened_at"],
                )
                for row in conflicts
            ),
        )
    return OK


def _conflict_line(packages: Packages, row: OpenConflict) -> dict[str, Any]:
    kept = packages.conflict(row.conflict_id)
    return {
        "conflict_id": row.conflict_id,
        "record_id": row.record_id,
        "path": row.path,
        "change": kept.change,
        "sha256": kept.sha256,
        "expected_revision": kept.expected_revision_id,
        "head_revision": kept.head_revision_id,
        "actor": f"{row.actor_kind}:{row.actor_id}",
        "opened_at": format_instant(row.opened_at),
    }


@click.command("review")
@package_argument
@click.argument(
    "verdict",
    type=click.Choice(list(dict.fromkeys((*PACKAGE_VERDICTS, *RECORD_VERDICTS)))),
    metavar="VERDICT",
)
@click.option(
    "--record",
    "records",
    multiple=True,
    metavar="PATH=REVISION",
    help="Review this revision of a record, not the package; may be repeated.",
)
@click.option(
    "--all-records", is_flag=True, help="Review all records that wait, as --expect has."
)
@click.option(
    "--expect",
    "expected",
    metavar="CHECKPOINT",
    help="The checkpoint that was looked at: its id or number, as uaix waiting says.",
)
@note_option
@click.option(
    "--blocker",
    "blockers",
    multiple=True,
    metavar="TEXT",
    help="What still blocks it; may be repeated.",
)
@click.option(
    "--agreed",
    "agreements",
    multiple=True,
    metavar="WHO=WHAT",
    help="Who agreed to what; may be repeated.",
)
@at_options
@json_option
def review_verb(  # noqa: PLR0913 - the options of the verb
    package_id: str,
    verdict: str,
    *,
    records: tuple[str, ...],
    all_records: bool,
    expected: str | None,
    note: str,
    blockers: tuple[str, ...],
    agreements: tuple[str, ...],
    as_json: bool,
    at: At,
) -> int:
    r"""Say what a package is, or with --record or --all-records what its records are.

    A package is quarantined, review_required, active or rejected; it becomes active
    only when all of its records were reviewed and no conflict waits. A record is
    review_required, reviewed, approved or rejected. An agent's word doesn't count, and
    nobody's does for what moved on after they have looked at it: that is why --expect
    or the revision of each --record is needed.

    \b
    Examples:
      uaix review ada reviewed --all-records --expect CHECKPOINT \
        --store sqlite:my.db --scope me/personal/main
      uaix review ada active --expect CHECKPOINT --note "read in full" \
        --store sqlite:my.db --scope me/personal/main
    """
    out = Output(as_json=as_json)
    with usable():
        said = ReviewNote(note, blockers, dict(_pair(text) for text in agreements))
    with at.session() as session:
        if records or all_records:
            named = _named(session, package_id, records)
            if all_records:
                named = {**_all_waiting(session, package_id, expected), **named}
            answer = session.review.records(package_id, verdict, named, note=said)
            about = ", ".join(named)
        else:
            waiting = session.review.waiting(package_id)
            answer = session.review.package(
                package_id,
                verdict,
                checkpoint_id=_looked_at(waiting, expected),
                note=said,
            )
            about = package_id
    return show_reviewed(out, about, answer)


def _pair(text: str) -> tuple[str, str]:
    who, mark, what = text.partition("=")
    if not mark:
        raise CallerError(
            "an agreement is WHO=WHAT", code="review.agreements", path="--agreed"
        )
    return who, what


def _looked_at(waiting: Waiting, expected: str | None) -> str:
    """The id of the checkpoint that was looked at.

    Raises:
        Unusable: ``review.expect`` when nobody says which it was.

    """
    if expected is None:
        with usable():
            raise _unseen(f"--expect {waiting.checkpoint_id}, or {waiting.number}")
    is_current = expected in (waiting.checkpoint_id, str(waiting.number))
    return waiting.checkpoint_id if is_current else expected


def _unseen(names: str) -> CallerError:
    return CallerError(
        "a review names what was looked at",
        code="review.expect",
        path="--expect",
        hint=f"look at what stands now, and then say {names}",
    )


def _all_waiting(
    session: Session, package_id: str, expected: str | None
) -> dict[str, str]:
    """Path to revision of all records that wait in the checkpoint that was looked at.

    Raises:
        ConflictError: ``package.stale`` when another one stands.

    """
    waiting = session.review.waiting(package_id)
    if _looked_at(waiting, expected) != waiting.checkpoint_id:
        raise ConflictError(
            "another checkpoint is the current one",
            code="package.stale",
            path=package_id,
            hint="look at the current checkpoint first",
        )
    return {file.path: file.revision_id for file in waiting.records}


def _named(
    session: Session, package_id: str, records: tuple[str, ...]
) -> dict[str, str]:
    """Path to the revision that was looked at.

    Raises:
        Unusable: ``review.expect`` for a record without its revision.

    """
    named: dict[str, str] = {}
    for text in records:
        path, mark, revision_id = text.partition("=")
        if not mark:
            standing = session.packages.record(package_id, path).revision.revision_id
            with usable():
                raise _unseen(f"--record {path}={standing}")
        named[path] = revision_id
    return named


@click.command("revive")
@package_argument
@path_argument
@expect_option
@note_option
@changing_options
def revive_verb(  # noqa: PLR0913 - the options of the verb
    package_id: str,
    path: str,
    *,
    expected: str,
    note: str,
    how: How,
    as_json: bool,
    at: At,
) -> int:
    r"""Bring the tombstoned record at PATH back, as it was before.

    --expect names its tombstone, as uaix history does.

    \b
    Example:
      uaix revive ada .uai/notes.uai --expect TOMBSTONE \
        --store sqlite:my.db --scope me/personal/main
    """
    with usable():
        said = ReviewNote(note)
    return revised(
        Output(as_json=as_json),
        path,
        at,
        lambda session: session.review.restore(
            package_id,
            path,
            expected_revision=expected,
            note=said,
            **how,
        ),
    )
