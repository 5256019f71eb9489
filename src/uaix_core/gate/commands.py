"""Commands that destroy what they are pointed at.

Only with a target, and not in a sentence that warns: talk about a command is no
command. Source: UAIX package format v0.1, "Bodies" (content that refuses).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import attrs

from uaix_core.gate.hits import Hit, byte_offsets
from uaix_core.gate.sentences import Sentences, any_within, places_of
from uaix_core.gate.views import plain_views

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: What may stand before a command that isn't a piece of a longer word or path.
_START: Final = r"(?<![\w.-])"

#: Arguments of one command: up to a line's end or what joins commands.
_ARGUMENTS: Final = r"(?P<arguments>[^\n;|&]{0,200})"

_ROOT: Final = re.compile(
    r"(?:/|/\*|/\.|/\.\*|~/?|~/\*|\$(?:HOME|\{HOME\})(?:/\*?)?"
    r"|/(?:bin|boot|dev|etc|home|lib|lib64|opt|proc|root|sbin|srv|sys|usr|var|Users"
    r"|System|Library|Applications)(?:/\*?)?)"
)
_HARMLESS: Final = re.compile("test|tmp", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"[.!?](?:\s|\Z)")
_SHORT: Final = re.compile(r"-[A-Za-z]+")
_AROUND: Final = "\"'`()[]{}<>,:!?"
_BRANCHES: Final = frozenset({"main", "master"})


def _words(match: re.Match[str]) -> list[str]:
    """The arguments of a command as words without what quotes or ends them."""
    arguments = _SENTENCE_END.split(match["arguments"], maxsplit=1)[0]
    return [word.strip(_AROUND) for word in arguments.split()]


def _has(words: list[str], letters: str, *names: str) -> bool:
    """Whether an option is among words, by a letter or by a name."""
    return any(
        word in names or (_SHORT.fullmatch(word) and set(letters) & set(word))
        for word in words
    )


def _removes_root(match: re.Match[str]) -> bool:
    words = _words(match)
    return (
        _has(words, "rR", "--recursive")
        and _has(words, "f", "--force", "--no-preserve-root")
        and any(_ROOT.fullmatch(word) for word in words)
    )


def _overwrites(match: re.Match[str]) -> bool:
    words = _words(match)
    if "--mirror" in words:
        return True
    forced = _has(words, "f", "--force")
    for word in words:
        target = word.rsplit(":", 1)[-1].removeprefix("+").removeprefix("refs/heads/")
        if target in _BRANCHES and (forced or word.startswith("+")):
            return True
    return False


def _is_for_good(match: re.Match[str]) -> bool:
    """Whether a database is none for tests, by its name."""
    groups = match.groupdict()
    return not _HARMLESS.search(groups.get("quoted") or groups["name"])


@attrs.frozen
class Command:
    """A destructive command: its id, a literal of it in lower case, and its form.

    ``judge`` looks at a match once more, at what a pattern alone can't tell.
    """

    id: str
    literal: str
    pattern: str
    judge: Callable[[re.Match[str]], bool] | None = None


COMMANDS: Final = (
    Command("command-rm", "rm", _START + rf"rm[ \t]{_ARGUMENTS}", _removes_root),
    Command(
        "command-mkfs",
        "mkfs",
        _START + r"mkfs(?:\.\w{1,12})?[ \t][^\n;|&]{0,120}?/dev/\w",
    ),
    Command(
        "command-dd",
        "of=",
        _START + r"dd[ \t][^\n;|&]{0,120}?\bof=[\"']?/dev/"
        r"(?!(?:null|zero|full|stdout|stderr|tty|fd)\b)\w",
    ),
    Command(
        "command-drop-database",
        "database",
        r"\bDROP[ \t]+DATABASE[ \t]+(?:IF[ \t]+EXISTS[ \t]+)?"
        r"[\"'`\[]?(?P<name>\w[\w$.-]{0,127})",
        _is_for_good,
    ),
    Command(
        "command-drop-database",
        "database",
        r"\b(?i:drop[ \t]+database[ \t]+(?:if[ \t]+exists[ \t]+)?)"
        r"(?:[\"'`\[](?P<quoted>\w[\w$.-]{0,127})|(?P<name>\w[\w$-]{0,127})"
        r"(?=[ \t]*(?:;|$|[\r\n`\"'])|[ \t]+(?i:cascade|force|with)\b))",
        _is_for_good,
    ),
    Command(
        "command-fork-bomb",
        "|",
        r"(?P<f>(?<!\w)\w{1,32}|:)[ \t]{0,4}\([ \t]{0,4}\)\s{0,8}\{\s{0,8}(?P=f)\s{0,4}"
        r"\|\s{0,4}(?P=f)\s{0,4}&\s{0,4}\}\s{0,4};?\s{0,8}(?P=f)(?!\w)",
    ),
    Command(
        "command-force-push",
        "push",
        _START + rf"git[ \t](?:[^\n;|&]{{0,80}}?[ \t])?push[ \t]{_ARGUMENTS}",
        _overwrites,
    ),
)

_WARNS: Final = re.compile(
    r"\b(?:never|not|avoid(?:s|ed|ing)?|danger(?:s|ous|ously)?|cannot)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_COMPILED: Final = tuple(
    (command, re.compile(command.pattern, re.ASCII | re.MULTILINE))
    for command in COMMANDS
)
_LITERALS: Final = tuple(sorted({command.literal for command in COMMANDS}))


def _found(text: str) -> Iterator[tuple[str, int, int]]:
    lowered = text.lower()
    present = {literal for literal in _LITERALS if literal in lowered}
    sentences: Sentences | None = None
    warnings: list[int] = []
    for command, pattern in _COMPILED:
        if command.literal not in present:
            continue
        for match in pattern.finditer(text):
            if command.judge and not command.judge(match):
                continue
            if sentences is None:
                sentences = Sentences(text)
                warnings = places_of(_WARNS, text)
            if not any_within(warnings, *sentences.around(match.start())):
                yield command.id, match.start(), match.end()


def destructive_commands(text: str) -> list[Hit]:
    """Destructive commands with a target, one hit a place, in order of offset."""
    found = {
        (view.source(start, end), name)
        for view in plain_views(text)
        for name, start, end in _found(view.text)
    }
    offsets = byte_offsets(text, (place for place, _name in found))
    return [Hit(name, offsets[place]) for place, name in sorted(found)]
