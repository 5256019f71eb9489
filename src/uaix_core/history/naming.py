"""Rows named by what they say: revision and checkpoint ids, keyed digests."""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING, Any

from uaix_core.values.canonical import plain_bytes, salted_digest, sha256_hex

if TYPE_CHECKING:
    from collections.abc import Callable

    from uaix_core.schema.relations import Relation
    from uaix_core.schema.rows import Row


def named_row(relation: Relation, id_field: str, salt: bytes, **fields: Any) -> Row:
    """A row whose id is the SHA-256 of the RFC 8785 form of its other header fields.

    The body stands in the header as its salted digest, so the id covers it too.
    """
    parts = (fields[name] for name in relation.body)
    body_digest = salted_digest(
        salt, [part if type(part) is bytes else part.encode("utf-8") for part in parts]
    )
    fields["body_digest"] = body_digest
    header = {
        name: to_json(value) if to_json else value
        for name, to_json in relation.header_plan
        if name != id_field and (value := fields[name]) is not None
    }
    make: Callable[..., Row] = relation.row
    return make(**{id_field: sha256_hex(plain_bytes(header))}, salt=salt, **fields)


def keyed_digest(secret: str, *parts: str) -> str:
    """HMAC-SHA-256 (hex) under a key of 32 bytes in hex, over length-framed parts."""
    state = hmac.new(bytes.fromhex(secret), digestmod=hashlib.sha256)
    for part in parts:
        data = part.encode("utf-8")
        state.update(len(data).to_bytes(8, "big"))
        state.update(data)
    return state.hexdigest()
