"""The verb that says who one is, and how roles are shown: whoami."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from uaix_core.values.instants import format_instant
from uaix_surfaces.cli.acting import at_options
from uaix_surfaces.cli.failures import OK
from uaix_surfaces.cli.options import json_option
from uaix_surfaces.cli.output import Output
from uaix_surfaces.cli.reading import to_the_second

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uaix_core.access.standing import Entitled
    from uaix_surfaces.cli.acting import At


@click.command("whoami")
@at_options
@json_option
def whoami_verb(*, as_json: bool, at: At) -> int:
    r"""Show who acts in a scope, until when, and what they may do there.

    It tells of nobody else. Without a token it is the host's own principal, who may do
    everything.

    \b
    Example:
      uaix whoami --credential ada.token --keys host.keys \
        --store sqlite:my.db --scope acme/project/apollo
    """
    out = Output(as_json=as_json)
    with at.session() as session:
        found = session.whoami()
    line = found.as_dict()
    line["until_at"] = instant_text(found.until_at)
    line["entitled"] = [entitled_line(one) for one in found.entitled]
    if as_json:
        out.line(line)
        return OK
    out.say(f"{line['principal']} in {line['scope']}", "ok")
    if found.credential_id is None:
        out.say("the host's own: may do everything")
        return OK
    out.pairs([("credential", found.credential_id), ("until", line["until_at"])])
    show_entitled(out, line["entitled"])
    return OK


def instant_text(instant: int | None) -> str | None:
    """An instant as text, where there is one."""
    return None if instant is None else format_instant(instant)


def entitled_line(one: Entitled) -> dict[str, Any]:
    """The JSON form of one role that somebody has."""
    return {
        **one.as_dict(),
        "since_at": format_instant(one.since_at),
        "until_at": instant_text(one.until_at),
    }


def show_entitled(out: Output, lines: Sequence[dict[str, Any]]) -> None:
    """Show roles to people."""
    out.table(
        ("role", "scope", "package", "until", "id"),
        (
            (
                line["role"],
                line["scope"],
                line["package_id"] or "all",
                to_the_second(line["until_at"]),
                line["id"],
            )
            for line in lines
        ),
    )
