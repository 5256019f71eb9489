"""The verbs of consents: consent grant, consent revoke, consent list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from uaix_core.startup.consents import ConsentPlace
from uaix_core.values.ids import Principal
from uaix_core.values.instants import format_instant, parse_instant
from uaix_surfaces.cli.acting import at_options, reading_options
from uaix_surfaces.cli.failures import OK, UNUSABLE, usable
from uaix_surfaces.cli.options import (
    checked_id,
    json_option,
    package_argument,
)
from uaix_surfaces.cli.output import Output, write_error
from uaix_surfaces.cli.reading import to_the_second

if TYPE_CHECKING:
    from uaix_core.startup.consents import Consented, ConsentView
    from uaix_surfaces.cli.acting import At


@click.group("consent", invoke_without_command=True)
@click.pass_context
def consent_verb(context: click.Context) -> int:
    r"""Say who may see the hidden texts of a package when it starts.

    \b
    Examples:
      uaix consent grant ada --reader agent:ada --place .uai/persona.uai:diary \
        --until 2027-01-01T00:00:00Z --store sqlite:my.db --scope me/personal/main
      uaix consent list ada --store sqlite:my.db --scope me/personal/main
      uaix consent revoke --help

    Its verbs offer --json.
    """
    if context.invoked_subcommand is None:
        write_error(context.get_help())
        return UNUSABLE
    return OK


def _reader(_context: click.Context, _option: click.Parameter, text: str) -> Principal:
    with usable():
        return Principal.parse(text)


def _places(
    _context: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> tuple[ConsentPlace, ...]:
    with usable():
        # No path of a package holds a colon.
        parts = [text.partition(":") for text in texts]
        return tuple(
            ConsentPlace(path, field if colon else None) for path, colon, field in parts
        )


def _until(_context: click.Context, _option: click.Parameter, text: str) -> int:
    with usable():
        return parse_instant(text)


@consent_verb.command("grant")
@package_argument
@at_options
@click.option(
    "--reader",
    required=True,
    callback=_reader,
    metavar="KIND:ID",
    help="Who may see it: the --actor of a start.",
)
@click.option(
    "--place",
    "places",
    multiple=True,
    required=True,
    callback=_places,
    metavar="PATH[:FIELD]",
    help="A file, or a field or section of it; may be repeated.",
)
@click.option(
    "--until",
    "until_at",
    required=True,
    callback=_until,
    metavar="INSTANT",
    help="When it ends, as 2027-01-01T00:00:00Z.",
)
@json_option
def grant_verb(  # noqa: PLR0913 - the options of the verb
    package_id: str,
    *,
    reader: Principal,
    places: tuple[ConsentPlace, ...],
    until_at: int,
    as_json: bool,
    at: At,
) -> int:
    r"""Let somebody see hidden texts of a package, for a time; a person says so.

    \b
    Example:
      uaix consent grant ada --reader agent:ada --place .uai/persona.uai \
        --until 2027-01-01T00:00:00Z --store sqlite:my.db --scope me/personal/main
    """
    with at.session() as session:
        answer = session.consents.grant(package_id, reader, places, until_at=until_at)
    _tell(Output(as_json=as_json), answer)
    return OK


def _consent_id(_context: click.Context, _option: click.Parameter, text: str) -> str:
    return checked_id(text, "CONSENT_ID")


@consent_verb.command("revoke")
@click.argument("consent_id", metavar="CONSENT_ID", callback=_consent_id)
@at_options
@json_option
def revoke_verb(consent_id: str, *, as_json: bool, at: At) -> int:
    r"""Take a consent back; from then on it lifts nothing.

    \b
    Example:
      uaix consent revoke 4a9c... --store sqlite:my.db --scope me/personal/main
    """
    with at.session() as session:
        answer = session.consents.revoke(consent_id)
    _tell(Output(as_json=as_json), answer)
    return OK


def _tell(out: Output, answer: Consented) -> None:
    if out.as_json:
        out.line(answer.as_dict())
        return
    out.say(f"{answer.consent_id}: {answer.outcome}", "accepted")
    out.pairs(answer.as_dict().items())


@consent_verb.command("list")
@package_argument
@reading_options
@json_option
def list_verb(package_id: str, *, at: At, as_json: bool) -> int:
    r"""List all consents about a package, oldest first, ended and revoked ones too.

    \b
    Example:
      uaix consent list ada --store sqlite:my.db --scope me/personal/main
    """
    out = Output(as_json=as_json)
    with at.session() as session:
        lines = [_line(one) for one in session.consents.list(package_id)]
    if not lines:
        write_error("nobody consented to anything of this package")
    elif as_json:
        for line in lines:
            out.line(line)
    else:
        out.table(
            ("consent", "reader", "until", "places", "by", "revoked"),
            (
                (
                    line["consent_id"],
                    line["reader"],
                    to_the_second(line["until_at"]),
                    ", ".join(map(_shown, line["places"])),
                    line["granted_by"],
                    "yes" if line["is_revoked"] else None,
                )
                for line in lines
            ),
        )
    return OK


def _line(consent: ConsentView) -> dict[str, Any]:
    line = consent.as_dict()
    return {**line, "until_at": format_instant(line["until_at"])}


def _shown(place: dict[str, str | None]) -> str:
    return ":".join(part for part in place.values() if part is not None)
