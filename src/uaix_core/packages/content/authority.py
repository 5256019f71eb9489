"""Extra fields of the manifest that claim authority, and operations on anchors.

A package may say anything about itself that the format doesn't name, except that it
runs, grants, trusts or skips something. Keys are judged by their words, values by
whether they say yes.

Source: UAIX package format v0.1, "Words on the wire" (a key that claims authority).
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from uaix_core.packages.content.long_term import LEDGER_FIELDS, LEDGER_KEY
from uaix_core.packages.content.mutations import mutates_anchor
from uaix_core.packages.content.words import (
    DENIALS,
    is_denial,
    other_words_of,
    runs_of,
    says_yes,
    shown_place,
    words_of,
)
from uaix_core.packages.manifest.codec import wire_fields
from uaix_core.packages.manifest.values import FileEntry, Integrity, Manifest

__all__ = ["DENIALS", "claim_of", "is_denial", "judge_authority", "says_yes"]

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from uaix_core.packages.findings import Findings

Keys = tuple[str | int, ...]

RUNS: Final = "runtime_execution_requested"
CONFLICT: Final = "authority_boundary_conflict"

#: Each word that claims authority with its inflections, and the no-op name that fits.
WORDS: Final[tuple[tuple[str, str, str], ...]] = (
    (RUNS, "exec", "execs execed execing"),
    (
        RUNS,
        "execute",
        (
            "executes executed executing execution executions executor executors "
            "executer executers executable executables"
        ),
    ),
    (RUNS, "command", "commands commanded commanding"),
    (RUNS, "shell", "shells shelled shelling"),
    (RUNS, "run", "runs ran running runner runners runnable runnables"),
    (RUNS, "hook", "hooks hooked hooking"),
    (RUNS, "script", "scripts scripted scripting"),
    (CONFLICT, "permission", "permissions permissioned permissioning"),
    (
        CONFLICT,
        "grant",
        "grants granted granting grantor grantors granter granters grantee grantees",
    ),
    (CONFLICT, "tool", "tools tooled tooling"),
    (CONFLICT, "role", "roles"),
    (CONFLICT, "token", "tokens"),
    (
        CONFLICT,
        "approve",
        "approves approved approving approval approvals approver approvers",
    ),
    (
        CONFLICT,
        "promote",
        "promotes promoted promoting promotion promotions promoter promoters",
    ),
    (CONFLICT, "trust", "trusts trusted trusting"),
    (CONFLICT, "skip", "skips skipped skipping skippable"),
    (CONFLICT, "bypass", "bypasses bypassed bypassing"),
    (CONFLICT, "quarantine", "quarantines quarantined quarantining"),
    (
        CONFLICT,
        "install",
        (
            "installs installed installing installer installers installation "
            "installations installable installables"
        ),
    ),
    (CONFLICT, "operation", "operations"),
)
_TRIGGERS: Final = {
    form: trigger for trigger, word, rest in WORDS for form in (word, *rest.split())
}

#: Directly before the name of an event these make a key one that acts on it.
BEFORE_EVENTS: Final = frozenset(("pre", "post", "before", "after", "on"))
EVENTS: Final = frozenset(
    ("import", "install", "load", "open", "start", "update", "export")
)
_is_event_key = re.compile(
    f"(?:{'|'.join(sorted(BEFORE_EVENTS))})(?:{'|'.join(sorted(EVENTS))})"
).fullmatch

#: What any key holds that claims something; cheaper than its words.
_may_claim = re.compile(
    "exec|command|shell|run|ran|hook|script|permission|grant|tool|role|token|approv"
    "|promot|trust|skip|bypass|quarantin|install|operation|" + "|".join(sorted(EVENTS)),
    re.IGNORECASE,
).search

#: So many claims are told apart; the rest is only counted.
MOST_SHOWN: Final = 20

_TOP_NAMES: Final = frozenset((*wire_fields(Manifest), LEDGER_KEY))
_ENTRY_NAMES: Final = frozenset(wire_fields(FileEntry))
_INTEGRITY_NAMES: Final = frozenset((*wire_fields(Integrity), "signatures"))
_SIGNATURE_NAMES: Final = frozenset(("keyId", "algorithm", "value"))
_ENTRYPOINT_NAMES: Final = frozenset(("path", "order"))
#: Judged by a rule of its own.
_BOUNDARY: Final = "supportBoundary"

_KNOWN: Final[Mapping[str, Collection[str]]] = {
    "integrity": _INTEGRITY_NAMES,
    LEDGER_KEY: frozenset(LEDGER_FIELDS),
}


def claim_of(key: str) -> str | None:
    """The no-op name for what a key claims; None when it claims nothing."""
    if key.isascii() and not _may_claim(key):
        return None
    return _claim_of(key) if len(key) <= _CACHED_LENGTH else _claim_of.__wrapped__(key)


@lru_cache(maxsize=1024)
def _claim_of(key: str) -> str | None:
    words, runs = words_of(key), runs_of(key)
    every = (*words, *other_words_of(key), *runs)
    found = {_TRIGGERS[word] for word in every if word in _TRIGGERS}
    if RUNS in found or any(map(_is_event_key, runs)):
        return RUNS
    for row in (words, runs):
        if any(a in BEFORE_EVENTS and b in EVENTS for a, b in pairwise(row)):
            return RUNS
    return CONFLICT if found else None


#: Longer keys are judged anew each time, so that the cache stays small.
_CACHED_LENGTH: Final = 64


def judge_authority(wire: Mapping[str, Any], findings: Findings) -> None:
    """Judge every extra key of a parsed manifest, at any depth.

    Names that the format gives are no claims; ``supportBoundary`` has a rule of its
    own, and the names in an object of entrypoints are only names.
    """
    shown = further = 0
    for keys, key, value, holder in _extra_keys(wire):
        if mutates_anchor(key, value, holder):
            findings.add("anchor.mutation", shown_place((*keys, key)))
        trigger = claim_of(key)
        if trigger is None or not says_yes(value):
            continue
        if shown < MOST_SHOWN:
            shown += 1
            place = shown_place((*keys, key))
            findings.add("authority.claim", place, trigger=trigger)
        else:
            further += 1
    if further:
        message = f"further fields that claim authority: {further}"
        findings.add("authority.claim", None, message)


_Extra = tuple[Keys, str, Any, "Mapping[str, Any]"]


def _extra_keys(wire: Mapping[str, Any]) -> Iterator[_Extra]:
    """The keys that the format doesn't name: place, key, value, the object around."""
    for key, value in wire.items():
        if key == "files" and isinstance(value, list):
            for index, entry in enumerate(value):
                # Written out for speed: a package may list thousands of files.
                if not isinstance(entry, dict):
                    yield from keys_in(entry, ("files", index), ())
                elif not (
                    entry.keys() <= _ENTRY_NAMES
                    and isinstance(entry.get("source"), str)
                ):
                    yield from keys_in(entry, ("files", index), _ENTRY_NAMES)
        elif key == "entrypoints":
            yield from _entrypoint_keys(value)
        elif key == _BOUNDARY:
            continue
        elif key in _TOP_NAMES:
            yield from keys_in(value, (key,), _KNOWN.get(key, ()))
        else:
            yield (), key, value, wire
            yield from keys_in(value, (key,), ())


def _entrypoint_keys(value: Any) -> Iterator[_Extra]:
    rows = value.values() if isinstance(value, dict) else value
    if isinstance(rows, list):
        for index, row in enumerate(rows):
            if not isinstance(row, str):
                yield from keys_in(row, ("entrypoints", index), _ENTRYPOINT_NAMES)
    elif isinstance(value, dict):
        for row in rows:
            if not isinstance(row, str):
                yield from keys_in(row, ("entrypoints",), ())


def keys_in(value: Any, keys: Keys, known: Collection[str]) -> Iterator[_Extra]:
    """The keys at any depth of a value but for ``known`` ones at its top.

    Each comes as its place, itself, its value and the object around it.
    """
    if isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, list | dict):
                yield from keys_in(item, (*keys, index), known)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in known:
                yield keys, key, item, value
            if isinstance(item, list | dict):
                is_signatures = keys == ("integrity",) and key == "signatures"
                inner = _SIGNATURE_NAMES if is_signatures else ()
                yield from keys_in(item, (*keys, key), inner)
