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

MOST_HITS: Final = 20

#: What may stand before a command that isn't a piece of a longer word or path.
_START: Final = r"(?<![\w.-])"

#: Arguments of one command: up to a line's end or what joins commands.
_ARGUMENTS: Final = r"(?P<arguments>[^\n;|&]{0,200})"

_ROOT: Final = re.compile(
    r"(?:/[/.]{0,16}\*?|~/{0,4}\*?|\$(?:HOME|\{HOME\}?)(?:/{1,4}\*?)?"
    r"|/(?:bin|boot|dev|etc|home|lib|lib64|opt|proc|root|sbin|srv|sys|usr|var|Users"
    r"|System|Library|Applications)(?:/\*?)?)"
)
_HARMLESS: Final = re.compile("test|tmp", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"[.!?](?:\s|\Z)")
_SHORT: Final = re.compile(r"-[A-Za-z]+")
_AROUND: Final = "`()[]{}<>,:!?"
_QUOTES: Final = str.maketrans(
    dict.fromkeys("\"'\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb")
)
_BRANCHES: Final = frozenset({"main", "master"})


def _words(match: re.Match[str]) -> list[str]:
    """The arguments of a command as words without what quotes or ends them."""
    arguments = _SENTENCE_END.split(match["arguments"], maxsplit=1)[0]
    return [word.strip(_AROUND) for word in arguments.translate(_QUOTES).split()]


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
        r"\bDROP\s{1,16}DATABASE\s{1,16}(?:IF\s{1,16}EXISTS\s{1,16})?"
        r"[\"'`\[]?(?!(?i:statements?|commands?|privileges?|is|are|and|or)\b)"
        r"(?P<name>\w[\w$.-]{0,127})",
        _is_for_good,
    ),
    Command(
        "command-drop-database",
        "database",
        r"\b(?i:drop\s{1,16}database\s{1,16}(?:if\s{1,16}exists\s{1,16})?)"
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
#: A line that begins with a command is a sentence of its own, unless the line before
#: ends in the warning itself.
_LEADS: Final = re.compile(
    r"[ \t]*(?:[$>#%]{1,2}[ \t]+)?(?:(?:sudo|doas|exec|time|RUN)[ \t]+"
    r"|[A-Z_]{1,32}=\S{0,64}[ \t]+|/(?:usr/)?s?bin/){0,4}",
    re.ASCII,
)
_WARNS_BEFORE: Final = re.compile(
    rf"(?:{_WARNS.pattern})(?:[ \t]+(?:ever|run|use|type|execute|call|do|try)){{0,3}}"
    r"[ \t]*:?\r?\n\Z",
    re.IGNORECASE,
)
_LONGEST_LEAD: Final = 160
_LONGEST_WARNING: Final = 64

#: What follows these is said to a reader of the script and changes nothing.
_REMARK: Final = re.compile(r"[ \t;]#")
_SQL_REMARK: Final = re.compile(r"[ \t;](?:#|--)")
_CONTINUED: Final = re.compile(r"\\\r?\n")

_COMPILED: Final = tuple(
    (command, re.compile(command.pattern, re.ASCII | re.MULTILINE))
    for command in COMMANDS
)
_LITERALS: Final = tuple(sorted({command.literal for command in COMMANDS}))


def _scope(
    text: str, command: Command, match: re.Match[str], sentence: tuple[int, int]
) -> tuple[int, int]:
    """Where a warning about a command may stand: its sentence, or only its line."""
    start = match.start()
    first, last = sentence
    line = text.rfind("\n", max(0, start - _LONGEST_LEAD), start) + 1
    if line > first and _LEADS.fullmatch(text, line, start):
        if not _WARNS_BEFORE.search(text, max(0, line - _LONGEST_WARNING), line):
            first = line
        end = text.find("\n", match.end(), last)
        last = last if end < 0 else end
    elif line <= 1 and _LEADS.fullmatch(text, 0, start):
        end = text.find("\n", match.end(), last)
        last = last if end < 0 else end
    form = _SQL_REMARK if command.literal == "database" else _REMARK
    remark = form.search(text, start, last)
    return first, remark.start() if remark else last


def _found(text: str) -> Iterator[tuple[str, int, int]]:
    lowered = text.lower()
    present = {literal for literal in _LITERALS if literal in lowered}
    if not present:
        return
    # A shell reads on where a line ends in a backslash; lengths stay as they are.
    text = _CONTINUED.sub(lambda match: " " * len(match[0]), text)
    sentences: Sentences | None = None
    warnings: list[int] = []
    for command, pattern in _COMPILED:
        if command.literal not in present:
            continue
        told = 0
        for match in pattern.finditer(text):
            if command.judge and not command.judge(match):
                continue
            if sentences is None:
                sentences = Sentences(text)
                warnings = places_of(_WARNS, text)
            scope = _scope(text, command, match, sentences.around(match.start()))
            if not any_within(warnings, *scope):
                yield command.id, match.start(), match.end()
                told += 1
                if told == MOST_HITS:
                    break


def destructive_commands(text: str) -> list[Hit]:
    """Destructive commands with a target, one hit a place, in order of offset.

    Of each form at most ``MOST_HITS`` are told: more decide nothing more.
    """
    found = {
        (view.source(start, end), name)
        for view in plain_views(text)
        for name, start, end in _found(view.text)
    }
    offsets = byte_offsets(text, (place for place, _name in found))
    return [Hit(name, offsets[place]) for place, name in sorted(found)]
