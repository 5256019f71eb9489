"""What the package verbs answer, and how they refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import attrs

from uaix_core.history.relations import RECEIPT, Receipt
from uaix_core.packages.relations import CHECKPOINT
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from uaix_core.packages.findings import Finding
    from uaix_core.packages.lint import Report
    from uaix_core.packages.relations import Checkpoint
    from uaix_core.schema.commits import Commit, Recorded
    from uaix_core.store.port import Snapshot


class PackageRefusedError(CallerError):
    """A package did not pass its checks; nothing of it was stored.

    ``report`` lists every finding; ``receipt`` is the id of the receipt that the
    refusal left.
    """

    default_code = "package.refused"

    def __init__(self, report: Report, receipt: str) -> None:
        errors = [f for f in report.findings if f.severity == "error"]
        codes = list(dict.fromkeys(f.code for f in errors))
        super().__init__(
            f"the package is refused with {len(errors)} error{'s' * (len(errors) != 1)}"
            f": {', '.join(codes[:5])}",
            hint="its report lists every finding",
        )
        self.report = report
        self.receipt = receipt


@attrs.frozen
class Stored:
    """The answer to install, restore, clone and update.

    ``seq`` is the commit that stored the package as it is now, ``receipt`` the id of
    the operation's receipt; ``is_first`` is false when an exact retry found them there
    already, ``is_current`` when the package hasn't moved on since. ``is_staged`` says
    that all of it is gone again unless a host commits. ``notices`` are the findings of
    no error that the lint and the scope gave.
    """

    package_id: str
    operation: str
    state: str
    seq: int
    receipt: str
    checkpoint_id: str
    is_first: bool
    is_current: bool = True
    is_staged: bool = False
    notices: tuple[Finding, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain data."""
        return attrs.asdict(self)


@attrs.frozen
class Answered:
    """A decision that the operation was done before.

    ``commit`` is what is to be written all the same, None for nothing: it binds an
    idempotency key to the answer.
    """

    answer: Stored
    commit: Commit | None = None


@attrs.frozen
class Refused:
    """A decision not to store: the report with the findings that refuse."""

    report: Report


def receipt_in(recorded: Recorded) -> Receipt:
    """The receipt that a recorded operation left."""
    return next(row for row in recorded.commit.adds if isinstance(row, Receipt))


def answer_of(snapshot: Snapshot, receipt_id: str, *, is_first: bool) -> Stored:
    """The answer to the operation that left an accepting receipt on a checkpoint."""
    receipt = cast("Receipt", snapshot.get(RECEIPT.name, (receipt_id,)))
    row = snapshot.get(CHECKPOINT.name, (receipt.checkpoint_id,))
    checkpoint = cast("Checkpoint", row)
    return Stored(
        package_id=checkpoint.package_id,
        operation=receipt.operation,
        state=checkpoint.state,
        seq=receipt.version,
        receipt=receipt.receipt_id,
        checkpoint_id=checkpoint.checkpoint_id,
        is_first=is_first,
    )
