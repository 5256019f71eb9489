"""Entropy alone: a run so mixed that it can only be drawn by lot.

A run of 24 to 64 characters with upper case, lower case and digits, unless it is
something that looks so by design: hex, UUIDs, ULIDs, labelled digests, ``data:``
addresses, public keys and certificates, base64 that says something, slugs, paths, and
names in code, most of which is words. Source: the gate rules of the memory semantics.
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

#: Fewer bits a character than any draw has: a few characters over and over.
MIN_BITS: Final = 3.5

#: With so many bits a character a run is drawn by lot, whatever words are in it; with
#: fewer it is when at most this share of its characters lies in words; less where
#: dots, dashes or underscores make it look like a name.
SURE_BITS: Final = 4.5
MAX_WORDS: Final = 0.55
MAX_WORDS_JOINED: Final = 0.33

#: What a path begins with is a word of so many letters.
MIN_WORD: Final = 3

#: On both sides of a line break a split run has at least so many characters, mixed.
MIN_SIDE: Final = 8

RUN: Final = re.compile(r"[A-Za-z0-9+/_.-]{22,}={0,2}")
#: The letter of an escape sequence is no part of what follows.
_ESCAPED: Final = frozenset("abfnrtv")
_MIXED: Final = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"))
_PARTS: Final = re.compile(r"[^/.]{24,}")

#: A word of a name (chance seldom keeps to one case for so long), and what stands
#: between joints and is of one kind: ``LN_id_sha3_256``.
_WORD: Final = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
_JOINT: Final = re.compile("[._-]")
_ALIKE: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:[a-z]{1,2}|[A-Z]{1,3}|[0-9]+)(?![A-Za-z0-9])"
)
_VOWEL: Final = re.compile("[aeiouyAEIOUY]")

_HEX: Final = re.compile("[0-9A-Fa-f]+")

#: Who writes the alphabet draws no lot.
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"

#: A label excuses a digest of its own length: so many digits of hex, or so many of
#: base64, of which the last carries what bits are left.
_REST_2: Final = "[AEIMQUYcgkosw048]=?"
_REST_4: Final = "[AQgw](?:==)?"
_DIGESTS: Final = (
    ("md5", 32, 21, _REST_4),
    ("sha1", 40, 26, _REST_2),
    ("sha224", 56, 37, _REST_4),
    ("sha256", 64, 42, _REST_2),
    ("sha384", 96, 64, ""),
    ("sha512", 128, 85, _REST_4),
)

#: How the files begin that are put into addresses. A payload that is whole base64 of
#: a picture, or longer than any run the rule judges, is plausible as well.
_FILES: Final = (
    "iVBORw0KGgo|R0lGOD|/9j/|UklGR|PHN2Z|PD94b|d09G|AAEAAA|JVBER|T1RUT|AAABAA|T2dn|SUQz"
)
_PUBLIC: Final = re.compile(
    r"data:(?:[A-Za-z0-9/+.;=_-]{0,120};base64,"
    rf"(?:(?:{_FILES})[A-Za-z0-9+/=%_-]*|[A-Za-z0-9+/=%_-]{{{MAX_LENGTH + 1},}})"
    r"|(?:image|font|audio|video)/[A-Za-z0-9.+-]{1,40};base64,(?:[A-Za-z0-9+/]{4})+"
    r"(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?(?![A-Za-z0-9+/=])"
    r"|image/svg\+xml[A-Za-z0-9;=_-]{0,40},%3[Cc][A-Za-z0-9+/=%_.-]*)"
    r"|(?<![A-Za-z0-9])(?:ssh-(?:rsa|dss|ed25519|ed448)|ecdsa-sha2-nistp\d{3}"
    r"|sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com)\s{1,4}"
    r"AAAA[A-Za-z0-9+/]{56,}={0,2}"
    r"|(?<![A-Za-z0-9])(?:"
    + "|".join(
        rf"(?i:{name})[-:=](?:[0-9A-Fa-f]{{{hexadecimal}}}"
        rf"|[A-Za-z0-9+/_-]{{{base64}}}{rest})"
        for name, hexadecimal, base64, rest in (*_DIGESTS, ("h1", 64, 42, _REST_2))
    )
    + r")(?![A-Za-z0-9+/=])"
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


def share_of_words(run: str) -> float:
    """The share of a run's characters that lie in words, from 0 to 1; 0.0 if empty."""
    words = [*filter(_VOWEL.search, _WORD.findall(run)), *_ALIKE.findall(run)]
    return sum(map(len, words)) / max(len(run), 1)


def _is_drawn(run: str) -> bool:
    measured = bits(run)
    if not MIN_BITS <= measured < SURE_BITS:
        return measured >= SURE_BITS
    most = MAX_WORDS_JOINED if _JOINT.search(run) else MAX_WORDS
    return share_of_words(run) <= most


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
        and not _HEX.fullmatch(run)
        and _is_drawn(run)
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
        is_address = run.startswith("//") and text[start - 1 : start] == ":"
        if not is_address and is_high(run):
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
