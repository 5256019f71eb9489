"""How errors quote what somebody gave: in one line that is what it looks like."""

from __future__ import annotations

import re
from typing import Final

# Default_Ignorable_Code_Point (Unicode 15 DerivedCoreProperties); `unicodedata` has
# no such property. The code points that HFS+ ignores are all among them.
_IGNORABLE_RANGES = (
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)
#: Characters that are drawn as nothing, and those that are none, for a class of a
#: pattern.
IGNORABLE: Final = "".join(f"{chr(a)}-{chr(b)}" for a, b in _IGNORABLE_RANGES)
NONCHARACTERS: Final = "\ufdd0-\ufdef" + "".join(
    chr(plane << 16 | 0xFFFE) + chr(plane << 16 | 0xFFFF) for plane in range(17)
)

#: The most that is quoted, in characters: a path of a package is shorter.
LONGEST: Final = 1_024

#: A token of the library's own; see `access.tokens`.
_token = re.compile(r"uaix_[0-9a-f]{32}_[A-Za-z0-9_-]*", re.ASCII).sub
_is_unwanted = re.compile(f"[{IGNORABLE}{NONCHARACTERS}]").match


def quoted(text: str) -> str:
    r"""The text in one line: ``\u{...}`` for what nobody sees, a long one cut.

    A token is never quoted.
    """
    text = _token("uaix_...", text)
    if len(text) > LONGEST:
        text = text[:LONGEST] + "..."
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_character, text))


def _character(character: str) -> str:
    if character.isprintable() and not _is_unwanted(character):
        return character
    return f"\\u{{{ord(character):x}}}"
