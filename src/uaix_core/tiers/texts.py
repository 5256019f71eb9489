"""What the texts of the tiers may be: bounded, and the short ones on one line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from uaix_core.values.arguments import check_items
from uaix_core.values.errors import CallerError
from uaix_core.values.text import is_storable

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The longest texts, in characters.
MAX_TEXT: Final = 100_000
MAX_NOTE: Final = 10_000
MAX_SAID: Final = 2_000
MAX_TITLE: Final = 200
MAX_LOCATOR: Final = 1_000
MAX_PATH: Final = 1_024
#: The most texts of a list.
MAX_LIST: Final = 100

_is_digest = re.compile(r"sha256:[0-9a-f]{64}").fullmatch


def check_body(value: object, path: str, longest: int, *, least: int = 1) -> str:
    """A text of some characters, as it was given.

    Raises:
        CallerError: ``tier.text``.

    """
    if (
        not isinstance(value, str)
        or not least <= len(value) <= longest
        or not is_storable(value)
    ):
        raise CallerError(
            f"a text of {least} to {longest:,} characters", code="tier.text", path=path
        )
    return value


def check_line(value: object, path: str, longest: int) -> str:
    """A text of one line without anything that isn't printable.

    Raises:
        CallerError: ``tier.line``.

    """
    if (
        not isinstance(value, str)
        or not 0 < len(value) <= longest
        or not value.isprintable()
    ):
        raise CallerError(
            f"one line of 1 to {longest:,} printable characters",
            code="tier.line",
            path=path,
        )
    return value


def check_bodies(values: Iterable[Any], path: str, longest: int) -> tuple[str, ...]:
    """A list of such texts; ``tier.list`` when there are too many.

    Raises:
        CallerError: ``tier.list``, ``tier.text``, ``input.list``, ``input.type``.

    """
    found = check_items(values, str, path)
    if len(found) > MAX_LIST:
        raise CallerError(
            f"a list of at most {MAX_LIST} texts", code="tier.list", path=path
        )
    return tuple(check_body(value, path, longest) for value in found)


def check_locator(value: object) -> str:
    """Where something is, as an address or a path: no words, and no data in it.

    Raises:
        CallerError: ``pointer.locator``.

    """
    if (
        not isinstance(value, str)
        or not 0 < len(value) <= MAX_LOCATOR
        or not value.isprintable()
        or any(character.isspace() for character in value)
        or value[:5].lower() == "data:"
    ):
        raise CallerError(
            f"a locator is an address or path of 1 to {MAX_LOCATOR:,} characters "
            "without spaces, and no data: address",
            code="pointer.locator",
            path="locator",
        )
    return value


def check_digest(value: object) -> str:
    """The digest of what a pointer points at, as ``sha256:`` and 64 hex digits.

    Raises:
        CallerError: ``pointer.digest``.

    """
    if not isinstance(value, str) or not _is_digest(value):
        raise CallerError(
            "a digest is sha256: and 64 lower-case hex digits",
            code="pointer.digest",
            path="digest",
        )
    return value


def check_word(value: object, words: tuple[str, ...], path: str) -> str:
    """One of some words; ``tier.word`` for another."""
    if value not in words:
        raise CallerError(
            "not one of its words",
            code="tier.word",
            path=path,
            hint="one of " + ", ".join(words),
        )
    return str(value)
