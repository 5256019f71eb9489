"""What a name and a text beside it say about disclosure, wherever the two stand.

A statement is about the place that it stands in, or about what it names:
``disclosure: private``, ``diary_disclosure_level: private``, ``private: true``.

Source: UAIX package format v0.1, "Bodies".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from uaix_core.values.folding import fold
from uaix_core.values.parsing.limits import (
    is_clear,
    is_limit,
    is_limiting_label,
    limiting_heading,
    limiting_line,
    may_limit,
    may_name,
    plain,
    said_of,
)
from uaix_core.values.parsing.tables import limited_rows
from uaix_core.values.parsing.view import fold_label
from uaix_core.values.parsing.words import disclosure_of, known_word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from uaix_core.values.parsing.words import Disclosure


class Statement(NamedTuple):
    """A disclosure, and what it is about: a folded name, or empty for its place.

    ``is_sure`` is False where the name may as well be something else: then it counts
    only if something has that name. ``reach`` is where one without a name applies: in
    its ``place``, in its ``section`` and no more, or in the ``file``.
    """

    about: str
    disclosure: Disclosure | None
    is_sure: bool = True
    reach: Literal["place", "section", "file"] = "place"


_disclosure = re.compile(r"(?:(?P<about>.+)_)?disclosure(?:_(?:level|tag))?").fullmatch
_disclosure_of = re.compile(
    r"disclosure_(?:(?:level|tag)_)?(?:(?:of|for|on|about)_)?(?:the_)?(?P<about>.+)"
).fullmatch
#: Names that stand for a disclosure where their value is a limit, and only there.
_level = re.compile(
    r"(?:(?P<about>.+)_)?(?:disclosures|visibility|confidentiality|sensitivity|audience|privacy"
    r"|secrecy|classification|sharing|access)(?:_(?:level|tag))?"
).fullmatch
#: Names whose values may be one word among many.
_tagging = re.compile(r"tags?|labels?|keywords|status|marking|handling").fullmatch
_limited = re.compile(
    r"(?:(?P<about>.+)_)?(?:private|confidential|secret|sensitive|restricted|hidden|internal"
    r"|non_?public|not_public|do_not_share)"
).fullmatch
#: Those of them under which ``none`` lets nobody see, and isn't the lowest grade.
_showing = re.compile(
    r"(?:.+_)?(?:disclosures|visibility|audience|sharing|access)"
).fullmatch
_open = re.compile(
    r"(?:(?P<about>.+)_)?(?:public|shareable|shared?|publish(?:ed)?|visible)"
).fullmatch
_listing = re.compile(
    r"(?:private|confidential|secret|sensitive|hidden|restricted)_(?:fields|names"
    r"|sections|keys|parts|dimensions|labels)"
).fullmatch

#: Names of what a disclosure says of itself, where it is told in parts.
OWN_PARTS: Final = frozenset(
    ("level", "tag", "value", "word", "status", "default", "kind", "is", "")
)
_YES: Final = frozenset(("true", "yes", "y", "on", "1", "x"))
_AROUND: Final = " \t\"'.`"
_NOBODY: Final = frozenset(("none", "nobody", "no one"))
_NO: Final = frozenset(("false", "no", "n", "off", "0"))
#: A phrase, and no name of a field.
_IDIOMS: Final = frozenset(("full",))
_PUBLIC: Final = frozenset(
    ("public", "open", "everyone", "everybody", "anyone", "all", "full", "none", "low")
)
#: The most words of a value that could be read as a level.
_MOST_WORDS: Final = 3
_SEPARATOR: Final = ":"
#: The most spaces in what stands before it, where that is a name.
_MOST_SPACES: Final = 8
_parts = re.compile(r"[,;\n]|\band\b").split
_markers = re.compile(r"^[\W\d_]+")
#: What may stand within a name and isn't of it.
_MARKUP: Final = str.maketrans("", "", "*`~\\")
#: What stands in these is a remark on its text.
_BRACKETS: Final = ("()", "[]")
_verb = re.compile(r"(?:^|_)is$")


def name_of(label: str) -> str:
    """A label in the spelling that names are compared in, look-alikes as ASCII."""
    plain_label = label if label.isascii() else fold(label)
    return fold_label(plain_label.lstrip("$@").replace(":", "_"))


def may_state(name: str) -> bool:
    """Whether a field of this name may say something about disclosure."""
    return may_limit(name) or _tagging(name) is not None


def statements(
    name: str, text: str, items: Sequence[str] = ()
) -> tuple[Statement, ...]:
    """What a name and its text say about disclosure: mostly nothing."""
    if not may_state(name):
        return ()
    found = _disclosure(name)
    if found is not None:
        about = found["about"] or ""
        return () if about in _IDIOMS else (Statement(about, disclosure_of(text)),)
    about = _limited_by(name, text, items)
    if about is not None:
        return (Statement(about, "private"),)
    is_nobody = text.strip(_AROUND).lower() in _NOBODY
    level = _level(name) if is_nobody and _showing(name) else None
    if level is not None:
        # What has no entry has no access: "none" may be said of other things too.
        return (Statement(level["about"] or "", "none", is_sure=not level["about"]),)
    if _listing(name) or is_limit(name) or is_limiting_label(name):
        named = (name_of(one.strip()) for one in items or _parts(text))
        return tuple(Statement(one, "private", is_sure=False) for one in named if one)
    return ()


def _limited_by(name: str, text: str, said: Sequence[str]) -> str | None:
    """What a name and what is said limit, empty for their place; None for nothing."""
    word = text.strip(_AROUND).lower()
    found = None
    parts = said or [part for part in _parts(text) if part.strip()]
    if (
        is_limit(text)
        or any(map(is_limit, said))
        or (parts and all(map(is_limit, parts)))
    ):
        found = _level(name) or _disclosure_of(name)
    if found is None and _tagging(name) and any(map(is_clear, parts)):
        return ""
    if found is not None:
        pass
    elif word in _YES:
        found = _limited(name)
    elif word in _NO:
        found = _open(name)
    return None if found is None else _verb.sub("", found["about"] or "")


def is_limits(name: str) -> bool:
    """Whether a heading of this name stands above limits of other places."""
    found = _level(name) if may_limit(name) else None
    return found is not None and not found["about"]


def is_plain(text: str, items: Sequence[str] = ()) -> bool:
    """Whether the text of a mark says nothing but the limit."""
    word = text.strip(_AROUND).lower()
    return word in _YES | _NO or all(map(is_limit, items or (text,)))


def is_denied(name: str, text: str) -> bool:
    """Whether a name that may limit is said not to, as in ``private: no``."""
    return text.strip(_AROUND).lower() in _NO and _limited(name) is not None


def is_unread(name: str, text: str) -> bool:
    """Whether a name and a text limit something, and nobody can say what to whom."""
    if name.removesuffix("_level").removesuffix("_tag") != "confidentiality":
        return False
    words = " ".join(text.lower().split()).strip("\"'`*_")
    if not words or words in _PUBLIC or words.endswith("."):
        return False
    return len(words.split()) <= _MOST_WORDS


def stated_in(text: str, *, is_prose: bool) -> Iterator[Statement]:
    """What the lines of a text say about disclosure where no label is read.

    ``is_prose`` is for the text of a section, whose lines can mark the section.
    """
    shown = plain(text)
    if not may_name(shown):
        return
    lines = shown.split("\n")
    for at, line in enumerate(lines):
        if not may_name(line):
            continue
        flat = " ".join(line.translate(_MARKUP).split())
        marked = is_prose and _marked_by(flat, stands_alone=_stands_alone(lines, at))
        if marked:
            yield marked
        else:
            yield from (x for x in _named_by(flat, lines) if x.about or is_prose)
    for cells in limited_rows(shown, is_clear):
        yield from (Statement(name_of(one), "private", is_sure=False) for one in cells)


def _marked_by(line: str, *, stands_alone: bool) -> Statement | None:
    """What a line marks that names nothing: its section, or the file."""
    if limiting_line(line):
        return Statement("", "private")
    if stands_alone and limiting_heading(line):
        return Statement("", "private", reach="section")
    what = said_of(line)
    if what is None:
        return None
    return Statement("", "private", reach="file" if what == "file" else "place")


def _named_by(line: str, lines: Sequence[str]) -> Iterator[Statement]:
    """What a line says of a name; what the same text holds is hidden with the text."""
    names: set[str] = set()
    for one in _stated_by(line):
        if one.about and not names:
            names.update(_name_before(other) for other in lines if _SEPARATOR in other)
        is_beside = bool(one.about) and one.about in names
        yield one._replace(is_sure=one.is_sure and not is_beside)


def _stands_alone(lines: list[str], at: int) -> bool:
    before, after = lines[at - 1] if at else "", (*lines, "")[at + 1]
    return not before.strip() and not after.strip(" \t=-")


def _stated_by(line: str) -> Iterator[Statement]:
    """What a line says that is written like a mark but not where marks are read."""
    separator = next((one for one in (_SEPARATOR, "=") if one in line), " - ")
    before, found, after = line.partition(separator)
    is_inside = any(before.count(a) > before.count(b) for a, b in _BRACKETS)
    is_sentence = ". " in before or before.count(" ") > _MOST_SPACES
    is_dashed = separator == " - "
    if is_dashed and not (known_word(after) or is_limit(after)):
        return
    if found and not is_inside and not is_sentence:
        for one in statements(_name_before(line, separator), _markers.sub("", after)):
            if one.disclosure not in (None, "public"):
                yield one


def _name_before(line: str, separator: str = _SEPARATOR) -> str:
    """The name that a line begins with, whatever stands before it."""
    before = _markers.sub("", line.partition(separator)[0])
    return name_of(before.rstrip("\"'`*_ ([{"))
