"""Text as a reader takes it in: invisible characters gone, look-alikes as ASCII.

Folding is for judging only; what is stored is never folded. Source: the views of the
gate in the memory semantics; look-alikes from Unicode TR 39, those of letters that
occur in vendors' prefixes and in commands.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

#: Tag characters repeat ASCII at this distance.
TAGS: Final = 0xE0000

#: A character that decomposes into more than this many is kept as it is, which bounds
#: how far folding can make a text grow.
MAX_DECOMPOSITION: Final = 4

_MAX_CACHED: Final = 16_384

#: Characters that show nothing although they are no format characters (category Cf).
_BLANK: Final = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\uffa0\ufe00-\ufe0f"
    "\U000e0100-\U000e01ef"
)
_IS_BLANK: Final = re.compile(f"[{_BLANK}]")

#: ASCII and what looks like it, written as code points since that is the point of them.
_LOOK_ALIKES: Final = {
    "a": "\u0430\u03b1\u0251\u237a\u1d00",
    "b": "\u044c\u0184\u13cf\u0299",
    "c": "\u0441\u03f2\u1d04\u217d",
    "d": "\u0501\u0257\u13e7\u1d05",
    "e": "\u0435\u03b5\u04bd\u212e\u1d07",
    "f": "\u0192\u0584\ua799\ua730",
    "g": "\u0261\u0581\u018d\u0262",
    "h": "\u04bb\u0570\u13c2\u029c",
    "i": "\u0456\u03b9\u0131\u0269\u026a\u04cf",
    "j": "\u0458\u03f3\u1d0a",
    "k": "\u043a\u03ba\u1d0b",
    "l": "\u01c0\u05c0\u2113\u2223\u029f",
    "m": "\u043c\u1d0d",
    "n": "\u0578\u03b7\u057c\u043f\u0274",
    "o": "\u043e\u03bf\u0585\u1d0f\u0d20",
    "p": "\u0440\u03c1\u2374\u1d18",
    "q": "\u051b\u0563\u0566",
    "r": "\u0433\u1d26\uab47\u0280",
    "s": "\u0455\ua731\U00010448",
    "t": "\u0442\u03c4\u1d1b",
    "u": "\u03c5\u057d\u1d1c\u028b",
    "v": "\u03bd\u0475\u1d20",
    "w": "\u051d\u0461\u1d21\u03c9",
    "x": "\u0445\u03c7\u1541",
    "y": "\u0443\u04af\u0263\u1d8c\u03b3\u028f",
    "z": "\u1d22",
    "A": "\u0410\u0391\u13aa\u15c5",
    "B": "\u0412\u0392\u13f4\u15f7",
    "C": "\u0421\u03f9\u13df\u216d",
    "D": "\u13a0\u15de\u15ea",
    "E": "\u0415\u0395\u13ac\u2d39",
    "F": "\u03dc\u15b4",
    "G": "\u050c\u13c0\u13f3",
    "H": "\u041d\u0397\u13bb\u157c",
    "I": "\u0406\u0399\u04c0\u2160",
    "J": "\u0408\u037f\u13ab",
    "K": "\u041a\u039a\u13e6\u16d5",
    "L": "\u13de\u14aa\u2cd0",
    "M": "\u041c\u039c\u13b7\u216f",
    "N": "\u039d\u2c9a",
    "O": "\u041e\u039f\u0555\u2c9e",
    "P": "\u0420\u03a1\u13e2\u2ca2",
    "Q": "\u2d55",
    "R": "\u13a1\u13d2\u1587",
    "S": "\u0405\u13da\u054f",
    "T": "\u0422\u03a4\u13a2",
    "U": "\u054d\u144c",
    "V": "\u0474\u13d9\u142f",
    "W": "\u051c\u13b3\u13d4",
    "X": "\u0425\u03a7\u2cac\u2169",
    "Y": "\u0423\u03a5\u04ae\u2ca8",
    "Z": "\u0396\u13c3",
    "0": "\u07c0\u0ce6\u3007",
    "3": "\u0417\u04e0\u021c\u01b7",
    "6": "\u0431\u2cd2",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u02d7\u2043\u30fc",
    "_": "\u02cd\u2017",
    ".": "\u3002\u06d4\u0701",
    ":": "\u2236\u02d0\u0589\u05c3\ua789",
    "/": "\u2044\u2215\u2571",
    "=": "\u30a0\ua78a\u2e40",
    "+": "\u16ed\u2795",
    "@": "\ufe6b",
}


class _Folds(dict[int, str]):
    """What each character folds to, found out at its first use."""

    def __missing__(self, code: int) -> str:
        folded = _folded(chr(code))
        if len(self) < _MAX_CACHED:
            self[code] = folded
        return folded


def _is_invisible(character: str) -> bool:
    return (
        unicodedata.category(character) in {"Cf", "Mn", "Me"}
        or _IS_BLANK.match(character) is not None
    )


def _folded(character: str) -> str:
    code = ord(character)
    if TAGS + 0x20 <= code <= TAGS + 0x7E:
        return chr(code - TAGS)
    if _is_invisible(character):
        return ""
    parts = unicodedata.normalize("NFKD", character)
    if len(parts) > MAX_DECOMPOSITION:
        return character
    return "".join(_ALIKE.get(part, part) for part in parts if not _is_invisible(part))


_ALIKE: Final = {
    alike: letter for letter, all_alike in _LOOK_ALIKES.items() for alike in all_alike
}
_FOLDS: Final = _Folds({code: chr(code) for code in range(128)})
_FOLDS.update({ord(alike): letter for alike, letter in _ALIKE.items()})
# White letters on black circles and squares, which have no decomposition.
for _first in (0x1F150, 0x1F170):
    _FOLDS.update({_first + at: chr(ord("A") + at) for at in range(26)})


def fold(text: str) -> str:
    """The text with invisible characters gone and look-alikes as ASCII.

    Each character is folded by itself: tag characters become ASCII, format characters
    and combining marks go, what is left is decomposed (NFKD) and look-alikes are
    mapped. The result is at most four times as long.
    """
    return text if text.isascii() else text.translate(_FOLDS)


def fold_lengths(text: str) -> list[int]:
    """How many characters each character of the text becomes in ``fold``."""
    return [len(_FOLDS[ord(character)]) for character in text]


def lowered(text: str) -> str:
    """The text in lower case and of the same length, so that offsets stay true."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(
        one if len(one := character.lower()) == 1 else character for character in text
    )
