"""Keys as they lie in files: raw, hex or PEM. No error names any of what was read."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from uaix_core.packages.ed25519 import KEY_BYTES, key_id
from uaix_core.values.errors import CallerError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Collection

#: No key is longer than this in any form, in bytes.
_LONGEST: Final = 4096

_is_hex = re.compile(rb"[0-9A-Fa-f]{64}").fullmatch
_PRIVATE: Final = b"PRIVATE KEY-----"

_HINT: Final = "a key is 32 raw bytes, 64 hex digits, or unencrypted PEM of Ed25519"


def private_key_file(path: Path) -> bytes:
    """The raw private key, 32 bytes, of a file that nobody else can read.

    Raises:
        NotFoundError: ``files.missing``.
        CallerError: ``key.readable`` when others may read the file, ``key.form``
            when it holds no such key.

    """
    data = _read(path, is_private=True)
    raw = _unwrapped(data)
    if raw is not None:
        return raw
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - heavy
    from cryptography.hazmat.primitives.asymmetric import (  # noqa: PLC0415 - heavy
        ed25519,
    )

    try:
        key = serialization.load_pem_private_key(data, password=None)
    except (ValueError, TypeError):
        raise _no_key(path) from None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise _no_key(path)
    return key.private_bytes_raw()


def public_key_file(path: Path) -> bytes:
    """The raw public key, 32 bytes, of a file.

    Raises:
        NotFoundError: ``files.missing``.
        CallerError: ``key.private`` when it holds a private key instead, ``key.form``.

    """
    data = _read(path, is_private=False)
    raw = _unwrapped(data)
    if raw is not None:
        return raw
    if _PRIVATE in data:
        raise CallerError(
            "the file holds a private key",
            code="key.private",
            path=str(path),
            hint="trust the public key; uaix keygen prints it",
        )
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - heavy
    from cryptography.hazmat.primitives.asymmetric import (  # noqa: PLC0415 - heavy
        ed25519,
    )

    try:
        key = serialization.load_pem_public_key(data)
    except (ValueError, TypeError):
        raise _no_key(path) from None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise _no_key(path)
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


def _unwrapped(data: bytes) -> bytes | None:
    """The key of a file that holds it raw or in hex."""
    if len(data) == KEY_BYTES:
        return data
    text = data.strip()
    return bytes.fromhex(text.decode("ascii")) if _is_hex(text) else None


def _read(path: Path, *, is_private: bool) -> bytes:
    # A FIFO without a writer would otherwise hold the reader up.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        fd = os.open(path, flags)
    except FileNotFoundError as error:
        raise NotFoundError(
            "there is no such file", code="files.missing", path=str(path)
        ) from error
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise _no_key(path)
        if is_private and os.name == "posix" and status.st_mode & 0o077:
            raise CallerError(
                "others may read the key, so that it is no secret",
                code="key.readable",
                path=str(path),
                hint="chmod 600 the file, and make a new key if anybody could",
            )
        data = os.read(fd, _LONGEST + 1)
    finally:
        os.close(fd)
    if len(data) > _LONGEST:
        raise _no_key(path)
    return data


def _no_key(path: Path) -> CallerError:
    return CallerError("no key", code="key.form", path=str(path), hint=_HINT)
