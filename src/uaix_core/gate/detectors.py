"""The one table of secret detectors, for packages and memories alike.

A detector is data: an id, the literals without which it can't match, and a pattern.
Order is precedence: of two that match at one place the earlier one is named. Source:
the gate rules of the memory semantics: the 35 detectors of the governed-memory
specification, and the forms that vendors publish for their tokens.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, Literal

import attrs

if TYPE_CHECKING:
    from uaix_core.gate.hits import Confidence

Family = Literal[
    "armour", "key", "prefix", "url", "webhook", "signature", "header", "jwt",
    "entropy", "assignment",
]  # fmt: skip

#: How a match is looked at once more: a checksum that makes it certain, or the two
#: forms that a pattern alone can't tell.
Check = Literal["crc-base62", "jwt", "mixed"]

#: The alphabets of token bodies: letters and digits; with ``-`` and ``_``; with all
#: that base64 and dotted tokens use.
ALNUM: Final = "[A-Za-z0-9]"
WIDE: Final = "[A-Za-z0-9_-]"
DOTTED: Final = "[A-Za-z0-9+/=_.-]"
LOWER_HEX: Final = "[0-9a-f]"
HEX: Final = "[0-9A-Fa-f]"
BASE64: Final = "[A-Za-z0-9+/]"

UUID: Final = rf"{HEX}{{8}}(?:-{HEX}{{4}}){{3}}-{HEX}{{12}}"

_OPEN_ALPHABETS: Final = (WIDE, DOTTED)


@attrs.frozen(kw_only=True)
class Detector:
    """One kind of secret.

    ``keywords`` are lower-case literals of which one is in every text that the pattern
    matches. A ``slug`` detector lets pass what is words joined by ``-``, ``_`` or
    ``.``; a ``placeholder`` one what is plainly a stand-in. A detector without pattern
    is found by code of its own; its row gives it a name and a rank.
    """

    id: str
    family: Family
    keywords: tuple[str, ...] = ()
    pattern: str = ""
    slug: bool = False
    placeholder: bool = True
    check: Check | None = None
    confidence: Confidence = "likely"


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """The compiled pattern, made at its first use: there are many of them."""
    return re.compile(pattern, re.ASCII)


def starting(literal: str, body: str) -> str:
    """A pattern for a literal at a token's boundary, followed by a body.

    The look-behind stands after the literal, so that the search can jump to it.
    """
    escaped = re.escape(literal)
    return f"{escaped}(?<![A-Za-z0-9]{escaped}){body}"


def prefix(
    name: str,
    literal: str,
    least: int,
    alphabet: str = ALNUM,
    *,
    check: Check | None = None,
) -> Detector:
    """A vendor's prefix followed by at least so many characters of an alphabet."""
    return Detector(
        id=name,
        family="prefix",
        keywords=(literal.lower(),),
        pattern=starting(literal, f"{alphabet}{{{least},}}"),
        slug=alphabet in _OPEN_ALPHABETS,
        check=check,
    )


def shaped(  # noqa: PLR0913 - the columns of a table
    name: str,
    literal: str,
    body: str,
    *,
    family: Family = "prefix",
    slug: bool = False,
    check: Check | None = None,
) -> Detector:
    """A vendor's literal at a token's boundary, followed by a body of a given form."""
    return Detector(
        id=name,
        family=family,
        keywords=(literal.lower(),),
        pattern=starting(literal, body),
        slug=slug,
        check=check,
    )
