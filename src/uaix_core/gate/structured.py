"""Secrets known by their structure: credentials in an address, JSON web tokens.

Source: the governed-memory specification (``url-embedded-credential``,
``json-web-token``); RFC 3986, RFC 7515.
"""

from __future__ import annotations

import binascii
import json
import re
from typing import TYPE_CHECKING, Final

from uaix_core.gate.placeholders import is_placeholder, is_template

if TYPE_CHECKING:
    from collections.abc import Iterator

URL: Final = "url-embedded-credential"
JWT: Final = "json-web-token"

_AUTHORITY: Final = re.compile(
    r"://(?P<user>[^\s/:@\"'`<>\\]{0,256}):(?P<password>[^\s/\"'`<>\\]{1,1024}"
    r"|[^\s/\"'`\\]{1,256})@(?P<host>[^\s/@:\"'`<>\\]+)"
)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,31}\Z")
_LONGEST_SCHEME: Final = 32
_WORDLESS: Final = re.compile(r"[\W_]+")

_TOKEN: Final = re.compile(
    r"e[wy](?<![A-Za-z0-9_-]e[wy])(?P<header>[A-Za-z0-9_-]{8,4096})\."
    r"[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]*"
)

Found = tuple[str, int, int]


def url_credentials(text: str) -> Iterator[Found]:
    """Addresses with a password, each from its scheme to its host.

    User and password are split at the first colon, userinfo and host at the last
    ``@`` before the first slash. A password that is a stand-in or holds no letter and
    no digit is none.
    """
    if "://" not in text or "@" not in text:
        return
    for match in _AUTHORITY.finditer(text):
        scheme = _SCHEME.search(
            text, max(0, match.start() - _LONGEST_SCHEME), match.start()
        )
        password = match["password"]
        if (
            scheme
            and not is_placeholder(password)
            and not is_template(password)
            and not _WORDLESS.fullmatch(password)
        ):
            start = scheme.start()
            # The letter of an escape sequence is no part of the scheme.
            start += text[start - 1 : start] == "\\" and match.start() > start + 1
            yield URL, start, match.end()


def is_jwt_header(part: str) -> bool:
    """Whether base64url decodes to a JSON object with ``alg`` or ``typ``."""
    try:
        data = binascii.a2b_base64(part.replace("-", "+").replace("_", "/") + "===")
        header = json.loads(data.decode("utf-8"))
    except (binascii.Error, ValueError, RecursionError):
        return False
    return isinstance(header, dict) and ("alg" in header or "typ" in header)


def web_tokens(text: str) -> Iterator[Found]:
    """JSON web tokens: header, payload and a signature that may be empty."""
    for match in _TOKEN.finditer(text):
        if not is_placeholder(match[0]) and is_jwt_header(
            text[match.start() : match.end("header")]
        ):
            yield JWT, *match.span()
