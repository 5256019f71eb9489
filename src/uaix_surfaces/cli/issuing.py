"""The verbs that give out a token: authority issue, rotate, enrol.

A token is shown once: alone on the standard output, as a member of the JSON line, or
in a new file for its owner's eyes. What is told about it goes elsewhere.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

import click

from uaix_backends.secret_files import write_token
from uaix_core.session.authority import DEFAULT_LIFE
from uaix_core.values.errors import CallerError, UaixError
from uaix_core.values.instants import DAY, SECOND, format_instant
from uaix_surfaces.cli.credentials import credential_argument
from uaix_surfaces.cli.failures import OK
from uaix_surfaces.cli.options import PATH, json_option, trust_option
from uaix_surfaces.cli.output import Output, safe, write_error, write_out
from uaix_surfaces.cli.places import new_place
from uaix_surfaces.cli.storing import read_source
from uaix_surfaces.cli.telling import warn_of_memory
from uaix_surfaces.cli.tenants import (
    principal_argument,
    scope_options,
    tenant_options,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from uaix_core.access.issuing import Issued
    from uaix_core.session.authority import Authority
    from uaix_core.values.ids import Principal, ScopeId
    from uaix_surfaces.cli.tenants import Over

_UNITS: Final = {"s": SECOND, "m": 60 * SECOND, "h": 3_600 * SECOND, "d": DAY}
_is_span = re.compile(r"(\d{1,9})([smhd])", re.ASCII).fullmatch


def _span(_context: click.Context, option: click.Parameter, text: str) -> int:
    match = _is_span(text)
    if match is None:
        raise click.BadParameter("a number with s, m, h or d, as 30d", param=option)
    count, unit = match.groups()
    return int(count) * _UNITS[unit]


def _optional_span(
    context: click.Context, option: click.Parameter, text: str | None
) -> int | None:
    return None if text is None else _span(context, option, text)


_life_option = click.option(
    "--life",
    default=f"{DEFAULT_LIFE // DAY}d",
    show_default=True,
    callback=_span,
    metavar="SPAN",
    help="How long it is good: 45m, 12h, 30d.",
)
_to_option = click.option(
    "--to",
    "target",
    type=PATH,
    metavar="FILE",
    help="Write the token into this new file, and not to the standard output.",
)


@click.command("issue")
@principal_argument
@_life_option
@_to_option
@scope_options
@json_option
def issue_verb(  # noqa: PLR0913 - the options of the verb
    principal: Principal,
    *,
    life: int,
    target: Path | None,
    as_json: bool,
    scope: ScopeId,
    over: Over,
) -> int:
    r"""Issue a token for KIND:ID in one scope; it is shown this once.

    What it may do follows from what KIND:ID was granted and bound to.

    \b
    Example:
      uaix authority issue agent:ada --life 12h --to ada.token --keys host.keys \
        --store sqlite:my.db --scope acme/project/apollo
    """
    return _issued(
        Output(as_json=as_json),
        over,
        target,
        lambda authority: authority.issue(principal, scope=scope, life=life),
    )


@click.command("rotate")
@credential_argument
@click.option(
    "--life",
    callback=_optional_span,
    metavar="SPAN",
    help="How long it is good; without it as long as the one before.",
)
@click.option(
    "--overlap",
    default="0s",
    show_default=True,
    callback=_span,
    metavar="SPAN",
    help="How long the old token stays good.",
)
@_to_option
@tenant_options
@json_option
def rotate_verb(  # noqa: PLR0913 - the options of the verb
    credential_id: str,
    *,
    life: int | None,
    overlap: int,
    target: Path | None,
    as_json: bool,
    over: Over,
) -> int:
    r"""Issue the token that follows another one, which then comes to its end.

    The holder of a token may rotate its own, into one that lives no longer.

    \b
    Example:
      uaix authority rotate 4a9c... --overlap 10m --to new.token --keys host.keys \
        --store sqlite:my.db --tenant acme
    """
    return _issued(
        Output(as_json=as_json),
        over,
        target,
        lambda authority: authority.rotate(credential_id, life=life, overlap=overlap),
    )


@click.command("enrol")
@click.argument("path", type=PATH, metavar="F")
@trust_option
@_life_option
@_to_option
@tenant_options
@json_option
def enrol_verb(  # noqa: PLR0913 - the options of the verb
    path: Path,
    *,
    trusted: dict[str, bytes],
    life: int,
    target: Path | None,
    as_json: bool,
    over: Over,
) -> int:
    r"""Open the one project that the signed master package F names, once.

    The token is that of the project's first administrator. Nothing of F is kept but
    its digests.

    \b
    Example:
      uaix authority enrol master.uaix --trust master.pub --to admin.token \
        --keys host.keys --store sqlite:my.db --tenant acme
    """
    if not trusted:
        raise click.UsageError("--trust names the public key that may enrol")
    warn_of_memory(over.url)
    source = read_source(path)
    return _issued(
        Output(as_json=as_json),
        over,
        target,
        lambda authority: authority.enrol(source, trusted=trusted, life=life),
        create=True,
    )


def _issued(
    out: Output,
    over: Over,
    target: Path | None,
    call: Callable[[Authority], Issued],
    *,
    create: bool = False,
) -> int:
    """Issue a token, and hand it over in the one way that was asked for."""
    place = None if target is None else new_place(target)
    if place is not None and os.path.lexists(place):
        # Looked at first, so that no token is issued that goes nowhere.
        raise CallerError(
            "the target is already there",
            code="files.exists",
            path=str(target),
            hint="choose another name, or remove it",
        )
    with over.authority(create=create) as authority:
        issued = call(authority)
    if place is not None:
        _write(place, issued)
    line = {**issued.as_dict(), "until_at": format_instant(issued.until_at)}
    del line["is_staged"]
    if out.as_json:
        told = {"token": issued.token.reveal()} if target is None else {}
        out.line({**line, "path": None if target is None else str(target), **told})
    elif target is None:
        write_out(issued.token.reveal() + "\n")
        about = f"{issued.principal} in {issued.scope} until {line['until_at']}"
        write_error(safe(f"{issued.credential_id}: {about}; it is shown this once"))
    else:
        out.say(f"{target}: a new token; only its owner can read the file", "accepted")
        out.pairs(line.items())
    return OK


def _write(place: Path, issued: Issued) -> None:
    try:
        write_token(place, issued.token)
    except UaixError as error:
        error.hint = f"nobody has the token of {issued.credential_id}: revoke that one"
        raise
