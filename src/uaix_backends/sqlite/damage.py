"""Results that can't be read: SQLite keeps any bytes as a text."""

from __future__ import annotations

from typing import Any

from uaix_core.values.errors import IntegrityError


def damaged_text(path: str) -> IntegrityError:
    """The error for a text that isn't UTF-8; ``path`` says what was read."""
    return IntegrityError("a stored text can't be read", code="storage.row", path=path)


def all_of(cursor: Any, what: str) -> list[Any]:
    """All results of a statement; ``what`` names them when a text is damaged.

    Raises:
        IntegrityError: ``storage.row``.

    """
    try:
        found: list[Any] = cursor.fetchall()
    except UnicodeDecodeError:
        raise damaged_text(what) from None
    return found


def one_of(cursor: Any, what: str) -> Any:
    """The first result of a statement, or None; otherwise as `all_of`."""
    try:
        return cursor.fetchone()
    except UnicodeDecodeError:
        raise damaged_text(what) from None
