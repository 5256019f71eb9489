"""Whose authority a verb works on, and who administers there.

The host's own operator administers a whole tenant, the holder of a token the scope of
that token; so either says which of both is meant.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any

import attrs
import click

from uaix_backends.opening import open_authority
from uaix_core.values.ids import Principal
from uaix_surfaces.cli.acting import (
    credential_options,
    read_ring,
    refuse_actor,
    shown_credential,
)
from uaix_surfaces.cli.failures import usable
from uaix_surfaces.cli.options import (
    actor_option,
    any_scope,
    checked_id,
    scope_option,
    store_option,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from uaix_core.access.keys import KeyRing
    from uaix_core.session.authority import Authority
    from uaix_core.values.ids import ScopeId


@attrs.frozen
class Over:
    """A store, a tenant, and who administers: the host's operator, or a token.

    ``scope`` is the one in which a token is good.
    """

    url: str
    tenant: str
    scope: ScopeId | None
    actor: Principal
    credential: str | None = attrs.field(repr=False)
    keys: KeyRing

    @contextmanager
    def authority(self, *, create: bool = False) -> Iterator[Authority]:
        """The authority, for whoever administers; it ends with the block."""
        with open_authority(
            self.url,
            tenant=self.tenant,
            principal=self.actor,
            keys=self.keys,
            create=create and self.credential is None,
        ) as authority:
            if self.credential is None or self.scope is None:
                yield authority
            else:
                yield authority.under(self.credential, scope=self.scope)


def _principal(
    _context: click.Context, _option: click.Parameter, text: str
) -> Principal:
    with usable():
        return Principal.parse(text)


def _tenant(
    _context: click.Context, _option: click.Parameter, text: str | None
) -> str | None:
    return None if text is None else checked_id(text, "--tenant")


principal_argument = click.argument("principal", metavar="KIND:ID", callback=_principal)


def scope_options(function: Callable[..., int]) -> Callable[..., int]:
    """For a verb about one scope: the options that come to ``scope`` and ``over``."""

    @wraps(function)
    def called(
        *args: Any,
        url: str,
        scope: ScopeId,
        actor: Principal,
        credential_file: Path | None,
        keys_file: Path | None,
        **more: Any,
    ) -> int:
        shown = _shown(credential_file)
        over = Over(url, scope.tenant, scope, actor, shown, read_ring(keys_file))
        return function(*args, scope=scope, over=over, **more)

    return store_option(scope_option(actor_option(credential_options(called))))


def tenant_options(function: Callable[..., int]) -> Callable[..., int]:
    """For a verb about a tenant: the options that come to its ``over``."""

    @wraps(function)
    def called(  # noqa: PLR0913 - the options that become one
        *args: Any,
        url: str,
        tenant: str | None,
        scope: ScopeId | None,
        actor: Principal,
        credential_file: Path | None,
        keys_file: Path | None,
        **more: Any,
    ) -> int:
        shown = _shown(credential_file)
        if shown is None and (tenant is None or scope is not None):
            raise click.UsageError("name the tenant by --tenant; --scope is a token's")
        if shown is not None and (scope is None or tenant is not None):
            raise click.UsageError("name the one scope of the token by --scope")
        whose = (scope.tenant if scope is not None else tenant) or ""
        over = Over(url, whose, scope, actor, shown, read_ring(keys_file))
        return function(*args, over=over, **more)

    who = actor_option(credential_options(called))
    return store_option(_tenant_option(_scope_option(who)))


_tenant_option = click.option(
    "--tenant", callback=_tenant, metavar="TENANT", help="Whose authority."
)
_scope_option = click.option(
    "--scope",
    callback=any_scope,
    metavar="SCOPE",
    help="With a token instead of --tenant: the scope that it is good in.",
)


def _shown(credential_file: Path | None) -> str | None:
    credential = shown_credential(credential_file)
    if credential is not None:
        refuse_actor()
    return credential
