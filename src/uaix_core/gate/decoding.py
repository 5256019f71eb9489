"""Finding encoded runs in a text and what they say: percent, escapes, hex, base64.

A run counts only when it decodes to text. Source: the gate rules of the memory
semantics (percent, base64, hex and escape sequences, decoded to depth 2).
"""

from __future__ import annotations

import binascii
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Start, end, the text that stands for the span, its source, and the step of a piece.
Edit = tuple[int, int, str, int, int]

_HEX: Final = "[0-9A-Fa-f]"
#: The leading set lets a search jump to the few places where an escape may begin.
_ESCAPE: Final = re.compile(
    r"[%\\&U=](?:"
    rf"(?<=%)(?P<percent>{_HEX}{{2}}(?:%{_HEX}{{2}})*)"
    rf"|(?<=[\\%])(?P<units>u{_HEX}{{4}}(?:[\\%]u{_HEX}{{4}})*)"
    rf"|(?<=\\)(?:[uUxX]\{{(?P<braced>{_HEX}{{1,6}})\}}"
    rf"|U(?P<long>{_HEX}{{8}})"
    rf"|x(?P<byte>{_HEX}{{2}})"
    r"|(?P<octal>[0-3][0-7]{2})"
    r"|(?P<named>[abfnrtv\"'`\\/]))"
    rf"|(?<=&)\#(?:[xX](?P<entity>{_HEX}{{1,6}})|(?P<decimal>[0-9]{{1,7}}));?"
    r"|(?<=&)(?P<word>amp|lt|gt|quot|apos|lowbar|hyphen|period|colon|equals|sol);"
    rf"|(?<=U)(?<![A-Za-z0-9+/]U)(?P<points>\+{_HEX}{{4,6}}(?:[ ]?U\+{_HEX}{{4,6}})*)"
    rf"|(?<==)(?P<printable>{_HEX}{{2}}={_HEX}{{2}}(?:={_HEX}{{2}})+))"
)
_SIGNS: Final = ("%", "\\", "&", "U+")
_PRINTABLE_SIGN: Final = re.compile(f"={_HEX}{{2}}={_HEX}{{2}}=")

_BYTES: Final = re.compile(
    rf"(?<![0-9A-Za-z])(?:0x)?{_HEX}{{2}}"
    rf"(?:[ ,:;-]{{1,2}}(?:0x)?{_HEX}{{2}}){{11,}}(?![0-9A-Za-z])"
)
#: Three bytes of a list; what precedes them is judged by the pattern above.
_BYTES_SIGN: Final = re.compile(
    rf"[ ,:;-](?:(?<=[,:;-]) )?(?:0x)?{_HEX}{{2}}[ ,:;-] ?(?:0x)?{_HEX}{{2}}"
    rf"[ ,:;-] ?(?:0x)?{_HEX}{{2}}[ ,:;-]"
)
#: Where the first byte may begin, counted from the sign: ``0x67`` or ``67``, or after.
_BYTE_STARTS: Final = (-4, -2, 1, 2)
_RUN: Final = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_NAMED: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_BYTE_SIGNS: Final = {"percent": "%", "printable": "="}
_WORDS: Final = {
    "amp": "&",
    "lt": "<",
    "gt": ">",
    "quot": '"',
    "apos": "'",
    "lowbar": "_",
    "hyphen": "-",
    "period": ".",
    "colon": ":",
    "equals": "=",
    "sol": "/",
}
_NUMBERS: Final = {
    "braced": 16,
    "long": 16,
    "byte": 16,
    "octal": 8,
    "entity": 16,
    "decimal": 10,
}
_MAX_CODE: Final = 0x10FFFF
_NOT_HEX: Final = re.compile(r"[^0-9A-Fa-f]|0x")
_ALL_HEX: Final = re.compile(r"[0-9A-Fa-f]+\Z")
_URL_SAFE: Final = str.maketrans("-_", "+/")

#: Shorter runs hold no secret.
MIN_RUN: Final = 16

#: So many characters of a run show whether it says anything, at one of four places.
_PROBE: Final = 24
_QUAD: Final = 4

#: A shorter run says something by chance too often when it is read from anywhere.
_CUT: Final = 28


