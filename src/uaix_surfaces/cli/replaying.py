"""The verb that replays an outbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from uaix_core.packages.outbox import read_outbox
from uaix_surfaces.cli.changing import changing_options
from uaix_surfaces.cli.failures import OK, REFUSED, usable
from uaix_surfaces.cli.options import PATH
from uaix_surfaces.cli.output import Output, counted, write_error
from uaix_surfaces.cli.places import file_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from uaix_core.packages.outbox import Replayed
    from uaix_surfaces.cli.acting import At
    from uaix_surfaces.cli.changing import How

_DONE = frozenset(("applied", "already"))


@click.command("replay")
@click.argument("path", type=PATH, metavar="F")
@changing_options
def replay_verb(path: Path, *, how: How, as_json: bool, at: At) -> int:
    r"""Apply the changes of the outbox F in their order, each by itself.

    A change that was applied before writes nothing. One over a revision that has moved
    on is kept as a conflict, and those that follow it are skipped. A protected file
    changes only with --authorise; what F says about that counts for nothing.

    \b
    Example:
      uaix replay queued.jsonl --store sqlite:my.db --scope me/personal/main

    \b
    Exit codes:
      0  every change stands, from now or from before
      1  some changes don't
    """
    out = Output(as_json=as_json)
    with usable():
        changes = read_outbox(file_bytes(path))
    with (
        out.working(str(path)),
        at.session() as session,
    ):
        outcomes = session.packages.replay(changes, **how)
    claims = sum(outcome.claims_authorisation for outcome in outcomes)
    if claims:
        write_error(
            f"note: {counted(claims, 'change')} of the file name authorisations of "
            "their own, which don't count"
        )
    if as_json:
        for outcome in outcomes:
            out.line(outcome.as_dict())
    else:
        stands = sum(outcome.outcome in _DONE for outcome in outcomes)
        word = "ok" if stands == len(outcomes) else "warning"
        out.say(f"{path}: {stands} of {counted(len(outcomes), 'change')} stand", word)
        out.table(
            ("command", "outcome", "revision, conflict or what is needed", "code"),
            ((one.command_id, one.outcome, _about(one), one.code) for one in outcomes),
        )
    return OK if all(outcome.outcome in _DONE for outcome in outcomes) else REFUSED


def _about(outcome: Replayed) -> str | None:
    if outcome.needs is not None:
        return f"--authorise {outcome.needs.path}:{outcome.needs.operation}"
    if outcome.revised is not None:
        return outcome.revised.revision_id
    return outcome.conflict_id
