"""The verbs of bindings: authority bind, unbind, bindings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from uaix_core.values.instants import format_instant
from uaix_surfaces.cli.failures import OK
from uaix_surfaces.cli.options import checked_id, json_option, package_argument
from uaix_surfaces.cli.output import Output, write_error
from uaix_surfaces.cli.telling import show_done
from uaix_surfaces.cli.tenants import scope_options

if TYPE_CHECKING:
    from uaix_core.values.ids import ScopeId
    from uaix_surfaces.cli.tenants import Over


def _agent(_context: click.Context, _option: click.Parameter, text: str) -> str:
    return checked_id(text, "AGENT_ID")


_agent_argument = click.argument("agent_id", metavar="AGENT_ID", callback=_agent)


@click.command("bind")
@_agent_argument
@package_argument
@scope_options
@json_option
def bind_verb(
    agent_id: str, package_id: str, *, as_json: bool, scope: ScopeId, over: Over
) -> int:
    r"""Make a package an agent's own: it may start it, and no other agent may.

    \b
    Example:
      uaix authority bind ada ada --keys host.keys \
        --store sqlite:my.db --scope acme/project/apollo
    """
    with over.authority() as authority:
        answer = authority.bind(agent_id, package_id, scope=scope)
    return show_done(Output(as_json=as_json), f"{package_id}: {agent_id}", answer)


@click.command("unbind")
@_agent_argument
@package_argument
@scope_options
@json_option
def unbind_verb(
    agent_id: str, package_id: str, *, as_json: bool, scope: ScopeId, over: Over
) -> int:
    r"""Undo a binding, and end the agent's credentials in the scope with it.

    \b
    Example:
      uaix authority unbind ada ada --keys host.keys \
        --store sqlite:my.db --scope acme/project/apollo
    """
    with over.authority() as authority:
        answer = authority.unbind(agent_id, package_id, scope=scope)
    return show_done(Output(as_json=as_json), f"{package_id}: {agent_id}", answer)


@click.command("bindings")
@scope_options
@json_option
def bindings_verb(*, as_json: bool, scope: ScopeId, over: Over) -> int:
    r"""List the bound packages of a scope, with the agent of each.

    \b
    Example:
      uaix authority bindings --keys host.keys \
        --store sqlite:my.db --scope acme/project/apollo
    """
    out = Output(as_json=as_json)
    with over.authority() as authority:
        found = list(authority.bindings(scope))
    lines = [
        {
            "package_id": row.package_id,
            "agent_id": row.agent_id,
            "binding_id": row.binding_id,
            "bound_at": format_instant(row.bound_at),
        }
        for row in found
    ]
    if not lines:
        write_error("no package of the scope is bound")
    elif as_json:
        for line in lines:
            out.line(line)
    else:
        rows = [tuple(line.values()) for line in lines]
        out.table(("package", "agent", "binding", "at"), rows)
    return OK
