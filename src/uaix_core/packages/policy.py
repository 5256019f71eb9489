"""Acceptance policies: what a scope asks of a package beyond the format's rules.

A policy is a value that a scope may hold. It can only refuse: a package that broke a
rule of the format stays refused under every policy, and what a policy leaves open is
accepted as without one.

Source: UAIX package format v0.1, "Verdict".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from uaix_core.packages.findings import Findings
from uaix_core.packages.manifest.words import fold, is_sha256
from uaix_core.packages.required.files import UNIVERSAL
from uaix_core.packages.rules.signatures import SIGNATURE_RULES
from uaix_core.values.arguments import check_texts
from uaix_core.values.canonical import canonical_text
from uaix_core.values.errors import CallerError
from uaix_core.values.strict_json import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from uaix_core.packages.checked import CheckedPackage
    from uaix_core.packages.findings import Finding
    from uaix_core.packages.signatures import SignatureReport

#: The version of the stored form.
VERSION: Final = 1

#: Containers within each other in the stored form: an object of lists.
_DEPTH: Final = 2

#: Only the one who calls says which keys are trusted, so that is who can mend it.
_NOT_VERIFIED: Final = (
    "a key that the policy asks for has signed, and wasn't verified because it isn't "
    "trusted here (name the public key: trusted=, --trust)"
)


def _is_issuer(word: str) -> bool:
    return word != ""


def _is_scope(word: str) -> bool:
    return word != "" and fold(word) == word


def _is_key_id(word: str) -> bool:
    return is_sha256(word) is not None


def _check(
    _policy: AcceptancePolicy,
    field: attrs.Attribute[frozenset[str] | None],
    value: frozenset[Any] | None,
) -> None:
    """None asks for nothing; an empty set, which nothing meets, is a slip."""
    if value is None:
        return
    holds, words = _WORDS[field.name]
    if not value or not all(isinstance(word, str) and holds(word) for word in value):
        raise _wrong(field.name, f"{field.name} is a non-empty set of {words}")


def _as_set(
    words: Iterable[str] | None, field: attrs.Attribute[frozenset[str] | None]
) -> frozenset[str] | None:
    return None if words is None else frozenset(check_texts(words, field.name))


def _words() -> Any:
    as_set = attrs.Converter(_as_set, takes_field=True)
    return attrs.field(default=None, converter=as_set, validator=_check)


@attrs.frozen(kw_only=True)
class AcceptancePolicy:
    """What a package must meet; None in a field asks for nothing there.

    ``issuers``: the manifest's ``issuer`` is one of these, compared exactly.
    ``scopes``: the package declares no other scope; ``universal`` is always accepted.
    ``key_ids``: the package carries no signature by another key, verified or not.
    ``require_signature_from``: a signature by one of these keys verifies, and it
    covers every file. On its own ``key_ids`` lets unsigned packages pass.

    Raises:
        CallerError: ``input.list``, ``input.type``; ``policy.value`` for an empty set,
            words of the wrong form, and required signers that ``key_ids`` leaves out.

    """

    issuers: frozenset[str] | None = _words()
    scopes: frozenset[str] | None = _words()
    key_ids: frozenset[str] | None = _words()
    require_signature_from: frozenset[str] | None = _words()

    def __attrs_post_init__(self) -> None:
        required, accepted = self.require_signature_from, self.key_ids
        if required is not None and accepted is not None and not required <= accepted:
            raise _wrong(
                "require_signature_from", "key_ids leaves out a key that has to sign"
            )


#: What each field's words must be, and what an error calls them.
_WORDS: Final[dict[str, tuple[Callable[[str], bool], str]]] = {
    "issuers": (_is_issuer, "non-empty issuers"),
    "scopes": (_is_scope, "scopes in lower case with _ between words"),
    "key_ids": (_is_key_id, "key ids of 64 lower-case hex digits"),
    "require_signature_from": (_is_key_id, "key ids of 64 lower-case hex digits"),
}


def judge_policy(
    policy: AcceptancePolicy, package: CheckedPackage, signatures: SignatureReport
) -> tuple[Finding, ...]:
    """What of the policy the package doesn't meet; every finding refuses it.

    ``signatures`` is the report on this package's manifest. An empty answer says that
    the policy is met, and nothing about the rules of the format.
    """
    findings = Findings(SIGNATURE_RULES)
    manifest = package.manifest
    if policy.issuers is not None and manifest.issuer not in policy.issuers:
        findings.add("policy.issuer", "issuer")
    if policy.scopes is not None:
        for index, word in enumerate(manifest.declared_scopes):
            if fold(word) not in policy.scopes | {UNIVERSAL}:
                findings.add("policy.scope", f"declaredScopes[{index}]")
    if policy.key_ids is not None:
        for check in signatures.checks:
            if check.key_id not in policy.key_ids:
                findings.add("policy.key", check.place)
    if policy.require_signature_from is not None:
        _judge_required(policy.require_signature_from, signatures, findings)
    return tuple(findings)


def _judge_required(
    keys: frozenset[str], signatures: SignatureReport, findings: Findings
) -> None:
    place = "integrity.signatures"
    if keys.isdisjoint(signatures.verified):
        untrusted = {c.key_id for c in signatures.checks if c.outcome == "untrusted"}
        message = None if keys.isdisjoint(untrusted) else _NOT_VERIFIED
        findings.add("signature.missing", place, message)
    elif signatures.uncovered:
        findings.add(
            "signature.missing",
            place,
            "the policy asks for a signature, and the one there doesn't cover every "
            f"file: {len(signatures.uncovered)} stand under the sentinel",
        )


def policy_text(policy: AcceptancePolicy) -> str:
    """The policy as canonical JSON (RFC 8785): equal policies, equal texts."""
    fields = attrs.asdict(policy, filter=lambda _field, value: value is not None)
    return canonical_text(
        {"version": VERSION, **{name: sorted(fields[name]) for name in fields}}
    )


def read_policy(text: str | bytes) -> AcceptancePolicy:
    """The policy of its stored form, strictly: what isn't understood is refused.

    Raises:
        CallerError: ``policy.value`` for another version, an unknown field, a field
            that isn't a list of distinct words, or a policy that can't be;
            ``json.*`` when it isn't strict JSON.

    """
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    wire = parse(raw, max_depth=_DEPTH)
    if not isinstance(wire, dict):
        raise _wrong(None, "a policy is an object")
    version = wire.pop("version", None)
    if type(version) is not int or version != VERSION:
        raise _wrong("version", f"the version of a policy is {VERSION}")
    for name, words in wire.items():
        if name not in _WORDS:
            raise _wrong(None, "a policy has no such field")
        is_list = isinstance(words, list) and all(isinstance(w, str) for w in words)
        if not is_list or len(set(words)) != len(words):
            raise _wrong(name, f"{name} is a list of distinct words")
    return AcceptancePolicy(**wire)


def _wrong(path: str | None, message: str) -> CallerError:
    return CallerError(message, code="policy.value", path=path)
