"""The structural rules of file bodies: text is text, and nothing is an archive.

Source: UAIX package format v0.1, "Bodies".
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Final

from uaix_core.packages.manifest.words import TEXT_MEDIA
from uaix_core.packages.paths import shown

if TYPE_CHECKING:
    from uaix_core.packages.findings import Findings

_BOM: Final = b"\xef\xbb\xbf"

#: Signatures that a body must not begin with, and the rule for each.
SIGNATURES: Final = (
    (b"PK\x03\x04", "content.binary"),
    (b"PK\x05\x06", "content.binary"),
    (b"\x1f\x8b\x08", "content.binary"),
    (b"7z\xbc\xaf\x27\x1c", "content.binary"),
    (b"Rar!\x1a\x07", "content.binary"),
    (b"\x7fELF", "content.binary-executable"),
)
_STARTS: Final = tuple(signature for signature, _code in SIGNATURES)

#: The C0 controls that text may not hold: all but TAB, LF and CR.
_CONTROLS: Final = bytes(byte for byte in range(32) if byte not in b"\t\n\r")

#: Decoded text takes up to four times its bytes, so long bodies go in pieces.
_PIECE: Final = 1024 * 1024


def judge_body(
    path: str, data: bytes, media_type: str | None, findings: Findings
) -> None:
    """Judge one body; ``media_type`` is None when the manifest gives none."""
    if data.startswith(_STARTS):
        for signature, code in SIGNATURES:
            if data.startswith(signature):
                findings.add(code, shown(path))
    if media_type not in TEXT_MEDIA:
        return
    if data.startswith(_BOM):
        findings.add("content.bom", shown(path))
    if len(data.translate(None, _CONTROLS)) != len(data):
        findings.add(
            "content.encoding", shown(path), "a text file holds a control character"
        )
    place = None if data.isascii() else _not_utf8_at(data)
    if place is not None:
        findings.add(
            "content.encoding", shown(path), f"byte {place} of a text file isn't UTF-8"
        )


def _not_utf8_at(data: bytes) -> int | None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    for start in range(0, len(data), _PIECE):
        stop = start + _PIECE
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(view[start:stop], stop >= len(data))
        except UnicodeDecodeError as error:
            return start - pending + error.start
    return None
