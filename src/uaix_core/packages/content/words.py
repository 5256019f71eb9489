"""The words of a key or a phrase, and how a key is shown without giving it away.

Source: UAIX package format v0.1, "Words on the wire" (a key that claims authority).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from uaix_core.gate.folding import fold

if TYPE_CHECKING:
    from collections.abc import Iterable

_runs = re.compile(r"[A-Za-z]+").findall
_parts = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+").findall

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
