"""The verbs of leases: lease acquire, lease renew, lease release, lease show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from uaix_core.values.instants import DAY, SECOND, format_instant
from uaix_surfaces.cli.acting import at_options, reading_options
from uaix_surfaces.cli.failures import OK, UNUSABLE
from uaix_surfaces.cli.options import (
    checked_id,
    json_option,
    optional_package_argument,
    package_argument,
)
from uaix_surfaces.cli.output import Output, write_error
from uaix_surfaces.cli.tier_lines import tell_lines

if TYPE_CHECKING:
    from uaix_core.leases.holding import Lease
    from uaix_surfaces.cli.acting import At


@click.group("lease", invoke_without_command=True)
@click.pass_context
def lease_verb(context: click.Context) -> int:
    r"""Say which session of which agent is at work with a package, and until when.

    \b
    Examples:
      uaix lease acquire ada --agent ada-1 --session run-7 --for 600 \
        --store sqlite:my.db --scope me/personal/main
      uaix lease show --store sqlite:my.db --scope me/personal/main
      uaix lease release --help

    Its verbs offer --json.
    """
    if context.invoked_subcommand is None:
        write_error(context.get_help())
        return UNUSABLE
    return OK


def _session_id(_context: click.Context, _option: click.Parameter, text: str) -> str:
    return checked_id(text, "--session")


def _agent_id(_context: click.Context, _option: click.Parameter, text: str) -> str:
    return checked_id(text, "--agent")


_life = click.option(
    "--for",
    "seconds",
    required=True,
    type=click.IntRange(1, DAY // SECOND),
    metavar="SECONDS",
    help="For how long from now, at most a day (86400).",
)
_lease_id = click.argument(
    "lease_id",
    metavar="LEASE_ID",
    callback=lambda _context, _option, text: checked_id(text, "LEASE_ID"),
)


@lease_verb.command("acquire")
@package_argument
@click.option(
    "--agent",
    "agent_id",
    required=True,
    callback=_agent_id,
    metavar="ID",
    help="For which agent.",
)
@click.option(
    "--session",
    "session_id",
    required=True,
    callback=_session_id,
    metavar="ID",
    help="The name of this run of the agent.",
)
@_life
@at_options
@json_option
def acquire_verb(  # noqa: PLR0913 - the options of the verb
    package_id: str,
    *,
    agent_id: str,
    session_id: str,
    seconds: int,
    as_json: bool,
    at: At,
) -> int:
    r"""Take a package for a session of an agent; again it is the same lease.

    \b
    Example:
      uaix lease acquire ada --agent ada-1 --session run-7 --for 600 \
        --store sqlite:my.db --scope me/personal/main
    """
    with at.session() as session:
        lease = session.leases.acquire(
            package_id,
            agent_id=agent_id,
            session_id=session_id,
            life=seconds * SECOND,
        )
    _tell(Output(as_json=as_json), lease)
    return OK


@lease_verb.command("renew")
@_lease_id
@_life
@at_options
@json_option
def renew_verb(lease_id: str, *, seconds: int, as_json: bool, at: At) -> int:
    r"""Keep a lease for longer; refused once another session has the package.

    \b
    Example:
      uaix lease renew 019b... --for 600 --store sqlite:my.db --scope me/personal/main
    """
    with at.session() as session:
        held = session.leases.get(lease_id)
        lease = session.leases.renew(held, life=seconds * SECOND)
    _tell(Output(as_json=as_json), lease)
    return OK


@lease_verb.command("release")
@_lease_id
@at_options
@json_option
def release_verb(lease_id: str, *, as_json: bool, at: At) -> int:
    r"""Give a package back before the lease is over; whoever may write may do it.

    \b
    Example:
      uaix lease release 019b... --store sqlite:my.db --scope me/personal/main
    """
    with at.session() as session:
        answer = session.leases.release(session.leases.get(lease_id))
    out = Output(as_json=as_json)
    if as_json:
        out.line(answer.as_dict())
        return OK
    out.say(f"{answer.lease_id}: {answer.outcome}", "accepted")
    out.pairs(answer.as_dict().items())
    return OK


@lease_verb.command("show")
@optional_package_argument
@reading_options
@json_option
def show_verb(package_id: str, *, at: At, as_json: bool) -> int:
    r"""Show who is at work with a package, or with all packages of the scope.

    A lease whose time is over is shown until another session takes the package.

    \b
    Examples:
      uaix lease show ada --store sqlite:my.db --scope me/personal/main
      uaix lease show --store sqlite:my.db --scope me/personal/main --json
    """
    found: list[Lease] = []
    with at.session() as session:
        leases, now = session.leases, session.clock.now()
        if package_id:
            held = leases.holder(package_id)
            found += [] if held is None else [held]
        else:
            after = None
            while page := leases.list(after=after):
                found += page
                after = page[-1].package_id
    lines = [{**_line(lease), "runs": lease.runs(now)} for lease in found]
    columns = ("package_id", "agent_id", "session_id", "until_at", "runs", "lease_id")
    return tell_lines(lines, columns, "nobody is at work", as_json=as_json)


def _line(lease: Lease) -> dict[str, Any]:
    line = lease.as_dict()
    for name in ("since_at", "until_at"):
        line[name] = None if line[name] is None else format_instant(line[name])
    return line


def _tell(out: Output, lease: Lease) -> None:
    line = _line(lease)
    if out.as_json:
        out.line(line)
        return
    out.say(f"{lease.package_id}: held by {lease.session_id}", "accepted")
    out.pairs(line.items())
