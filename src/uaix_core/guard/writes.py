"""Which commits a standing covers: what they do, with which packages, as whom.

A commit tells what it does by the operation of its receipts. The few kinds that leave
none are told by their rows, in `RECEIPTLESS`; what is in neither is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from uaix_core.guard.sight import AGENT_FIELD, PACKAGE_FIELD, SHARED
from uaix_core.history.relations import Receipt
from uaix_core.leases.relations import LEASE_TIME
from uaix_core.tiers.relations import (
    ERASURE_MARK,
    FIDELITY_CASE,
    FIDELITY_RESULT,
    INDEX_MARK,
    PLATFORM_NOTE,
    TURN,
    VARIANCE,
    WORKING_STATE,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from uaix_core.access.denials import DenialCode
    from uaix_core.access.standing import Standing
    from uaix_core.schema.commits import Commit
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema

#: Whose erasure a commit carries, or marks as asked for.
ERASE: Final = "erase"

#: What a commit without a receipt does, by the relation of its rows.
RECEIPTLESS: Final[Mapping[str, str]] = {
    WORKING_STATE.name: "note",
    TURN.name: "note",
    VARIANCE.name: "note",
    PLATFORM_NOTE.name: "note",
    INDEX_MARK.name: "note",
    LEASE_TIME.name: "lease",
    FIDELITY_CASE.name: "fidelity",
    FIDELITY_RESULT.name: "fidelity",
    ERASURE_MARK.name: ERASE,
}


@attrs.frozen
class Refusal:
    """Why a commit isn't covered; ``target`` is the package that it was about."""

    code: DenialCode
    operation: str
    target: str | None = None


def refusal_of(schema: Schema, standing: Standing, commit: Commit) -> Refusal | None:
    """Why a standing doesn't cover a commit; None when it does."""
    operations = sorted({*_operations(schema, commit)})
    if not operations:
        # Nothing but rows that every decision may put.
        is_shared = all(schema.of(row).name in SHARED for row in commit.puts)
        is_known = is_shared and bool(standing.entitled) and not commit.drops
        return None if is_known else Refusal("operation", "none")
    for operation in operations:
        for package_id in _packages(schema, commit):
            if not standing.may(operation, package_id):
                knows = standing.may_see(package_id)
                return Refusal(
                    "operation" if knows else "package", operation, package_id
                )
    if not all(_is_by(standing, row) for row in commit.adds):
        return Refusal("operation", operations[0])
    if commit.erases and not standing.may(ERASE, None):
        return Refusal("operation", ERASE)
    return None


def _operations(schema: Schema, commit: Commit) -> Iterator[str]:
    receipts = [row for row in commit.adds if isinstance(row, Receipt)]
    for receipt in receipts:
        yield receipt.operation
    if receipts:
        return
    for row in (*commit.adds, *commit.puts):
        name = schema.of(row).name
        if name not in SHARED:
            yield RECEIPTLESS.get(name, "unknown")
    for ref in commit.drops:
        if ref.relation not in SHARED:
            yield RECEIPTLESS.get(ref.relation, "unknown")
    if commit.erases:
        yield ERASE


def _packages(schema: Schema, commit: Commit) -> set[str | None]:
    """Every package that a commit is about; None: the scope itself."""
    found: set[str | None] = set()
    for row in (*commit.adds, *commit.puts):
        if PACKAGE_FIELD in schema.of(row).fields:
            found.add(getattr(row, PACKAGE_FIELD) or None)
        elif schema.of(row).name not in SHARED:
            found.add(None)
    for ref in (*commit.drops, *commit.erases):
        key = schema.relation(ref.relation).key
        is_named = PACKAGE_FIELD in key
        found.add(ref.key[key.index(PACKAGE_FIELD)] if is_named else None)
    return found or {None}


def _is_by(standing: Standing, row: Row) -> bool:
    """Whether a row says of its author and agent what the standing says."""
    who: Any = row
    principal = standing.principal
    actor = (getattr(who, "actor_kind", None), getattr(who, "actor_id", None))
    if actor not in ((None, None), (principal.kind, principal.id)):
        return False
    agent_id = getattr(who, AGENT_FIELD, None)
    return principal.kind != "agent" or agent_id in (None, principal.id)
