"""Laws of scanning: where a hit points, what it never holds, what it costs."""

from __future__ import annotations

import base64
import hashlib

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.gate.adversarial import KIB, scan_everything, texts
from tests.gate.disguises import DISGUISES
from tests.gate.drawing import ALNUM, LOWER, drawn
from tests.gate.secret_cases import POSITIVES, TOKENS

from uaix_core.gate.checksums import crc_base62
from uaix_core.gate.hits import FieldHit, Hit
from uaix_core.gate.scan import OVERLAP, WINDOW, scan_all, scan_fields, scan_text

TOKEN = "ghp_" + drawn(ALNUM, 36)
WORDS = [
    "garden",
    "plan",
    "water",
    "the",
    "of",
    "a",
    "token",
    "password",
    "secret",
    "key",
    "is",
    "at",
    "Monday",
    "notes",
    "and",
    "42",
    "2026",
    "spring",
    "pass",
    "auth",
    "été",
    "花园",
    "сад",
    "https://e.x/a",
    "-",
    "*",
    "#",
    ":",
    "=",
    "(",
    ")",
    "“quoted”",
    "🌱",
    "(see)",
    "e.g.",
    "3.5",
    "10%",
    "C++",
    "a/b",
    "x_y",
]


def test_the_specified_examples_are_named_as_specified():
    """The two worked examples of the specification have their detector and offset."""
    assigned = "Staging config: api_key = 3f9a8c2e7b1d4f6a0c5e" + "9b2d8f4a1c7e, ..."
    mixed = "rotate this:Qx7mZp2Lw9Tv4Rj8" + "Nc1Kb6Hs3Fd5Ga0Ue! before friday"

    assert Hit("credential-assignment", 26, "possible") == scan_text(assigned)
    assert Hit("high-entropy-token", 12, "possible") == scan_text(mixed)


def test_the_first_of_several_is_named():
    """A scan for one names the lowest offset, a scan for all names each in order."""
    text = f"a {TOKEN} b glpat-{drawn(ALNUM, 20)} c {TOKEN}"

    assert ("github-token", 2) == attrs.astuple(scan_text(text))[:2]
    assert ["github-token", "gitlab-personal-token", "github-token"] == [
        hit.detector for hit in scan_all(text)
    ]


def test_the_more_telling_detector_is_named():
    """At one place the earlier detector of the table is named, and it alone."""
    key = "sk-ant-" + drawn(ALNUM, 40)

    assert ["anthropic-api-key"] == [hit.detector for hit in scan_all(f"key={key}")]


@pytest.mark.parametrize("key", ["DBPass", "SMTPAuth", "DBPwd", "MYPassword", "dbPass"])
def test_a_key_may_begin_with_a_prefix_in_upper_case(key):
    """The last word of a key begins where its capital stands, and in no other word."""
    value = drawn(LOWER, 14)

    assert Hit("credential-assignment", len(key) + 1, "possible") == scan_text(
        f"{key}={value}"
    )
    assert scan_text(f"COM{key.upper()[-4:]}ION={value}") is None


@pytest.mark.parametrize(
    "letters", ["\u0434\u043e\u043c", "\u5bc6\u7801", "\u00e9\u00df"]
)
def test_a_value_mixes_letters_of_any_script_with_digits(letters):
    """Twelve characters without a space, letters and digits, are a value."""
    value = letters * 6 + "42"

    assert "credential-assignment" == scan_text(f"password: {value}").detector
    assert scan_text(f"password: {letters * 6}") is None
    assert scan_text(f"password: {letters * 2} {letters} 42") is None


def test_a_right_checksum_makes_sure_and_a_wrong_one_excuses_nothing():
    """A token with the right checksum is certain, one with a wrong checksum likely."""
    body = drawn(ALNUM, 30)
    right = crc_base62(body)
    wrong = right[:-1] + ("0" if right[-1] != "0" else "1")

    assert "certain" == scan_text(f"npm_{body}{right}").confidence
    assert "likely" == scan_text(f"npm_{body}{wrong}").confidence


def test_offsets_count_bytes_of_the_text_handed_in():
    """An offset is in UTF-8 bytes, whatever stands before the secret."""
    before = "\u00e9\u82b1\U0001f331 \u200b"

    assert len(before.encode()) == scan_text(before + TOKEN).offset


def test_a_decoded_secret_is_placed_at_its_encoded_run():
    """The offset of what was decoded is the start of the run that was decoded."""
    text = "see aGVsbG8= and " + DISGUISES["base64-twice"](f"my token {TOKEN}")

    assert text.index("and ") + 4 == scan_text(text).offset


