"""Laws of what is no secret: slugs, paths, names, calls, stand-ins, low entropy."""

from __future__ import annotations

import random

import pytest
from tests.gate.drawing import ALNUM

from uaix_core.gate import entropy, placeholders, shapes
from uaix_core.gate.assignments import is_value

MIXED = "Qx7mZp2Lw9Tv4Rj8" + "Nc1Kb6Hs3Fd5Ga0Ue"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one-two-three", True),
        ("One_Two_3", True),
        ("a.b.2026", True),
        ("ONE_TWO_THREE", True),
        ("x86-linux-gnu", True),
        ("one-two", False),
        ("onetwothree", False),
        ("one-two-a7k2m9x4q1", False),
        ("one-two-bcdfghjkl", False),
        ("one-two-123456789", False),
        ("one-two-abcdefghijklmnopqrstuvwxyz", False),
    ],
)
def test_slugs(text, expected):
    """A slug is three or more words or short numbers, joined by - _ or dots."""
    assert expected is shapes.is_slug(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("abcdefghijk1", True),
        ("abcdefghij1", False),
        ("123456789012", False),
        ("abcdefghijkl", False),
        ("abc!def#gh1j", True),
        ("https://e.example/a1b2c3", False),
        ("https://u:p@e.example/a1", True),
        ("/run/secrets/key_1", False),
        ("./conf/prod/db1.json", False),
        ("settings.auth.v2", False),
        ("three-plain-words-1", False),
        ("${SECRET_NAME_1}", False),
        ("${X:-short1}", False),
        ("${X:-longenough1234}", True),
        ("{{ secrets.name1 }}", False),
        ("2026-01-02T03:04:05Z", False),
        ("EXAMPLE1234567890", False),
        ("xxxx123456789", False),
        ("\u043f\u0430\u0440\u043e\u043b\u044c" * 2 + "1", True),
        ("\u5bc6\u7801" * 6 + "1", True),
        ("\u5bc6\u7801" * 6, False),
    ],
)
def test_values(text, expected):
    """A value has twelve characters, letters and digits, and no harmless shape."""
    assert expected is is_value(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<your-key>", True),
        ("a${NAME}b", True),
        ("AKIAIOSFODNN7EXAMPLE", True),
        ("abcXXXXdef", True),
        ("abcXXXdef", False),
        ("example", False),
        ("<>", False),
        ("< 5 and > 3", False),
    ],
)
def test_placeholders(text, expected):
    """A stand-in is <...>, ${...}, four x or EXAMPLE."""
    assert expected is placeholders.is_placeholder(text)


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (MIXED, True),
        (MIXED[:24], True),
        (MIXED[:23], False),
        (MIXED + MIXED[:31], True),
        (MIXED + MIXED[:32], False),
        (MIXED.lower(), False),
        (MIXED.upper(), False),
        ("aB1" * 12, False),
        ("abcdefghijklmnopqrstuvwxyzABC123", False),
        ("0123456789abcdef" * 2, False),
        ("0123456789ABCDEFabcdef0123", False),
    ],
)
def test_entropy_of_a_run(run, expected):
    """Only runs of 24 to 64 characters of mixed case and digits refuse by entropy."""
    assert expected is entropy.is_high(run)


@pytest.mark.parametrize("length", [24, 28, 32, 48, 64])
def test_what_is_drawn_by_lot_is_refused(length):
    """Of letters and digits drawn by lot nearly all refuse, at each length."""
    lot = random.Random(length)
    runs = ["".join(lot.choices(ALNUM, k=length)) for _ in range(2000)]

    assert 0.965 < sum(map(entropy.is_high, runs)) / len(runs)


def test_what_is_drawn_by_lot_is_refused_over_all_lengths():
    """Over the lengths of the rule more than 97 in a hundred refuse."""
    lot = random.Random(7)
    runs = ["".join(lot.choices(ALNUM, k=lot.randint(24, 64))) for _ in range(4000)]

    assert 0.97 < sum(map(entropy.is_high, runs)) / len(runs)


