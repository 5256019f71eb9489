"""Laws of the detector table: each detector finds its own, and none finds the rest."""

from __future__ import annotations

import re

import pytest
from tests.gate.disguises import DISGUISES
from tests.gate.secret_cases import NEGATIVES, POSITIVES, TEXTS, TOKENS

from uaix_core.gate.detectors import compiled
from uaix_core.gate.scan import scan_all, scan_text
from uaix_core.gate.table import DETECTORS

#: The ids of the governed-memory specification.
FIRST = [
    "anthropic-api-key",
    "openai-api-key",
    "stripe-secret-key",
    "stripe-restricted-key",
    "github-token",
    "github-oauth-token",
    "github-user-token",
    "github-server-token",
    "github-refresh-token",
    "github-fine-grained-token",
    "gitlab-personal-token",
    "slack-bot-token",
    "slack-user-token",
    "slack-app-token",
    "aws-access-key-id",
    "aws-temporary-access-key-id",
    "google-api-key",
    "google-oauth-token",
    "npm-token",
    "digitalocean-token",
    "sendgrid-api-key",
    "huggingface-token",
    "shopify-access-token",
    "supabase-service-key",
    "pem-private-key",
    "pem-rsa-private-key",
    "pem-ec-private-key",
    "pem-dsa-private-key",
    "pem-encrypted-private-key",
    "openssh-private-key",
    "pgp-private-key",
    "url-embedded-credential",
    "json-web-token",
    "high-entropy-token",
    "credential-assignment",
]

#: What may stand right beside a secret.
PLACES = {
    "alone": ("", ""),
    "after-a-colon": ("the id:", " is ours"),
    "after-a-space": ("use ", " today"),
    "double-quoted": ('key "', '"'),
    "single-quoted": ("key '", "'"),
    "bracketed": ("(", ")"),
    "after-an-equals-sign": ("x=", ";"),
    "in-json": ('{"id": "', '", "n": 1}'),
    "beside-cjk": ("\u5bc6\u94a5", "\u3002\u8bf7"),
    "beside-an-accent": ("caf\u00e9 ", " \u00fc"),
    "on-its-line": ("first\n", "\nlast"),
    "in-an-escaped-text": ('"one\\n', '\\ntwo"'),
    "far-in": ("word " * 14_000, " end"),
}


def test_the_table_holds_the_specified_detectors():
    """Every detector of the specification is in the table."""
    assert set() == set(FIRST) - {detector.id for detector in DETECTORS}
    assert 35 == len(FIRST)


def test_every_detector_has_a_case():
    """No detector of the table is without a secret that it names."""
    assert set() == {d.id for d in DETECTORS} ^ {name for name, _secret in POSITIVES}


def test_each_detector_of_a_vendor_has_a_keyword():
    """A detector with a pattern names a literal without which it can't match."""
    bare = [d.id for d in DETECTORS if d.pattern and not d.keywords]

    assert [] == bare
    assert all(word == word.lower() for d in DETECTORS for word in d.keywords)


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: d.id)
def test_patterns_compile_and_nest_no_repetition(detector):
    """No pattern repeats without bound what repeats without bound."""
    compiled(detector.pattern)

    assert not re.search(r"[+*]\)[+*]", detector.pattern)


@pytest.mark.parametrize("place", PLACES)
def test_a_secret_is_found_beside_anything(place):
    """Each secret is found, under its name and at its place, whatever is beside it."""
    before, after = PLACES[place]
    start = len(before.encode())
    missed = []
    for name, secret in POSITIVES:
        hits = scan_all(before + secret + after)
        if name not in {
            hit.detector for hit in hits if start <= hit.offset < start + len(secret)
        }:
            missed.append((name, hits))

    assert [] == missed


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_disguised_secret_is_found_where_it_begins(disguise):
    """Each token is found in each disguise, at the start of what stands for it."""
    before = "\u00e9t\u00e9 "
    # What an override turns round begins after the control character itself.
    start = len((before + ("\u202e" if disguise == "override" else "")).encode())
    missed = []
    for name, secret in TOKENS:
        hits = scan_all(f"{before}{DISGUISES[disguise](secret)} etc.")
        if start not in {hit.offset for hit in hits if hit.detector == name}:
            missed.append((name, hits))

    assert [] == missed


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_disguised_text_with_a_secret_is_refused(disguise):
    """Each text with a secret is refused in each disguise."""
    disguised = [
        (name, f"so: {DISGUISES[disguise](text)} etc.") for name, text in TEXTS
    ]

    assert [] == [name for name, text in disguised if scan_text(text) is None]


@pytest.mark.parametrize("indent", ["", "    ", "> ", "# "])
def test_a_token_is_found_over_a_line_break(indent):
    """A token split by a line break and what begins the next line is found."""
    missed = []
    for name, secret in TOKENS:
        middle = len(secret) // 2
        text = f"note\n{secret[:middle]}\n{indent}{secret[middle:]}\nend"
        if scan_text(text) is None:
            missed.append(name)

    assert [] == missed


@pytest.mark.parametrize("text", NEGATIVES)
def test_what_only_looks_so_is_let_pass(text):
    """Digests, ids, names, paths, code, stand-ins and prose are no secrets."""
    assert [] == scan_all(text)
    assert [] == scan_all(f"first\n{text}\nlast")


def test_all_harmless_texts_together_are_let_pass():
    """The harmless texts are harmless beside each other as well."""
    assert [] == scan_all("\n".join(NEGATIVES))
    assert [] == scan_all(" \n\n".join(reversed(NEGATIVES)))
