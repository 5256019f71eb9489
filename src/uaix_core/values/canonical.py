"""Canonical JSON (RFC 8785), digests, and bytes as base64url.

Two encoders give the same bytes. `canonical_bytes` takes any I-JSON value and is
checked. `plain_bytes` is four times cheaper and is right for values with ASCII keys,
without floats, and with integers within 2**53 - 1; `canonical_bytes` takes it where it
can, and rows of the schema, which are such values, go there at once.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import TYPE_CHECKING, Any

from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Iterable

#: I-JSON (RFC 7493): integers beyond this are rounded by other readers.
MAX_SAFE_INTEGER = 2**53 - 1

SALT_BYTES = 16

#: Below this one joined hash call is cheaper than many small updates.
_JOIN_UP_TO = 65_536

_plain = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
)


def canonical_bytes(value: Any) -> bytes:
    """The RFC 8785 form of any I-JSON value.

    Raises:
        CallerError: ``canonical.invalid`` for NaN, infinities, integers beyond
            2**53 - 1, lone surrogates, keys that aren't text, other types.

    """
    try:
        # A CanonicalizationError is a ValueError, as a UnicodeError is.
        return plain_bytes(value) if _is_plain(value) else _checked_bytes(value)
    except (ValueError, RecursionError) as error:
        raise CallerError(
            "the value has no canonical JSON form", code="canonical.invalid"
        ) from error


def _checked_bytes(value: Any) -> bytes:
    import rfc8785  # noqa: PLC0415 - loaded on first use

    return rfc8785.dumps(value)


def _is_plain(value: Any) -> bool:
    """Whether the fast path is exact for this value (surrogates aside)."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return True
    if kind is int:
        return -MAX_SAFE_INTEGER <= int(value) <= MAX_SAFE_INTEGER
    if kind is dict:
        keys_are_plain = all(type(key) is str and key.isascii() for key in value)
        return keys_are_plain and all(map(_is_plain, value.values()))
    return bool(kind is list and all(map(_is_plain, value)))


def canonical_text(value: Any) -> str:
    """The RFC 8785 form of any I-JSON value as text."""
    return canonical_bytes(value).decode("utf-8")


def plain_bytes(value: Any) -> bytes:
    """The RFC 8785 form of a value with ASCII keys, no floats and small integers.

    With those limits sorting by code point equals sorting by UTF-16 unit, and the
    standard library writes numbers and escapes as RFC 8785 does. The limits are the
    caller's promise; `canonical_bytes` is the checked way.
    """
    return _plain.encode(value).encode("utf-8")


def plain_text(value: Any) -> str:
    """As `plain_bytes`, as text; may still hold a lone surrogate."""
    return _plain.encode(value)


def sha256_hex(data: bytes | bytearray | memoryview) -> str:
    """SHA-256 of raw bytes, 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def canonical_digest(value: Any) -> str:
    """SHA-256 (hex) of the RFC 8785 form of any I-JSON value."""
    return sha256_hex(canonical_bytes(value))


def salted_digest(salt: bytes, parts: Iterable[bytes | memoryview]) -> str:
    """SHA-256 (hex) of a salt and parts, each part preceded by its length.

    The 8-byte big-endian lengths keep ``("ab", "c")`` and ``("a", "bc")`` apart. The
    salt goes with the body when it is erased, so that the digest which stays in the
    chain confirms no guess.
    """
    if len(salt) != SALT_BYTES:
        raise CallerError(f"a salt has {SALT_BYTES} bytes", code="canonical.salt")
    framed: list[bytes | memoryview] = [salt]
    for part in parts:
        framed += (len(part).to_bytes(8, "big"), part)
    if sum(map(len, framed)) <= _JOIN_UP_TO:
        return hashlib.sha256(b"".join(framed)).hexdigest()
    state = hashlib.sha256()
    for piece in framed:
        state.update(piece)
    return state.hexdigest()


_TO_STANDARD = bytes.maketrans(b"-_+/=", b"+/***")


def to_base64url(data: bytes | memoryview) -> str:
    """Base64url without padding (RFC 4648 section 5)."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def from_base64url(text: str) -> bytes:
    """Read base64url without padding; refuse every other spelling of the bytes."""
    try:
        # The standard alphabet is no part of this one: it becomes what isn't read.
        standard = text.encode("ascii").translate(_TO_STANDARD)
        padded = standard + b"=" * (-len(standard) % 4)
        data = binascii.a2b_base64(padded, strict_mode=True)
    except (ValueError, binascii.Error):
        data = None
    # Bits that the last character has too many must be zero.
    odd = len(data) % 3 if data is not None else 0
    if data is None or (odd and to_base64url(data[-odd:]) != text[-odd - 1 :]):
        raise CallerError("not base64url without padding", code="canonical.base64url")
    return data
