"""The verbs of files-first work: status and adopt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs
import click

from uaix_core.values.errors import CallerError, StorageError
from uaix_surfaces.cli.acting import at_options, reading_options
from uaix_surfaces.cli.choosing import (
    based_on_option,
    choosing_options,
    edited_files,
    edited_in,
    unless_tree,
)
from uaix_surfaces.cli.failures import OK
from uaix_surfaces.cli.judging import shown_refusal
from uaix_surfaces.cli.options import (
    PATH,
    authorise_option,
    json_option,
    judging_options,
    package_argument,
)
from uaix_surfaces.cli.output import Output, counted
from uaix_surfaces.cli.places import write_refresh

if TYPE_CHECKING:
    from pathlib import Path

    from uaix_core.packages.anchors import Authorisation
    from uaix_core.packages.edits import EditedFiles, EditStatus, FileStatus
    from uaix_core.packages.lint import Checks
    from uaix_core.session.package_edits import Adopted
    from uaix_core.session.session import Session
    from uaix_surfaces.cli.acting import At
    from uaix_surfaces.cli.choosing import Chosen

#: What each state is called to people, and what to do about it.
_TOLD: Final = {
    "untouched": "as it was",
    "edited": "edited",
    "new": "new",
    "removed": "gone: adopt with --remove PATH, or put it back",
    "present": "stands already",
    "conflict": "in conflict: another revision stands by now",
    "unlisted": "new and in no manifest: adopt with --new, or remove it",
    "ignored": "left by an editor: ignored",
    "unreadable": "no plain file: left aside",
    "retired": "retired: uaix revive brings it back",
    "erased": "what it was edited from is erased: export again",
}
#: What an editor did, in words.
_DID: Final = {
    "byte-order-mark": "a byte order mark",
    "line-ends": "other line ends",
    "last-newline": "the last newline",
}
folder_argument = click.argument("folder", type=PATH, metavar="FOLDER")
tree_argument = click.argument("folder", type=PATH, required=False, metavar="[FOLDER]")


@click.command("status")
@package_argument
@tree_argument
@based_on_option
@reading_options
@json_option
def status_verb(
    package_id: str,
    folder: Path | None,
    *,
    based_on: str | None,
    at: At,
    as_json: bool,
) -> int:
    r"""Show what was edited in FOLDER since it was exported, file by file.

    Without FOLDER it is the working tree of a directory store.

    Every file is compared with the revision that it was edited from and with the one
    that stands. What only an editor did (line ends, a byte order mark, the last
    newline) is no edit.

    \b
    Example:
      uaix status ada work --store sqlite:my.db --scope me/personal/main
      uaix status ada --store dir:my-store --scope me/personal/main
    """
    out = Output(as_json=as_json)
    name = str(folder or package_id)
    with (
        out.working(name),
        at.session() as session,
    ):
        folder = unless_tree(session, package_id, folder)
        edited = edited_in(session, package_id, folder, based_on)
        status = session.packages.edits(package_id, edited).status
    if as_json:
        out.line({"folder": _named(folder), **status.as_dict()})
    else:
        _show_status(out, name, status)
    return OK


def _named(folder: Path | None) -> str | None:
    return None if folder is None else str(folder)


@click.command("adopt")
@package_argument
@tree_argument
@based_on_option
@click.option(
    "--only",
    multiple=True,
    metavar="PATH",
    help="Bring in this file only; may be repeated.",
)
@choosing_options
@authorise_option
@at_options
@judging_options
@json_option
def adopt_verb(  # noqa: PLR0913 - the options of the verb
    package_id: str,
    folder: Path | None,
    *,
    based_on: str | None,
    only: tuple[str, ...],
    chosen: Chosen,
    authorisations: tuple[Authorisation, ...],
    checks: Checks,
    as_json: bool,
    at: At,
) -> int:
    r"""Bring the edits of FOLDER in as revisions: all of them, or none.

    Without FOLDER they are those in the working tree of a directory store.

    They pass lint and gate as if they came from outside, and the package is in
    quarantine again. A file that somebody else changed meanwhile is a conflict: nothing
    comes in, and what lost is kept for a review. A persona and the protected anchors
    change only with --authorise.

    \b
    Examples:
      uaix adopt ada work --store sqlite:my.db --scope me/personal/main
      uaix adopt ada work --only .uai/persona.uai \
        --authorise .uai/persona.uai:replace --store dir:my --scope me/personal/main
    """
    out = Output(as_json=as_json)
    name = str(folder or package_id)
    with (
        shown_refusal(out, name),
        out.working(name),
        at.session() as session,
    ):
        folder = unless_tree(session, package_id, folder)
        edited = edited_in(session, package_id, folder, based_on)
        answer = session.packages.adopt(
            package_id,
            edited,
            only=only or None,
            authorisations=authorisations,
            **chosen,
            **checks,
        )
        # Else the next edit would be one of a state that has moved on.
        refreshed = _refreshed(session, package_id, folder, edited)
    _show_adopted(out, folder, answer, refreshed=refreshed)
    return OK


@click.command("refresh")
@package_argument
@folder_argument
@based_on_option
@reading_options
@json_option
def refresh_verb(
    package_id: str,
    folder: Path,
    *,
    based_on: str | None,
    at: At,
    as_json: bool,
) -> int:
    r"""Bring what others changed into FOLDER; no edited file is touched.

    \b
    Example:
      uaix refresh ada work --store sqlite:my.db --scope me/personal/main
    """
    out = Output(as_json=as_json)
    with (
        out.working(str(folder)),
        at.session() as session,
    ):
        if unless_tree(session, package_id, folder) is None:
            raise CallerError(
                "the store keeps its own working tree up to date",
                code="tree.own",
                path=str(folder),
                hint="uaix status without the folder shows what is in it",
            )
        edited = edited_files(folder, based_on)
        found = session.packages.refresh(package_id, edited)
    changed = write_refresh(folder, edited.files, found)
    if as_json:
        out.line({"folder": str(folder), "changed": changed})
    else:
        what = counted(len(changed), "file") if changed else "nothing"
        out.say(f"{folder}: {what} changed", "ok")
    return OK


def _refreshed(
    session: Session, package_id: str, folder: Path | None, edited: EditedFiles
) -> bool:
    """Let the folder be one of the checkpoint that stands, where that is possible."""
    if folder is None:
        # The store itself has brought its tree up to date.
        return True
    if not folder.is_dir():
        return False
    # What was adopted stands, whatever becomes of the folder.
    try:
        found = session.packages.refresh(package_id, edited)
        write_refresh(folder, edited.files, found)
    except (CallerError, StorageError):
        return False
    return True


def _show_status(out: Output, folder: str, status: EditStatus) -> None:
    told = [file for file in status.files if file.state != "untouched" or file.notes]
    changed = status.changed
    if changed:
        out.say(f"{folder}: {counted(len(changed), 'file')} not as before", "warning")
    else:
        out.say(f"{folder}: nothing was edited", "ok")
    if not status.is_current:
        out.say("another checkpoint is the current one by now", "info")
    if status.manifest:
        out.say(
            "the manifest declares something else: bring that in by uaix update",
            "warning",
        )
    if told:
        out.table(
            ("file", "what", "taken back", "needs"),
            (
                (
                    file.path,
                    _told(file),
                    ", ".join(_DID[note] for note in file.notes) or None,
                    file.authorisation
                    and f"--authorise {file.path}:{file.authorisation}",
                )
                for file in told
            ),
        )


def _told(file: FileStatus) -> str:
    if file.moved_to is None:
        return _TOLD[file.state]
    return f"{_TOLD[file.state]}, at {file.moved_to}"


def _show_adopted(
    out: Output, folder: Path | None, answer: Adopted, *, refreshed: bool
) -> None:
    if out.as_json:
        out.line(
            {
                "folder": _named(folder),
                "revisions": [
                    attrs.evolve(revision, notices=()).as_dict()
                    for revision in answer.revisions
                ],
                "status": answer.status.as_dict(),
                "refreshed": refreshed,
            }
        )
        return
    name = folder or answer.status.package_id
    if not answer.revisions:
        out.say(f"{name}: nothing to do: nothing was edited", "ok")
        return
    out.say(f"{name}: {counted(len(answer.revisions), 'revision')}", "accepted")
    out.table(
        ("file", "change", "revision", "number"),
        ((r.path, r.change, r.revision_id, r.number) for r in answer.revisions),
    )
    if not refreshed:
        out.say(
            "the folder is still one of the older checkpoint: export again to go on",
            "warning",
        )
