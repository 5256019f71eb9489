"""Strict I-JSON (RFC 8259 read within the limits of RFC 7493).

The order of the checks is the rule: the bytes are UTF-8 first, then the nesting is
measured, and only then is the text parsed, once. So no encoding is guessed, and no
nesting reaches the parser that could exhaust the stack.

Refused: a byte order mark, UTF-16 and UTF-32, repeated keys (escaped spellings are
the key they spell), NaN and Infinity, floats that overflow, integers beyond
2**53 - 1, lone surrogates, and anything but white space after the value.
"""

from __future__ import annotations

import json
import math
import re
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, get_args

from uaix_core.values.canonical import MAX_SAFE_INTEGER
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Callable

Reason = Literal[
    "encoding",
    "bom",
    "depth",
    "syntax",
    "duplicate-key",
    "number",
    "surrogate",
    "trailing",
]
REASONS: Final[tuple[Reason, ...]] = get_args(Reason)

_SENTENCES: Final[dict[Reason, str]] = {
    "encoding": "the bytes aren't UTF-8",
    "bom": "the text begins with a byte order mark",
    "depth": "the value is nested too deeply",
    "syntax": "the text isn't JSON",
    "duplicate-key": "an object holds the same key twice",
    "number": "a number that other readers would change or refuse",
    "surrogate": "a string holds half a surrogate pair",
    "trailing": "something stands after the value",
}

_BOM = b"\xef\xbb\xbf"
_SPACE = re.compile(r"[ \t\n\r]*")
_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")
_IN_STRING = re.compile(rb'"[^"]*"?')

_NOT_STRUCTURE = bytes(byte for byte in range(256) if byte not in b'"[]{}')
_STEP = {ord("{"): 1, ord("["): 1, ord("}"): -1, ord("]"): -1}

#: The digits of 2**53 - 1, and a sign: longer integers are refused unread.
_LONGEST_INTEGER = len(str(-MAX_SAFE_INTEGER))


class StrictJsonError(CallerError):
    """The bytes aren't one strict I-JSON value.

    ``reason`` is one of `REASONS` and ``code`` is ``json.`` and that word.
    ``position`` counts characters from 0 (bytes for ``encoding``); ``line`` and
    ``column`` count from 1. No content of the text is ever quoted.
    """

    def __init__(self, reason: Reason, position: int, text: str = "") -> None:
        super().__init__(_SENTENCES[reason], code=f"json.{reason}")
        self.reason: Reason = reason
        self.position = position
        self.line = text.count("\n", 0, position) + 1
        self.column = position - text.rfind("\n", 0, position)
        self.path = f"line {self.line}, column {self.column}"


class _Refused(Exception):  # noqa: N818 - a signal inside this module, not an error
    """A hook met a value that it refuses; the place is looked up afterwards."""

    def __init__(self, reason: Reason) -> None:
        self.reason: Reason = reason


def parse(data: bytes | bytearray | memoryview, *, max_depth: int) -> Any:
    """Read one strict I-JSON value.

    ``max_depth`` counts containers within each other: 1 lets ``[]`` pass and
    refuses ``[[]]``. The value is made of dict, list, str, int, float, bool, None.

    Raises:
        StrictJsonError: for everything that the module's first lines name.

    """
    raw = bytes(data)
    text = _decode(raw)
    _check_depth(raw, text, max_depth)
    start = _space(text, 0)
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise StrictJsonError("syntax", error.pos, text) from None
    except _Refused as refused:
        _locate(text, refused.reason)
    except RecursionError:
        raise StrictJsonError("depth", start, text) from None
    end = _space(text, end)
    if end != len(text):
        raise StrictJsonError("trailing", end, text)
    if _HALF_PAIR.search(raw) and not _is_unicode(value):
        _locate(text, "surrogate")
    return value


def _space(text: str, start: int) -> int:
    """Where the white space that begins at ``start`` ends."""
    match = _SPACE.match(text, start)
    return match.end() if match else start


