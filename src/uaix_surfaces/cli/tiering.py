"""The verbs of the tiers in which an agent works, and the group of all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from uaix_core.tiers.erasing import KINDS
from uaix_core.tiers.recording import ROLES
from uaix_surfaces.cli import tier_noting, tier_testing
from uaix_surfaces.cli.acting import at_options
from uaix_surfaces.cli.failures import OK, UNUSABLE
from uaix_surfaces.cli.options import (
    json_option,
    lease_option,
    named_lease,
    package_argument,
)
from uaix_surfaces.cli.output import write_error
from uaix_surfaces.cli.tier_lines import (
    agent_option,
    instant_option,
    needed_text,
    row_line,
    tell_answer,
    tell_lines,
    text_of,
    text_options,
)

if TYPE_CHECKING:
    from pathlib import Path

    from uaix_core.tiers.answers import Erased
    from uaix_surfaces.cli.acting import At


@click.group("tier", invoke_without_command=True)
@click.pass_context
def tier_verb(context: click.Context) -> int:
    r"""Write and read what is kept beside a persona, tier by tier.

    Nothing moves from one tier into another by itself: uaix propose proposes it, and
    a person decides with uaix decide.

    \b
    Examples:
      uaix tier state ada --agent ada-1 --text "Now: the launch plan" \
        --store sqlite:my.db --scope me/personal/main
      uaix tier say ada --agent ada-1 --conversation c-1 --role user \
        --text "Hello" --store sqlite:my.db --scope me/personal/main
      uaix tier pointers ada --store sqlite:my.db --scope me/personal/main

    Its verbs offer --json.
    """
    if context.invoked_subcommand is None:
        write_error(context.get_help())
        return UNUSABLE
    return OK


_conversation = click.option(
    "--conversation", metavar="ID", help="Which conversation of the agent."
)


@tier_verb.command("state")
@package_argument
@agent_option
@text_options
@click.option(
    "--seen",
    type=click.IntRange(min=0),
    metavar="NUMBER",
    help="Replace only the state of this number; 0 for none.",
)
@lease_option
@at_options
@json_option
def state_verb(  # noqa: PLR0913 - the options of the verb
    package_id: str,
    *,
    agent_id: str,
    text: str | None,
    file: Path | None,
    seen: int | None,
    lease_id: str | None,
    as_json: bool,
    at: At,
) -> int:
    r"""Show the working state of an agent, or replace it with --text or --file.

    \b
    Examples:
      uaix tier state ada --agent ada-1 --store sqlite:my.db --scope me/personal/main
      uaix tier state ada --agent ada-1 --file state.txt \
        --store sqlite:my.db --scope me/personal/main
    """
    said = text_of(text, file)
    with at.session() as session:
        memory = session.tiers.short_term
        if said is not None:
            lease = named_lease(session, lease_id)
            answer = memory.put(package_id, agent_id, said, seen=seen, lease=lease)
            return tell_answer(
                answer, f"{agent_id}: state {answer.number}", as_json=as_json
            )
        state = memory.get(package_id, agent_id)
    lines = [] if state is None else [row_line(state)]
    return tell_lines(
        lines, ("number", "text"), "no state of that agent stands", as_json=as_json
    )


@tier_verb.command("say")
@package_argument
@agent_option
@click.option("--conversation", required=True, metavar="ID", help="Which conversation.")
@click.option(
    "--role", required=True, type=click.Choice(ROLES), help="Who said it in it."
)
@text_options
@instant_option("--at", "said_at", "When it was said; now without it.")
@lease_option
@at_options
@json_option
def say_verb(  # noqa: PLR0913 - the options of the verb
    package_id: str,
    *,
    agent_id: str,
    conversation: str,
    role: str,
    text: str | None,
    file: Path | None,
    said_at: int | None,
    lease_id: str | None,
    as_json: bool,
    at: At,
) -> int:
    r"""Append a turn to a conversation.

    \b
    Example:
      uaix tier say ada --agent ada-1 --conversation c-1 --role user \
        --text "Hello" --store sqlite:my.db --scope me/personal/main
    """
    said = needed_text(text, file)
    with at.session() as session:
        answer = session.tiers.conversations.add(
            package_id,
            agent_id,
            conversation,
            role,
            said,
            said_at=said_at,
            lease=named_lease(session, lease_id),
        )
    return tell_answer(answer, f"{conversation}: turn {answer.number}", as_json=as_json)


@tier_verb.command("turns")
@package_argument
@agent_option
@_conversation
@at_options
@json_option
def turns_verb(
    package_id: str, *, agent_id: str, conversation: str | None, as_json: bool, at: At
) -> int:
    r"""Show the turns of a conversation, or list the conversations of an agent.

    \b
    Example:
      uaix tier turns ada --agent ada-1 --conversation c-1 \
        --store sqlite:my.db --scope me/personal/main
    """
    lines: list[dict[str, Any]] = []
    with at.session() as session:
        talks = session.tiers.conversations
        if conversation is None:
            name = None
            while listed := talks.list(package_id, agent_id, after=name):
                lines += map(row_line, listed)
                name = listed[-1].conversation_id
            listing = ("conversation_id", "turn_count", "modified_at")
            return tell_lines(lines, listing, "no conversation", as_json=as_json)
        number = None
        while page := talks.turns(package_id, agent_id, conversation, after=number):
            lines += map(row_line, page)
            number = page[-1].number
    columns = ("number", "role", "text", "turn_id")
    return tell_lines(lines, columns, "no turns", as_json=as_json)


@tier_verb.command("erase")
@package_argument
@click.argument("kind", type=click.Choice(list(KINDS)))
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--agent", "agent_id", metavar="ID", help="All states of this agent.")
@_conversation
@click.option(
    "--only-replaced", is_flag=True, help="Keep the state that stands of --agent."
)
@at_options
@json_option
def erase_verb(  # noqa: PLR0913 - the options of the verb
    package_id: str,
    kind: str,
    ids: tuple[str, ...],
    *,
    agent_id: str | None,
    conversation: str | None,
    only_replaced: bool,
    as_json: bool,
    at: At,
) -> int:
    r"""Erase texts of a tier by their ids, and what was proposed from them.

    States are erased by --agent, all turns of a conversation by --agent and
    --conversation. What a person accepted stays; the answer names such pointers.

    \b
    Examples:
      uaix tier erase ada turn 4a9c... --store sqlite:my.db --scope me/personal/main
      uaix tier erase ada turn --agent ada-1 --conversation c-1 \
        --store sqlite:my.db --scope me/personal/main
      uaix tier erase ada state --agent ada-1 \
        --store sqlite:my.db --scope me/personal/main
    """
    is_whole = agent_id is not None and not ids
    if kind == "state":
        is_usable = is_whole and conversation is None
    elif is_whole:
        is_usable = kind == "turn" and conversation is not None and not only_replaced
    else:
        is_usable = bool(ids) and not (agent_id or conversation or only_replaced)
    if not is_usable:
        raise click.UsageError(
            "give ids, or --agent for states, or --agent and --conversation for turns"
        )
    with at.session() as session:
        tiers, answer = session.tiers, None
        if kind == "state":
            answer = tiers.short_term.erase(
                package_id, agent_id or "", only_replaced=only_replaced
            )
        elif is_whole:
            answer = tiers.conversations.erase_all(
                package_id, agent_id or "", conversation or ""
            )
        else:
            answer = _erased(session, package_id, kind, ids)
    return tell_answer(answer, f"{package_id}: erased", as_json=as_json)


def _erased(session: Any, package_id: str, kind: str, ids: tuple[str, ...]) -> Erased:
    tiers = session.tiers
    verbs: dict[str, Any] = {
        "turn": tiers.conversations,
        "variance": tiers.variance,
        "note": tiers.notes,
        "case": tiers.fidelity,
        "pointer": tiers.pointers,
        "proposal": session.proposals,
    }
    erased: Erased = verbs[kind].erase(package_id, ids)
    return erased


for _command in (*tier_noting.COMMANDS, *tier_testing.COMMANDS):
    tier_verb.add_command(_command)
