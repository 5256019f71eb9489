"""The verbs of variance, of platform notes and of the ledger of long-term memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from uaix_core.tiers.noting import NOTE_KINDS
from uaix_core.tiers.recording import CAUSES
from uaix_core.values.instants import EARLIEST, FOREVER
from uaix_surfaces.cli.acting import at_options, reading_options
from uaix_surfaces.cli.options import (
    json_option,
    lease_option,
    named_lease,
    package_argument,
)
from uaix_surfaces.cli.output import Output
from uaix_surfaces.cli.tier_lines import (
    agent_option,
    instant_option,
    needed_text,
    row_line,
    tell_answer,
    tell_lines,
    text_options,
)

if TYPE_CHECKING:
    from pathlib import Path

    from uaix_core.tiers.reading import PointerView
    from uaix_surfaces.cli.acting import At


@click.command("diverge")
@package_argument
@agent_option
@click.option("--path", required=True, metavar="PATH", help="The file of the persona.")
@click.option("--what", required=True, metavar="TEXT", help="What was otherwise.")
@click.option("--why", required=True, metavar="TEXT", help="Why it was.")
@click.option(
    "--cause",
    type=click.Choice(CAUSES),
    default=CAUSES[0],
    show_default=True,
    help="Who made it so.",
)
@instant_option("--at", "occurred_at", "When it was; now without it.")
@lease_option
@at_options
@json_option
def diverge_verb(  # noqa: PLR0913 - the options of the verb
    package_id: str,
    *,
    agent_id: str,
    path: str,
    what: str,
    why: str,
    cause: str,
    occurred_at: int | None,
    lease_id: str | None,
    as_json: bool,
    at: At,
) -> int:
    r"""Record that an agent behaved otherwise than its persona says.

    \b
    Example:
      uaix tier diverge ada --agent ada-1 --path .uai/persona.uai \
        --what "answered flatly" --why "the channel allows no emphasis" \
        --cause platform --store sqlite:my.db --scope me/personal/main
    """
    with at.session() as session:
        answer = session.tiers.variance.record(
            package_id,
            agent_id,
            path,
            what=what,
            why=why,
            cause=cause,
            occurred_at=occurred_at,
            lease=named_lease(session, lease_id),
        )
    return tell_answer(answer, f"{path}: recorded", as_json=as_json)


@click.command("variance")
@package_argument
@instant_option("--from", "from_at", "From this instant on.")
@instant_option("--to", "to_at", "Until before this instant.")
@reading_options
@json_option
def variance_verb(
    package_id: str,
    *,
    from_at: int | None,
    to_at: int | None,
    at: At,
    as_json: bool,
) -> int:
    r"""Report how behaviour diverged from a persona, over a range of time.

    \b
    Example:
      uaix tier variance ada --from 2026-01-01T00:00:00Z \
        --store sqlite:my.db --scope me/personal/main
    """
    begin = EARLIEST if from_at is None else from_at
    end = FOREVER if to_at is None else to_at
    lines: list[dict[str, Any]] = []
    after = None
    with at.session() as session:
        while True:
            report = session.tiers.variance.report(
                package_id, from_at=begin, to_at=end, after=after
            )
            lines += map(row_line, report.variances)
            after = report.next_after
            if after is None:
                break
    if not as_json and lines:
        counts: dict[str, int] = {}
        for line in lines:
            counts[line["cause"]] = counts.get(line["cause"], 0) + 1
        Output(as_json=as_json).pairs(sorted(counts.items()))
    columns = ("occurred_at", "agent_id", "cause", "path", "what", "why")
    return tell_lines(lines, columns, "no variance", as_json=as_json)


@click.command("note")
@package_argument
@click.option(
    "--kind", required=True, type=click.Choice(NOTE_KINDS), help="Who sets the limit."
)
@click.option("--title", required=True, metavar="TEXT", help="What it is about.")
@text_options
@at_options
@json_option
def note_verb(  # noqa: PLR0913 - the options of the verb
    package_id: str,
    *,
    kind: str,
    title: str,
    text: str | None,
    file: Path | None,
    as_json: bool,
    at: At,
) -> int:
    r"""Note a limit that a platform, the law or safety sets; no file changes.

    \b
    Example:
      uaix tier note ada --kind legal --title "Medical advice" \
        --text "None is given in this country." \
        --store sqlite:my.db --scope me/personal/main
    """
    said = needed_text(text, file)
    with at.session() as session:
        answer = session.tiers.notes.add(package_id, kind=kind, title=title, text=said)
    return tell_answer(answer, f"{package_id}: noted", as_json=as_json)


@click.command("notes")
@package_argument
@reading_options
@json_option
def notes_verb(package_id: str, *, at: At, as_json: bool) -> int:
    r"""List the platform notes of a package.

    \b
    Example:
      uaix tier notes ada --store sqlite:my.db --scope me/personal/main
    """
    lines: list[dict[str, Any]] = []
    after = None
    with at.session() as session:
        while page := session.tiers.notes.list(package_id, after=after):
            lines += map(row_line, page)
            after = page[-1].note_id
    columns = ("kind", "title", "text", "note_id")
    return tell_lines(lines, columns, "no notes", as_json=as_json)


@click.command("pointers")
@package_argument
@reading_options
@json_option
def pointers_verb(package_id: str, *, at: At, as_json: bool) -> int:
    r"""List the pointers of long-term memory, and what they were made from.

    \b
    Example:
      uaix tier pointers ada --store sqlite:my.db --scope me/personal/main
    """
    lines: list[dict[str, Any]] = []
    after = None
    with at.session() as session:
        while page := session.tiers.pointers.list(package_id, after=after):
            lines += map(_pointer_line, page)
            after = page[-1].pointer.pointer_id
    columns = ("title", "locator", "digest", "sources", "pointer_id")
    return tell_lines(lines, columns, "no pointers", as_json=as_json)


def _pointer_line(view: PointerView) -> dict[str, Any]:
    sources = [f"{one.kind}:{one.id}" for one in view.sources]
    return {**row_line(view.pointer), "sources": sources}


COMMANDS: Final = (diverge_verb, variance_verb, note_verb, notes_verb, pointers_verb)
