"""Tokens: what a caller shows to be somebody; nothing that is kept gives one back.

A token is ``uaix_``, the id of its credential in 32 hex digits, ``_`` and 32 random
bytes in base64url. Only a keyed digest of its secret part is stored.
"""

from __future__ import annotations

import hmac
import re
from typing import TYPE_CHECKING, Final

import attrs

from uaix_core.values.canonical import to_base64url
from uaix_core.values.errors import AccessError

if TYPE_CHECKING:
    from uaix_core.access.keys import KeyRing
    from uaix_core.values.ids import Random

SECRET_BYTES: Final = 32
#: What every token begins with.
PREFIX: Final = "uaix_"

_is_token = re.compile(
    PREFIX + r"([0-9a-f]{32})_([A-Za-z0-9_-]{43})", re.ASCII
).fullmatch
#: What stands for the digest of a credential that isn't there.
NO_DIGEST: Final = "0" * 64


@attrs.frozen
class Token:
    """A token in its parts; its text is shown by `reveal` alone."""

    credential_id: str
    secret: str = attrs.field(repr=False)

    @classmethod
    def mint(cls, credential_id: str, random: Random) -> Token:
        """A new token of a credential, whose id is a UUID."""
        return cls(credential_id, to_base64url(random.bytes(SECRET_BYTES)))

    @classmethod
    def parse(cls, text: object) -> Token:
        """Read a token; what is none is refused as one that nobody issued."""
        match = _is_token(text) if isinstance(text, str) else None
        if match is None:
            raise invalid()
        digits, secret = match.groups()
        parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
        return cls("-".join(parts), secret)

    def reveal(self) -> str:
        """The text of the token, to be handed to its owner once."""
        return f"{PREFIX}{self.credential_id.replace('-', '')}_{self.secret}"

    def digest(self, keys: KeyRing, key_id: str) -> str:
        """What is kept of it."""
        return keys.digest(key_id, "token", self.credential_id, self.secret)

    def is_of(self, keys: KeyRing, key_id: str, digest: str) -> bool:
        """Whether a stored digest is this token's, in a time that tells nothing."""
        return hmac.compare_digest(self.digest(keys, key_id), digest)


def invalid() -> AccessError:
    """The one error for every token that stands for nobody."""
    return AccessError(
        "the credential stands for nobody",
        code="credential.invalid",
        hint="it may be mistyped, unknown, revoked or past its time: ask for a new one",
    )
