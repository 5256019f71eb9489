"""What random examples are drawn from: small dense domains, nasty texts, boundaries.

Rows that are drawn from a wide domain never meet; rows from 0 to 4 and four words do,
and only rows that meet show a `<` where a `<=` belongs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import settings
from hypothesis import strategies as st

from uaix_conformance import examples
from uaix_conformance.rows import WORDS
from uaix_core.values.instants import EARLIEST, FOREVER

if TYPE_CHECKING:
    from uaix_core.schema.rows import Row

#: Texts that stores are known to change, lose, merge or misorder.
NASTY: tuple[str, ...] = (
    "",
    " ",
    "a",
    "A",
    "a ",
    " a",
    "b",
    "B",
    "Z",
    "z",
    "_",
    "%",
    "'",
    '"',
    "\\",
    "a\tb",
    "a\nb",
    "a\r\nb",
    "a\rb",
    "\x01",
    "\x1b",
    "\x7f",
    "\x80",
    "\x85",
    "\N{NO-BREAK SPACE}",
    "\N{SOFT HYPHEN}",
    "\N{LATIN SMALL LETTER SHARP S}",
    "ss",
    "\N{LATIN CAPITAL LETTER SHARP S}",
    "\N{LATIN SMALL LETTER E WITH ACUTE}",
    "e\N{COMBINING ACUTE ACCENT}",
    "\N{LATIN SMALL LETTER DOTLESS I}",
    "\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}",
    "\N{LATIN SMALL LIGATURE FI}",
    "\N{ANGSTROM SIGN}",
    "\N{LATIN CAPITAL LETTER A WITH RING ABOVE}",
    "\N{GREEK SMALL LETTER FINAL SIGMA}",
    "\N{CYRILLIC SMALL LETTER A}",
    "\N{HEBREW LETTER ALEF}\N{HEBREW LETTER BET}",
    "\N{RIGHT-TO-LEFT OVERRIDE}abc\N{POP DIRECTIONAL FORMATTING}",
    "\N{ZERO WIDTH SPACE}",
    "\N{ZERO WIDTH JOINER}",
    "\N{LINE SEPARATOR}",
    "\N{PARAGRAPH SEPARATOR}",
    "\N{KATAKANA LETTER KA}",
    "\N{HALFWIDTH KATAKANA LETTER KA}",
    "\N{HANGUL SYLLABLE GAG}",
    "\N{HANGUL CHOSEONG KIYEOK}\N{HANGUL JUNGSEONG A}",
    "\ud7ff",
    "\ue000",
    "\ufdd0",
    "\N{ZERO WIDTH NO-BREAK SPACE}",
    "\ufffd",
    "\ufffe",
    "\uffff",
    "\N{LINEAR B SYLLABLE B008 A}",
    "\N{GRINNING FACE}",
    "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}",
    "\U0001ffff",
    "\U0010fffe",
    "\U0010ffff",
)

#: Texts that no store may take.
UNSTORABLE: tuple[str, ...] = (
    "\0",
    "a\0",
    "\0a",
    "a\0b",
    "\ud800",
    "a\udfff",
    "\udfffb",
    "\udc00\ud800",
)

#: Integers at both ends of 64 bits, on either side of 2**53 and around 0.
INTEGERS: tuple[int, ...] = (
    -(2**63),
    -(2**63) + 1,
    -(2**53) - 1,
    -(2**53),
    -(2**53) + 1,
    -(2**31) - 1,
    -256,
    -1,
    0,
    1,
    2**31,
    2**53 - 1,
    2**53,
    2**53 + 1,
    2**63 - 2,
    2**63 - 1,
)

#: Instants at both ends, around 1970, and around the second.
INSTANTS: tuple[int, ...] = (
    EARLIEST,
    EARLIEST + 1,
    -1_000_001,
    -1_000_000,
    -1,
    0,
    1,
    999_999,
    1_000_000,
    1_000_001,
    1_772_000_000_123_456,
    FOREVER - 1,
    FOREVER,
)

#: Canonical JSON texts that are told apart by little.
JSONS: tuple[str, ...] = (
    "null",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "1.5",
    "1e+30",
    '""',
    '"0"',
    '"null"',
    "[]",
    "[[]]",
    "[1,2]",
    "[2,1]",
    "[null]",
    "{}",
    '{"":0}',
    '{"a":[{},{"b":null}],"b":""}',
    '{"\N{LATIN SMALL LETTER E WITH ACUTE}":"\N{GRINNING FACE}"}',
    '"\\u0001\\n"',
)

small = st.integers(0, 4)
topics = st.sampled_from(["t0", "t1", "T0", "t0."])
words = st.sampled_from(WORDS)
short_texts = st.sampled_from(
    ["", "a", "A", "a b", "b a b", "é a", "\N{GRINNING FACE}"]
)
titles = st.sampled_from(["", "", "", "a", "A", "b"])
blobs = st.sampled_from([b"", b"\0", b"\xff\x00"])
jsons = st.sampled_from([None, "null", "0", '{"a":1}'])
instants = st.integers(-2, 2)
scopes = st.sampled_from([examples.SCOPE] * 3 + [examples.OTHER])


def examples_of(share: float) -> int:
    """How many examples a share of the profile in force is, at least one."""
    profile = settings.default or settings()
    return max(1, int(profile.max_examples * share))


def notes() -> st.SearchStrategy[Row]:
    """Notes that collide by key, title, words and order."""
    return st.builds(
        examples.note,
        number=small,
        topic=topics,
        kind=words,
        pinned=st.booleans(),
        noted_at=instants,
        extra=jsons,
        title=titles,
        text=short_texts,
        data=blobs,
        meta=st.sampled_from(["null", "[]"]),
    )


def facts() -> st.SearchStrategy[Row]:
    """Facts that collide."""
    return st.builds(
        examples.fact,
        size=st.integers(-1, 1),
        subject=st.sampled_from(["s0", "s1"]),
        at=instants,
        sure=st.booleans(),
        word=words,
        value=jsons,
    )


def local_rows() -> st.SearchStrategy[Row]:
    """WORK and CACHE rows, half of them about notes."""
    return st.one_of(
        st.builds(
            examples.job,
            number=st.integers(0, 2),
            urgent=st.booleans(),
            due_at=instants,
            kind=words,
            payload=jsons,
        ),
        st.builds(
            examples.lease,
            number=small,
            topic=topics,
            holder=st.sampled_from(["h0", "h1"]),
            until=instants,
        ),
        st.builds(
            examples.vector,
            number=small,
            topic=topics,
            model=st.sampled_from(["m0", "m1"]),
            text=st.none() | short_texts,
            data=blobs,
        ),
        st.builds(
            examples.entry,
            name=short_texts,
            group=st.sampled_from(["", "g"]),
            flag=st.booleans(),
            at=instants,
            size=st.integers(-1, 1),
            value=st.none() | short_texts,
            data=st.none() | blobs,
            extra=jsons,
        ),
    )


def storable_texts(max_size: int = 20) -> st.SearchStrategy[str]:
    """Any text without NUL and lone surrogates, nasty ones among them."""
    plain = st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
        max_size=max_size,
    )
    return st.sampled_from(NASTY) | plain
