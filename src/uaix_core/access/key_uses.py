"""Which of the host's keys are still needed, so that the others can be dropped."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, cast

import attrs

from uaix_core.access.relations import CURRENT_SECRET, ISSUED_CREDENTIAL
from uaix_core.store.scanning import all_rows

if TYPE_CHECKING:
    from uaix_core.access.relations import CurrentSecret, IssuedCredential
    from uaix_core.store.port import Snapshot


@attrs.frozen
class KeyUse:
    """What a key is needed for: credentials that aren't over, and stored secrets."""

    key_id: str
    credentials: int
    secrets: int

    def as_dict(self) -> dict[str, Any]:
        """It as plain data."""
        return attrs.asdict(self)


def keys_used(snapshot: Snapshot, now: int) -> list[KeyUse]:
    """The keys that something needs at an instant, by id."""
    tokens: Counter[str] = Counter()
    for row in all_rows(snapshot, ISSUED_CREDENTIAL):
        credential = cast("IssuedCredential", row)
        tokens[credential.key_id] += not credential.is_over(now)
    secrets = Counter(
        cast("CurrentSecret", row).key_id for row in all_rows(snapshot, CURRENT_SECRET)
    )
    return [
        KeyUse(key_id, tokens[key_id], secrets[key_id])
        for key_id in sorted(tokens.keys() | secrets.keys())
        if tokens[key_id] or secrets[key_id]
    ]