@pytest.mark.parametrize("start", [WINDOW - 20, WINDOW, WINDOW + OVERLAP - 5, 70_000])
def test_windows_of_a_long_text_hide_nothing(start):
    """A secret is found once, across the edges of windows as well."""
    text = "word " * (start // 5) + TOKEN + " word" * (OVERLAP // 2)

    assert [start // 5 * 5] == [hit.offset for hit in scan_all(text)]


def test_what_the_caller_vouches_for_is_left_out():
    """A value or a span that the caller excuses is no secret, its repetition is not."""
    value = "Qx7mZp2Lw9Tv4Rj8" + "Nc1Kb6Hs3Fd5Ga0Ue"
    text = f"signature {value} end"

    assert scan_text(text) is not None
    assert scan_text(text, excuse=[value]) is None
    assert scan_text(text, excuse=[(10, 10 + len(value))]) is None
    assert scan_text(f"{text} {value}", excuse=[(10, 10 + len(value))]) is not None
    assert scan_text(text, excuse=["", "other"]) is not None


def test_fields_are_named_by_the_caller_and_by_position():
    """A hit names the field by the caller's name and by position, never by content."""
    hits = scan_fields(
        {
            "text": "plain",
            "title": f"my {TOKEN}",
            "tags": ["a", TOKEN, "b"],
            "metadata": {"n": 1, TOKEN: "x", "deep": {"list": [None, [TOKEN]]}},
            "size": 12,
            "nothing": None,
        }
    )

    assert [
        FieldHit("title", "github-token", 3),
        FieldHit("tags[1]", "github-token", 0),
        FieldHit("metadata[1].key", "github-token", 0),
        FieldHit("metadata[2].value[0].value[1][0]", "github-token", 0),
    ] == hits


def test_a_key_tells_what_its_value_is():
    """A value under a key that names a secret is judged as an assignment."""
    value = "a7k2m9x4" + "q1w8e5"

    assert [FieldHit("metadata[0].value", "credential-assignment", 0)] == scan_fields(
        {"metadata": {"db-password": value}}
    )
    assert [] == scan_fields({"metadata": {"serial": value}})
    assert [] == scan_fields({"metadata": {"db-password": "kept elsewhere"}})


@given(
    st.lists(st.sampled_from(WORDS), max_size=60), st.sampled_from([" ", "\n", ", "])
)
def test_prose_is_never_refused(words, joint):
    """Words in any order hold no secret."""
    assert [] == scan_all(joint.join(words))


@given(st.binary(max_size=8), st.uuids(version=4))
def test_digests_and_ids_are_never_refused(content, one):
    """Digests in the usual spellings and UUIDs are no secrets, whatever they name."""
    data = hashlib.sha512(content).digest()
    short = base64.b64encode(data[:32]).decode()
    texts = [
        f"commit {data[:20].hex()}",
        f'"sha256": "{data[:32].hex()}"',
        f"image@sha256:{data[:32].hex().upper()}",
        f"sha256-{short}",
        f"SHA256:{short.rstrip('=')}",
        f"h1:{short}",
        f"sha512-{base64.b64encode(data).decode()}",
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{short[:43]}",
        f"data:image/png;base64,{short}",
        f"{one} and /files/{one}/{data[:16].hex()}.json",
    ]

    assert [] == [text for text in texts if scan_text(text)]


@given(st.text(max_size=200))
def test_any_text_can_be_scanned(text):
    """No text raises, and offsets lie inside the text at a character's start."""
    data = text.encode("utf-8", "surrogatepass")
    for hit in scan_all(text):
        assert 0 <= hit.offset < len(data)
        data[: hit.offset].decode("utf-8", "surrogatepass")


@given(
    st.lists(st.sampled_from(WORDS), max_size=12),
    st.sampled_from(TOKENS),
    st.sampled_from(sorted(DISGUISES)),
    st.lists(st.sampled_from(WORDS), max_size=12),
)
def test_a_planted_secret_is_found_at_its_place(before, case, disguise, after):
    """A secret between words is found within what stands for it, disguised or not."""
    _name, secret = case
    start = " ".join([*before, "x "])
    disguised = DISGUISES[disguise](secret)
    hit = scan_text(f"{start}{disguised} {' '.join(after)}")
    first = len(start.encode())

    assert hit is not None
    assert first <= hit.offset < first + len(disguised.encode())


@given(st.sampled_from(POSITIVES), st.sampled_from(sorted(DISGUISES)))
def test_a_hit_holds_no_content(case, disguise):
    """No eight characters of a secret are in what a hit or its display says."""
    _name, secret = case
    text = DISGUISES[disguise](secret)
    shown = repr([*scan_all(text), *scan_fields({"f": {text: text}})])

    assert [] == [
        text[i : i + 8]
        for i in range(len(text) - 7)
        if text[i : i + 8] in shown and text[i : i + 8] not in str(_ids())
    ]


def _ids() -> set[str]:
    return {name for name, _secret in POSITIVES}


@given(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=4))
def test_a_scan_for_one_agrees_with_a_scan_for_all(cases):
    """The one that is named is the first of all that are named."""
    text = " and ".join(secret for _name, secret in cases)

    assert scan_text(text) == scan_all(text)[0]


def test_hostile_texts_are_scanned_to_the_end():
    """Behind 16 KiB of a text made to slow a scanner down a token is still found."""
    for text in texts(16 * KIB).values():
        scan_everything(text)
        behind = f"{text}\n\nkey\n"
        offset = len(behind.encode())

        assert offset in {hit.offset for hit in scan_all(f"{behind}{TOKEN}\n")}
