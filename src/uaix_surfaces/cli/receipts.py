"""The verb that lists what operations left behind: receipts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from uaix_core.store.port import MAX_SCAN
from uaix_core.values.instants import format_instant
from uaix_surfaces.cli.acting import reading_options
from uaix_surfaces.cli.failures import OK
from uaix_surfaces.cli.options import (
    json_option,
    optional_package_argument,
)
from uaix_surfaces.cli.output import Output, write_error
from uaix_surfaces.cli.reading import to_the_second

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core.history.relations import Receipt
    from uaix_core.session.packages import Packages
    from uaix_surfaces.cli.acting import At


@click.command("receipts")
@optional_package_argument
@reading_options
@json_option
def receipts_verb(package_id: str, *, at: At, as_json: bool) -> int:
    r"""List the receipts of a scope, or of one of its packages, oldest first.

    A package that was refused is none of the scope, so that only the list of all
    receipts holds it.

    \b
    Examples:
      uaix receipts --store sqlite:my.db --scope me/personal/main
      uaix receipts ada --store sqlite:my.db --scope me/personal/main
    """
    out = Output(as_json=as_json)
    with at.session() as session:
        if package_id:
            session.packages.show(package_id)
        lines = [_line(*found) for found in _all(session.packages, package_id)]
    if not lines:
        write_error("the scope holds no receipt")
    elif as_json:
        for line in lines:
            out.line(line)
    else:
        out.table(
            ("at", "seq", "operation", "outcome", "about", "actor", "receipt"),
            (
                (
                    to_the_second(line["recorded_at"]),
                    line["seq"],
                    line["operation"],
                    line["outcome"],
                    line["package_id"] or _codes(line["details"]),
                    line["actor"],
                    line["receipt_id"],
                )
                for line in lines
            ),
        )
    return OK


def _all(packages: Packages, package_id: str) -> Iterator[tuple[int, Receipt]]:
    """Each receipt with its instant, in order of time."""
    after = None
    while page := packages.receipts(package_id, after=after, limit=MAX_SCAN):
        for entry in page:
            yield entry.recorded_at, packages.receipt(entry.receipt_id)
        after = (page[-1].recorded_at, page[-1].receipt_id)


def _line(instant: int, receipt: Receipt) -> dict[str, Any]:
    details = receipt.details
    return {
        "receipt_id": receipt.receipt_id,
        "recorded_at": format_instant(instant),
        "seq": receipt.version,
        "operation": receipt.operation,
        "outcome": receipt.outcome,
        "actor": f"{receipt.actor_kind}:{receipt.actor_id}",
        "package_id": receipt.package_id,
        "checkpoint_id": receipt.checkpoint_id,
        "details": None if details is None else json.loads(details),
    }


def _codes(details: dict[str, Any] | None) -> str | None:
    """The codes that a refusal was for, as far as its receipt still tells."""
    return ", ".join((details or {}).get("findings", ())) or None
