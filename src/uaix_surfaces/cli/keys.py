"""Keys as they lie in files. No error names any of what was read.

A public and a private key look alike when they are raw or in hex. So a private key is
never read from hex, in which public keys are handed round.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from uaix_backends.secret_files import read_small
from uaix_core.packages.ed25519 import KEY_BYTES, key_id
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Collection

#: No key is longer than this in any form, in bytes.
_LONGEST: Final = 4096

_is_hex = re.compile(rb"[0-9A-Fa-f]{64}").fullmatch
_are_digits = re.compile(rb"[0-9A-Fa-f]+").fullmatch
_PRIVATE: Final = b"PRIVATE KEY-----"
_PUBLIC: Final = b"PUBLIC KEY-----"

_PRIVATE_HINT: Final = (
    "a private key of Ed25519 is unencrypted PEM (PKCS#8), as uaix keygen -o writes "
    "it, or 32 raw bytes"
)
_PUBLIC_HINT: Final = (
    "a public key of Ed25519 is PEM, as uaix keygen --public writes it, 64 hex digits, "
    "or 32 raw bytes"
)


def private_key_file(path: Path) -> bytes:
    """The raw private key, 32 bytes, of a file that nobody else can read.

    Raises:
        NotFoundError: ``files.missing``.
        CallerError: ``key.public`` when it holds a public key instead, ``key.readable``
            when others may read the file, ``key.form`` when it holds no such key; hex
            digits are none, since they may be those of a public key.

    """
    data, mode = _read(path, _PRIVATE_HINT)
    # What is no private key is told before its mode, which then doesn't matter.
    if _PUBLIC in data and _PRIVATE not in data:
        raise CallerError(
            "the file holds a public key",
            code="key.public",
            path=str(path),
            hint="sign with the private key; uaix keygen -o writes it",
        )
    if _are_digits(data.strip()):
        raise CallerError(
            "hex digits are no private key, for they may be a public one",
            code="key.form",
            path=str(path),
            hint=_PRIVATE_HINT,
        )
    if os.name == "posix" and mode & 0o077:
        raise CallerError(
            "others may read the key, so that it is no secret",
            code="key.readable",
            path=str(path),
            hint="chmod 600 the file, and make a new key if anybody could",
        )
    if len(data) == KEY_BYTES:
        return data
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - heavy
    from cryptography.hazmat.primitives.asymmetric import (  # noqa: PLC0415 - heavy
        ed25519,
    )

    try:
        key = serialization.load_pem_private_key(data, password=None)
    except (ValueError, TypeError):
        raise _no_key(path, _PRIVATE_HINT) from None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise _no_key(path, _PRIVATE_HINT)
    return key.private_bytes_raw()


def public_key_file(path: Path) -> bytes:
    """The raw public key, 32 bytes, of a file.

    Raises:
        NotFoundError: ``files.missing``.
        CallerError: ``key.private`` when it holds a private key instead, ``key.form``.

    """
    data, _mode = _read(path, _PUBLIC_HINT)
    if len(data) == KEY_BYTES:
        return data
    text = data.strip()
    if _is_hex(text):
        return bytes.fromhex(text.decode("ascii"))
    if _PRIVATE in data:
        raise CallerError(
            "the file holds a private key",
            code="key.private",
            path=str(path),
            hint="name the public key; uaix keygen --public writes it",
        )
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - heavy
    from cryptography.hazmat.primitives.asymmetric import (  # noqa: PLC0415 - heavy
        ed25519,
    )

    try:
        key = serialization.load_pem_public_key(data)
    except (ValueError, TypeError):
        raise _no_key(path, _PUBLIC_HINT) from None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise _no_key(path, _PUBLIC_HINT)
    return key.public_bytes_raw()


def private_key_pem(private_key: bytes) -> bytes:
    """A raw private key of 32 bytes as PEM (PKCS#8), unencrypted."""
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - heavy
    from cryptography.hazmat.primitives.asymmetric import (  # noqa: PLC0415 - heavy
        ed25519,
    )

    key = ed25519.Ed25519PrivateKey.from_private_bytes(private_key)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def public_key_pem(public_key: bytes) -> bytes:
    """A raw public key of 32 bytes as PEM (SubjectPublicKeyInfo)."""
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - heavy
    from cryptography.hazmat.primitives.asymmetric import (  # noqa: PLC0415 - heavy
        ed25519,
    )

    key = ed25519.Ed25519PublicKey.from_public_bytes(public_key)
    return key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def key_id_named(named: str) -> str:
    """A key id, from its 64 hex digits or from a file that holds the public key.

    Raises:
        CallerError: as `public_key_file`.

    """
    if _is_hex(os.fsencode(named)):
        return named.lower()
    return key_id(public_key_file(Path(named)))


def trusted_keys(named: Collection[str]) -> dict[str, bytes]:
    """The public keys by their ids: each in 64 hex digits, or a file that holds it.

    Raises:
        CallerError: as `public_key_file`.

    """
    keys = (
        bytes.fromhex(name)
        if _is_hex(os.fsencode(name))
        else public_key_file(Path(name))
        for name in named
    )
    return {key_id(key): key for key in keys}


def _read(path: Path, hint: str) -> tuple[bytes, int]:
    """What a file holds, and its mode; ``hint`` is for what can't be a key."""
    data, mode = read_small(path, _LONGEST)
    if data is None:
        raise _no_key(path, hint)
    return data, mode


def _no_key(path: Path, hint: str) -> CallerError:
    return CallerError("no key", code="key.form", path=str(path), hint=hint)
