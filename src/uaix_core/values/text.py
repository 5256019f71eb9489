"""Text that every backend can hold: the rule is checked here, before any store."""

from __future__ import annotations

from uaix_core.values.errors import CallerError


def is_storable(text: str) -> bool:
    """Whether every backend keeps this text unchanged: no NUL, no lone surrogate."""
    if "\0" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def check_text(text: str, path: str | None = None) -> str:
    """Return the text unchanged, or refuse it with ``text.not-storable``."""
    if not isinstance(text, str):
        raise CallerError("not a text", code="text.type", path=path)
    if not is_storable(text):
        raise CallerError(
            "text with a NUL or a lone surrogate can't be stored",
            code="text.not-storable",
            path=path,
        )
    return text
