"""The options by which somebody says which edits of a folder are to count."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict

import click

from uaix_backends.files import read_package
from uaix_backends.trees import edited_tree as tree_of
from uaix_core.packages.diff import readable_files
from uaix_core.packages.edits import EditedFiles
from uaix_surfaces.cli.failures import usable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from uaix_core.session.session import Session

#: What is said of a file that is new and that no manifest describes.
_MEDIA: Final = {
    ".uai": "text/uaix",
    ".md": "text/markdown",
    ".json": "application/json",
}
#: What no path is, for all of them.
_ALL: Final = "*"

based_on_option = click.option(
    "--based-on",
    metavar="CHECKPOINT",
    help="What was edited: a number, an id, or the SHA-256 of its manifest.",
)


class Chosen(TypedDict):
    """Which files may be gone, and what new ones are."""

    removals: bool | tuple[str, ...]
    entries: Mapping[str, Mapping[str, Any]]


def choosing_options(function: Callable[..., int]) -> Callable[..., int]:
    """The options that name files which are new or gone: `Chosen`."""

    @wraps(function)
    def called(
        *args: Any,
        remove: tuple[str, ...],
        remove_all: bool,
        new: tuple[str, ...],
        **more: Any,
    ) -> int:
        chosen: Chosen = {
            "removals": remove_all or _ALL in remove or remove,
            "entries": {path: _entry(path) for path in new},
        }
        return function(*args, chosen=chosen, **more)

    removing = click.option(
        "--remove",
        is_flag=False,
        flag_value=_ALL,
        multiple=True,
        metavar="[PATH]",
        help="Let this file be gone, without PATH all of them; may be repeated.",
    )
    removing_all = click.option(
        "--remove-all", is_flag=True, help="Let all files be gone that are gone."
    )
    adding = click.option(
        "--new",
        "new",
        multiple=True,
        metavar="PATH",
        help="Bring in this new file, which no manifest describes; may be repeated.",
    )
    return removing(removing_all(adding(called)))


def edited_files(folder: Path, based_on: str | None) -> EditedFiles:
    """The files of a folder that somebody edited."""
    with usable():
        return EditedFiles(readable_files(read_package(folder)), based_on)


def edited_in(
    session: Session, package_id: str, folder: Path | None, based_on: str | None
) -> EditedFiles:
    """The files of a folder, or those in the working tree of the store."""
    folder = unless_tree(session, package_id, folder)
    if folder is not None:
        return edited_files(folder, based_on)
    return edited_tree(session, package_id)


def unless_tree(session: Session, package_id: str, folder: Path | None) -> Path | None:
    """The folder; None where it is the store's own working tree, however it is named.

    There each file has a base of its own, which its manifest doesn't tell.
    """
    place = getattr(session.store, "tree_folder", None)
    if folder is None or place is None:
        return folder
    tree: Path | None = place(session.scope, package_id)
    if tree is None or not tree.exists() or not folder.exists():
        return folder
    return None if folder.samefile(tree) else folder


def edited_tree(session: Session, package_id: str) -> EditedFiles:
    """The files of a package in the working tree of the store."""
    session.packages.show(package_id)
    return tree_of(session.store, session.scope, package_id)


def _entry(path: str) -> Mapping[str, Any]:
    """What a manifest says of a file of which nobody said anything else."""
    return {
        "role": "memory",
        "requiredStatus": "configuration_specific_required",
        "scope": "universal",
        "mediaType": _MEDIA.get(Path(path).suffix, "text/plain"),
        "source": "adopted from an edited folder",
    }
