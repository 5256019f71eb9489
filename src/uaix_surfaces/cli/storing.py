"""The verbs that bring packages into a store: install, restore, update, clone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from uaix_backends.files import read_package
from uaix_core.packages.diff import readable_files
from uaix_core.packages.manifest.words import is_sha256
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.packages.source import PackageSource
from uaix_core.values.errors import NotFoundError
from uaix_surfaces.cli.acting import at_options
from uaix_surfaces.cli.failures import OK, usable
from uaix_surfaces.cli.judging import show_findings, shown_refusal
from uaix_surfaces.cli.options import (
    PATH,
    authorise_option,
    checked_id,
    json_option,
    judging_options,
    key_option,
)
from uaix_surfaces.cli.output import Output
from uaix_surfaces.cli.places import names_path
from uaix_surfaces.cli.telling import outcome, warn_of_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from uaix_core.packages.anchors import Authorisation
    from uaix_core.packages.answers import Stored
    from uaix_core.packages.lint import Checks
    from uaix_core.session.session import Session
    from uaix_surfaces.cli.acting import At


def read_source(path: Path) -> PackageSource:
    """The package that lies at a path as typed."""
    with usable():
        return read_package(path)


def stored(  # noqa: PLR0913 - a verb, what it is about, and where
    verb: str,
    out: Output,
    name: str,
    call: Callable[[Session], Stored],
    at: At,
    *,
    create: bool,
) -> int:
    """Open the store, call the verb of a session, and tell what came of it."""
    warn_of_memory(at.url)
    with (
        shown_refusal(out, name),
        out.working(name),
        at.session(create=create) as session,
    ):
        answer = call(session)
        if out.as_json:
            out.line({"path": name, **answer.as_dict()})
        else:
            _show_stored(out, name, outcome(session.packages, verb, answer), answer)
        return OK


def _show_stored(out: Output, name: str, outcome: str, answer: Stored) -> None:
    out.say(f"{name}: {outcome}", "accepted")
    line = answer.as_dict()
    del line["notices"]
    out.pairs(line.items())
    show_findings(out, answer.notices)


@click.command("install")
@click.argument("path", type=PATH, metavar="F")
@at_options
@key_option
@judging_options
@json_option
def install_verb(
    path: Path,
    *,
    key: str | None,
    checks: Checks,
    as_json: bool,
    at: At,
) -> int:
    r"""Judge the package F (archive or folder) and store all of it, in quarantine.

    The store is made when it isn't there. The same package again gives the first
    answer and writes nothing. A refused package leaves a receipt and nothing else.

    \b
    Example:
      uaix install ada.uaix --store sqlite:my.db --scope me/personal/main
    """
    source = read_source(path)

    def call(session: Session) -> Stored:
        return session.packages.install(source, key=key, **checks)

    out = Output(as_json=as_json)
    return stored("install", out, str(path), call, at, create=True)


@click.command("restore")
@click.argument("path", type=PATH, metavar="F")
@at_options
@key_option
@judging_options
@json_option
def restore_verb(
    path: Path,
    *,
    key: str | None,
    checks: Checks,
    as_json: bool,
    at: At,
) -> int:
    r"""Bring the package F (archive or folder) back under its own identity.

    The store is made when it isn't there. Where the very same package stands, only a
    receipt is written that says so; an older state of it is refused.

    \b
    Example:
      uaix restore ada.uaix --store sqlite:new.db --scope me/personal/main
    """
    source = read_source(path)

    def call(session: Session) -> Stored:
        return session.packages.restore(source, key=key, **checks)

    out = Output(as_json=as_json)
    return stored("restore", out, str(path), call, at, create=True)


def _base(
    _context: click.Context, _option: click.Parameter, text: str | None
) -> str | PackageSource | None:
    """The checkpoint that was edited: its digest as typed, or a package that holds it.

    A package is read here, since what is wrong with it came from the line.
    """
    if text is None or is_sha256(text):
        return text
    with usable():
        files = readable_files(read_package(text))
        if MANIFEST_PATH not in files:
            raise NotFoundError(
                "the package has no manifest", code="manifest.missing", path=text
            )
    return PackageSource(files=files)


state_option = click.option(
    "--based-on",
    metavar="SHA256|F",
    callback=_base,
    help="What was edited: its checkpoint, the SHA-256 of its manifest, or a package.",
)


@click.command("update")
@click.argument("path", type=PATH, metavar="F")
@at_options
@state_option
@authorise_option
@key_option
@judging_options
@json_option
def update_verb(  # noqa: PLR0913 - the options of the verb
    path: Path,
    *,
    based_on: str | PackageSource | None,
    authorisations: tuple[Authorisation, ...],
    key: str | None,
    checks: Checks,
    as_json: bool,
    at: At,
) -> int:
    r"""Make the edited package F (archive or folder) the new checkpoint.

    It is stored in quarantine again, and history keeps what stood before. An edit of
    anything but the current checkpoint is refused. --based-on isn't needed when the
    manifest says basedOn. Totem, taboo and talisman change only with --authorise.

    \b
    Examples:
      uaix update new.uaix --based-on old.uaix --store dir:my --scope me/personal/main
      uaix update new.uaix --based-on old.uaix --authorise .uai/taboo.uai:replace \
        --store dir:my --scope me/personal/main
    """
    source = read_source(path)

    def call(session: Session) -> Stored:
        return session.packages.update(
            source,
            based_on=based_on,
            authorisations=authorisations,
            key=key,
            **checks,
        )

    out = Output(as_json=as_json)
    return stored("update", out, str(path), call, at, create=False)


@click.command("clone")
@click.argument("origin", metavar="PACKAGE_ID|F")
@at_options
@click.option("--id", "package_id", metavar="NEW_ID", help="Default: a new UUID.")
@key_option
@judging_options
@json_option
def clone_verb(  # noqa: PLR0913 - the options of the verb
    origin: str,
    *,
    package_id: str | None,
    key: str | None,
    checks: Checks,
    as_json: bool,
    at: At,
) -> int:
    r"""Store a copy with an identity of its own; the original is untouched.

    A name that ends in .uaix or holds a / is a package outside of the store (a folder
    here is ./NAME), any other the id of a stored one. The copy gets new stable ids,
    and its lineage names the original.

    \b
    Examples:
      uaix clone ada --id ada-2 --store sqlite:my.db --scope me/personal/main
      uaix clone ./ada --store sqlite:my.db --scope me/personal/main
    """
    is_path = names_path(origin)
    if package_id is not None:
        checked_id(package_id, "--id")
    wanted = read_source(Path(origin)) if is_path else checked_id(origin, "PACKAGE_ID")

    def call(session: Session) -> Stored:
        return session.packages.clone(wanted, package_id=package_id, key=key, **checks)

    out = Output(as_json=as_json)
    return stored("clone", out, origin, call, at, create=is_path)
