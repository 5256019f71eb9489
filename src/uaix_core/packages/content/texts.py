"""One text before the gate's detectors: what refuses it, and what only warns.

Findings name a rule and a place, never a piece of the text.

Source: UAIX package format v0.1, "Bodies" (content that refuses).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, Protocol, TypeVar

from uaix_core.gate.commands import destructive_commands
from uaix_core.gate.hidden import COMMENT, hidden_text
from uaix_core.gate.probes import private_probes
from uaix_core.gate.scan import scan_all
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.remembering import Remembered

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator


#: Longer texts, in characters, are judged in pieces that overlap.
PIECE: Final = 256 * 1024
OVERLAP: Final = 8 * 1024

#: So many texts are judged as one at most.
MOST_JOINED: Final = 8192

#: So many findings of one kind are told apart in one text.
MOST_SHOWN: Final = 20

#: Stand between texts that are judged together. No rule reads on across the first,
#: and none about secrets across the second, which costs less.
BETWEEN: Final = "\n!\n"
BETWEEN_NAMES: Final = " ! "


class Found(NamedTuple):
    """A rule of the table, the detector that hit, and where, in UTF-8 bytes.

    ``is_sure`` is false for a secret that only its entropy or its key gives away.
    """

    code: str
    detector: str
    offset: int
    is_sure: bool = True

    @property
    def message(self) -> str:
        """The finding in words, without any content."""
        return f"{_WORDS[self.code]}: {self.detector} at byte {self.offset}"


_WORDS: Final = {
    "secret.found": "a secret was found",
    "content.destructive": "a command that destroys its target",
    "content.hidden-text": "text that a reader doesn't see",
    "content.hidden-instruction": "a comment that gives a model orders",
    "content.bidi": "a direction control",
    "content.private-probe": "a request to a host that only an inside may reach",
    "content.loopback": "a request to this machine itself",
}


def secrets_in(text: str) -> Iterator[Found]:
    """Every secret in a text."""
    for hit in scan_all(text):
        is_sure = hit.confidence != "possible"
        yield Found("secret.found", hit.detector, hit.offset, is_sure)


def hidden_in(text: str) -> Iterator[Found]:
    """What a text hides from its reader."""
    for hit in hidden_text(text):
        if hit.severity == "warning":
            code = "content.bidi"
        elif hit.detector == COMMENT:
            code = "content.hidden-instruction"
        else:
            code = "content.hidden-text"
        yield Found(code, hit.detector, hit.offset)


#: What was found in joined texts, by the digest of all of them.
remembered: Final = Remembered[tuple[Found, ...]](1_000)


def found_before(
    what: str, text: str, find: Callable[[], Iterable[Found]]
) -> tuple[Found, ...]:
    """What ``find`` finds in a text, remembered under the name of its rules.

    A manifest is judged again with every change of a file, and says the same.
    """
    name = (what, sha256_hex(text.encode("utf-8", "surrogatepass")))
    return remembered.get(name, lambda: tuple(find()))


def found_in(
    text: str, *, is_field: bool = False, told: Collection[str] = ()
) -> Iterator[Found]:
    """Everything that the gate finds in a text, but for rules in ``told``.

    In the field of a manifest a private host is found without any request for it.
    """
    if "secret.found" not in told:
        yield from secrets_in(text)
    yield from hidden_in(text)
    if "content.destructive" not in told:
        for hit in destructive_commands(text):
            yield Found("content.destructive", hit.detector, hit.offset)
    if "content.private-probe" not in told and _may_name(text):
        for hit in private_probes(text, is_field=is_field):
            is_warning = hit.severity == "warning"
            code = "content.loopback" if is_warning else "content.private-probe"
            yield Found(code, hit.detector, hit.offset)


def _may_name(text: str) -> bool:
    """Whether a text could name a private host; cheaper than looking for one."""
    if not text.isascii() or "://" in text or "::" in text:
        return True
    lowered = text.lower()
    if "local" in lowered or ".internal" in lowered:
        return True
    dots = text.count(".")
    if dots > _MANY_DOTS:
        return _address(text) is not None
    at = 0
    for _ in range(dots):
        at = text.find(".", at) + 1
        if "0" <= text[at : at + 1] <= "9" and "0" <= text[at - 2 : at - 1] <= "9":
            return True
    return False


_address = re.compile(r"[0-9]\.[0-9]").search
#: Up to so many dots are looked at one by one, which is faster than a pattern.
_MANY_DOTS: Final = 20


class Finds(Protocol):
    """Who is told of what is found in a body."""

    def add(self, code: str, path: str, message: str, /) -> None:
        """Note a finding."""
        ...


def judge_body_text(path: str, text: str, findings: Finds) -> None:
    """Judge the text of a body; ``path`` is shown as it is."""
    seen: dict[str, set[Found]] = {}
    told: set[str] = set()
    for base, piece in pieces(text):
        for found in found_in(piece, told=told):
            there = found._replace(offset=found.offset + base)
            before = seen.setdefault(there.code, set())
            if there not in before and len(before) < MOST_SHOWN:
                before.add(there)
                findings.add(there.code, path, there.message)
        told = {code for code, found in seen.items() if len(found) == MOST_SHOWN}


def pieces(text: str) -> Iterator[tuple[int, str]]:
    """Pieces of a text, and the byte at which each begins.

    They end and begin at white space where there is any near, so that no run is cut
    into one that looks like something else.
    """
    size = len(text)
    if size <= PIECE:
        yield 0, text
        return
    start = base = 0
    while True:
        stop = size if size - start <= PIECE else _break(text, start + PIECE)
        yield base, text[start:stop]
        if stop == size:
            return
        following = max(_break(text, stop - OVERLAP), start + 1)
        base += len(text[start:following].encode("utf-8", "surrogatepass"))
        start = following


def _break(text: str, near: int) -> int:
    """The place after the last white space in the 4,096 characters before ``near``."""
    match = _last_space(text, near - 4096, near)
    return near if match is None else match.end()


_last_space = re.compile(r"[\s\S]*\s").match


P = TypeVar("P")


class JoinedTexts(Generic[P]):
    """Many short texts judged as one, so that each costs next to nothing.

    ``between`` stands between them. A place is whatever the caller tells texts apart
    by.
    """

    def __init__(self, between: str = BETWEEN) -> None:
        self._between = between
        self._texts: list[str] = []
        self._places: list[tuple[P, str]] = []
        self._seen: set[str] = set()
        self._size = 0
        self._starts: list[int] = []

    def add(self, place: P, text: str, before: str = "") -> None:
        """Add a text; ``before`` gives it the context of its key.

        A text that was added already, with the same context, is left out.
        """
        whole = before + text
        if whole not in self._seen:
            self._seen.add(whole)
            self._texts.append(whole)
            self._places.append((place, before))
            self._size += len(whole)

    @property
    def is_full(self) -> bool:
        """Whether the texts should be judged before more are added."""
        return self._size > PIECE or len(self._texts) >= MOST_JOINED

    @property
    def text(self) -> str:
        """All texts as one."""
        return self._between.join(self._texts)

    def place_of(self, found: Found) -> tuple[P, Found]:
        """Where a finding in `text` stands, with its offset in the text itself.

        To be asked when all texts were added.
        """
        if not self._starts:
            at = 0
            for text in self._texts:
                self._starts.append(at)
                at += _bytes_of(text) + len(self._between)
        index = bisect_right(self._starts, found.offset) - 1
        place, before = self._places[index]
        offset = max(0, found.offset - self._starts[index] - _bytes_of(before))
        return place, found._replace(offset=offset)


def _bytes_of(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
