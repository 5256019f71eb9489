"""The verbs of roles: authority grant, withdraw, entitlements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from uaix_core.access.roles import GRANTED_ROLES
from uaix_core.values.instants import parse_instant
from uaix_surfaces.cli.failures import OK, usable
from uaix_surfaces.cli.options import checked_id, json_option
from uaix_surfaces.cli.output import Output, write_error
from uaix_surfaces.cli.standings import entitled_line, show_entitled
from uaix_surfaces.cli.telling import show_done, warn_of_memory
from uaix_surfaces.cli.tenants import (
    principal_argument,
    scope_options,
    tenant_options,
)

if TYPE_CHECKING:
    from uaix_core.access.roles import GrantedRole
    from uaix_core.values.ids import Principal, ScopeId
    from uaix_surfaces.cli.tenants import Over


def _until(
    _context: click.Context, _option: click.Parameter, text: str | None
) -> int | None:
    if text is None:
        return None
    with usable():
        return parse_instant(text)


def _package(
    _context: click.Context, _option: click.Parameter, text: str | None
) -> str | None:
    return None if text is None else checked_id(text, "--package")


@click.command("grant")
@principal_argument
@click.argument("role", type=click.Choice(list(GRANTED_ROLES)), metavar="ROLE")
@click.option(
    "--package",
    "package_id",
    callback=_package,
    metavar="PACKAGE_ID",
    help="Over this package only; without it over all of the scope.",
)
@click.option(
    "--until",
    "until_at",
    callback=_until,
    metavar="INSTANT",
    help="When it ends, as 2027-01-01T00:00:00Z; without it never.",
)
@scope_options
@json_option
def grant_verb(  # noqa: PLR0913 - the options of the verb
    principal: Principal,
    role: GrantedRole,
    *,
    package_id: str | None,
    until_at: int | None,
    as_json: bool,
    scope: ScopeId,
    over: Over,
) -> int:
    r"""Give KIND:ID a ROLE in a scope: reader, writer, reviewer or admin.

    An agent isn't given a role for its own package: uaix authority bind does that.

    \b
    Example:
      uaix authority grant human:ada writer --package ada --keys host.keys \
        --store sqlite:my.db --scope acme/project/apollo
    """
    warn_of_memory(over.url)
    with over.authority(create=True) as authority:
        answer = authority.grant(
            principal, role, scope=scope, package_id=package_id, until_at=until_at
        )
    return show_done(Output(as_json=as_json), f"{principal}: {role}", answer)


def _entitlement_id(
    _context: click.Context, _option: click.Parameter, text: str
) -> str:
    return checked_id(text, "ENTITLEMENT_ID")


@click.command("withdraw")
@click.argument("entitlement_id", metavar="ENTITLEMENT_ID", callback=_entitlement_id)
@tenant_options
@json_option
def withdraw_verb(entitlement_id: str, *, as_json: bool, over: Over) -> int:
    r"""Take an entitlement back, from the next call on.

    \b
    Example:
      uaix authority withdraw 4a9c... --keys host.keys \
        --store sqlite:my.db --tenant acme
    """
    with over.authority() as authority:
        answer = authority.withdraw(entitlement_id)
    return show_done(Output(as_json=as_json), entitlement_id, answer)


@click.command("entitlements")
@principal_argument
@tenant_options
@json_option
def entitlements_verb(principal: Principal, *, as_json: bool, over: Over) -> int:
    r"""List what KIND:ID was granted or bound to, also what is past its time.

    \b
    Example:
      uaix authority entitlements agent:ada --keys host.keys \
        --store sqlite:my.db --tenant acme
    """
    out = Output(as_json=as_json)
    with over.authority() as authority:
        found = [entitled_line(one) for one in authority.entitlements(principal)]
    if not found:
        write_error("nothing was granted or bound to this principal")
    elif as_json:
        for line in found:
            out.line(line)
    else:
        show_entitled(out, found)
    return OK
