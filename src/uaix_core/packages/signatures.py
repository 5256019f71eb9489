"""Signatures of a manifest: Ed25519 over its canonical form.

What is signed is the RFC 8785 form of the manifest without ``integrity.signatures``,
so that spacing may change and several keys can sign. The manifest lists every file
with its SHA-256, so its signature covers them too, all but those that stand under the
sentinel.

Which keys are trusted is the caller's to say, and a signature excuses no other rule.

Source: UAIX package format v0.1, "integrity"; RFC 8032 (Ed25519), RFC 8785.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Literal

import attrs

from uaix_core.packages.ed25519 import (
    SIGNATURE_BYTES,
    is_signature,
    key_id,
    public_key_of,
    signature_of,
)
from uaix_core.packages.limits import DEFAULT_LIMITS
from uaix_core.packages.manifest.places import edited, spans
from uaix_core.packages.manifest.values import SENTINEL
from uaix_core.packages.manifest.words import is_sha256
from uaix_core.packages.paths import shown
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.values.canonical import canonical_bytes, from_base64url, to_base64url
from uaix_core.values.errors import CallerError
from uaix_core.values.strict_json import parse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from uaix_core.packages.findings import Findings

__all__ = [
    "Outcome",
    "SignatureCheck",
    "SignatureReport",
    "judge_signatures",
    "key_id",
    "public_key_of",
    "sign",
    "signing_form",
    "verify",
]

Outcome = Literal["verified", "untrusted", "bad"]

ALGORITHM: Final = "Ed25519"

#: How long a signature is in base64url without padding, in characters.
VALUE_LENGTH: Final = 86

#: More signatures than this are refused unread: they would only cost time.
MAX_SIGNATURES: Final = 64

_INTEGRITY: Final = "integrity"
_SIGNATURES: Final = "signatures"
_PLACE: Final = (_INTEGRITY, _SIGNATURES)

_CODES: Final = {"bad": "signature.bad", "untrusted": "signature.untrusted"}


@attrs.frozen
class SignatureCheck:
    """What became of one signature.

    ``place`` is where it stands in the manifest. ``key_id`` is None when the manifest
    gives no usable one. ``reason`` says why it isn't verified, without content.
    """

    place: str
    key_id: str | None
    outcome: Outcome
    reason: str | None = None


@attrs.frozen
class SignatureReport:
    """What the signatures of a manifest are worth.

    ``checks`` are in the manifest's order. ``uncovered`` are the listed paths, sorted,
    whose digest is the sentinel: no signature of this manifest says anything about
    their content.
    """

    checks: tuple[SignatureCheck, ...] = ()
    uncovered: tuple[str, ...] = ()

    @property
    def is_signed(self) -> bool:
        """Whether the manifest carries any signature, good or bad."""
        return bool(self.checks)

    @property
    def verified(self) -> frozenset[str]:
        """The ids of the trusted keys whose signature verifies."""
        return frozenset(
            check.key_id
            for check in self.checks
            if check.outcome == "verified" and check.key_id is not None
        )

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data, for JSON."""
        return {
            "signatures": [attrs.asdict(check) for check in self.checks],
            "uncovered": list(self.uncovered),
        }


def signing_form(wire: Mapping[str, Any]) -> bytes:
    """The bytes that are signed: RFC 8785 of the manifest without its signatures.

    Raises:
        CallerError: ``canonical.invalid`` for what strict JSON can't hold.

    """
    integrity = wire.get(_INTEGRITY)
    if isinstance(integrity, dict) and _SIGNATURES in integrity:
        rest = {name: integrity[name] for name in integrity if name != _SIGNATURES}
        wire = {**wire, _INTEGRITY: rest}
    return canonical_bytes(dict(wire))


def verify(
    wire: Mapping[str, Any], trusted: Mapping[str, bytes] | None = None
) -> SignatureReport:
    """Check the signatures of a parsed manifest, whatever its shape is.

    ``trusted`` maps key ids to raw public keys of 32 bytes. A signature by any other
    key is read for its form and not verified.

    Raises:
        CallerError: ``signature.key`` when a trusted key isn't 32 bytes or doesn't
            have the id that it is named by.

    """
    keys = trusted or {}
    for name, key in keys.items():
        if key_id(key) != name:
            raise CallerError(
                "a trusted key doesn't have the id that it is named by",
                code="signature.key",
                path=name if is_sha256(name) else None,
            )
    integrity = wire.get(_INTEGRITY)
    if not isinstance(integrity, dict) or _SIGNATURES not in integrity:
        return SignatureReport()
    return SignatureReport(
        checks=tuple(_checks(wire, integrity[_SIGNATURES], keys)),
        uncovered=tuple(sorted(_uncovered(wire.get("files")))),
    )


def judge_signatures(
    wire: Mapping[str, Any],
    findings: Findings,
    trusted: Mapping[str, bytes] | None = None,
) -> SignatureReport:
    """`verify` a parsed manifest and note what it finds.

    A file that no signature covers is noted only where there is a signature.
    """
    report = verify(wire, trusted)
    for check in report.checks:
        code = _CODES.get(check.outcome)
        if code is not None:
            findings.add(code, check.place, check.reason)
    for path in report.uncovered if report.is_signed else ():
        findings.add("signature.uncovered", shown(path))
    return report


