"""The verbs between tiers: propose, proposals, decide."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from uaix_core.review.notes import ReviewNote
from uaix_core.tiers.drafts import FileDraft, PointerDraft, TierRef
from uaix_core.values.errors import CallerError
from uaix_surfaces.cli.acting import at_options, reading_options
from uaix_surfaces.cli.failures import OK, UNUSABLE, usable
from uaix_surfaces.cli.judging import shown_refusal
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
from uaix_surfaces.cli.output import Output, write_error
from uaix_surfaces.cli.places import file_bytes
from uaix_surfaces.cli.revising import expect_option, path_argument
from uaix_surfaces.cli.tier_lines import row_line, tell_answer, tell_lines

if TYPE_CHECKING:
    from pathlib import Path

    from uaix_core.packages.anchors import Authorisation
    from uaix_core.packages.lint import Checks
    from uaix_core.tiers.reading import ProposalView
    from uaix_surfaces.cli.acting import At

#: How a file that isn't there yet is expected.
_NONE = "none"


@click.group("propose", invoke_without_command=True)
@click.pass_context
def propose_verb(context: click.Context) -> int:
    r"""Propose that something recorded becomes a pointer, or a change of a file.

    It changes nothing until a person accepts it with uaix decide.

    \b
    Example:
      uaix propose pointer ada --from turn:4a9c... --title "Launch plan" \
        --locator wiki:Apollo#launch --digest sha256:78ea... \
        --store sqlite:my.db --scope me/personal/main --actor agent:ada-1
      uaix propose file --help

    Its verbs offer --json.
    """
    if context.invoked_subcommand is None:
        write_error(context.get_help())
        return UNUSABLE
    return OK


def _sources(
    _context: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> tuple[TierRef, ...]:
    with usable():
        parts = [text.partition(":") for text in texts]
        return tuple(TierRef(kind, name) for kind, _colon, name in parts)


_sources_option = click.option(
    "--from",
    "sources",
    multiple=True,
    required=True,
    callback=_sources,
    metavar="KIND:ID",
    help="What it is made from: state, turn, variance or note; may be repeated.",
)
_reason_option = click.option(
    "--reason", default="", metavar="TEXT", help="Why: it is recorded."
)


@propose_verb.command("pointer")
@package_argument
@_sources_option
@click.option("--title", required=True, metavar="TEXT", help="What it is about.")
@click.option("--locator", required=True, metavar="ADDRESS", help="Where it is.")
@click.option(
    "--digest", required=True, metavar="SHA256", help="Of what is there: sha256:HEX."
)
@_reason_option
@key_option
@at_options
@json_option
def pointer_verb(  # noqa: PLR0913 - the options of the verb
    package_id: str,
    *,
    sources: tuple[TierRef, ...],
    title: str,
    locator: str,
    digest: str,
    reason: str,
    key: str | None,
    as_json: bool,
    at: At,
) -> int:
    r"""Propose a pointer of long-term memory.

    \b
    Example:
      uaix propose pointer ada --from turn:4a9c... --title "Launch plan" \
        --locator wiki:Apollo#launch --digest sha256:78ea... \
        --store sqlite:my.db --scope me/personal/main --actor agent:ada-1
    """
    with usable():
        draft = PointerDraft(title, locator, digest)
    more = {"sources": sources, "reason": reason, "key": key}
    return _proposed(package_id, draft, more, at, as_json=as_json)


@propose_verb.command("file")
@package_argument
@path_argument
@click.argument("file", type=PATH, metavar="F")
@_sources_option
@expect_option
@click.option(
    "--entry", metavar="JSON", help="Members of the manifest entry of a new file."
)
@_reason_option
@key_option
@at_options
@json_option
def file_verb(  # noqa: PLR0913 - the options of the verb
    package_id: str,
    path: str,
    file: Path,
    *,
    sources: tuple[TierRef, ...],
    expected: str,
    entry: str | None,
    reason: str,
    key: str | None,
    as_json: bool,
    at: At,
) -> int:
    r"""Propose the bytes of the file F for the record at PATH.

    \b
    Example:
      uaix propose file ada .uai/world-context.uai world.uai --from turn:4a9c... \
        --expect REVISION --store sqlite:my.db --scope me/personal/main
    """
    with usable():
        seen = None if expected == _NONE else expected
        draft = FileDraft(path, file_bytes(file), seen, _entry(entry))
    more = {"sources": sources, "reason": reason, "key": key}
    return _proposed(package_id, draft, more, at, as_json=as_json)


def _entry(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise CallerError(
            "an entry is a JSON object", code="usage.entry", path="--entry"
        )
    return found


def _proposed(
    package_id: str,
    draft: PointerDraft | FileDraft,
    more: dict[str, Any],
    at: At,
    *,
    as_json: bool,
) -> int:
    with at.session() as session:
        answer = session.proposals.propose(package_id, draft, **more)
    return tell_answer(answer, f"{answer.id}: proposed", as_json=as_json)


@click.command("proposals")
@package_argument
@click.option(
    "--state",
    type=click.Choice(("open", "accepted", "declined")),
    default="open",
    show_default=True,
    help="Which ones.",
)
@reading_options
@json_option
def proposals_verb(package_id: str, *, state: str, at: At, as_json: bool) -> int:
    r"""List the proposals about a package, oldest first.

    \b
    Example:
      uaix proposals ada --store sqlite:my.db --scope me/personal/main
    """
    lines: list[dict[str, Any]] = []
    after = None
    with at.session() as session:
        proposals = session.proposals
        while page := proposals.list(package_id, state, after=after):
            lines += [_line(proposals.get(one.proposal_id)) for one in page]
            after = (page[-1].opened_at, page[-1].proposal_id)
    columns = ("proposal_id", "kind", "title", "path", "actor_id", "is_erased")
    return tell_lines(lines, columns, f"no {state} proposals", as_json=as_json)


def _line(view: ProposalView) -> dict[str, Any]:
    """A proposal as plain data; a proposed file is text."""
    names = ("reason", "title", "locator", "digest", "path", "expected_revision")
    return {
        **row_line(view.entry),
        **{name: getattr(view, name) for name in names},
        "entry": view.manifest_entry,
        "content": None if view.content is None else view.content.decode(),
        "sources": [f"{one.kind}:{one.id}" for one in view.sources],
    }


def _proposal_id(_context: click.Context, _option: click.Parameter, text: str) -> str:
    return checked_id(text, "PROPOSAL_ID")


@click.command("decide")
@click.argument("proposal_id", metavar="PROPOSAL_ID", callback=_proposal_id)
@click.argument("verdict", type=click.Choice(("accept", "decline")))
@note_option
@authorise_option
@at_options
@judging_options
@json_option
def decide_verb(  # noqa: PLR0913 - the options of the verb
    proposal_id: str,
    verdict: str,
    *,
    note: str,
    authorisations: tuple[Authorisation, ...],
    checks: Checks,
    as_json: bool,
    at: At,
) -> int:
    r"""Accept a proposal, which makes the move, or decline it; a person decides.

    \b
    Examples:
      uaix decide 4a9c... accept --store sqlite:my.db --scope me/personal/main
      uaix decide 4a9c... decline --note "hearsay" \
        --store sqlite:my.db --scope me/personal/main
    """
    if verdict == "decline" and authorisations:
        raise click.UsageError("--authorise goes with accept")
    with usable():
        said = ReviewNote(note)
    out = Output(as_json=as_json)
    with (
        shown_refusal(out, proposal_id),
        at.session() as session,
    ):
        if verdict == "decline":
            answer = session.proposals.decline(proposal_id, note=said)
        else:
            answer = session.proposals.accept(
                proposal_id, note=said, authorisations=authorisations, **checks
            )
    return tell_answer(answer, f"{proposal_id}: {answer.verdict}", as_json=as_json)
