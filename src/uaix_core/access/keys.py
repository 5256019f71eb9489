"""The host's keys: named, of 32 bytes each, handed in and kept nowhere.

Tokens are digested and secrets sealed under the active key. Rows name the key that
they were made with, so a ring may hold older ones until nothing names them any more.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import attrs

from uaix_core.values.canonical import canonical_bytes, from_base64url, to_base64url
from uaix_core.values.errors import AccessError, CallerError, NotFoundError
from uaix_core.values.ids import is_id
from uaix_core.values.strict_json import StrictJsonError, parse

if TYPE_CHECKING:
    from uaix_core.values.ids import ScopeId

KEY_BYTES: Final = 32
#: The largest key ring as text, in bytes.
MAX_RING_BYTES: Final = 64 * 1024

_DIGEST: Final = b"uaix.digest.v1"
_SEAL: Final = b"uaix.seal.v1"
_MEMBERS: Final = frozenset(("active", "keys"))
#: Containers within each other: the ring, and its keys.
_DEPTH: Final = 2
_SCOPE: Final = b"uaix.scope.v1"


def _copied(keys: Any) -> Mapping[str, bytes]:
    if not isinstance(keys, Mapping):
        raise _wrong("keys")
    return dict(keys)


def _key(text: Any) -> bytes:
    try:
        return from_base64url(text if isinstance(text, str) else "?")
    except CallerError:
        raise _wrong("keys") from None


def _wrong(path: str | None) -> CallerError:
    return CallerError(
        f"a key ring maps ids to keys of {KEY_BYTES} bytes, the active one among them",
        code="keys.value",
        path=path,
        hint='as text: {"active": ID, "keys": {ID: base64url of the key}}',
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

    @classmethod
    def parse(cls, content: bytes) -> KeyRing:
        """Read a ring strictly: ``{"active": ID, "keys": {ID: base64url}}``.

        No error tells anything of what was read.

        Raises:
            CallerError: ``keys.value``.

        """
        if len(content) > MAX_RING_BYTES:
            raise _wrong(None)
        try:
            wire = parse(content, max_depth=_DEPTH)
        except StrictJsonError:
            raise _wrong(None) from None
        if not isinstance(wire, dict) or wire.keys() != _MEMBERS:
            raise _wrong(None)
        active, named = wire["active"], wire["keys"]
        if not isinstance(active, str):
            raise _wrong("active")
        if not isinstance(named, dict):
            raise _wrong("keys")
        return cls(active, {name: _key(text) for name, text in named.items()})

    def reveal(self) -> bytes:
        """The ring as text, to be kept where nobody but the host reads it."""
        keys = {name: to_base64url(key) for name, key in self.keys.items()}
        return canonical_bytes({"active": self.active, "keys": keys}) + b"\n"

    def added(self, key_id: str, key: bytes) -> KeyRing:
        """The ring with one key more, which is the active one from then on.

        Raises:
            CallerError: ``keys.exists``, ``keys.value``.

        """
        if key_id in self.keys:
            raise CallerError(
                "the ring has a key of this id", code="keys.exists", path=key_id
            )
        return KeyRing(key_id, {**self.keys, key_id: key})

    def without(self, key_id: str) -> KeyRing:
        """The ring without a key: what was made with that one is good no more.

        Raises:
            CallerError: ``keys.active`` for the active one.
            NotFoundError: ``keys.not-found``.

        """
        if key_id not in self.keys:
            raise NotFoundError(
                "the ring has no key of this id", code="keys.not-found", path=key_id
            )
        if key_id == self.active:
            raise CallerError(
                "the active key stays in the ring",
                code="keys.active",
                path=key_id,
                hint="add another one first",
            )
        left = {name: key for name, key in self.keys.items() if name != key_id}
        return KeyRing(self.active, left)

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

    def scope_key(self, key_id: str, scope: ScopeId) -> bytes:
        """The 32 bytes that the rows of a scope are sealed with.

        Each scope has its own, so that none comes near the number of rows that may be
        sealed under one key.

        Raises:
            AccessError: ``keys.missing``.

        """
        key = self._derived(key_id, _SCOPE)
        return hmac.digest(key, scope.text.encode("utf-8"), "sha256")

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
