"""Where a verb works and who acts there: a principal of the host's, or a token.

A token is never typed on the line, where other processes see it: it is read from a
file or from the environment.
"""

from __future__ import annotations

import os
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

import attrs
import click
from click.core import ParameterSource

from uaix_backends.opening import open_session
from uaix_core.access.tokens import PREFIX
from uaix_core.values.ids import Principal
from uaix_surfaces.cli.failures import usable
from uaix_surfaces.cli.options import PATH, actor_option, scope_option, store_option

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from uaix_core.access.keys import KeyRing
    from uaix_core.session.session import Session
    from uaix_core.values.ids import ScopeId

#: The variables that hold a token, and the path of the host's key ring.
CREDENTIAL: Final = "UAIX_CREDENTIAL"
KEYS: Final = "UAIX_KEYS"
#: Who acts where nobody is named: whoever can open the store.
LOCAL: Final = Principal("operator", "local")

_credential_option = click.option(
    "--credential",
    "credential_file",
    type=PATH,
    metavar="FILE",
    help=f"A token instead of an actor; {CREDENTIAL} may hold one as well.",
)
keys_option = click.option(
    "--keys",
    "keys_file",
    type=PATH,
    envvar=KEYS,
    show_envvar=True,
    metavar="FILE",
    help="The host's key ring, which a token needs.",
)


@attrs.frozen
class At:
    """Where a verb works, and who acts: a principal of the host's, or a token."""

    url: str
    scope: ScopeId
    actor: Principal
    credential: str | None = attrs.field(default=None, repr=False)
    keys: KeyRing | None = None

    def session(self, *, create: bool = False) -> AbstractContextManager[Session]:
        """A session there, which ends with the block."""
        if self.credential is None:
            return open_session(
                self.url, scope=self.scope, principal=self.actor, create=create
            )
        return open_session(
            self.url,
            scope=self.scope,
            credential=self.credential,
            keys=self.keys,
            create=create,
        )


def read_ring(path: Path | None) -> KeyRing:
    """The host's key ring, which has to be named.

    Raises:
        Unusable: as `read_keys`.

    """
    from uaix_backends.secret_files import read_keys  # noqa: PLC0415 - on demand

    if path is None:
        raise click.UsageError(f"name the host's key ring by --keys FILE or {KEYS}")
    with usable():
        return read_keys(path)


def shown_credential(path: Path | None) -> str | None:
    """The token that is shown, by a file or by the environment.

    A variable that is set and empty is a token that stands for nobody: what failed to
    be filled in must not end as the host's own word.

    Raises:
        Unusable: as `read_token`.

    """
    if path is None:
        return os.environ.get(CREDENTIAL)
    if str(path).startswith(PREFIX):
        # Not named in the error: it may well be one.
        raise click.UsageError(
            "--credential names the file of a token, and never the token itself"
        )
    from uaix_backends.secret_files import read_token  # noqa: PLC0415 - on demand

    with usable():
        return read_token(path)


def refuse_actor() -> None:
    """Refuse an actor beside a token: one of both says who acts."""
    if is_typed("actor"):
        raise click.UsageError(
            "a token says who acts: leave out --actor, or the token "
            f"(--credential, {CREDENTIAL})"
        )


def is_typed(name: str) -> bool:
    """Whether an option was given on the line, and not by the environment."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


def acting_at(
    url: str,
    scope: ScopeId,
    credential_file: Path | None,
    keys_file: Path | None,
    actor: Principal = LOCAL,
) -> At:
    """Who acts there, as the line and the environment say it: one of both.

    Raises:
        Unusable: as `read_keys` and `read_token`.

    """
    credential = shown_credential(credential_file)
    if credential is None:
        if is_typed("keys_file"):
            raise click.UsageError(
                f"--keys is for a token: name one by --credential FILE or {CREDENTIAL}"
            )
        return At(url, scope, actor)
    refuse_actor()
    return At(url, scope, actor, credential, read_ring(keys_file))


def credential_options(function: Callable[..., int]) -> Callable[..., int]:
    """The options that name a token, and the keys that it needs."""
    return _credential_option(keys_option(function))


def at_options(function: Callable[..., int]) -> Callable[..., int]:
    """The options that say where a verb writes and who does it, as one ``at``."""
    return store_option(
        scope_option(actor_option(credential_options(_placed(function))))
    )


def reading_options(function: Callable[..., int]) -> Callable[..., int]:
    """The options that say where a verb reads, as one ``at``.

    Reading leaves no trace, so the host doesn't say who reads.
    """
    return _where(credential_options(_placed(function)))


def _where(function: Callable[..., int]) -> Callable[..., int]:
    return store_option(scope_option(function))


def _placed(function: Callable[..., int]) -> Callable[..., int]:
    @wraps(function)
    def called(
        *args: Any,
        url: str,
        scope: ScopeId,
        credential_file: Path | None,
        keys_file: Path | None,
        actor: Principal = LOCAL,
        **more: Any,
    ) -> int:
        at = acting_at(url, scope, credential_file, keys_file, actor)
        return function(*args, at=at, **more)

    return called


def of_host(function: Callable[..., int]) -> Callable[..., int]:
    """For a verb that works on a whole store: it is the host's, and takes no token."""

    @wraps(function)
    def called(*args: Any, credential_file: Path | None, **more: Any) -> int:
        if credential_file is not None or CREDENTIAL in os.environ:
            raise click.UsageError(
                "this works on a whole store and is the host's own: it takes no token "
                f"(--credential, {CREDENTIAL})"
            )
        return function(*args, **more)

    hidden = click.option("--credential", "credential_file", type=PATH, hidden=True)
    return hidden(called)
