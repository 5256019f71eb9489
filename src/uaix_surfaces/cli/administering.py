"""The group of the verbs of authority, and who was refused: authority denials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from uaix_core.store.port import MAX_SCAN
from uaix_core.values.instants import format_instant
from uaix_surfaces.cli.binding import bind_verb, bindings_verb, unbind_verb
from uaix_surfaces.cli.credentials import credentials_verb, revoke_verb
from uaix_surfaces.cli.failures import OK, UNUSABLE
from uaix_surfaces.cli.granting import entitlements_verb, grant_verb, withdraw_verb
from uaix_surfaces.cli.issuing import enrol_verb, issue_verb, rotate_verb
from uaix_surfaces.cli.key_rings import keys_verb
from uaix_surfaces.cli.options import json_option
from uaix_surfaces.cli.output import Output, write_error
from uaix_surfaces.cli.reading import to_the_second
from uaix_surfaces.cli.tenants import tenant_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core.access.denials import DenialView
    from uaix_core.session.authority import Authority
    from uaix_surfaces.cli.tenants import Over


@click.group("authority", invoke_without_command=True)
@click.pass_context
def authority_verb(context: click.Context) -> int:
    r"""Say who may do what in a tenant, and give out tokens.

    \b
    Examples:
      uaix authority keys new host.keys
      uaix authority grant human:ada writer --keys host.keys \
        --store sqlite:my.db --scope acme/project/apollo
      uaix authority issue human:ada --to ada.token --keys host.keys \
        --store sqlite:my.db --scope acme/project/apollo
      uaix authority issue --help

    Its verbs offer --json.
    """
    if context.invoked_subcommand is None:
        write_error(context.get_help())
        return UNUSABLE
    return OK


@authority_verb.command("denials")
@tenant_options
@json_option
def denials_verb(*, as_json: bool, over: Over) -> int:
    r"""List who was refused what, oldest first; the host's operator may.

    What was asked for is shown as a digest under the host's key, so that the list is
    no answer to who guesses.

    \b
    Example:
      uaix authority denials --keys host.keys --store sqlite:my.db --tenant acme
    """
    out = Output(as_json=as_json)
    with over.authority() as authority:
        lines = [_denial_line(one) for one in _all_denials(authority)]
    if not lines:
        write_error("nobody was refused anything")
    elif as_json:
        for line in lines:
            out.line(line)
    else:
        out.table(
            ("at", "who", "operation", "why", "scope", "credential", "target"),
            (
                (
                    to_the_second(line["denied_at"]),
                    line["principal"],
                    line["operation"],
                    line["code"],
                    line["scope"],
                    line["credential_id"],
                    (line["target_digest"] or "")[:12] or None,
                )
                for line in lines
            ),
        )
    return OK


def _all_denials(authority: Authority) -> Iterator[DenialView]:
    after = None
    while page := authority.denials(after=after, limit=MAX_SCAN):
        yield from page
        after = (page[-1].denied_at, page[-1].denial_id)


def _denial_line(denial: DenialView) -> dict[str, Any]:
    line = denial.as_dict()
    return {**line, "denied_at": format_instant(line["denied_at"])}


for _verb in (
    keys_verb,
    grant_verb,
    withdraw_verb,
    entitlements_verb,
    bind_verb,
    unbind_verb,
    bindings_verb,
    issue_verb,
    rotate_verb,
    revoke_verb,
    credentials_verb,
    enrol_verb,
):
    authority_verb.add_command(_verb)
