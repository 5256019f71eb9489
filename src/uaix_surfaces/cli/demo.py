"""The verb that shows everything once: demo."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from uaix_core.values.errors import CallerError, UaixError
from uaix_surfaces.cli.demo_places import SCOPE, Places, Shown, Step
from uaix_surfaces.cli.demo_steps import STEPS
from uaix_surfaces.cli.failures import OK, REFUSED, usable
from uaix_surfaces.cli.options import PATH, json_option
from uaix_surfaces.cli.output import Output

if TYPE_CHECKING:
    from pathlib import Path


def run_step(step: Step, places: Places) -> Shown:
    """Run a step; an error of the library is a step that fails."""
    try:
        return step.run(places)
    except UaixError as error:
        return Shown(False, str(error))  # noqa: FBT003 - what `Shown` begins with


@click.command("demo")
@click.argument("folder", type=PATH, default=".", metavar="[DIR]")
@json_option
def demo_verb(folder: Path, *, as_json: bool) -> int:
    r"""Watch a package go through everything, in DIR (default: the current folder).

    A full advanced persona package is made, judged, installed, exported and compared;
    hostile twins of it are refused; it is edited, updated and cloned; the store is
    copied into another kind of store.
    DIR must be empty or not be there. All files stay there to be looked at. Exit
    code 0 says that every step holds.

    \b
    Example:
      uaix demo uaix-demo
    """
    out = Output(as_json=as_json)
    _prepare(folder)
    places = Places(folder)
    rows = []
    holds = True
    for number, step in enumerate(STEPS, 1):
        with out.working(step.title):
            shown = run_step(step, places)
        holds = shown.holds
        if as_json:
            out.line(
                {
                    "step": number,
                    "name": step.name,
                    "title": step.title,
                    "holds": shown.holds,
                    "shown": shown.what,
                    "files": [str(places.at(name)) for name in step.files],
                }
            )
        rows.append((number, step.title, "holds" if holds else "fails", shown.what))
        if not holds:
            break
    if not as_json:
        out.table(("", "step", "", "what was seen"), rows)
        if holds:
            _say_files(out, places)
    return OK if holds else REFUSED


def _prepare(folder: Path) -> None:
    with usable():
        try:
            folder.mkdir(exist_ok=True)
            is_empty = next(folder.iterdir(), None) is None
        except OSError as error:
            raise CallerError(
                "not a folder to work in", code="files.target", path=str(folder)
            ) from error
        if not is_empty:
            raise CallerError(
                "the folder isn't empty",
                code="files.exists",
                path=str(folder),
                hint="name a new one: uaix demo uaix-demo",
            )


def _say_files(out: Output, places: Places) -> None:
    out.say("What is there now:")
    out.pairs(
        (str(places.at(name)), about)
        for name, about in (
            (Places.SOURCE, "the package as a folder: edit it"),
            (Places.PACKED, "the same as an archive"),
            (Places.EXPORTED, "the archive that came back out of the store"),
            (Places.EXPORTED_FOLDER, "and as a folder"),
            (Places.HOSTILE, "the twins that were refused"),
            (Places.EDITED, "the edited package"),
            (Places.EDITED_PACKED, "the same as an archive"),
            (Places.CLONED, "its clone, with an identity of its own"),
            (Places.SQLITE, "the store"),
            (Places.DIRECTORY, "its copy, as plain files"),
        )
    )
    out.say("What to try next:")
    at = f"--store {places.sqlite_url} --scope {SCOPE}"
    for command in (
        f"uaix lint {places.at(Places.HOSTILE)}/traversal.uaix",
        f"uaix diff {places.at(Places.PACKED)} {places.at(Places.EDITED_PACKED)}",
        f"uaix show {Places.PACKAGE_ID} {at}",
        f"uaix history {Places.PACKAGE_ID} {at}",
        f"uaix doctor --store {places.sqlite_url} --rebuild",
    ):
        out.say(f"  {command}")
