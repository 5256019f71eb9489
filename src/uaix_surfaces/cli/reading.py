"""The verbs that only read packages: list, show, history."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from uaix_core.schema.rows import fields_of
from uaix_core.store.port import MAX_SCAN
from uaix_core.values.instants import format_instant
from uaix_surfaces.cli.acting import reading_options
from uaix_surfaces.cli.failures import OK
from uaix_surfaces.cli.options import (
    json_option,
    package_argument,
)
from uaix_surfaces.cli.output import Output, write_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core.history.relations import Receipt
    from uaix_core.packages.relations import Package, PackageFile
    from uaix_core.schema.rows import Row
    from uaix_core.session.package_reads import PackageHistory
    from uaix_core.session.packages import Packages
    from uaix_surfaces.cli.acting import At


def package_line(package: Package) -> dict[str, Any]:
    """The JSON form of a package."""
    line = _plain(package)
    for name in ("installed_at", "modified_at"):
        line[name] = format_instant(line[name])
    scopes = package.declared_scopes
    line["declared_scopes"] = None if scopes is None else json.loads(scopes)
    return line


def file_line(file: PackageFile) -> dict[str, Any]:
    """The JSON form of a file of a package."""
    line = _plain(file)
    del line["package_id"]
    return line


def to_the_second(instant: str | None) -> str | None:
    """An instant for people: JSON keeps all of it."""
    return None if instant is None else instant[:19] + "Z"


def _plain(row: Row) -> dict[str, Any]:
    return {name: getattr(row, name) for name in fields_of(type(row))}


@click.command("list")
@reading_options
@json_option
def list_verb(*, at: At, as_json: bool) -> int:
    r"""List the packages of a scope in the order of their ids.

    \b
    Example:
      uaix list --store sqlite:my.db --scope me/personal/main
    """
    out = Output(as_json=as_json)
    with at.session() as session:
        packages = list(_all_packages(session.packages))
    if not packages:
        write_error("the scope holds no package")
        return OK
    if as_json:
        for package in packages:
            out.line(package_line(package))
        return OK
    out.table(
        ("package", "state", "profile", "files", "bytes", "modified"),
        (
            (
                package.package_id,
                package.state,
                package.profile_id,
                package.file_count,
                package.total_bytes,
                to_the_second(format_instant(package.modified_at)),
            )
            for package in packages
        ),
    )
    return OK


def _all_packages(packages: Packages) -> Iterator[Package]:
    after = None
    while page := packages.list(after=after, limit=MAX_SCAN):
        yield from page
        after = page[-1].package_id


@click.command("show")
@package_argument
@reading_options
@json_option
def show_verb(package_id: str, *, at: At, as_json: bool) -> int:
    r"""Show a package with its files in start-up order.

    \b
    Example:
      uaix show ada --store sqlite:my.db --scope me/personal/main
    """
    out = Output(as_json=as_json)
    with at.session() as session:
        view = session.packages.show(package_id)
    line = package_line(view.package)
    if as_json:
        out.line({**line, "files": [file_line(file) for file in view.files]})
        return OK
    line["declared_scopes"] = ", ".join(line["declared_scopes"] or ())
    out.pairs(line.items())
    out.table(
        ("file", "review", "bytes", "sha256", "revision"),
        (
            (
                file.path,
                file.review_state,
                file.size_bytes,
                file.sha256[:12],
                file.revision_id,
            )
            for file in view.files
        ),
    )
    return OK


@click.command("history")
@package_argument
@reading_options
@json_option
def history_verb(package_id: str, *, at: At, as_json: bool) -> int:
    r"""Show checkpoints, revisions and receipts of a package, oldest first.

    \b
    Example:
      uaix history ada --store sqlite:my.db --scope me/personal/main
    """
    out = Output(as_json=as_json)
    with at.session() as session:
        history = session.packages.history(package_id)
        receipts = _all_receipts(session.packages, package_id)
    events = _events(history, receipts)
    if as_json:
        for event in events:
            out.line(event)
        return OK
    out.table(
        ("at", "seq", "what", "number", "about", "actor", "id"),
        (
            (
                to_the_second(event["recorded_at"]),
                event["seq"],
                f"{event['kind']} {event['what']}",
                event.get("number"),
                event.get("path") or event.get("state") or event.get("outcome"),
                event["actor"],
                event["id"],
            )
            for event in events
        ),
    )
    return OK


def _all_receipts(packages: Packages, package_id: str) -> list[tuple[int, Receipt]]:
    """Each receipt of a package with its instant, in order of time."""
    receipts: list[tuple[int, Receipt]] = []
    after = None
    while page := packages.receipts(package_id, after=after, limit=MAX_SCAN):
        receipts += [(e.recorded_at, packages.receipt(e.receipt_id)) for e in page]
        after = (page[-1].recorded_at, page[-1].receipt_id)
    return receipts


def _events(
    history: PackageHistory, receipts: list[tuple[int, Receipt]]
) -> list[dict[str, Any]]:
    # The rows of one commit share its instant, which its receipt knows.
    instants = {receipt.version: instant for instant, receipt in receipts}

    def event(kind: str, what: str, name: str, row: Any, **more: Any) -> dict[str, Any]:
        instant = instants.get(row.version)
        return {
            "kind": kind,
            "seq": row.version,
            "recorded_at": None if instant is None else format_instant(instant),
            "actor": f"{row.actor_kind}:{row.actor_id}",
            "what": what,
            "id": name,
            **more,
        }

    checkpoints = [
        event(
            "checkpoint", c.origin, c.checkpoint_id, c, number=c.number, state=c.state
        )
        for c in history.checkpoints
    ]
    revisions = [
        event(
            "revision",
            r.change,
            r.revision_id,
            r,
            number=r.number,
            record_id=r.record_id,
            path=r.path,
            sha256=r.sha256,
        )
        for r in sorted(history.revisions, key=lambda r: r.path or "")
    ]
    operations = [
        event(
            "receipt",
            r.operation,
            r.receipt_id,
            r,
            outcome=r.outcome,
            details=None if r.details is None else json.loads(r.details),
        )
        for _instant, r in receipts
    ]
    # Sorting is stable: within a commit the order of the kinds stays.
    return sorted([*checkpoints, *revisions, *operations], key=lambda e: e["seq"])
