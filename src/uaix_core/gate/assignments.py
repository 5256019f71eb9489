"""Values given to a key that says it is a secret, and credentials in headers.

Forms: environment files, connection strings, netrc, JSON, YAML, XML, code and logs.
The key's last word is what counts, the value has to be a secret by its look: twelve or
more characters that mix letters and digits and are no address, path, name, call or
slug. Source: the gate rules of the memory semantics; the governed-memory
specification for ``credential-assignment``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from uaix_core.gate import shapes
from uaix_core.gate.decoding import base64_text
from uaix_core.gate.placeholders import is_placeholder, is_template

if TYPE_CHECKING:
    from collections.abc import Iterator

ASSIGNMENT: Final = "credential-assignment"
HEADER: Final = "authorization-header"
LOGIN: Final = "login-password"

MIN_VALUE: Final = 12

#: Where a key's last word may begin, and what it may be there.
_LAST_WORDS: Final = (
    ("pass", re.compile(r"pass(?:word|phrase|wd)?(?![a-z])")),
    ("pwd", re.compile(r"pwd(?![a-z])")),
    ("auth", re.compile(r"auth(?![a-z])")),
    ("secret", re.compile(r"secret(?![a-z])")),
    ("token", re.compile(r"token(?![a-z])")),
    ("key", re.compile(r"key(?![a-z])")),
)

#: These end longer words as well (compass), so they have to stand alone.
_ALONE: Final = frozenset({"pass", "pwd", "auth"})

#: What ``key`` has to follow, whatever joins the two.
_KEY_OF: Final = re.compile(
    r"(?:api|access|account|secret|private|signing|encryption|master|shared|service"
    r"|session|webhook)[ _.-]?\Z"
)
_LONGEST_BEFORE: Final = 12

#: What the specification's own rule takes as key; its value needn't hold a digit.
_STRICT_KEY: Final = re.compile(r"(?:api[_-]?key|secret|token)\Z")
_STRICT_VALUE: Final = re.compile(r"[A-Za-z0-9_-]{24,}")

_CLOSING: Final = r"\d{0,2}(?:\\?[\"'`\])]){0,3}"
_BREAK: Final = r"[ \t]{0,8}(?:\r?\n[ \t]{1,16})?"
_PLAIN: Final = re.compile(
    rf"{_CLOSING}(?:[ \t]{{0,8}}(?:=>|:=|->|={{1,3}}|:|>)"
    r"|[ \t]{0,4}(?:,\s{0,16}|\r?\n[ \t]{1,16})\\?[\"']?value\\?[\"']?[ \t]{0,4}[:=]"
    rf"|[ \t]{{1,4}}value[ \t]{{0,4}}=){_BREAK}"
)
_TYPED: Final = re.compile(
    rf"{_CLOSING}[ \t]{{0,8}}:[ \t]{{0,2}}[\w.\[\]|? ]{{1,24}}=(?!=){_BREAK}"
)
#: What each form but the spaced one has right after the key; prose seldom does.
_GIVES: Final = re.compile(
    rf"{_CLOSING}[ \t]{{0,8}}(?:[=:>,\"'-]|\r?\n[ \t]{{1,16}}[\"']?value"
    r"|value|is[ \t]|was[ \t])"
)
_SPACED_WORD: Final = re.compile(r"\b(?:ENV|ARG|setenv|setx|export|set)[ \t]", re.ASCII)
_SPACED: Final = re.compile(r"[ \t]{1,8}")
_SAID: Final = re.compile(
    rf"{_CLOSING}[ \t]{{1,4}}(?:is|was)[ \t]{{1,4}}:?[ \t]{{0,4}}"
)
_SPACED_BEFORE: Final = re.compile(
    r"(?:--|\b(?:ENV|ARG|setenv|setx|export|set)[ \t]{1,8})[\w.-]{0,64}\Z", re.ASCII
)

_VALUE: Final = re.compile(
    r"(?:\\?(?P<quote>[\"'`]))?(?P<value>[!-~\u00c0-\u024f\u0370-\u1fff\u3040-\ud7ff"
    r"\uf900-\ufdff]{1,512})"
)
_PREFIXED: Final = re.compile(r"[rbfuRBFU]{1,2}(?=[\"'])")
_UNQUOTED_END: Final = re.compile(
    r"[\"'`<>]|[,;&|](?=[\w.-]{1,40}[\"']?\s?[=:])|\\[nrt\"']"
)
#: An unquoted list, tuple or mapping is no value.
_OPENING: Final = frozenset("[({")
_ENDING: Final = ".,;:!?)]}\\"

_HEADERS: Final = (
    (
        "authorization",
        re.compile(
            r"authorization\\?[\"'`]{0,2}[ \t]{0,4}[:=,][ \t]{0,4}(?:[fbr]?\\?[\"'`])?"
            r"(?P<scheme>[a-z][\w-]{1,20}[ \t]{1,4})?"
        ),
    ),
    ("bearer", re.compile(r"(?<![a-z0-9_-])(?P<scheme>bearer)[ \t]{1,4}")),
    ("basic", re.compile(r"(?<![a-z0-9_-])(?P<scheme>basic)[ \t]{1,4}")),
)
_LOGIN: Final = re.compile(
    r"\blogin\s{1,8}\S{1,128}\s{1,16}(?:account\s{1,8}\S{1,128}\s{1,16})?"
    r"password\s{1,8}",
    re.ASCII,
)
_CURL: Final = re.compile(
    r"\b(?:curl|wget|http|https)\b[^\n]{0,160}?\s(?:-u|--user)[ =]?"
    r"[\"']?[^\s:\"']{1,64}:",
    re.ASCII,
)
_NAMED: Final = frozenset({"authorization"})

#: Without a header's name the scheme's word alone proves less.
_MIN_ALONE: Final = 16
_LETTER: Final = re.compile(r"[^\W\d_]")
_DIGIT: Final = re.compile(r"\d")

Span = tuple[int, int]
Found = tuple[str, int, int]


def is_value(text: str) -> bool:
    """Whether a text is a secret by its look."""
    return (
        len(text) >= MIN_VALUE
        and _LETTER.search(text) is not None
        and _DIGIT.search(text) is not None
        and not is_harmless(text)
    )


def is_harmless(text: str) -> bool:
    """Whether a text is plainly a name, a place, a call or a stand-in."""
    return (
        shapes.is_slug(text)
        or shapes.is_url(text)
        or shapes.is_path(text)
        or shapes.is_dotted_name(text)
        or shapes.is_reference(text)
        or shapes.is_pattern(text)
        or is_template(text)
        or is_placeholder(text)
    )


def _value_at(text: str, place: int) -> tuple[int, int, bool]:
    """The span of the value at a place, and whether it stands in quotes."""
    prefixed = _PREFIXED.match(text, place)
    match = _VALUE.match(text, prefixed.end() if prefixed else place)
    if not match:
        return place, place, False
    start, stop = match.span("value")
    quote = match["quote"]
    if quote:
        end = text.find(quote, start, stop)
        if end < 0:
            # A space ends what is looked at; a quoted sentence is no secret.
            return (start, start, True) if stop < len(text) else (start, stop, True)
        return start, end - (text[end - 1] == "\\"), True
    cut = _UNQUOTED_END.search(text, start, stop)
    end = cut.start() if cut else stop
    return start, start + len(text[start:end].rstrip(_ENDING)), False


def _judged(text: str, place: int, key: str) -> tuple[int, int] | None:
    start, end, quoted = _value_at(text, place)
    value = text[start:end]
    if not quoted and value[:1] in _OPENING:
        return None
    if key.endswith("auth") and len(value) >= MIN_VALUE and _is_basic(value):
        return start, end
    if is_value(value) and (quoted or not shapes.is_call(text[start : end + 1])):
        return start, end
    strict = _STRICT_VALUE.match(value)
    if (
        strict
        and _STRICT_KEY.search(key)
        and text[strict.end() + start : strict.end() + start + 1] not in {"(", "[", "."}
        and not is_harmless(value)
        and not shapes.is_identifier(strict[0])
    ):
        return start, start + strict.end()
    return None


def _stands_alone(text: str, start: int) -> bool:
    """Whether a word begins at a case change, a joint, or no word at all."""
    before = text[start - 1 : start]
    if not (before.isascii() and before.isalnum()):
        return True
    # DBPass and SMTPAuth begin a word after a prefix in upper case.
    return text[start].isupper() and (not before.isupper() or text[start + 1].islower())


def _places(lowered: str, word: str, form: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """The places of a word where the form that begins with it matches."""
    place = lowered.find(word)
    while place >= 0:
        match = form.match(lowered, place)
        if match:
            yield match
        place = lowered.find(word, match.end() if match else place + 1)


def _keys(text: str, lowered: str) -> Iterator[Span]:
    """The last word (or two) of each key that says its value is a secret."""
    for word, form in _LAST_WORDS:
        for match in _places(lowered, word, form):
            start, end = match.span()
            if word == "key":
                before = _KEY_OF.search(lowered, max(0, start - _LONGEST_BEFORE), start)
                if before:
                    yield before.start(), end
            elif match[0] not in _ALONE or _stands_alone(text, start):
                yield start, end


def _assignments(text: str, lowered: str) -> Iterator[Found]:
    has_options = "--" in text or _SPACED_WORD.search(text) is not None
    for start, end in _keys(text, lowered):
        if not (has_options or _GIVES.match(lowered, end)):
            continue
        for form in (_PLAIN, _TYPED, _SPACED, _SAID):
            given = form.match(lowered, end)
            if not given or (
                form is _SPACED and not _may_be_spaced(text, start, given.end())
            ):
                continue
            span = _judged(text, given.end(), lowered[start:end])
            if span and not (
                form is _SAID and shapes.is_made_of_parts(text[slice(*span)])
            ):
                yield ASSIGNMENT, *span
                break


def _may_be_spaced(text: str, start: int, end: int) -> bool:
    """Whether a space may give a value: to an option, in quotes, or after ENV."""
    return text[end : end + 1] in {'"', "'"} or bool(
        _SPACED_BEFORE.search(text, max(0, start - 80), start)
    )


def _is_basic(value: str) -> bool:
    said = base64_text(value) or ""
    _user, colon, password = said.partition(":")
    return bool(colon and password and not is_placeholder(said))


def _headers(text: str, lowered: str) -> Iterator[Found]:
    for word, form in _HEADERS:
        for match in _places(lowered, word, form):
            start, end, _quoted = _value_at(text, match.end())
            value = text[start:end].rstrip(",")
            if (match["scheme"] or "").strip() == "basic":
                found = _is_basic(value)
            else:
                found = (
                    len(value) >= (MIN_VALUE if word in _NAMED else _MIN_ALONE)
                    and is_value(value)
                    and not shapes.is_call(text[start : end + 1])
                )
            if found:
                yield HEADER, start, start + len(value)


def _logins(text: str, lowered: str) -> Iterator[Found]:
    for pattern in (_LOGIN, _CURL):
        for match in pattern.finditer(lowered):
            start, end, _quoted = _value_at(text, match.end())
            if is_value(text[start:end]):
                yield LOGIN, start, end


def assigned(text: str, lowered: str) -> Iterator[Found]:
    """Assigned secrets: id, and the span of the value.

    ``lowered`` is the text in lower case, of the same length.
    """
    yield from _assignments(text, lowered)
    yield from _headers(text, lowered)
    if "login" in lowered or "-u" in lowered:
        yield from _logins(text, lowered)
