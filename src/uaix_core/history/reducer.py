"""The views of the history room: heads, receipts and idempotency keys.

All need headers only, so an erasure leaves them as they are: the head of an erased
revision still names it, and the parent chain stays gapless.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_core.history.relations import (
    CONFLICT,
    DIGEST_KEY,
    HEAD,
    IDEMPOTENCY,
    KEY_BINDING,
    RECEIPT,
    RECEIPT_ENTRY,
    REVISION,
    REVISION_SIGNATURE,
    Head,
    Idempotency,
    Receipt,
    ReceiptEntry,
    Revision,
)
from uaix_core.schema.reducers import Changes
from uaix_core.schema.relations import Ref
from uaix_core.schema.schema import Room

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.reducers import Steps
    from uaix_core.schema.rows import Row


def reduce_history(recorded: Recorded, _erased: Mapping[Ref, Row]) -> Steps:
    """Move the heads to the new revisions; list the receipts and their keys."""
    revisions = [r for r in recorded.commit.adds if isinstance(r, Revision)]
    refs = {Ref(HEAD.name, (r.package_id, r.record_id)) for r in revisions}
    heads = dict((yield refs))
    for revision in revisions:
        ref = Ref(HEAD.name, (revision.package_id, revision.record_id))
        before = heads.get(ref)
        heads[ref] = Head(
            package_id=revision.package_id,
            record_id=revision.record_id,
            revision_id=revision.revision_id,
            number=revision.number,
            change=revision.change,
            created_at=before.created_at
            if isinstance(before, Head)
            else recorded.recorded_at,
            modified_at=recorded.recorded_at,
        )
    receipts = [r for r in recorded.commit.adds if isinstance(r, Receipt)]
    entries = [
        ReceiptEntry(
            receipt_id=receipt.receipt_id,
            recorded_at=recorded.recorded_at,
            package_id=receipt.package_id or "",
            operation=receipt.operation,
            outcome=receipt.outcome,
            actor_kind=receipt.actor_kind,
            actor_id=receipt.actor_id,
        )
        for receipt in receipts
    ]
    keys = [
        Idempotency(
            operation=receipt.operation,
            key_digest=receipt.key_digest,
            receipt_id=receipt.receipt_id,
            recorded_at=recorded.recorded_at,
        )
        for receipt in receipts
        if receipt.key_digest is not None
    ]
    return Changes(puts=(*heads.values(), *entries, *keys))


HISTORY_ROOM = Room(
    "history",
    (
        REVISION,
        HEAD,
        REVISION_SIGNATURE,
        CONFLICT,
        RECEIPT,
        RECEIPT_ENTRY,
        IDEMPOTENCY,
        KEY_BINDING,
        DIGEST_KEY,
    ),
    reduce_history,
)
