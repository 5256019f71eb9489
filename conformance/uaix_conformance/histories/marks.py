"""Marks: how a number lies in rows and files, so that it is found wherever it lies."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_SIGN: Final = "heron-canary"
_DIGITS: Final = 12
_MARK = re.compile(rf"{_SIGN}([0-9]{{{_DIGITS}}})")
_LENGTH: Final = len(_SIGN) + _DIGITS


def mark(number: int) -> str:
    """The mark of a number: 24 characters that stand nowhere by accident."""
    return f"{_SIGN}{number:0{_DIGITS}}"


def marked(text: str) -> Iterator[int]:
    """The numbers whose marks stand in a text."""
    return (int(digits) for digits in _MARK.findall(text))


def marked_bytes(content: bytes) -> set[int]:
    """The numbers whose marks lie in bytes: as UTF-8, as UTF-16 or within base64."""
    found = set(marked(content.decode("latin-1")))
    for encoding in ("utf-16-le", "utf-16-be"):
        sign = _SIGN.encode(encoding)
        for at in _places(content, sign):
            piece = content[at : at + 2 * _LENGTH]
            found.update(marked(piece.decode(encoding, "replace")))
    for offset in range(3):
        # What stands beside the mark also forms the first characters, so they are cut.
        cut = (0, 2, 3)[offset]
        sign = base64.b64encode(b"\0" * offset + _SIGN.encode())[cut:].rstrip(b"=")[:-1]
        for at in _places(content, sign):
            start = max(0, at - cut)
            piece = content[start : start + 4 * ((_LENGTH + offset + 2) // 3)]
            found.update(marked(_decoded(piece)))
    return found


def _places(content: bytes, sign: bytes) -> Iterator[int]:
    at = content.find(sign)
    while at >= 0:
        yield at
        at = content.find(sign, at + 1)


def _decoded(piece: bytes) -> str:
    """Base64 of either alphabet, without its last characters when they are none."""
    known = re.match(rb"[A-Za-z0-9+/_-]*", piece)
    letters = known.group().translate(bytes.maketrans(b"-_", b"+/")) if known else b""
    if len(letters) % 4 == 1:
        letters = letters[:-1]
    whole = letters + b"=" * (-len(letters) % 4)
    try:
        return base64.b64decode(whole).decode("latin-1")
    except ValueError:
        return ""
