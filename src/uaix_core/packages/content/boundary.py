"""The support boundary: what a package says about its own reach grants nothing.

The object is kept as it is. It may name a power in order to deny it; naming one
without a denial is a grant.

Source: UAIX package format v0.1, "Words on the wire" (supportBoundary).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from uaix_core.packages.content.authority import (
    CONFLICT,
    MOST_SHOWN,
    RUNS,
    Keys,
    claim_of,
    keys_in,
)
from uaix_core.packages.content.mutations import mutates_anchor
from uaix_core.packages.content.words import (
    is_denial,
    other_words_of,
    runs_of,
    says_yes,
    shown_place,
    words_of,
)
from uaix_core.packages.required.files import ASSISTANT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from uaix_core.packages.findings import Findings

CERTIFIES: Final = "certification_claim_requested"
CREDENTIALS: Final = "credential_validation_requested"
PROBES: Final = "private_network_probe_requested"

BOUNDARY: Final = "supportBoundary"

#: The powers that no package may grant, as words in the singular, and the no-op name
#: that fits.
POWERS: Final = (
    (RUNS, "runtime execution"),
    (RUNS, "runtime command"),
    (RUNS, "shell execution"),
    (RUNS, "command execution"),
    (CONFLICT, "hosted import"),
    (CONFLICT, "hosted inference"),
    (CONFLICT, "automatic sync"),
    (CONFLICT, "automatic export"),
    (CONFLICT, "auto sync"),
    (CONFLICT, "auto export"),
    (CONFLICT, "repository write"),
    (CONFLICT, "tool grant"),
    (CONFLICT, "model runtime package"),
    (CONFLICT, "policy override"),
    (CONFLICT, "provider api"),
    (CONFLICT, "website intake"),
    (CONFLICT, "telemetry"),
    (CONFLICT, "sdk"),
    (CONFLICT, "cli"),
    (CREDENTIALS, "credential"),
    (CERTIFIES, "certification"),
    (CERTIFIES, "endorsement"),
    (CERTIFIES, "safety proof"),
    (PROBES, "network access"),
)
#: Flags of one everyday word: powers in a key, or where they are all that is said.
FLAGS: Final = (
    (CERTIFIES, "certified"),
    (CERTIFIES, "endorsed"),
    (RUNS, "command"),
    (CONFLICT, "provider"),
    (PROBES, "network"),
)

#: Words that deny: whole ones, and the beginnings of others.
_is_denying = re.compile(
    r"no|non|none|nor|not|nobody|nothing|nowhere|den(?:y|ies|ied|ying|ials?)"
    r"|(?:never|without|outside|denied|exclu|forbid|prohibit|unsupported)[a-z]*"
).fullmatch


#: A scope that begins like a denial and is none, and a denial of several words.
_scope_names = re.compile(rf"\b{ASSISTANT.replace('_', ' ?')}\b").sub
_is_out_of_scope = re.compile(r"\bout ?of ?(?:the ?)?scope\b").search


def _pattern(powers: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    """One group for each power; words may be run together and in the plural."""
    forms = (" ?".join(map(_form, phrase.split())) for _trigger, phrase in powers)
    return re.compile("|".join(rf"\b({form})\b" for form in forms))


def _form(word: str) -> str:
    stem = word.replace("runtime", "run ?time")
    return f"{stem[:-1]}(?:y|ies)" if stem.endswith("y") else f"{stem}s?"


_find_power = _pattern(POWERS).search
_find_flag = _pattern(FLAGS).search
_is_only_power = _pattern((*POWERS, *FLAGS)).fullmatch
#: What a text holds that names a power, or denies one; cheaper than its words.
_may_name = re.compile(
    "run|" + "|".join(sorted({row[1].split()[0][:-1] for row in (*POWERS, *FLAGS)})),
    re.IGNORECASE,
).search
_may_deny = re.compile(
    "no|never|without|outside|den[yi]|exclu|forbid|prohibit|unsupported|scope",
    re.IGNORECASE,
).search


def judge_boundary(boundary: Any, findings: Findings) -> None:
    """Judge the object of ``supportBoundary``; anything else was refused for its type.

    A key is a power when it holds one of `POWERS`, of `FLAGS`, or a word that claims
    authority; a list item when it holds one of `POWERS`; a text or an item also when
    it is one of `FLAGS` and nothing else. It is denied when its value says no all the
    way down, or when the key, a key around it, or the item holds a denying word.
    """
    if not isinstance(boundary, dict):
        return
    shown = further = 0
    for keys, trigger in _grants(boundary, (BOUNDARY,)):
        if shown < MOST_SHOWN:
            shown += 1
            findings.add("boundary.grant", shown_place(keys), trigger=trigger)
        else:
            further += 1
    if further:
        findings.add("boundary.grant", None, f"further grants: {further}")
    for keys, key, value, holder in keys_in(boundary, (BOUNDARY,), ()):
        if mutates_anchor(key, value, holder) and not _is_denied((*keys[1:], key)):
            findings.add("anchor.mutation", shown_place((*keys, key)))


def _is_denied(keys: Keys) -> bool:
    return any(isinstance(key, str) and holds_denial(key) for key in keys)


def _grants(value: Any, keys: Keys) -> Iterator[tuple[Keys, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            if not holds_denial(key):
                yield from _grants_under(key, item, (*keys, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, str):
                trigger = power_of_item(item)
                if trigger is not None:
                    yield (*keys, index), trigger
            else:
                yield from _grants(item, (*keys, index))


def _grants_under(key: str, item: Any, place: Keys) -> Iterator[tuple[Keys, str]]:
    trigger = _power_of_key(key)
    if trigger is not None and not grants(item):
        trigger = None
    if trigger is None and isinstance(item, str):
        trigger = _power_of_text(item)
    if trigger is not None:
        yield place, trigger
    else:
        yield from _grants(item, place)


def holds_denial(text: str) -> bool:
    """Whether a key or an item holds a word that denies.

    The name of the scope of assistants without a project holds none.
    """
    if text.isascii() and not _may_deny(text):
        return False
    for words in (words_of(text), runs_of(text)):
        plain = _scope_names("", " ".join(words))
        if _is_out_of_scope(plain) or any(map(_is_denying, plain.split())):
            return True
    return False


def grants(value: Any) -> bool:
    """Whether the value of a power says yes, anywhere within it.

    An object that answers no to everything grants nothing.
    """
    if isinstance(value, dict):
        return any(grants(item) for key, item in value.items() if not holds_denial(key))
    if isinstance(value, list):
        return any(map(_item_grants, value))
    return says_yes(value)


def _item_grants(item: Any) -> bool:
    if isinstance(item, str):
        return says_yes(item) and not holds_denial(item)
    if isinstance(item, int | float):
        return bool(item)
    return grants(item)


def power_of_item(item: str) -> str | None:
    """The no-op name for the power that a list item names and doesn't deny."""
    if item.isascii() and not _may_name(item):
        return None
    if holds_denial(item) or is_denial(item):
        return None
    return _named(_find_power, POWERS, item) or _power_of_text(item)


def _power_of_key(key: str) -> str | None:
    named = _named(_find_power, POWERS, key) or _named(_find_flag, FLAGS, key)
    return named or claim_of(key)


def _power_of_text(text: str) -> str | None:
    return _named(_is_only_power, (*POWERS, *FLAGS), text)


def _named(
    search: Callable[[str], re.Match[str] | None],
    powers: tuple[tuple[str, str], ...],
    text: str,
) -> str | None:
    if text.isascii() and not _may_name(text):
        return None
    for words in (words_of(text), other_words_of(text), runs_of(text)):
        match = search(" ".join(words))
        if match is not None and match.lastindex is not None:
            return powers[match.lastindex - 1][0]
    return None
