"""Keyed digests: they can be compared under one key and tell nothing else."""

from __future__ import annotations

import hashlib
import hmac


def keyed_digest(secret: str, *parts: str) -> str:
    """HMAC-SHA-256 (hex) under a key of 32 bytes in hex, over length-framed parts."""
    state = hmac.new(bytes.fromhex(secret), digestmod=hashlib.sha256)
    for part in parts:
        data = part.encode("utf-8")
        state.update(len(data).to_bytes(8, "big"))
        state.update(data)
    return state.hexdigest()