@pytest.mark.parametrize(
    "name",
    [
        "AbstractSingletonProxyFactoryBean2ImplV3",
        "BZ2_bzBuffToBuffDecompress",
        "Big5DistributionAnalysis",
        "F2PyGetThreadLocalCallbackPtr",
        "GL_COMPRESSED_SRGB8_ALPHA8_ASTC_10x10",
        "Ed25519PrivateKey.from_private_bytes",
        "LN_id_GostR3411_94_with_GostR3410_2001_cc",
        "PEM_write_bio_PKCS8PrivateKey_nid",
        "TLS_ECDH_anon_WITH_3DES_EDE_CBC_SHA",
        "OAuth2AuthorizationCodeGrant",
        "https://x.slack.com/archives/C024BE91L/p1234567890123456",
        "//github.com/seL4/capdl/tree/master/capDL-tool",
        "0123456789ABCDEFabcdef0123456789",
    ],
)
def test_names_in_code_and_addresses_are_let_pass(name):
    """Names with digits, most of which is words, are no tokens."""
    assert [] == list(entropy.entropy_spans(name))


def test_bits_are_those_of_shannon():
    """Equal shares of 2**n characters are n bits; one character is none."""
    assert 0.0 == entropy.bits("")
    assert 0.0 == entropy.bits("aaaa")
    assert 1.0 == entropy.bits("abab")
    assert 3.0 == entropy.bits("abcdefgh")


LONG = MIXED + MIXED[:31]


@pytest.mark.parametrize(
    ("before", "body", "after"),
    [
        ("sha1-", LONG[:26] + "A", "="),
        ("sha256-", LONG[:42] + "A", "="),
        ("SHA256:", LONG[:42] + "g", ""),
        ("sha384-", LONG, ""),
        ("h1:", LONG[:42] + "w", "="),
        ("ssh-rsa ", "AAAA" + LONG[:60], " me"),
        ("data:image/png;base64,", "iVBORw0KGgo" + MIXED, ""),
        ("data:;base64,", LONG + "AAAA", ""),
        ("-----BEGIN PUBLIC KEY-----\n", MIXED, "\n-----END PUBLIC KEY-----"),
        ("-----BEGIN CERTIFICATE-----\\n", MIXED, "\\n-----END CERTIFICATE-----"),
        ("-----BEGIN CERTIFICATE-----\n", MIXED, "\n"),
    ],
)
def test_public_runs_are_excused_where_they_stand(before, body, after):
    """Labelled digests, public keys and certificates excuse their run, no other."""
    assert [] == list(entropy.entropy_spans(f"a {before}{body}{after}"))
    assert [(2, 2 + len(MIXED))] == list(
        entropy.entropy_spans(f"a {MIXED} {before}{body}{after}")
    )


@pytest.mark.parametrize(
    "text",
    [
        f"sha256:{MIXED}",
        f"sha256-{LONG[:42]}B=",
        f"sha256:{LONG[:50]}",
        f"sha1-{LONG[:40]}",
        f"h1:{MIXED}",
        f"ssh-rsa {LONG}",
        f"ssh-ed25519 AAAA{MIXED}",
        f"data:x,{MIXED}",
        f"data:text/plain;base64,{MIXED}",
    ],
)
def test_a_label_alone_excuses_nothing(text):
    """A digest has its length and alphabet, a key its beginning, data its file."""
    assert 1 == len(list(entropy.entropy_spans(text)))


def test_a_run_split_by_a_line_break_has_to_be_mixed_on_both_sides():
    """Entropy over a seam counts when neither side is a word beside the run."""
    half = len(MIXED) // 2

    assert [(0, len(MIXED))] == list(entropy.entropy_spans(MIXED, [0, half]))
    assert [] == list(entropy.entropy_spans(MIXED, [0]))
    assert [] == list(entropy.entropy_spans(f"garden{MIXED}", [0, 6]))
