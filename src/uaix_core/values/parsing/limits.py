"""The words by which a text says that it isn't for everybody, in any spelling.

Text is judged as a reader takes it in: without invisible characters, look-alikes as
ASCII, HTML character references as what they stand for. A limit is told by its place
and not by the word: prose that speaks of privacy names none. In doubt it is one.

Source: UAIX package format v0.1, "Bodies".
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Final

from uaix_core.values.folding import fold
from uaix_core.values.parsing.limit_words import (
    AHEAD,
    BEFORE,
    BEHIND,
    BRACKETS_CLOSE,
    BRACKETS_OPEN,
    CLEAR,
    EVERY,
    EXACT,
    LABEL,
    NAME,
    ORDER,
    PHRASE,
    SOFT,
    STEMS,
)
from uaix_core.values.parsing.tables import limited_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    _Found = Callable[[str], re.Match[str] | None]

_BRACKETS: Final = re.escape(BRACKETS_OPEN + BRACKETS_CLOSE)
#: Brackets in which a sentence may stand; in the others stands code.
_OF_PROSE: Final = frozenset(BRACKETS_OPEN) - frozenset("{<")
#: The most words of a remark in brackets.
MOST_WORDS: Final = 6


def _search(pattern: str) -> _Found:
    return re.compile(pattern, re.IGNORECASE | re.MULTILINE).search


def _whole(pattern: str) -> _Found:
    return re.compile(pattern, re.IGNORECASE).fullmatch


_stem = re.compile("|".join(map(re.escape, EVERY))).search
_text_stem = re.compile("|".join(map(re.escape, STEMS))).search
_SHORT: Final = 40
#: Where "none" may be a mark.
_by_none = re.compile(r"[(\[{<]|[,;|-]\s*none\s*:").search
#: How many lines a limit may be spread over, on each side of a word of it.
_AROUND: Final = 2
_is_exact = _whole(EXACT)
_is_label = _whole(LABEL)
_is_behind = _whole(BEHIND)
#: What alone may be a trait, or an order about something else.
_is_word = _whole(rf"(?:{CLEAR}|{SOFT}|{ORDER}|sensitive|hidden)")
_is_clear = _whole(rf"{BEFORE}(?:{CLEAR}|{PHRASE})")
_clear = _search(rf"(?<![\w./#-])(?:{CLEAR}|{PHRASE}|{ORDER})(?![\w/#-]|\.\w)")
_starts = re.compile(
    rf"{EXACT}(?=$|[,;:!?|\u2026]|\.(?:\s|$)|\s+[-\u2026]|\s+(?:since|until|till|use|for"
    r"|by|to|from|as of|notes?|please|do|not|seit|bis|depuis|desde|dal|fino)\b"
    r"(?<!sensitive to))",
    re.IGNORECASE,
).match
#: "Full disclosure" is an idiom.
_DISCLOSURE: Final = r"(?<!full )disclosures?(?:[ -]?(?:level|tag))?"
_is_mark = _whole(
    rf"(?:{_DISCLOSURE}\s*(?:[:=-]|is)?|{NAME}\s*[:=])\s*"
    r"(?!public\b|open\b|none of)[^\W_].*"
)
_pair = _whole(rf"{CLEAR}\s*/\s*\w+")
_classes = _search(rf"(?:^|\s)[.#]{CLEAR}\b")
_is_choice = _whole(r"(?:(?:none|private|sensitive|public|or|and)[\s,/|]*)+")
_words = re.compile(r"[^\W_]+(?:'[^\W_]+)*").findall
_bracketed = re.compile(
    rf"([{re.escape(BRACKETS_OPEN)}])([^{_BRACKETS}]{{1,200}})(?=[{_BRACKETS}]|$)"
)
_MARKUP: Final = str.maketrans(
    {"_": " ", "*": "", "`": "", "~": "", "\\": "", "\u2019": "'"}
)
_tags = re.compile(r"<!--|-->|</?[a-z][^<>]{0,80}>", re.IGNORECASE)
_item = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s").match

_element = _search(rf"<\w[^<>]*=\s*[\"']?(?:[\w-]+ )*{CLEAR}\b[^<>]*>")
_callout = re.compile(r"^[\s>]*\[!\w+\][-+]?(?=\s+\w)").sub
_is_tags = _whole(r"(?:#[\w-]+[\s,]*)+")
_is_begin = _whole(
    rf"(?:begin|start)(?: of)?[ :-]+{EXACT}(?: (?:section|block|part|text|notes))?"
    rf"|{EXACT}[ :-]+(?:begin|start)"
)
#: Words that may make a sentence about disclosure a limit.
_limits = _search(
    rf"\b(?:{CLEAR}|{SOFT}|{PHRASE}|{ORDER}|sensitive|hidden|none|nobody|no one|only"
    r"|never|not|except|friends|family|public)\b"
)
_MOST_OF_A_MARK: Final = 4
#: A mark in the middle of a text; its value may stand below it.
_levels = re.compile(
    rf"{_DISCLOSURE}(?:\s*[([{{][^)\]}}]{{0,60}}[)\]}}])?"
    r"[\s\"']*[:=][\s\"'(\[{|>-]*(?!public\b)([^\W_][^\n]*)",
    re.IGNORECASE,
).finditer

_SAYS: Final = (
    _search(rf"{_DISCLOSURE}(?:\s+is|\s*[|>-]+)?\s+{EXACT}\b"),
    _search(
        rf"\b{NAME}[\s\"']*[:=|][\s\"'(\[{{|>-]*{EXACT}"
        r"(?=$|[\s\"')\]}]*(?:[,;.|]|$))"
    ),
    _search(r"[(\[{][\s\"']*none[\s\"']*[)\]}]\s*:|[,;|/-][ \t]*none[ \t]*:"),
    # A word before what it limits, or behind a label.
    _search(rf"^[^\w\n(]*{AHEAD}[ \t]*(?::|[ \t][->]+[ \t])"),
    _search(rf"(?:[,;|/]|[ \t]-+)[ \t]*{EXACT}[ \t]*:"),
    # Tags, and marks of HTML.
    _search(rf"(?<!\S)[#@!](?:{CLEAR}|{SOFT}|sensitive)(?![\w-])"),
    _search(rf">\s*{EXACT}\s*</"),
    _element,
)
#: Members of objects that are read as text; in their names words may begin in upper
#: case.
_MEMBERS: Final = (
    _search(rf"[\"']{AHEAD}[\"']\s*:\s*+(?!false|null|\"\")"),
    _search(
        r"\b(?:private|confidential|internal|non-?public|not public|do not share)"
        r"[\"']?\s*[:=]\s*[\"']?(?:true|yes|1)\b"
    ),
    _search(r"\b(?:public|shareable|shared)[\"']?\s*[:=]\s*[\"']?(?:false|no|0)\b"),
    _search(
        r"[\"'](?:[\w ]+ )?confidentiality[\"']\s*:\s*+"
        r"(?![\"']?(?:public|open|all|everyone|everybody|anyone|none|full|low)\b)"
    ),
)
_case_change = re.compile(r"(?<=[a-z])(?=[A-Z])")
_bold = _search(rf"^[^\w\n*]*(?:\*\*|__)\s*{LABEL}\s*[:.!]?\s*(?:\*\*|__)")


def plain(text: str) -> str:
    """The text as a reader takes it in."""
    if "&" in text:
        text = html.unescape(text)
    return fold(text)


def _core(text: str) -> str:
    """The words of a text without markup, nor anything around them."""
    words = " ".join(text.translate(_MARKUP).split())
    start, stop = 0, len(words)
    while start < stop and not words[start].isalnum():
        start += 1
    while start < stop and not words[stop - 1].isalnum():
        stop -= 1
    return words[start:stop]


def may_limit(text: str) -> bool:
    """Whether a label, or a whole body, is worth a closer look.

    It is in plain spelling, as for `may_name`.
    """
    return _holds(text.lower(), _stem, EVERY)


def may_name(text: str) -> bool:
    """Whether a text may name a limit."""
    lower = text.lower()
    if _holds(lower, _text_stem, STEMS):
        return True
    return "none" in lower and _by_none(lower) is not None


def _holds(lower: str, search: _Found, stems: tuple[str, ...]) -> bool:
    if len(lower) < _SHORT:
        return search(lower) is not None
    # In long texts one pass for each is much faster than one for all of them.
    return any(map(lower.__contains__, stems))


def is_limit(text: str) -> bool:
    """Whether a text is the name of a limit and nothing else, in any spelling."""
    return _is_exact(_core(plain(text))) is not None


def is_clear(text: str) -> bool:
    """Whether a text is a word that means a limit and nothing else."""
    return _is_clear(_core(plain(text))) is not None


def is_limiting_label(label: str) -> bool:
    """Whether a label says of the text under it that it is limited."""
    words = _case_change.sub(" ", plain(label).replace("-", " "))
    shown = _core(words)
    return _is_label(shown) is not None or _is_said(shown) is not None


def is_behind(inside: str) -> bool:
    """Whether a remark limits behind a label, though it wouldn't in a text."""
    return _is_behind(_core(plain(inside))) is not None


