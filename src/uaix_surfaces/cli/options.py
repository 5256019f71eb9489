"""The options that several verbs share."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from uaix_core.packages.required.sets import DEFAULT_RULESET, RULESETS
from uaix_core.values.ids import Principal, ScopeId, check_id
from uaix_surfaces.cli.failures import usable

if TYPE_CHECKING:
    from collections.abc import Callable

    from uaix_core.leases.holding import Lease
    from uaix_core.packages.anchors import Authorisation
    from uaix_core.packages.lint import Checks
    from uaix_core.session.session import Session


class _Path(click.Path):
    """A path whose name verbs repeat, so that it may be no secret."""

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """Refuse a secret (``text.secret``)."""
        from uaix_core.gate.said import check_identities  # noqa: PLC0415 - on demand

        name = "path" if param is None else max(param.opts, key=len)
        with usable():
            check_identities({name: str(value)})
        return super().convert(value, param, ctx)


#: A path as typed; what it is gets looked at when it is used.
PATH = _Path(path_type=Path)

_PACKAGE_ID = "PACKAGE_ID"


def _scope(_context: click.Context, _option: click.Parameter, text: str) -> ScopeId:
    with usable():
        return ScopeId.parse(text)


def any_scope(
    _context: click.Context, _option: click.Parameter, text: str | None
) -> ScopeId | None:
    """A scope as typed, where one may be left out."""
    if text is None:
        return None
    with usable():
        return ScopeId.parse(text)


def _scopes(
    _context: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> tuple[ScopeId, ...]:
    with usable():
        return tuple(map(ScopeId.parse, texts))


def _actor(_context: click.Context, _option: click.Parameter, text: str) -> Principal:
    with usable():
        return Principal.parse(text)


def _trusted(
    _context: click.Context, _option: click.Parameter, named: tuple[str, ...]
) -> dict[str, bytes]:
    if not named:
        return {}
    from uaix_surfaces.cli.keys import trusted_keys  # noqa: PLC0415 - on demand

    with usable():
        return trusted_keys(named)


def _key(
    _context: click.Context, _option: click.Parameter, text: str | None
) -> str | None:
    from uaix_core.history.idempotency import check_key  # noqa: PLC0415 - on demand

    with usable():
        check_key(text)
    return text


def _authorisations(
    _context: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> tuple[Authorisation, ...]:
    if not texts:
        return ()
    from uaix_core.packages.anchors import Authorisation  # noqa: PLC0415 - on demand

    found = []
    for text in texts:
        path, _, operation = text.rpartition(":")
        with usable():
            found.append(Authorisation(path, operation))  # type: ignore[arg-type]
    return tuple(found)


def checked_id(text: str, path: str) -> str:
    """An id as typed; ``path`` says where it stands on the line.

    Raises:
        Unusable: ``id.syntax``.

    """
    with usable():
        return check_id(text, path)


def _lease_id(
    _context: click.Context, _option: click.Parameter, text: str | None
) -> str | None:
    return None if text is None else checked_id(text, "--lease")


def named_lease(session: Session, lease_id: str | None) -> Lease | None:
    """The lease that ``--lease`` names; None without the option.

    Raises:
        NotFoundError: ``lease.not-found``.

    """
    return None if lease_id is None else session.leases.get(lease_id)


def _package_id(_context: click.Context, option: click.Parameter, text: str) -> str:
    # Where it may be left out, it is empty.
    return checked_id(text, _PACKAGE_ID) if text or option.required else text


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object a line."
)
store_option = click.option(
    "--store",
    "url",
    required=True,
    metavar="URL",
    help="The store: sqlite:PATH, dir:PATH, postgresql://..., backup:PATH or memory:.",
)
scope_option = click.option(
    "--scope",
    required=True,
    callback=_scope,
    metavar="SCOPE",
    help="Whose it is: TENANT/KIND/KEY; KIND is personal, project, shared or working.",
)
optional_scope_option = click.option(
    "--scope",
    callback=any_scope,
    metavar="SCOPE",
    help="Only this one: TENANT/KIND/KEY.",
)
scopes_option = click.option(
    "--scope",
    "scopes",
    multiple=True,
    callback=_scopes,
    metavar="SCOPE",
    help="Only this one: TENANT/KIND/KEY; may be repeated.",
)
actor_option = click.option(
    "--actor",
    default="operator:local",
    show_default=True,
    callback=_actor,
    metavar="KIND:ID",
    help="Who does it; the receipt says so.",
)
authorise_option = click.option(
    "--authorise",
    "authorisations",
    multiple=True,
    metavar="PATH:OPERATION",
    callback=_authorisations,
    help="Let an anchor or a persona change: create, replace, tombstone or restore.",
)
note_option = click.option(
    "--note", default="", metavar="TEXT", help="What there is to say: it is recorded."
)
key_option = click.option(
    "--key",
    metavar="KEY",
    callback=_key,
    help="An idempotency key: a repeated call writes nothing.",
)
lease_option = click.option(
    "--lease",
    "lease_id",
    metavar="ID",
    callback=_lease_id,
    help="The lease that it is done under; refused once it was lost.",
)
package_argument = click.argument(
    "package_id", metavar=_PACKAGE_ID, callback=_package_id
)
optional_package_argument = click.argument(
    "package_id",
    required=False,
    default="",
    metavar=f"[{_PACKAGE_ID}]",
    callback=_package_id,
)
overwrite_option = click.option(
    "--overwrite", is_flag=True, help="Replace an archive that is already there."
)
ruleset_option = click.option(
    "--ruleset",
    type=click.Choice(list(RULESETS)),
    default=DEFAULT_RULESET,
    show_default=True,
    help="The required sets to judge by.",
)
_lenient_option = click.option(
    "--lenient", is_flag=True, help="Read the few lenient rules as warnings."
)
trust_option = click.option(
    "--trust",
    "trusted",
    multiple=True,
    callback=_trusted,
    metavar="KEY|FILE",
    help="A public key whose signatures count, in hex or a file; may be repeated.",
)


def judging_options(function: Callable[..., int]) -> Callable[..., int]:
    """The options that say how a package is judged, as one ``checks``."""

    @wraps(function)
    def called(
        *args: Any, ruleset: str, lenient: bool, trusted: dict[str, bytes], **more: Any
    ) -> int:
        checks: Checks = {"ruleset": ruleset, "lenient": lenient, "trusted": trusted}
        return function(*args, checks=checks, **more)

    return ruleset_option(_lenient_option(trust_option(called)))
