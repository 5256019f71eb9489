"""What a run of characters plainly is when it is no secret: slug, path, name, call.

Source: the gate rules of the memory semantics. A slug is three or more words or short
numbers joined by ``-``, ``_`` or ``.``.
"""

from __future__ import annotations

import re
from typing import Final

MIN_SLUG: Final = 3

#: Words of one case or capitalised, words of several humps, short numbers, and words
#: with a short number as in ``sha256`` or ``2nd``.
_WORD: Final = re.compile(
    r"(?:[A-Z]?[a-z]{0,20}|[A-Z]{1,20}"
    r"|[A-Z]?[a-z]{1,19}(?:[A-Z][a-z]{2,15}){1,7}\d{0,4}"
    r"|\d{1,8}|[A-Z]?[a-z]{1,6}\d{1,3}|[A-Z]{1,6}\d{1,3}|v\d{1,4}|\d{1,3}[a-z]{1,5})"
)
_LETTERS: Final = re.compile(r"[A-Za-z]{6,}")
_VOWEL: Final = re.compile(r"[aeiouyAEIOUY]")

#: What else a part of a path or a dotted or joined run may be: digests and their
#: pieces, ULIDs, numbers, and parts of a written instant.
_PART: Final = re.compile(
    r"(?:[0-9a-f]+|[0-9A-F]+|[0-9A-HJKMNP-TV-Z]{26}|\d{1,2}[Tt]\d{1,2}|\d{8}T\d{4,6}Z?"
    r"|\d{1,6}Z|[A-Z]{1,4}\d{1,6}|[a-z]{2,15}\d{1,6}|[a-z]{1,8}\d{1,2}[a-z]{1,12})"
)

#: The humps of a name in camel case, and its number at the end.
_HUMP: Final = re.compile(r"[A-Z]*[a-z]+|[A-Z]+|[0-9]+|[^A-Za-z0-9]+")
_GOOD_HUMP: Final = re.compile(r"[A-Z]{0,6}[a-z]{2,15}|[A-Z]{2,8}")
_MAX_HUMPS: Final = 9
_MAX_NUMBER: Final = 4
_HUMPS: Final = re.compile(
    r"[a-z]{2,20}(?:[A-Z]{1,6}[a-z]{2,15}){1,8}|(?:[A-Z]{1,6}[a-z]{2,15}){2,8}"
)
_JOINTS: Final = re.compile(r"[-_.]")
_SEAMS: Final = re.compile(r"[-_./=+:~]")

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}://[^/@?#]{0,512}(?:[/?#]|\Z)")
_REFERENCE: Final = re.compile(
    r"(?:arn|urn|op|ssm|vault|secretsmanager|projects|keyvault)[:/]"
)
_CALL: Final = re.compile(r"[A-Za-z_$][\w$.:>?!-]{0,120}[(\[]")
_IDENTIFIER: Final = re.compile(
    r"[A-Za-z_$][\w$]{0,80}(?:(?:\?\.|\.|->|::)[A-Za-z_$][\w$]{0,80}){1,8}"
)
_NAME_PARTS: Final = re.compile(r"[^A-Za-z0-9]+")
_PATH_START: Final = re.compile(r"(?:\.{0,2}|~)[/\\]|[A-Za-z]:[/\\]")
_INSTANT: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}[T_]\d{2}:?\d{2}(?::?\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?"
)
_MIN_UNVOWELLED: Final = 6


def is_word(part: str) -> bool:
    """Whether a part is a word or a short number, as in a slug."""
    if not _WORD.fullmatch(part):
        return False
    return (
        len(part) < _MIN_UNVOWELLED
        or not _LETTERS.fullmatch(part)
        or bool(_VOWEL.search(part))
    )


def is_slug(text: str) -> bool:
    """Whether a text is three or more words or short numbers joined by - _ or dots."""
    parts = [part for part in _JOINTS.split(text) if part]
    return len(parts) >= MIN_SLUG and all(map(is_word, parts))


def is_identifier(text: str) -> bool:
    """Whether a text without digits is a name in code: two or more words or humps."""
    parts = [part for part in _JOINTS.split(text) if part]
    return _HUMPS.fullmatch(text) is not None or (
        len(parts) > 1 and all(map(is_word, parts))
    )


def _is_camel(part: str) -> bool:
    humps = _HUMP.findall(part)
    if humps and humps[-1].isdigit() and len(humps[-1]) <= _MAX_NUMBER:
        humps.pop()
    return 0 < len(humps) <= _MAX_HUMPS and all(map(_GOOD_HUMP.fullmatch, humps))


def _is_part(part: str) -> bool:
    return bool(_PART.fullmatch(part)) or is_word(part) or _is_camel(part)


def is_made_of_parts(run: str) -> bool:
    """Whether each part of a joined run is a word, a number, a digest or a ULID."""
    parts = [part for part in _SEAMS.split(run) if part]
    return all(map(_is_part, parts))


def is_url(text: str) -> bool:
    """Whether a text is an address without userinfo."""
    return _URL.match(text) is not None


def is_path(text: str) -> bool:
    """Whether a text is a path: parts that are names, joined by slashes."""
    if "/" not in text and not _PATH_START.match(text):
        return False
    parts = [
        part.strip("{}<>$*:()%@#")
        for part in re.split(r"[/\\]", text.split("?", maxsplit=1)[0])
    ]
    return all(is_made_of_parts(part) for part in parts)


def is_dotted_name(text: str) -> bool:
    """Whether a text is a dotted name, such as a setting or an attribute."""
    if not _IDENTIFIER.fullmatch(text):
        return False
    return all(
        _is_part(part) for part in _NAME_PARTS.split(text.replace("_", ".")) if part
    )


def is_call(text: str) -> bool:
    """Whether a text begins as a call or a subscript."""
    match = _CALL.match(text)
    return match is not None and all(
        map(_is_part, filter(None, _NAME_PARTS.split(match[0])))
    )


def is_pattern(text: str) -> bool:
    """Whether a text is a pattern: it holds ranges of letters and digits."""
    return ("a-z" in text or "A-Z" in text) and "0-9" in text


def is_reference(text: str) -> bool:
    """Whether a text names a secret that lies elsewhere, or is a written instant."""
    return bool(_REFERENCE.match(text) or _INSTANT.fullmatch(text))