def is_sentence(text: str) -> bool:
    """Whether what stands as a level of disclosure is content, and names no limit."""
    shown = plain(text)
    if any(sign in shown for sign in ":|") or any(map(_item, shown.split("\n"))):
        return False
    return len(_words(shown)) > _MOST_OF_A_MARK and _limits(shown) is None


def is_remark(inside: str, bracket: str = "(") -> bool:
    """Whether what stands in brackets of this kind names a limit."""
    text = _core(plain(inside))
    if _is_choice(text) and "public" in text.lower():
        return False
    if any(form(text) for form in (_is_exact, _is_mark, _pair)) or _classes(inside):
        return True
    if bracket not in _OF_PROSE:
        return False
    is_short = len(_words(text)) <= MOST_WORDS
    return (is_short and _clear(text) is not None) or _starts(text) is not None


def names_limit(text: str) -> bool:
    """Whether a text names a limit in a place where marks are put."""
    shown = plain(text)
    if not may_name(shown):
        return False
    if any(limited_rows(shown, is_clear)):
        return True
    shown = _near(shown)
    if _bold(shown):
        return True
    stripped = shown.translate(_MARKUP)
    if any(not is_sentence(found[1]) for found in _levels(stripped)):
        return True
    if any(says(stripped) for says in _SAYS) or has_remark(stripped):
        return True
    members = _case_change.sub(" ", stripped)
    return any(says(members) for says in _MEMBERS)


