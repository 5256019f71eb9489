"""Which commits a standing covers: what they do, with which packages, as whom.

A commit tells what it does by the operation of its receipts. The few kinds that leave
none are told by their rows, in `RECEIPTLESS`; what is in neither is refused, and so are
rows that an operation isn't for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from uaix_core.guard.operations import DEMANDS, ERASE, RECEIPTLESS, ROWS
from uaix_core.guard.sight import AGENT_FIELD, KEYED, PACKAGE_FIELD
from uaix_core.history.idempotency import KEPT_FOR
from uaix_core.history.relations import RECEIPT, KeyBinding, Receipt
from uaix_core.schema.relations import values_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core.access.denials import DenialCode
    from uaix_core.access.standing import Standing
    from uaix_core.schema.commits import Commit
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.store.port import Snapshot


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
        # Nothing but rows about keys, which every decision may put.
        return None if standing.entitled else Refusal("operation", "none")
    needed = (*operations, *_demands(schema, commit))
    for operation in needed:
        for package_id in _packages(schema, commit):
            if not standing.may(operation, package_id):
                knows = standing.may_see(package_id)
                return Refusal(
                    "operation" if knows else "package", operation, package_id
                )
    is_by = all(_is_by(standing, row) for row in (*commit.adds, *commit.puts))
    if not (is_by and _consists_of(schema, commit, operations)):
        return Refusal("operation", operations[0])
    for package_id in _expected(schema, commit):
        if not standing.may_see(package_id):
            return Refusal("package", operations[0], package_id)
    if commit.erases and not standing.may(ERASE, None):
        return Refusal("operation", ERASE)
    return None


def keeps_keys(schema: Schema, snapshot: Snapshot, commit: Commit, now: int) -> bool:
    """Whether what a commit puts about idempotency keys takes none from anybody.

    ``snapshot`` is all of the scope. Such rows are put where none stands, or over one
    that is past its time, by a commit that says so.
    """
    named = {(expect.relation, expect.key) for expect in commit.expects}
    for row in commit.puts:
        relation = schema.of(row)
        if relation.name not in KEYED:
            continue
        key = values_of(relation.key)(row)
        before = snapshot.get(relation.name, key)
        is_past = isinstance(before, KeyBinding) and before.bound_at + KEPT_FOR <= now
        if (relation.name, key) not in named or not (before is None or is_past):
            return False
    return True


def _demands(schema: Schema, commit: Commit) -> Iterator[str]:
    """What some rows need besides what the receipts say."""
    names = {schema.of(row).name for row in (*commit.adds, *commit.puts)}
    for name in sorted(names & DEMANDS.keys()):
        yield DEMANDS[name]


def _consists_of(schema: Schema, commit: Commit, operations: list[str]) -> bool:
    """Whether all rows are those that such operations write."""
    allowed = {name for operation in operations for name in ROWS.get(operation, ())}
    written = {schema.of(row).name for row in (*commit.adds, *commit.puts)}
    dropped = {ref.relation for ref in commit.drops}
    return written <= allowed | KEYED | {RECEIPT.name} and dropped <= allowed


def _expected(schema: Schema, commit: Commit) -> Iterator[str]:
    """The packages of the rows that a commit relies on."""
    for expect in commit.expects:
        key = schema.relation(expect.relation).key
        if PACKAGE_FIELD in key:
            yield expect.key[key.index(PACKAGE_FIELD)]


def _operations(schema: Schema, commit: Commit) -> Iterator[str]:
    receipts = [row for row in commit.adds if isinstance(row, Receipt)]
    for receipt in receipts:
        yield receipt.operation
    if receipts:
        return
    for row in (*commit.adds, *commit.puts):
        name = schema.of(row).name
        if name not in KEYED:
            yield RECEIPTLESS.get(name, "unknown")
    for ref in commit.drops:
        yield RECEIPTLESS.get(ref.relation, "unknown")
    if commit.erases:
        yield ERASE


def _packages(schema: Schema, commit: Commit) -> set[str | None]:
    """Every package that a commit is about; None: the scope itself."""
    found: set[str | None] = set()
    for row in (*commit.adds, *commit.puts):
        if PACKAGE_FIELD in schema.of(row).fields:
            found.add(getattr(row, PACKAGE_FIELD) or None)
        elif schema.of(row).name not in KEYED:
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
