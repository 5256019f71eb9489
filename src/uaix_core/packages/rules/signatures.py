"""The rules of signatures and of acceptance policies, one row each.

A signature adds evidence and excuses nothing; a policy refuses more and never less.
What a policy asks for is found only where a policy is handed in.

Source: UAIX package format v0.1, "integrity", with the decisions of this project
where the standard is silent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from uaix_core.packages.findings import Rule

if TYPE_CHECKING:
    from collections.abc import Mapping

_PROVENANCE = "provenance_mismatch"

_SIGNATURES = (
    Rule(
        "signature.bad",
        "hash_mismatch",
        "error",
        "a signature is malformed, or doesn't verify under a trusted key",
        _PROVENANCE,
        hint="sign again after an edit",
    ),
    Rule(
        "signature.untrusted",
        "identity",
        "info",
        "a signature by a key that isn't trusted here was not verified",
    ),
    Rule(
        "signature.uncovered",
        "hash_mismatch",
        "warning",
        "the listed SHA-256 is the sentinel, so that no signature covers the file",
        "missing_integrity_checksum",
    ),
    Rule(
        "signature.missing",
        "identity",
        "error",
        "the policy asks for a signature that the package doesn't carry",
        _PROVENANCE,
    ),
)

_POLICIES = (
    Rule(
        "policy.issuer",
        "identity",
        "error",
        "the policy doesn't accept packages of this issuer",
        _PROVENANCE,
    ),
    Rule(
        "policy.scope",
        "scope",
        "error",
        "the policy doesn't accept packages that declare this scope",
        "unsupported_capability_level",
    ),
    Rule(
        "policy.key",
        "identity",
        "error",
        "the policy doesn't accept packages signed by this key",
        _PROVENANCE,
    ),
)

#: All rows of this page, in the order in which the reference lists them.
SIGNATURE_ROWS: Final[tuple[Rule, ...]] = (*_SIGNATURES, *_POLICIES)

SIGNATURE_RULES: Final[Mapping[str, Rule]] = {
    rule.code: rule for rule in SIGNATURE_ROWS
}