def _decode(raw: bytes) -> str:
    if raw.startswith(_BOM):
        raise StrictJsonError("bom", 0)
    # Plain ASCII in UTF-16 or UTF-32 is also valid UTF-8, with NULs between.
    if 0 in raw[:2]:
        raise StrictJsonError("encoding", raw.index(0))
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise StrictJsonError("encoding", error.start) from None


def _check_depth(raw: bytes, text: str, max_depth: int) -> None:
    """Refuse nesting beyond ``max_depth`` without building anything.

    Only quotes and brackets are kept. Two quotes side by side can go: that changes
    for no bracket whether it stands inside a string, and it empties the long runs.
    Text that isn't JSON may be measured wrongly, but the parser agrees with this
    scan up to the place where it stops.
    """
    if raw.count(b"{") + raw.count(b"[") <= max_depth:
        return
    plain = _ESCAPE.sub(b"", raw) if b"\\" in raw else raw
    marks = plain.translate(None, _NOT_STRUCTURE).replace(b'""', b"")
    marks = _IN_STRING.sub(b"", marks)
    if max(accumulate(map(_STEP.__getitem__, marks)), default=0) > max_depth:
        raise StrictJsonError("depth", _deep_position(text, max_depth), text)


def _deep_position(text: str, max_depth: int) -> int:
    """The bracket that goes one level too deep; strings are skipped."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token.group(), 0)
        if depth > max_depth:
            return token.start()
    return 0


def _is_unicode(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Refused("duplicate-key")
    return value


def _integer(digits: str) -> int:
    if len(digits) <= _LONGEST_INTEGER:
        value = int(digits)
        if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
            return value
    raise _Refused("number")


def _float(digits: str) -> float:
    value = float(digits)
    if math.isfinite(value):
        return value
    raise _Refused("number")


def _constant(_name: str) -> NoReturn:
    raise _Refused("number")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    parse_float=_float,
    parse_constant=_constant,
)

_STRING = r'"(?:[^"\\]|\\.)*"?'
_TOKEN = re.compile(_STRING + r"|[{}\[\],]", re.DOTALL)

#: A string, or a number that is long, has an exponent, or is none.
_SUSPECT = re.compile(
    _STRING + r"|-?(?:NaN|Infinity)"
    r"|(?<![\d.])-?(?:\d{16}[\d.eE+-]*|\d[\d.]*[eE][\d+-]*)",
    re.DOTALL | re.ASCII,
)


def _locate(text: str, reason: Reason) -> NoReturn:
    """Look for the place of what was refused, slowly: only refused text pays.

    The parser's hooks see values without their place.
    """
    raise StrictJsonError(reason, _LOOK_FOR[reason](text), text)


def _number_position(text: str) -> int:
    tokens = _SUSPECT.finditer(text)
    return next(token.start() for token in tokens if _is_refused(token.group()))


def _is_refused(word: str) -> bool:
    if word[0] == '"':
        return False
    try:
        _DECODER.decode(word)
    except _Refused:
        return True
    return False


def _surrogate_position(text: str) -> int:
    return next(
        token.start()
        for token in _TOKEN.finditer(text)
        if "\\u" in token.group() and not _is_unicode(json.loads(token.group()))
    )


def _duplicate_position(text: str) -> int:
    """The second of two equal keys; ``None`` on the stack stands for an array."""
    stack: list[set[str] | None] = []
    key_next = False
    for token in _TOKEN.finditer(text):
        word = token.group()
        if word in ("{", "["):
            stack.append(set() if word == "{" else None)
        elif word in ("}", "]"):
            stack.pop()
        elif key_next and word != "," and (keys := stack[-1]) is not None:
            key = json.loads(word)
            if key in keys:
                return token.start()
            keys.add(key)
        key_next = word in ("{", ",")
    return 0


_LOOK_FOR: Final[dict[Reason, Callable[[str], int]]] = {
    "duplicate-key": _duplicate_position,
    "number": _number_position,
    "surrogate": _surrogate_position,
}
