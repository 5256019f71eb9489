"""Entropy alone: a run so mixed that it can only be drawn by lot.

A run of 24 to 64 characters with upper case, lower case and digits and at least 4.5
bits a character, unless it is something that looks so by design: hex, UUIDs, ULIDs,
labelled digests, ``data:`` addresses, public keys and certificates, base64 that says
something, slugs and paths. Source: the gate rules of the memory semantics.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Final

from uaix_core.gate.decoding import base64_text
from uaix_core.gate.placeholders import is_placeholder
from uaix_core.gate.shapes import is_made_of_parts, is_word

if TYPE_CHECKING:
    from collections.abc import Iterator

MIN_LENGTH: Final = 24
MAX_LENGTH: Final = 64
MIN_BITS: Final = 4.5

#: What a path begins with is a word of so many letters.
MIN_WORD: Final = 3

#: On both sides of a line break a split run has at least so many characters, mixed.
MIN_SIDE: Final = 8

RUN: Final = re.compile(r"[A-Za-z0-9+/_.-]{22,}={0,2}")
#: The letter of an escape sequence is no part of what follows.
_ESCAPED: Final = frozenset("abfnrtv")
_MIXED: Final = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"))
_PARTS: Final = re.compile(r"[^/.]+")

#: Who writes the alphabet draws no lot.
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"

_PUBLIC: Final = re.compile(
    r"data:[A-Za-z0-9/+.;=_-]{0,120},[A-Za-z0-9+/=%_.-]*"
    r"|(?<![A-Za-z0-9])(?:ssh-(?:rsa|dss|ed25519|ed448)|ecdsa-sha2-nistp\d{3}"
    r"|sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com)\s{1,4}[A-Za-z0-9+/]+={0,2}"
    r"|(?<![A-Za-z0-9])sha(?:1|256|384|512)[-=][A-Za-z0-9+/_-]{16,}={0,2}"
    r"|(?<![A-Za-z0-9])(?i:sha(?:1|224|256|384|512)|md5):[A-Za-z0-9+/]{16,}={0,2}"
    r"|(?<![A-Za-z0-9])h1:[A-Za-z0-9+/]{16,}={0,2}"
)
_BLOCK_BEGIN: Final = re.compile(
    r"-----?\s?BEGIN (?:[A-Z0-9 ]{0,40}PUBLIC KEY(?: BLOCK)?"
    r"|(?:TRUSTED |X509 )?CERTIFICATE(?: REQUEST)?|X509 CRL|PGP SIGNATURE"
    r"|SSH SIGNATURE|PKCS7)\s?-----?"
)
_BLOCK_EDGE: Final = re.compile("-----?\\s?(?:BEGIN|END) ")
_BLOCK_BODY: Final = re.compile(r"[A-Za-z0-9+/=\s\\]*")

#: A longer block is no key and no chain of certificates.
_MAX_BLOCK: Final = 32 * 1024

Span = tuple[int, int]


def bits(run: str) -> float:
    """Shannon entropy of a run in bits a character; 0.0 for an empty one."""
    size = len(run)
    return -sum(
        count / size * math.log2(count / size) for count in Counter(run).values()
    )


def is_mixed(run: str) -> bool:
    """Whether a run holds lower case, upper case and digits."""
    return all(kind.search(run) for kind in _MIXED)


def _blocks(text: str) -> Iterator[Span]:
    """Armoured blocks of public things; one without an end reaches as far as base64."""
    for begin in _BLOCK_BEGIN.finditer(text):
        edge = _BLOCK_EDGE.search(text, begin.end(), begin.end() + _MAX_BLOCK)
        if edge and "END" in edge[0]:
            yield begin.start(), edge.start()
        else:
            body = _BLOCK_BODY.match(text, begin.end(), begin.end() + _MAX_BLOCK)
            yield begin.start(), body.end() if body else begin.end()


def public_spans(text: str) -> list[Span]:
    """Spans that look drawn by lot and are meant to be seen: in order and apart."""
    spans = sorted(
        [*(match.span() for match in _PUBLIC.finditer(text)), *_blocks(text)]
    )
    apart: list[Span] = []
    for start, end in spans:
        if apart and start < apart[-1][1]:
            apart[-1] = apart[-1][0], max(end, apart[-1][1])
        else:
            apart.append((start, end))
    return apart


def is_high(run: str) -> bool:
    """Whether a run refuses by entropy alone, wherever it stands."""
    return (
        MIN_LENGTH <= len(run) <= MAX_LENGTH
        and is_mixed(run)
        and bits(run) >= MIN_BITS
        and _ALPHABET not in run.lower()
        and not is_placeholder(run)
        and not is_made_of_parts(run)
        and base64_text(run) is None
    )


def _is_place(run: str, before: str) -> bool:
    """Whether a run is an address, a dotted name or a path, and no base64."""
    if "." in run or (before == ":" and run.startswith("//")):
        return True
    first = run[1:].split("/", maxsplit=1)[0]
    return run[0] == "/" and len(first) >= MIN_WORD and is_word(first)


def _candidates(text: str) -> Iterator[Span]:
    for match in RUN.finditer(text):
        start = match.start()
        if text[start - 1 : start] == "\\" and text[start] in _ESCAPED:
            start += 1
        run = text[start : match.end()]
        if is_high(run):
            yield start, match.end()
        elif "/" in run or "." in run:
            if len(run) > MAX_LENGTH and not _is_place(run, text[start - 1 : start]):
                # A long run of base64 falls into pieces at its slashes by chance.
                continue
            for part in _PARTS.finditer(run):
                if len(part[0]) < len(run) and is_high(part[0]):
                    yield start + part.start(), start + part.end()


def may_hold(long_words: str) -> bool:
    """Whether any run in a text's long words refuses by entropy, apart from context."""
    return next(_candidates(long_words), None) is not None


def _is_side(part: str) -> bool:
    return len(part) >= MIN_SIDE and is_mixed(part) and not is_made_of_parts(part)


def entropy_spans(text: str, seams: list[int] | None = None) -> Iterator[Span]:
    """The spans that refuse by entropy alone.

    With ``seams`` (the places where a line break was taken out) only runs count that
    lie across one and are mixed on both sides of it.
    """
    public: list[Span] | None = None
    for start, end in _candidates(text):
        if public is None:
            public = public_spans(text)
        before = bisect_right(public, (start, len(text))) - 1
        if before >= 0 and start < public[before][1]:
            continue
        if seams is None or any(
            _is_side(text[start:seam]) and _is_side(text[seam:end])
            for seam in seams[bisect_right(seams, start) : bisect_right(seams, end)]
        ):
            yield start, end
