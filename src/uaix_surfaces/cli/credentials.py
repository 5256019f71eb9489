"""The verbs of credentials as they stand: authority revoke, credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from uaix_core.values.instants import format_instant
from uaix_surfaces.cli.failures import OK
from uaix_surfaces.cli.options import checked_id, json_option
from uaix_surfaces.cli.output import Output, write_error
from uaix_surfaces.cli.reading import to_the_second
from uaix_surfaces.cli.telling import show_done
from uaix_surfaces.cli.tenants import principal_argument, tenant_options

if TYPE_CHECKING:
    from uaix_core.access.issuing import CredentialView
    from uaix_core.values.ids import Principal
    from uaix_surfaces.cli.tenants import Over


def _credential_id(_context: click.Context, _option: click.Parameter, text: str) -> str:
    return checked_id(text, "CREDENTIAL_ID")


credential_argument = click.argument(
    "credential_id", metavar="CREDENTIAL_ID", callback=_credential_id
)


@click.command("revoke")
@credential_argument
@tenant_options
@json_option
def revoke_verb(credential_id: str, *, as_json: bool, over: Over) -> int:
    r"""End a credential now: every call that begins after this is refused.

    \b
    Example:
      uaix authority revoke 4a9c... --keys host.keys \
        --store sqlite:my.db --tenant acme
    """
    with over.authority() as authority:
        answer = authority.revoke(credential_id)
    return show_done(Output(as_json=as_json), credential_id, answer)


@click.command("credentials")
@principal_argument
@tenant_options
@json_option
def credentials_verb(principal: Principal, *, as_json: bool, over: Over) -> int:
    r"""List the credentials of KIND:ID, those that are over too; never a token.

    \b
    Example:
      uaix authority credentials agent:ada --keys host.keys \
        --store sqlite:my.db --tenant acme
    """
    out = Output(as_json=as_json)
    with over.authority() as authority:
        lines = [_line(one) for one in authority.credentials(principal)]
    if not lines:
        write_error("no token was issued for this principal")
    elif as_json:
        for line in lines:
            out.line(line)
    else:
        out.table(
            ("credential", "scope", "issued", "until", "over"),
            (
                (
                    line["credential_id"],
                    line["scope"],
                    to_the_second(line["issued_at"]),
                    to_the_second(line["until_at"]),
                    "yes" if line["is_over"] else None,
                )
                for line in lines
            ),
        )
    return OK


def _line(credential: CredentialView) -> dict[str, Any]:
    line = credential.as_dict()
    for name in ("issued_at", "until_at"):
        line[name] = format_instant(line[name])
    return line
