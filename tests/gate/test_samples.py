"""The gate on the sample packages: what each of them holds, and no more."""

from __future__ import annotations

import json
import zipfile

import pytest

from uaix_core.gate.scan import scan_fields, scan_text


def _texts(path) -> dict[str, str]:
    with zipfile.ZipFile(path) as package:
        return {name: package.read(name).decode() for name in package.namelist()}


@pytest.mark.parametrize(
    "name",
    [
        "valid-near-miss-secrets.uaix",
        "valid-security-talk.uaix",
        "valid-advanced-stored.uaix",
        "valid-advanced-evidence.uaix",
        "valid-many-300.uaix",
        "valid-unicode-content.uaix",
        "valid-handoff-code.uaix",
    ],
)
def test_valid_samples_hold_no_secret(sample_packages, name):
    """No file of a valid sample is refused."""
    hits = {
        path: scan_text(text) for path, text in _texts(sample_packages / name).items()
    }

    assert {} == {path: hit for path, hit in hits.items() if hit}


def test_a_secret_in_a_manifest_field_is_found(sample_packages):
    """The issuer that holds a token is named as the field, at the token's place."""
    texts = _texts(sample_packages / "content-secret-in-issuer.uaix")
    manifest = json.loads(texts[".uai/manifest.uaix.json"])

    assert [("issuer", "github-token", 3)] == [
        (hit.field, hit.detector, hit.offset) for hit in scan_fields(manifest)
    ]
