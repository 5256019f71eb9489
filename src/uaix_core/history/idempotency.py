"""Keys that make a retry harmless: the same key and bytes end in one operation.

A key lives per scope and operation, for `KEPT_FOR`; that is a rule of reading, the
receipt itself stays. Stores hold only digests of keys under the scope's own secret.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from uaix_core.history.keyed import keyed_digest
from uaix_core.history.relations import (
    DIGEST_KEY,
    IDEMPOTENCY,
    KEY_BINDING,
    RECEIPT,
    DigestKey,
    Idempotency,
    KeyBinding,
    Receipt,
)
from uaix_core.schema.commits import Expect
from uaix_core.values.errors import CallerError
from uaix_core.values.instants import DAY

if TYPE_CHECKING:
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot
    from uaix_core.values.ids import Random

#: For how long a key is remembered, in microseconds.
KEPT_FOR = 30 * DAY
#: The longest key, in characters.
MAX_KEY = 200

_PURPOSE = "idempotency"


@attrs.frozen
class KeyUse:
    """What an operation under a key found and what its commit must carry along.

    ``first`` is the receipt of the operation that the key stands for, if any.
    """

    operation: str
    key_digest: str | None = None
    request_digest: str | None = None
    first: str | None = None
    expects: tuple[Expect, ...] = ()
    puts: tuple[Row, ...] = ()

    def bound_to(self, receipt_id: str, now: int) -> tuple[Row, ...]:
        """The local rows that bind the key to an operation which is there already."""
        if self.key_digest is None or self.request_digest is None:
            return ()
        binding = KeyBinding(
            self.operation, self.key_digest, self.request_digest, receipt_id, now
        )
        return (*self.puts, binding)


def check_key(key: str | None) -> None:
    """Refuse a key that is no text of 1 to `MAX_KEY` printable characters."""
    if key is None:
        return
    is_text = isinstance(key, str)
    if not is_text or not 0 < len(key) <= MAX_KEY or not key.isprintable():
        raise CallerError(
            f"an idempotency key is 1 to {MAX_KEY} printable characters",
            code="idempotency.key",
            path="key",
        )


def use_key(  # noqa: PLR0913 - each is a fact that the decision rests on
    snapshot: Snapshot,
    random: Random,
    *,
    operation: str,
    key: str | None,
    request: str,
    now: int,
) -> KeyUse:
    """Look a key up; ``request`` is a digest of all that the operation was given.

    Raises:
        CallerError: ``idempotency.reused`` when the key came with other bytes.

    """
    if key is None:
        return KeyUse(operation)
    held = snapshot.get(DIGEST_KEY.name, (_PURPOSE,))
    expects: list[Expect] = []
    puts: list[Row] = []
    if isinstance(held, DigestKey):
        secret = held.secret
    else:
        secret = random.bytes(32).hex()
        expects.append(Expect(DIGEST_KEY.name, (_PURPOSE,), 0))
        puts.append(DigestKey(purpose=_PURPOSE, secret=secret))
    name = (operation, keyed_digest(secret, operation, key))
    request_digest = keyed_digest(secret, "request", request)
    for relation in (IDEMPOTENCY.name, KEY_BINDING.name):
        row = snapshot.get(relation, name)
        expects.append(Expect(relation, name, row.version if row is not None else 0))
    first = _first_use(snapshot, name, now)
    if first is not None and first[1] != request_digest:
        raise CallerError(
            "this idempotency key came with another request before",
            code="idempotency.reused",
            path="key",
            hint="use a new key for a new request",
        )
    return KeyUse(
        operation,
        name[1],
        request_digest,
        None if first is None else first[0],
        tuple(expects),
        tuple(puts),
    )


def _first_use(
    snapshot: Snapshot, name: tuple[str, str], now: int
) -> tuple[str, str | None] | None:
    """The receipt and the request that a key stands for, while it is remembered."""
    row = snapshot.get(IDEMPOTENCY.name, name)
    if isinstance(row, Idempotency) and now < row.recorded_at + KEPT_FOR:
        receipt = snapshot.get(RECEIPT.name, (row.receipt_id,))
        # Another's that isn't seen stands for no request of this caller's: its answer
        # stays the other's, and so does its key.
        seen = receipt.request_digest if isinstance(receipt, Receipt) else None
        return row.receipt_id, seen
    bound = snapshot.get(KEY_BINDING.name, name)
    if isinstance(bound, KeyBinding) and now < bound.bound_at + KEPT_FOR:
        return bound.receipt_id, bound.request_digest
    return None
