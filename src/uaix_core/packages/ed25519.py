"""Ed25519 over raw keys: the one place that reaches for the cryptography library.

A raw key, public or private, has 32 bytes and a signature 64 (RFC 8032). Keys are
never kept here, and no error names one.
"""

from __future__ import annotations

from typing import Final

from uaix_core.values.canonical import sha256_hex
from uaix_core.values.errors import CallerError

KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64


def key_id(public_key: bytes) -> str:
    """The id of a raw public key of 32 bytes: its SHA-256 in lower-case hex.

    Source: UAIX package format v0.1, "integrity".

    Raises:
        CallerError: ``signature.key``.

    """
    return sha256_hex(_checked(public_key))


def public_key_of(private_key: bytes) -> bytes:
    """The raw public key, 32 bytes, of a raw private one.

    Raises:
        CallerError: ``signature.key``.

    """
    from cryptography.hazmat.primitives.asymmetric import (  # noqa: PLC0415 - heavy
        ed25519,
    )

    key = ed25519.Ed25519PrivateKey.from_private_bytes(_checked(private_key))
    return key.public_key().public_bytes_raw()


def signature_of(private_key: bytes, message: bytes) -> bytes:
    """The signature, 64 bytes; the same key and message always give the same one.

    Raises:
        CallerError: ``signature.key``.

    """
    from cryptography.hazmat.primitives.asymmetric import (  # noqa: PLC0415 - heavy
        ed25519,
    )

    key = ed25519.Ed25519PrivateKey.from_private_bytes(_checked(private_key))
    return key.sign(message)


def is_signature(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether the signature of the message verifies under a raw public key."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - heavy
    from cryptography.hazmat.primitives.asymmetric import (  # noqa: PLC0415 - heavy
        ed25519,
    )

    try:
        key = ed25519.Ed25519PublicKey.from_public_bytes(public_key)
        key.verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _checked(key: bytes) -> bytes:
    given: object = key
    if not isinstance(given, bytes) or len(given) != KEY_BYTES:
        raise CallerError(
            f"a key is {KEY_BYTES} raw bytes", code="signature.key", path="key"
        )
    return key
