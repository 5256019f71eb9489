"""The verb that starts a package for an agent: start."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from uaix_backends.files import write_folder
from uaix_core.startup.checks import StartupError
from uaix_core.values.errors import CallerError
from uaix_surfaces.cli.acting import at_options
from uaix_surfaces.cli.failures import OK
from uaix_surfaces.cli.options import (
    PATH,
    checked_id,
    json_option,
    lease_option,
    named_lease,
    package_argument,
)
from uaix_surfaces.cli.output import Output
from uaix_surfaces.cli.places import new_place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from uaix_core.startup.assembling import Assembly
    from uaix_core.startup.checks import StartupCheck
    from uaix_surfaces.cli.acting import At


def _agent(_context: click.Context, _option: click.Parameter, text: str) -> str:
    return checked_id(text, "--agent")


@click.command("start")
@package_argument
@at_options
@click.option(
    "--agent",
    "agent_id",
    required=True,
    metavar="ID",
    callback=_agent,
    help="For which agent; a package may be bound to one.",
)
@click.option(
    "--also",
    "triggered",
    multiple=True,
    metavar="PATH",
    help="Load this file as well, which has to be there; may be repeated.",
)
@lease_option
@click.option(
    "-o",
    "--output",
    "target",
    type=PATH,
    metavar="DIR",
    help="Write what is given into this folder, which must be new or empty.",
)
@json_option
def start_verb(  # noqa: PLR0913 - the options of the verb
    package_id: str,
    *,
    agent_id: str,
    triggered: tuple[str, ...],
    lease_id: str | None,
    target: Path | None,
    as_json: bool,
    at: At,
) -> int:
    r"""Put a package together for an agent: all of it in start-up order, or nothing.

    Every check is made, and all that fail are shown. Fields that are marked private,
    sensitive or none are blanked, unless a consent lifts them for --actor. The store
    keeps a receipt of either outcome.

    \b
    Examples:
      uaix start ada --agent ada --store sqlite:my.db --scope me/personal/main
      uaix start ada --agent ada --store sqlite:my.db --scope me/personal/main \
        -o started
    """
    out = Output(as_json=as_json)
    place = None if target is None else new_place(target)
    if place is not None and not _is_free(place):
        # Looked at first, so that no receipt tells of a start that went nowhere.
        raise CallerError(
            "the target is already there",
            code="files.exists",
            path=str(target),
            hint="choose another name, or remove it",
        )
    with (
        _checks_shown(out, package_id),
        out.working(f"starting {package_id}"),
        at.session() as session,
    ):
        assembly = session.start(
            package_id,
            agent_id=agent_id,
            triggered=triggered,
            lease=named_lease(session, lease_id),
        )
    if place is not None:
        write_folder(place, assembly.files)
    _tell(out, assembly, None if target is None else str(target))
    return OK


@contextmanager
def _checks_shown(out: Output, package_id: str) -> Iterator[None]:
    """Show the checks that failed inside, before the error goes on."""
    try:
        yield
    except StartupError as error:
        if not out.as_json:
            _show_checks(out, package_id, error.checks)
        raise


def _is_free(place: Path) -> bool:
    if not os.path.lexists(place):
        return True
    return place.is_dir() and not any(place.iterdir())


def _tell(out: Output, assembly: Assembly, target: str | None) -> None:
    if out.as_json:
        out.line({"path": target, **assembly.as_dict()})
        return
    out.say(f"{assembly.package_id}: started for {assembly.agent_id}", "accepted")
    shown = assembly.as_dict()
    for name in ("records", "consents"):
        shown[name] = len(shown[name])
    out.pairs(shown.items())
    out.table(
        ("order", "file", "bytes", "sha256", "blanked"),
        (
            (
                record.position,
                record.path,
                record.size_bytes,
                record.sha256[:12],
                ", ".join(record.blanked) or None,
            )
            for record in assembly.records
        ),
    )
    if target is not None:
        out.say(f"{target}: {len(assembly.records)} files")


def _show_checks(
    out: Output, package_id: str, failed: tuple[StartupCheck, ...]
) -> None:
    out.say(f"{package_id}: refused", "refused")
    out.table(
        ("code", "path", "what failed", "what to do next"),
        ((one.code, one.place, one.message, one.hint) for one in failed),
    )
