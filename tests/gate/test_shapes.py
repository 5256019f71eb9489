"""Laws of what is no secret: slugs, paths, names, calls, stand-ins, low entropy."""

from __future__ import annotations

import pytest

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


def test_bits_are_those_of_shannon():
    """Equal shares of 2**n characters are n bits; one character is none."""
    assert 0.0 == entropy.bits("")
    assert 0.0 == entropy.bits("aaaa")
    assert 1.0 == entropy.bits("abab")
    assert 3.0 == entropy.bits("abcdefgh")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("sha256-", "="),
        ("sha512-", ""),
        ("SHA256:", ""),
        ("h1:", "="),
        ("ssh-rsa ", " me"),
        ("data:image/png;base64,", ""),
        ("-----BEGIN PUBLIC KEY-----\n", "\n-----END PUBLIC KEY-----"),
        ("-----BEGIN CERTIFICATE-----\\n", "\\n-----END CERTIFICATE-----"),
        ("-----BEGIN CERTIFICATE-----\n", "\n"),
    ],
)
def test_public_runs_are_excused_where_they_stand(before, after):
    """Labelled digests, public keys and certificates excuse their run, no other."""
    assert [] == list(entropy.entropy_spans(f"a {before}{MIXED}{after}"))
    assert [(2, 2 + len(MIXED))] == list(
        entropy.entropy_spans(f"a {MIXED} {before}{MIXED}{after}")
    )


def test_a_run_split_by_a_line_break_has_to_be_mixed_on_both_sides():
    """Entropy over a seam counts when neither side is a word beside the run."""
    half = len(MIXED) // 2

    assert [(0, len(MIXED))] == list(entropy.entropy_spans(MIXED, [0, half]))
    assert [] == list(entropy.entropy_spans(MIXED, [0]))
    assert [] == list(entropy.entropy_spans(f"garden{MIXED}", [0, 6]))
