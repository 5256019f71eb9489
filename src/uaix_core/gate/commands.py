"""Commands that destroy what they are pointed at.

Only with a target, and not in a sentence that warns: talk about a command is no
command. Source: UAIX package format v0.1, "Bodies" (content that refuses).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import attrs

from uaix_core.gate.hits import Hit, byte_offset, by_place
from uaix_core.gate.sentences import sentence_at
from uaix_core.gate.views import plain_views

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What may stand before a command that isn't a piece of a longer word or path.
_START: Final = r"(?<![\w.-])"

#: The end of a target: what can't go on naming something below it.
_STOP: Final = r"(?=$|[\s\"'`;|&<>)\]},]|[.:!?](?:\s|$))"

#: Arguments of one command: up to a line's end or what joins commands.
_ARGUMENTS: Final = r"[^\n;|&]{0,120}?"

_ROOTS: Final = (
    r"(?:/|/\*|/\.|/\.\*|~/?|~/\*|\$HOME/?|\$HOME/\*|\$\{HOME\}/?|\$\{HOME\}/\*"
    r"|/(?:bin|boot|dev|etc|home|lib|lib64|opt|proc|root|sbin|srv|sys|usr|var|Users"
    r"|System|Library|Applications)(?:/\*?)?)"
)


@attrs.frozen
class Command:
    """A destructive command: its id, a literal of it in lower case, and its form.

    ``name`` names the group of the target that an excuse is looked for in.
    """

    id: str
    literal: str
    pattern: str
    name: str | None = None


COMMANDS: Final = (
    Command(
        "command-rm",
        "rm",
        _START + r"rm(?=[^\n;|&]{0,120}?\s-(?:\w*[rR]\w*\b|-recursive))"
        r"(?=[^\n;|&]{0,120}?\s-(?:\w*f\w*\b|-force\b|-no-preserve-root))"
        rf"[ \t]{_ARGUMENTS}(?<=[\s])[\"']?{_ROOTS}[\"']?{_STOP}",
    ),
    Command(
        "command-mkfs",
        "mkfs",
        _START + rf"mkfs(?:\.\w{{1,12}})?[ \t]{_ARGUMENTS}/dev/\w",
    ),
    Command(
        "command-dd",
        "of=",
        _START + rf"dd[ \t]{_ARGUMENTS}\bof=[\"']?/dev/"
        r"(?!(?:null|zero|full|stdout|stderr|tty|fd)\b)\w",
    ),
    Command(
        "command-drop-database",
        "database",
        r"\bDROP[ \t]+DATABASE[ \t]+(?:IF[ \t]+EXISTS[ \t]+)?"
        r"[\"'`\[]?(?P<name>\w[\w$.-]{0,127})",
        name="name",
    ),
    Command(
        "command-drop-database",
        "database",
        r"\b(?i:drop[ \t]+database[ \t]+(?:if[ \t]+exists[ \t]+)?)"
        r"(?:[\"'`\[](?P<quoted>\w[\w$.-]{0,127})|(?P<name>\w[\w$-]{0,127})"
        r"(?=[ \t]*(?:;|$|[\r\n`\"'])|[ \t]+(?i:cascade|force|with)\b))",
        name="name",
    ),
    Command(
        "command-fork-bomb",
        "|",
        r"(?P<f>[:\w]{1,32})[ \t]{0,4}\([ \t]{0,4}\)\s{0,8}\{\s{0,8}(?P=f)\s{0,4}\|"
        r"\s{0,4}(?P=f)\s{0,4}&\s{0,4}\}\s{0,4};?\s{0,8}(?P=f)(?!\w)",
    ),
    Command(
        "command-force-push",
        "push",
        _START + rf"git[ \t]{_ARGUMENTS}\bpush\b(?:"
        rf"(?=[^\n;|&]{{0,120}}?\s(?:--force(?![\w-])|-\w*f\w*\b))"
        rf"{_ARGUMENTS}[\s:/](?:main|master){_STOP}"
        rf"|{_ARGUMENTS}\s--mirror\b"
        rf"|{_ARGUMENTS}\s\+(?:[\w./-]+:)?(?:refs/heads/)?(?:main|master){_STOP})",
    ),
)

_WARNS: Final = re.compile(
    r"\b(?:never|not|avoid(?:s|ed|ing)?|danger(?:s|ous|ously)?|cannot)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_HARMLESS: Final = re.compile("test|tmp", re.IGNORECASE)
_COMPILED: Final = tuple(
    (command, re.compile(command.pattern, re.ASCII | re.MULTILINE)) for command in COMMANDS
)
_LITERALS: Final = tuple(sorted({command.literal for command in COMMANDS}))


def _found(text: str) -> Iterator[tuple[str, int, int]]:
    lowered = text.lower()
    present = {literal for literal in _LITERALS if literal in lowered}
    for command, pattern in _COMPILED:
        if command.literal not in present:
            continue
        for match in pattern.finditer(text):
            if command.name:
                groups = match.groupdict()
                name = groups.get("quoted") or groups["name"]
                if _HARMLESS.search(name):
                    continue
            first, last = sentence_at(text, *match.span())
            if not _WARNS.search(text, first, last):
                yield command.id, match.start(), match.end()


def destructive_commands(text: str) -> list[Hit]:
    """Destructive commands with a target, one hit a place, in order of offset."""
    hits: dict[tuple[str, int], Hit] = {}
    for view in plain_views(text):
        for name, start, end in _found(view.text):
            place = byte_offset(text, view.source(start, end))
            hits.setdefault((name, place), Hit(name, place))
    return sorted(hits.values(), key=by_place)
