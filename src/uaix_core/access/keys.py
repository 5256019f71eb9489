"""The host's keys: named, of 32 bytes each, handed in and kept nowhere.

Tokens are digested and secrets sealed under the active key. Rows name the key that
they were made with, so a ring may hold older ones until nothing names them any more.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import Any, Final

import attrs

from uaix_core.values.errors import AccessError, CallerError
from uaix_core.values.ids import is_id

KEY_BYTES: Final = 32

_DIGEST: Final = b"uaix.digest.v1"
_SEAL: Final = b"uaix.seal.v1"


def _copied(keys: Any) -> Mapping[str, bytes]:
    if not isinstance(keys, Mapping):
        raise _wrong("keys")
    return dict(keys)


def _wrong(path: str) -> CallerError:
    return CallerError(
        f"a key ring maps ids to keys of {KEY_BYTES} bytes, the active one among them",
        code="keys.value",
        path=path,
    )


@attrs.frozen(eq=False)
class KeyRing:
    """Keys by id; ``active`` is the one that new rows are made with.

    Raises:
        CallerError: ``keys.value``.

    """

    active: str
    keys: Mapping[str, bytes] = attrs.field(repr=False, converter=_copied)

    def __attrs_post_init__(self) -> None:
        for name, key in self.keys.items():
            if not is_id(name) or type(key) is not bytes or len(key) != KEY_BYTES:
                raise _wrong("keys")
        if not is_id(self.active) or self.active not in self.keys:
            raise _wrong("active")

    def digest(self, key_id: str, *parts: str) -> str:
        """HMAC-SHA-256 (hex) of length-framed parts under a key of the ring.

        Raises:
            AccessError: ``keys.missing``.

        """
        state = hmac.new(self._derived(key_id, _DIGEST), digestmod=hashlib.sha256)
        for part in parts:
            data = part.encode("utf-8")
            state.update(len(data).to_bytes(8, "big"))
            state.update(data)
        return state.hexdigest()

    def sealing_key(self, key_id: str) -> bytes:
        """The 32 bytes that what is sealed under a key of the ring is sealed with.

        Raises:
            AccessError: ``keys.missing``.

        """
        return self._derived(key_id, _SEAL)

    def _derived(self, key_id: str, purpose: bytes) -> bytes:
        """A key for one purpose, so that no key is used for two."""
        key = self.keys.get(key_id)
        if key is None:
            raise AccessError(
                "the key that this was made with isn't in the ring",
                code="keys.missing",
                path=key_id,
                hint="hand in the older key as well until nothing names it",
            )
        return hmac.digest(key, purpose, "sha256")
