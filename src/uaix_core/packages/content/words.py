"""The words of a key or a phrase, and how a key is shown without giving it away.

Source: UAIX package format v0.1, "Words on the wire" (a key that claims authority).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from uaix_core.values.folding import fold

if TYPE_CHECKING:
    from collections.abc import Iterable

_runs = re.compile(r"[A-Za-z]+").findall
_parts = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+").findall

_turns = re.compile(r"([A-Z]{2,})([a-z]+)").findall
_first_word = re.compile(r"[^\W_]+").search
_FIRST_READ: Final = 80

#: The first words of a value that says no.
DENIALS: Final = frozenset(
    (
        "no",
        "none",
        "not",
        "never",
        "false",
        "denied",
        "disabled",
        "forbidden",
        "prohibited",
        "excluded",
        "unsupported",
        "outside",
    )
)

# A key that holds digits or is long could be a token put in the wrong place.
_is_harmless = re.compile(r"sha256|[A-Za-z][A-Za-z_-]{0,39}").fullmatch

HIDDEN_KEY: Final = "(a key not shown)"


def runs_of(text: str) -> list[str]:
    """The runs of letters in lower case, not split at case changes.

    Look-alikes and invisible characters are folded first, so that another spelling of
    a word is the word.
    """
    return [run.lower() for run in _runs(fold(text))]


def words_of(text: str) -> list[str]:
    """The words in lower case, split at case changes and at whatever is no letter."""
    return [part.lower() for run in _runs(fold(text)) for part in _parts(run)]


def other_words_of(text: str) -> list[str]:
    """The words that begin or end where capitals turn into small letters.

    ``RUNall`` may be read as ``RU Nall`` or as ``RUN all``; `words_of` does the first.
    """
    pairs = _turns(text if text.isascii() else fold(text))
    return [part.lower() for pair in pairs for part in pair]


def says_yes(value: Any) -> bool:
    """Whether a value claims what its key names.

    True does, and so does a list, an object or a text that isn't empty, unless the
    text's first word is one of `DENIALS`. Numbers and null don't.
    """
    if isinstance(value, str):
        return value.strip() != "" and not is_denial(value)
    return value is True or (isinstance(value, list | dict) and len(value) > 0)


def is_denial(text: str) -> bool:
    """Whether the first word of a text, or its first number, says no.

    A word is one in any script: nothing that stands before a denial is passed over.
    """
    first = _first_word(fold(text.lstrip()[:_FIRST_READ]))
    return first is not None and first[0].lower() in DENIALS


def shown_key(key: str) -> str:
    """The key for people, when it can't be anything but a name."""
    return key if _is_harmless(key) else HIDDEN_KEY


def shown_place(keys: Iterable[str | int]) -> str:
    """A place in the manifest for people: ``files[3].notes.hook``."""
    place = ""
    for key in keys:
        if isinstance(key, int):
            place += f"[{key}]"
        else:
            place += ("." if place else "") + shown_key(key)
    return place