def has_remark(text: str) -> bool:
    """Whether something in brackets names a limit."""
    shown = plain(text)
    return may_name(shown) and any(_remarks(_near(shown).translate(_MARKUP)))


def _near(text: str) -> str:
    """The lines of a text that may limit something, and those around them.

    White space between words is one space, so that no run of it takes long.
    """
    lines = text.split("\n")
    kept: list[str] = []
    last = 0
    for at, line in enumerate(lines):
        if may_name(line):
            first = max(last, at - _AROUND)
            last = max(last, at + _AROUND + 1)
            kept += (" ".join(one.split()) for one in lines[first:last])
    return "\n".join(kept)


def _remarks(text: str) -> Iterator[bool]:
    """Of each pair of brackets whether it limits; the text of a link is no remark."""
    for found in _bracketed.finditer(text):
        bracket, inside = found.groups()
        start, end = found.span()
        if bracket == "(" and text.endswith("]", 0, start):
            continue
        is_link = text.startswith("](", end)
        yield is_limit(inside) if is_link else is_remark(inside, bracket)


def limiting_line(line: str) -> bool:
    """Whether a line of prose consists of a limit alone, as a mark does.

    An item of a list is a value among others, and a sentence has a full stop.
    """
    shown = _callout("", plain(line)).strip()
    bare = _tags.sub("", shown)
    core = _core(bare or shown)
    if _is_begin(core) or _marks_as_sign(shown, bare):
        return True
    if _is_exact(core) is None:
        return False
    is_wrapped = shown[-1:] not in (".", "") and not shown[-1:].isalnum()
    if _item(shown):
        return is_wrapped
    if shown.endswith(".") and not core.isupper():
        return _is_word(core) is None
    return is_wrapped or core.isupper() or _clear(core) is not None


def _marks_as_sign(shown: str, bare: str) -> bool:
    """Whether a line is a limit in brackets, an element, or tags that limit."""
    if shown[:1] in BRACKETS_OPEN and shown[-1:] in BRACKETS_CLOSE:
        is_element = not bare.strip() and _element(shown) is not None
        return is_element or is_remark(shown[1:-1], shown[:1])
    return bool(_is_tags(shown)) and any(map(is_clear, re.split(r"[\s,]+", shown)))


_is_said = _search(
    r"^\W*(?:this|these|the following|the rest|everything|all of this|what follows"
    r"|all below)(?P<what>(?: [\w']+){0,3}?) (?:is|are|stays?|remains?"
    r"|(?:must|should|has to|is to|are to) (?:stay|remain|be kept|be))"
    rf" {BEFORE}(?:{CLEAR}|{PHRASE}|{ORDER})\b"
    rf"|^\W*(?:please )?keep (?:this|it|these|the following)(?: \w+){{0,2}}? {CLEAR}\b"
    r"|^\W*(?:please )?(?:do not|don't|never) (?:share|disclose|show|publish)"
    r" (?:this|these|the following|what follows|any of this)\b"
)
_is_file = _whole(r"\W*(?:whole |entire )?(?:file|document|page|body|record)\W*")


def said_of(line: str) -> str | None:
    """What a sentence says a limit of: ``section`` or ``file``; None for others."""
    found = _is_said(_core(plain(line)))
    if found is None:
        return None
    return "file" if _is_file(found["what"] or "") else "section"


def limiting_heading(line: str) -> bool:
    """Whether a line of prose stands there as a heading with a limit behind it."""
    shown = plain(line).strip()
    if _item(shown) or "|" in shown or len(_words(shown)) > MOST_WORDS + 2:
        return False
    stripped = _tags.sub("", shown).translate(_MARKUP).rstrip(": ")
    found = list(_bracketed.finditer(stripped))
    if not found or found[-1].end() < len(stripped) - 1:
        return False
    return is_remark(found[-1].group(2), found[-1].group(1))
