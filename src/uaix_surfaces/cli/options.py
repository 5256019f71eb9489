"""The options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import click

from uaix_core.packages.required.sets import DEFAULT_RULESET, RULESETS
from uaix_core.values.ids import Principal, ScopeId
from uaix_surfaces.cli.failures import usable

if TYPE_CHECKING:
    from collections.abc import Callable

_F = TypeVar("_F", bound="Callable[..., Any]")


class At(TypedDict):
    """Where a verb writes, and who does it: what `at_options` hands in."""

    url: str
    scope: ScopeId
    actor: Principal


#: A path as typed; what it is gets looked at when it is used.
PATH = click.Path(path_type=Path)


def _scope(_context: click.Context, _option: click.Parameter, text: str) -> ScopeId:
    with usable():
        return ScopeId.parse(text)


def _actor(_context: click.Context, _option: click.Parameter, text: str) -> Principal:
    with usable():
        return Principal.parse(text)


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object a line."
)
store_option = click.option(
    "--store",
    "url",
    required=True,
    metavar="URL",
    help="The store: sqlite:PATH, dir:PATH or memory:.",
)
scope_option = click.option(
    "--scope",
    required=True,
    callback=_scope,
    metavar="SCOPE",
    help="Whose it is: TENANT/KIND/KEY; KIND is personal, project, shared or working.",
)
actor_option = click.option(
    "--actor",
    default="operator:local",
    show_default=True,
    callback=_actor,
    metavar="KIND:ID",
    help="Who does it; the receipt says so.",
)
key_option = click.option(
    "--key", metavar="KEY", help="An idempotency key: a repeated call writes nothing."
)
overwrite_option = click.option(
    "--overwrite", is_flag=True, help="Replace an archive that is already there."
)


def at_options(function: _F) -> _F:
    """The options that say where a verb writes, and who does it."""
    return store_option(scope_option(actor_option(function)))


def judging_options(function: _F) -> _F:
    """The options that say by which rules a package is judged."""
    lenient = click.option(
        "--lenient", is_flag=True, help="Read the few lenient rules as warnings."
    )
    ruleset = click.option(
        "--ruleset",
        type=click.Choice(list(RULESETS)),
        default=DEFAULT_RULESET,
        show_default=True,
        help="The required sets to judge by.",
    )
    return lenient(ruleset(function))
