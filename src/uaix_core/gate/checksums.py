"""Checksums inside tokens. A right one makes a match certain, a wrong one nothing.

Tokens of GitHub and of the npm registry end in six base-62 digits of the CRC-32 of
what stands between prefix and checksum.
"""

from __future__ import annotations

import binascii
from typing import Final

DIGITS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
CHECK_LENGTH: Final = 6
BODY_LENGTH: Final = 30


def base62(number: int, width: int) -> str:
    """A number in base 62, padded with zeros to a width."""
    digits = ""
    while number:
        number, digit = divmod(number, len(DIGITS))
        digits = DIGITS[digit] + digits
    return digits.rjust(width, DIGITS[0])


def crc_base62(body: str) -> str:
    """The six digits that follow a body of ASCII characters."""
    return base62(binascii.crc32(body.encode("ascii")), CHECK_LENGTH)


def has_crc_base62(token: str) -> bool:
    """Whether a token (``prefix_`` and 36 characters) carries the right checksum."""
    body = token.split("_", 1)[-1][: BODY_LENGTH + CHECK_LENGTH]
    if len(body) != BODY_LENGTH + CHECK_LENGTH:
        return False
    return crc_base62(body[:BODY_LENGTH]) == body[BODY_LENGTH:]
