"""Receipts: what every operation leaves in the history of its scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from uaix_core.history.relations import RECEIPT
from uaix_core.values.canonical import SALT_BYTES, canonical_text

if TYPE_CHECKING:
    from uaix_core.schema.rows import Row
    from uaix_core.values.ids import Ids, Principal, Random, ScopeId


@attrs.frozen
class Writing:
    """Who writes where, when, and with which sources of ids and salts."""

    scope: ScopeId
    principal: Principal
    now: int
    ids: Ids
    random: Random


def receipt_row(  # noqa: PLR0913 - the fields of one row
    writing: Writing,
    receipt_id: str,
    *,
    operation: str,
    outcome: str,
    details: dict[str, Any],
    package_id: str | None = None,
    checkpoint_id: str | None = None,
    key_digest: str | None = None,
    request_digest: str | None = None,
) -> Row:
    """A new receipt. ``details`` holds digests, counts and codes, never content."""
    return RECEIPT.with_body(
        writing.random.bytes(SALT_BYTES),
        receipt_id=receipt_id,
        operation=operation,
        outcome=outcome,
        package_id=package_id,
        checkpoint_id=checkpoint_id,
        key_digest=key_digest,
        request_digest=request_digest,
        actor_kind=writing.principal.kind,
        actor_id=writing.principal.id,
        details=canonical_text(details),
    )