def sign(manifest: bytes, private_key: bytes) -> bytes:
    """The manifest with this key's signature, every other byte as it was.

    ``private_key`` is a raw Ed25519 key of 32 bytes. The key's earlier signature is
    replaced, those of other keys stay, and signing twice gives the same bytes.

    Raises:
        CallerError: ``signature.key``; ``signature.manifest`` when there is no
            ``integrity`` object to sign in or its ``signatures`` is no list of
            objects; ``json.*`` when the manifest isn't strict JSON.

    """
    wire = parse(manifest, max_depth=DEFAULT_LIMITS.json_depth)
    integrity = wire.get(_INTEGRITY) if isinstance(wire, dict) else None
    if not isinstance(integrity, dict):
        raise _unsignable("the manifest has no integrity object")
    there = integrity.get(_SIGNATURES, [])
    if not isinstance(there, list) or not all(isinstance(row, dict) for row in there):
        raise _unsignable("integrity.signatures isn't a list of objects")
    name = key_id(public_key_of(private_key))
    new = json.dumps(
        {
            "keyId": name,
            "algorithm": ALGORITHM,
            "value": to_base64url(signature_of(private_key, signing_form(wire))),
        }
    )
    text = manifest.decode("utf-8")
    found = spans(text, {(*_PLACE, index) for index in range(len(there))})
    rows: dict[str | int, str] = {}
    for index, row in enumerate(there):
        start, stop = found[(*_PLACE, index)]
        rows[name if row.get("keyId") == name else index] = text[start:stop]
    rows[name] = new
    return _with_signatures(text, integrity, list(rows.values())).encode("utf-8")


def _unsignable(message: str) -> CallerError:
    return CallerError(message, code="signature.manifest", path=MANIFEST_PATH)


class _Refused(Exception):  # noqa: N818 - a signal inside this module, not an error
    """A signature that isn't well formed, and why."""

    def __init__(self, reason: str, key_id: str | None = None) -> None:
        self.reason = reason
        self.key_id = key_id


def _checks(
    wire: Mapping[str, Any], rows: Any, trusted: Mapping[str, bytes]
) -> Iterator[SignatureCheck]:
    whole = ".".join(_PLACE)
    if not isinstance(rows, list):
        yield SignatureCheck(whole, None, "bad", "signatures must be a list")
        return
    if len(rows) > MAX_SIGNATURES:
        reason = f"there are more than {MAX_SIGNATURES} signatures"
        yield SignatureCheck(whole, None, "bad", reason)
        return
    form = None
    seen: set[str] = set()
    for index, row in enumerate(rows):
        place = f"{whole}[{index}]"
        try:
            name, signature = _read(row, seen)
        except _Refused as refused:
            yield SignatureCheck(place, refused.key_id, "bad", refused.reason)
            continue
        seen.add(name)
        if name not in trusted:
            reason = f"the key {name} isn't trusted here; nothing was verified"
            yield SignatureCheck(place, name, "untrusted", reason)
            continue
        form = signing_form(wire) if form is None else form
        if is_signature(trusted[name], signature, form):
            yield SignatureCheck(place, name, "verified")
        else:
            reason = "the signature doesn't verify under the trusted key that it names"
            yield SignatureCheck(place, name, "bad", reason)


def _read(row: Any, seen: Collection[str]) -> tuple[str, bytes]:
    """The key id and the signature of a well-formed row."""
    if not isinstance(row, dict):
        raise _Refused("a signature must be an object")
    name = row.get("keyId")
    if not isinstance(name, str) or not is_sha256(name):
        raise _Refused("keyId must be 64 lower-case hex digits")
    if name in seen:
        raise _Refused("the same key signs twice", name)
    if row.get("algorithm") != ALGORITHM:
        raise _Refused(f"algorithm must be {ALGORITHM}", name)
    value = row.get("value")
    if isinstance(value, str) and len(value) == VALUE_LENGTH:
        with suppress(CallerError):
            return name, from_base64url(value)
    raise _Refused(
        f"value must be {SIGNATURE_BYTES} bytes in base64url without padding", name
    )


def _uncovered(files: Any) -> Iterator[str]:
    for entry in files if isinstance(files, list) else ():
        if isinstance(entry, dict) and entry.get("sha256") == SENTINEL:
            path = entry.get("path")
            if isinstance(path, str) and path != MANIFEST_PATH:
                yield path


def _with_signatures(text: str, integrity: Mapping[str, Any], rows: list[str]) -> str:
    """The text with these rows as its signatures, set out as the rest of it is."""
    places = {(_INTEGRITY,), *((_INTEGRITY, name) for name in integrity)}
    found = spans(text, places)
    start = found.pop((_INTEGRITY,))[0] + 1
    gap = text[start : len(text) - len(text[start:].lstrip())]
    # An integrity object's members are two levels in, so half of their margin is one.
    margin = gap.rpartition("\n")[2]
    inner = gap + margin[: len(margin) // 2] if "\n" in gap else ""
    between = "," + (inner or " ")
    value = "[" + inner + between.join(rows) + (gap if inner else "") + "]"
    if _SIGNATURES in integrity:
        return edited(text, {_PLACE: value})
    member = f'"{_SIGNATURES}": {value}'
    if not integrity:
        return text[:start] + member + text[start:]
    end = max(stop for _, stop in found.values())
    return f"{text[:end]},{gap or ' '}{member}{text[end:]}"
