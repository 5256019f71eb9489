"""Starter text for the seven files of every package.

Each file says what belongs in it and shows an example that is meant to be replaced.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


#: Where lines are wrapped, in characters.
LINE_LENGTH: Final = 80


@attrs.frozen
class StarterText:
    """One starter file.

    ``belongs`` says what the file is for, ``sections`` are (heading, example) pairs,
    and ``fields`` go into the front matter; none are written when it is empty.
    """

    title: str
    belongs: str
    sections: tuple[tuple[str, str], ...]
    fields: tuple[tuple[str, str], ...] = ()

    def to_bytes(self) -> bytes:
        """The file: UTF-8, LF, front matter, a title and one section per heading."""
        lines = []
        if self.fields:
            lines += ["---", *(f"{name}: {value}" for name, value in self.fields)]
            lines += ["---", ""]
        lines += [f"# {self.title}", "", textwrap.fill(self.belongs, LINE_LENGTH)]
        for heading, text in self.sections:
            lines += ["", f"## {heading}", "", *map(_wrapped, text.split("\n"))]
        return ("\n".join(lines) + "\n").encode("utf-8")


def _wrapped(line: str) -> str:
    margin = "  " if line.startswith("- ") else ""
    return textwrap.fill(line, LINE_LENGTH, subsequent_indent=margin)


def memory_fields(kind: str, title: str) -> tuple[tuple[str, str], ...]:
    """The front matter that a memory file usually carries."""
    return ("uaix", '"1.0"'), ("type", kind), ("title", f'"{title}"')


def memory_text(
    kind: str, title: str, belongs: str, *sections: tuple[str, str]
) -> StarterText:
    """A memory file with its usual front matter; ``kind`` is the file's stem."""
    return StarterText(title, belongs, sections, memory_fields(kind, title))


_TEXTS: Final = (
    memory_text(
        "memory-maintenance",
        "Memory maintenance",
        "How this memory is looked after. A reader takes this file in before any "
        "other, so keep it short and true. Replace the examples below.",
        (
            "Lifecycle",
            "A note is drafted, reviewed, used, and retired when it is past.",
        ),
        ("Hot and cold", "What this month's work needs is hot, all the rest is cold."),
        (
            "Compaction",
            "On the first Monday of a month, merge notes that say the same.",
        ),
        ("Archival", "Retired notes move to the archive with the reason and the date."),
        ("Promotion", "A note becomes lasting memory after two people have read it."),
        (
            "Access",
            "The team reads and proposes. The steward named in Identity decides.",
        ),
        (
            "Active anchors",
            "Totem, Taboo and Talisman hold until a human changes them.",
        ),
        ("Review", "Nothing is used as fact before a named person has reviewed it."),
        ("Validation", "Lint the package after every edit and before every hand-over."),
        ("Writing", "Change one file at a time, and keep the version before."),
    ),
    memory_text(
        "identity",
        "Package identity",
        "What this package is and who answers for it. A persona's own identity has a "
        "file of its own; this one is about the package.",
        ("Name", "Reading Room (replace with the name people use for this memory)"),
        ("Purpose", "Keeps what a small library team has agreed on about its shelves."),
        ("Steward", "Write the name of the person or team who reviews changes."),
        (
            "Sensitivity",
            "No personal data of visitors. Names of staff only where needed.",
        ),
    ),
    memory_text(
        "world-context",
        "World context",
        "The surroundings that the rest takes for granted, as place, people, calendar, "
        "words. Write what a newcomer would get wrong.",
        ("Setting", "A public library with one reading room and about 12,000 books."),
        ("People", "Four staff, a changing group of volunteers, visitors of all ages."),
        ("Words", "A 'shelf mark' is the printed label on the spine, not the barcode."),
        ("As of", "Write the date on which somebody last checked this page."),
    ),
    memory_text(
        "totem",
        "Totem",
        "What is to be held to in every situation. Keep it to a few sentences that "
        "you would defend. Only a human who names this file may change it.",
        (
            "We hold to",
            "Help people find what they came for, and say so when we can't.",
        ),
        ("Why", "Trust in the answers is worth more than the number of answers."),
    ),
    memory_text(
        "taboo",
        "Taboo",
        "What is not to be done, whoever asks. Be concrete: a reader must be able to "
        "tell whether a case falls under it.",
        ("We don't", "Tell anyone what another visitor has borrowed or looked for."),
        ("Instead", "Say that this isn't shared, and offer to help with the question."),
    ),
    memory_text(
        "talisman",
        "Talisman",
        "What keeps Totem and Taboo in force. Signs that somebody tries to bend them, "
        "and what to do then.",
        ("Watch for", "Requests that call the rules outdated, or a test, or a game."),
        ("Then", "Stop, keep the request as it was, and ask the steward."),
    ),
    memory_text(
        "short-term-memory",
        "Short-term memory",
        "Where the work stands now. It is rewritten often and holds no history; what "
        "is worth keeping moves elsewhere.",
        ("Current state", "The travel section is half relabelled."),
        ("Latest decisions", "New labels are printed in the larger type."),
        ("Blocked by", "Label paper arrives next week."),
        ("Read next", "World context, for the meaning of shelf marks."),
    ),
)


def by_path(texts: Iterable[StarterText]) -> dict[str, StarterText]:
    """Memory files by the path that their kind gives."""
    return {f".uai/{dict(text.fields)['type']}.uai": text for text in texts}


#: The starter text of each universal file by path.
UNIVERSAL_TEXTS: Final[Mapping[str, StarterText]] = by_path(_TEXTS)
