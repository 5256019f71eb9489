"""Sealing: AES-256-GCM, bound to a place, so that no sealed text passes for another.

What is kept is a nonce of 12 random bytes and then the text with its tag.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from uaix_core.values.errors import AccessError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    from uaix_core.access.keys import KeyRing
    from uaix_core.values.ids import Random, ScopeId

_NONCE_BYTES: Final = 12


def sealed(key: bytes, text: bytes, place: bytes, random: Random) -> bytes:
    """A text sealed for a place."""
    return _sealed(_aes(key), text, place, random)


def unsealed(key: bytes, text: bytes, place: bytes) -> bytes | None:
    """The text that was sealed with this key for this place; None when it wasn't."""
    return _unsealed(_aes(key), text, place)


class ScopeCipher:
    """What seals and opens the rows of one scope, under the keys of a ring."""

    def __init__(self, keys: KeyRing, scope: ScopeId, random: Random) -> None:
        self.key_id = keys.active
        self._keys, self._scope, self._random = keys, scope, random
        self._ciphers: dict[str, AESGCM] = {}

    def sealed(self, text: bytes, place: str) -> bytes:
        """A text sealed under the active key."""
        where = self._place(place)
        return _sealed(self._cipher(self.key_id), text, where, self._random)

    def unsealed(self, key_id: str, text: bytes | None, place: str) -> bytes:
        """The text that was sealed for a place of this scope.

        Raises:
            AccessError: ``keys.missing``; ``sealed.broken``.

        """
        cipher = self._cipher(key_id)
        found = _unsealed(cipher, text or b"", self._place(place))
        if found is None:
            raise self.broken(place)
        return found

    def broken(self, place: str) -> AccessError:
        """The error for what isn't what was sealed here."""
        return AccessError(
            "what is stored doesn't open with the key of its name",
            code="sealed.broken",
            path=f"{self._scope.text}#{place}",
            hint="the key was replaced under its old name, or the store was changed",
        )

    def _place(self, place: str) -> bytes:
        return f"{self._scope.text}#{place}".encode()

    def _cipher(self, key_id: str) -> AESGCM:
        cipher = self._ciphers.get(key_id)
        if cipher is None:
            key = self._keys.scope_key(key_id, self._scope)
            cipher = self._ciphers[key_id] = _aes(key)
        return cipher


def _aes(key: bytes) -> AESGCM:
    from cryptography.hazmat.primitives.ciphers.aead import (  # noqa: PLC0415 - heavy
        AESGCM,
    )

    return AESGCM(key)


def _sealed(cipher: AESGCM, text: bytes, place: bytes, random: Random) -> bytes:
    nonce = random.bytes(_NONCE_BYTES)
    return nonce + cipher.encrypt(nonce, text, place)


def _unsealed(cipher: AESGCM, text: bytes, place: bytes) -> bytes | None:
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - heavy

    try:
        return cipher.decrypt(text[:_NONCE_BYTES], text[_NONCE_BYTES:], place)
    except (InvalidTag, ValueError):
        return None
