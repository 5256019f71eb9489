"""The canonical digest: one name for all spellings of the same text.

Source: UAIX package format v0.1, "Bodies".
"""

from __future__ import annotations

from uaix_core.values.canonical import canonical_digest, sha256_hex
from uaix_core.values.parsing.body import JSON_MEDIA, TEXT_FAMILY, parse_text, text_of
from uaix_core.values.parsing.json_view import JSON_DEPTH
from uaix_core.values.strict_json import StrictJsonError, parse


def canonical_text_digest(data: bytes, media_type: str) -> str | None:
    """SHA-256 (hex) of what the body says; None for images and other bytes.

    Of JSON media it is that of the RFC 8785 form, of other text that of the RFC 8785
    form of the parsed view (`ParsedBody.as_dict`), and of text without any structure
    that of the text with LF newlines. JSON that isn't strict I-JSON has no canonical
    form and follows the rule for text without structure. A byte order mark and the
    kind of newline don't count; every character of a text does, unnormalised.
    """
    is_json = media_type == JSON_MEDIA
    if not is_json and not media_type.startswith(TEXT_FAMILY):
        return None
    text = text_of(data)
    if text is None:
        return None
    if is_json:
        try:
            return canonical_digest(parse(data, max_depth=JSON_DEPTH))
        except StrictJsonError:
            return sha256_hex(text.encode("utf-8"))
    parsed = parse_text(text)
    if parsed.dialect == "text":
        return sha256_hex(text.encode("utf-8"))
    return canonical_digest(parsed.as_dict())
