"""The verbs about signed revisions: sign-revisions, verify-revisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import click

from uaix_surfaces.cli.acting import at_options, reading_options
from uaix_surfaces.cli.failures import OK, REFUSED, usable
from uaix_surfaces.cli.keys import private_key_file
from uaix_surfaces.cli.options import (
    PATH,
    json_option,
    package_argument,
    trust_option,
)
from uaix_surfaces.cli.output import Output, counted

if TYPE_CHECKING:
    from pathlib import Path

    from uaix_surfaces.cli.acting import At


@click.command("sign-revisions")
@package_argument
@click.option(
    "--key-file",
    type=PATH,
    required=True,
    metavar="FILE",
    help="The private key, as uaix keygen writes it.",
)
@click.option(
    "--only", multiple=True, metavar="PATH", help="Only this file; may be repeated."
)
@at_options
@json_option
def sign_revisions_verb(
    package_id: str, *, key_file: Path, only: tuple[str, ...], as_json: bool, at: At
) -> int:
    r"""Sign the current revisions of a stored package, and so all before them.

    \b
    Example:
      uaix sign-revisions ada --key-file maren.key \
        --store sqlite:my.db --scope me/personal/main
    """
    out = Output(as_json=as_json)
    with usable():
        key = private_key_file(key_file)
    with at.session() as session:
        answer = session.packages.sign_revisions(package_id, key, paths=only or None)
    if as_json:
        out.line(attrs.asdict(answer))
    elif answer.revisions:
        out.say(f"{package_id}: {counted(answer.revisions, 'revision')} signed", "ok")
        out.pairs([("key", answer.key_id), ("receipt", answer.receipt)])
    else:
        out.say(f"{package_id}: nothing to do: all are signed by this key", "ok")
    return OK


@click.command("verify-revisions")
@package_argument
@trust_option
@reading_options
@json_option
def verify_revisions_verb(
    package_id: str,
    *,
    trusted: dict[str, bytes],
    at: At,
    as_json: bool,
) -> int:
    r"""Verify every chain of revisions, and what trusted keys say of it.

    \b
    Example:
      uaix verify-revisions ada --trust maren.pub \
        --store sqlite:my.db --scope me/personal/main

    \b
    Exit codes:
      0  every chain is whole, and a trusted key stands behind every revision
      1  a chain isn't whole, a signature is bad, or nobody stands behind a revision
    """
    out = Output(as_json=as_json)
    with at.session() as session:
        report = session.packages.verify_revisions(package_id, trusted)
    if as_json:
        out.line(report.as_dict())
        return OK if report.is_signed else REFUSED
    word = "ok" if report.is_signed else "warning"
    said = "signed" if report.is_signed else "sound, not all of it signed"
    out.say(f"{package_id}: {said if report.is_sound else 'NOT SOUND'}", word)
    out.table(
        ("record", "number", "revision", "standing", "keys", "fault"),
        (
            (
                check.record_id,
                check.number,
                check.revision_id,
                check.standing,
                ", ".join(check.keys) or None,
                check.fault,
            )
            for check in report.checks
        ),
    )
    return OK if report.is_signed else REFUSED