def _clean(data: bytes) -> str | None:
    """The text of bytes, or None when they hold something else."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if text.isprintable():
        return text
    spaced = text.translate(_SPACES)
    return text if spaced.isprintable() else None


_SPACES: Final = {0: " ", 9: " ", 10: " ", 13: " "}


def _wide(data: bytes) -> str | None:
    """The text of bytes that look like UTF-16 of mostly Latin text, or None."""
    if 0 not in data:
        return None
    for zeros, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        half = data[zeros::2]
        if half and half.count(0) == len(half):
            return _clean(data.decode(encoding, "ignore").encode("utf-8", "ignore"))
    return None


def _unpacked(run: str) -> bytes:
    return binascii.a2b_base64(run + "===" if len(run) % _QUAD else run)


def _said(run: str) -> str | None:
    """What the characters of base64 say when they are read from the first one on."""
    run = run[: len(run) - (len(run) % _QUAD == 1)]
    try:
        probe = _unpacked(run[:_PROBE])
        if _clean(probe[:-4] or probe) is None and _wide(probe) is None:
            return None
        data = _unpacked(run)
    except (binascii.Error, ValueError):
        return None
    wide = _wide(data)
    if wide is not None:
        return wide
    text = _clean(data)
    if text is not None:
        return text
    return _start_of(data)


def _start_of(data: bytes) -> str | None:
    """The clean start of bytes that something else follows, when it is long enough."""
    text = data.decode("utf-8", "replace")
    for index, character in enumerate(text):
        if character == "\ufffd" or not (
            character.isprintable() or ord(character) in _SPACES
        ):
            return text[:index] if index >= MIN_RUN else None
    return text


def base64_text(run: str) -> str | None:
    """What a run of base64 (either alphabet, padded or not) says, or None.

    Text counts: UTF-8 or UTF-16 that can be shown. A run that was cut out of a longer
    one is read from each of its first four characters.
    """
    body = run.rstrip("=").translate(_URL_SAFE)
    for skip in range(_QUAD if len(body) >= _CUT else 1):
        text = _said(body[skip:])
        if text is not None:
            return text
    return None


def hex_text(run: str) -> str | None:
    """What a run of hexadecimal digits says, or None."""
    if not _ALL_HEX.match(run):
        return None
    data = bytes.fromhex(run[: len(run) & ~1])
    return _clean(data) or _wide(data)


def _number(match: re.Match[str], kind: str) -> str | None:
    code = int(match[kind], _NUMBERS[kind])
    return chr(code) if code <= _MAX_CODE else None


def _replacement(match: re.Match[str], kind: str) -> str | None:
    found = match[kind]
    if kind in _BYTE_SIGNS:
        return _clean(bytes.fromhex(found.replace(_BYTE_SIGNS[kind], "")))
    if kind == "units":
        units = bytes.fromhex(re.sub(r"[\\%]?u", "", found))
        return units.decode("utf-16-be", "surrogatepass")
    if kind == "points":
        codes = [int(code, 16) for code in re.findall(rf"\+({_HEX}+)", found)]
        return "".join(map(chr, codes)) if max(codes) <= _MAX_CODE else None
    if kind == "named":
        return _NAMED.get(found, found)
    if kind == "word":
        return _WORDS[found]
    return _number(match, kind)


def _run_edits(run: str, start: int) -> Iterator[Edit]:
    """The edits of one long run: as a whole, else of its parts between slashes."""
    text = hex_text(run) if _ALL_HEX.match(run) else base64_text(run)
    if text is not None:
        yield start, start + len(run), text, start, 0
    elif "/" in run:
        place = start
        for part in run.split("/"):
            if len(part) >= MIN_RUN and len(part) < len(run):
                inner = hex_text(part) or base64_text(part)
                if inner is not None:
                    yield place, place + len(part), inner, place, 0
            place += len(part) + 1


def has_escapes(text: str) -> bool:
    """Whether a text holds a sign of escape sequences or lists of bytes."""
    return (
        any(sign in text for sign in _SIGNS)
        or _BYTES_SIGN.search(text) is not None
        or ("=" in text and _PRINTABLE_SIGN.search(text) is not None)
    )


def _escapes(text: str) -> Iterator[Edit]:
    for match in _ESCAPE.finditer(text):
        new = _replacement(match, match.lastgroup or "")
        if new is not None:
            yield match.start(), match.end(), new, match.start(), 0


def _byte_lists(text: str) -> Iterator[Edit]:
    done = 0
    for sign in _BYTES_SIGN.finditer(text):
        if sign.start() < done:
            continue
        for shift in _BYTE_STARTS:
            match = _BYTES.match(text, max(0, sign.start() + shift))
            if match:
                done = match.end()
                new = hex_text(_NOT_HEX.sub("", match[0]))
                if new is not None:
                    yield match.start(), match.end(), new, match.start(), 0
                break


def _runs(text: str) -> Iterator[Edit]:
    for match in _RUN.finditer(text):
        yield from _run_edits(match[0], match.start())


def has_runs(long_words: str) -> bool:
    """Whether any run in a text's long words says something."""
    return next(_runs(long_words), None) is not None


def escape_edits(text: str) -> Iterator[Edit]:
    """The escape sequences and lists of bytes of a text, each with what it says."""
    if has_escapes(text):
        yield from _in_order([*_byte_lists(text), *_escapes(text)])


def run_edits(text: str, long_words: str) -> Iterator[Edit]:
    """The runs of base64 and hex of a text, each with what it says.

    ``long_words`` are the words of the text that are long enough to be a run, with
    spaces between; nearly always they show that there is nothing to decode.
    """
    if long_words and has_runs(long_words):
        yield from _in_order([*_runs(text)])


def _in_order(edits: list[Edit]) -> Iterator[Edit]:
    """Edits by their place, without those that another one overlaps."""
    edits.sort(key=lambda edit: edit[:2])
    done = 0
    for edit in edits:
        if edit[0] >= done:
            yield edit
            done = edit[1]
