from __future__ import annotations

import json

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packages.package_maker import MANIFEST, NOW, SENTINEL, Maker

from uaix_core.packages.lint import lint
from uaix_core.packages.policy import (
    AcceptancePolicy,
    judge_policy,
    policy_text,
    read_policy,
)
from uaix_core.packages.signatures import key_id, public_key_of, sign, verify
from uaix_core.packages.source import PackageSource
from uaix_core.values.canonical import canonical_bytes
from uaix_core.values.errors import CallerError
from uaix_core.values.strict_json import StrictJsonError

PRIVATE = [bytes([number]) * 32 for number in range(1, 4)]
PUBLIC = {key_id(public_key_of(key)): public_key_of(key) for key in PRIVATE}
ADA, BEN, CAL = PUBLIC

ISSUERS = ["tests.example", "other.example"]
SCOPES = ["universal", "persona_profile", "code_bearing"]


def judged(policy, *signers, maker=None, trusted=(ADA, BEN)):
    """The findings of a policy on a package signed by the keys of these numbers."""
    maker = Maker("persona_profile") if maker is None else maker
    manifest = maker.manifest_bytes()
    for number in signers:
        manifest = sign(manifest, PRIVATE[number])
    files = {**maker.files, MANIFEST: manifest}
    report = lint(PackageSource(files=files), now=NOW)
    signatures = verify(json.loads(manifest), {name: PUBLIC[name] for name in trusted})
    return judge_policy(policy, report.package, signatures)


def found(*args, **options):
    return [(finding.code, finding.path) for finding in judged(*args, **options)]


words = st.one_of(st.none(), st.frozensets(st.sampled_from(ISSUERS), min_size=1))
scopes = st.one_of(st.none(), st.frozensets(st.sampled_from(SCOPES), min_size=1))
key_ids = st.one_of(st.none(), st.frozensets(st.sampled_from([*PUBLIC]), min_size=1))


@st.composite
def policies(draw):
    fields = {
        "issuers": draw(words),
        "scopes": draw(scopes),
        "key_ids": draw(key_ids),
        "require_signature_from": draw(key_ids),
    }
    accepted, required = fields["key_ids"], fields["require_signature_from"]
    if accepted is not None and required is not None:
        fields["require_signature_from"] = (required & accepted) or None
    return AcceptancePolicy(**fields)


def test_a_policy_that_asks_for_nothing_is_met():
    """Every field is off by default, signed or not."""
    assert [] == found(AcceptancePolicy())
    assert [] == found(AcceptancePolicy(), 0, 2)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"issuers": ["tests.example"]}, []),
        ({"issuers": ["Tests.example"]}, [("policy.issuer", "issuer")]),
        ({"scopes": ["persona_profile"]}, []),
        ({"scopes": ["universal"]}, [("policy.scope", "declaredScopes[1]")]),
        ({"scopes": ["code_bearing"]}, [("policy.scope", "declaredScopes[1]")]),
    ],
)
def test_issuers_and_scopes(fields, expected):
    """The issuer is one of the accepted, and no other scope is declared."""
    assert expected == found(AcceptancePolicy(**fields))


def test_scopes_are_compared_in_canonical_spelling():
    """A scope that the package spells differently is the scope it reads as."""
    maker = Maker("persona_profile")
    maker.manifest["declaredScopes"] = ["Universal", "Persona-Profile"]
    policy = AcceptancePolicy(scopes=["persona_profile"])

    assert [] == found(policy, maker=maker)


@pytest.mark.parametrize(
    ("signers", "expected"),
    [((), []), ((0,), []), ((1,), [0]), ((2,), [0]), ((0, 1), [1]), ((1, 0), [0])],
)
def test_signatures_are_by_accepted_keys_only(signers, expected):
    """Every signature that is there is by an accepted key; none is needed."""
    policy = AcceptancePolicy(key_ids=[ADA])

    assert [("policy.key", f"integrity.signatures[{n}]") for n in expected] == found(
        policy, *signers
    )


@pytest.mark.parametrize(
    ("signers", "trusted", "is_told"),
    [((0,), (), True), ((0,), (BEN,), True), ((1,), (), False), ((), (), False)],
)
def test_a_required_key_that_isnt_trusted_is_told(signers, trusted, is_told):
    """Who has a signature by the key that is asked for is told to name the key."""
    policy = AcceptancePolicy(require_signature_from=[ADA])

    (finding,) = judged(policy, *signers, trusted=trusted)

    assert "signature.missing" == finding.code
    assert is_told == ("--trust" in finding.message)


@pytest.mark.parametrize(
    ("keys", "signers", "is_met"),
    [
        ([ADA], (), False),
        ([ADA], (0,), True),
        ([ADA], (1,), False),
        ([ADA], (1, 0), True),
        ([ADA, BEN], (1,), True),
        # Cal's key isn't trusted, so that nothing was verified.
        ([CAL], (2,), False),
        ([ADA, CAL], (2, 0), True),
    ],
)
def test_a_required_signature_verifies(keys, signers, is_met):
    """One of the required keys signed, and its signature was verified."""
    policy = AcceptancePolicy(require_signature_from=keys)
    expected = [] if is_met else [("signature.missing", "integrity.signatures")]

    assert expected == found(policy, *signers)


def test_a_required_signature_covers_every_file():
    """A signature that leaves a file uncovered doesn't count as the required one."""
    maker = Maker("persona_profile")
    maker.entry(".uai/totem.uai")["sha256"] = SENTINEL
    required = AcceptancePolicy(require_signature_from=[ADA])

    assert [("signature.missing", "integrity.signatures")] == found(
        required, 0, maker=maker
    )
    assert [] == found(AcceptancePolicy(key_ids=[ADA]), 0, maker=maker)


@given(policies(), st.sampled_from([(), (0,), (1,), (0, 2)]))
def test_policies_only_refuse(policy, signers):
    """Whatever a policy finds is an error of one of its four codes."""
    for finding in judged(policy, *signers):
        assert "error" == finding.severity
        assert finding.code in {
            "policy.issuer",
            "policy.scope",
            "policy.key",
            "signature.missing",
        }


@given(policies(), st.sampled_from([(), (0,), (1,), (0, 2)]))
def test_a_policy_finds_what_its_fields_find(policy, signers):
    """Each field adds its own findings: asking for more never lets more through."""
    fields = attrs.asdict(policy, recurse=False)
    alone = [
        finding
        for name, value in fields.items()
        for finding in judged(AcceptancePolicy(**{name: value}), *signers)
    ]

    assert alone == list(judged(policy, *signers))


@given(policies())
def test_the_stored_form_brings_the_policy_back(policy):
    """Writing and reading gives the same policy, and its text is canonical."""
    text = policy_text(policy)

    assert policy == read_policy(text)
    assert policy == read_policy(text.encode())
    assert canonical_bytes(json.loads(text)) == text.encode()


def test_the_stored_form():
    """A stored policy holds its version and what it asks for, sorted."""
    policy = AcceptancePolicy(issuers={"b", "a"}, scopes={"code_bearing"})

    assert '{"version":1}' == policy_text(AcceptancePolicy())
    assert '{"issuers":["a","b"],"scopes":["code_bearing"],"version":1}' == policy_text(
        policy
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"issuers": []},
        {"issuers": [""]},
        {"scopes": ["Code-bearing"]},
        {"scopes": [" "]},
        {"key_ids": ["A" * 64]},
        {"key_ids": ["a" * 63]},
        {"require_signature_from": ["a" * 65]},
        {"key_ids": [ADA], "require_signature_from": [ADA, BEN]},
    ],
)
def test_policies_that_cannot_be(fields):
    """Empty sets, words of the wrong form and shut-out signers are refused."""
    with pytest.raises(CallerError) as caught:
        AcceptancePolicy(**fields)

    assert "policy.value" == caught.value.code


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        '{"version":2}',
        '{"version":true}',
        '{"version":"1"}',
        '{"version":1,"issuer":["a"]}',
        '{"version":1,"issuers":null}',
        '{"version":1,"issuers":"a"}',
        '{"version":1,"issuers":{"a":1}}',
        '{"version":1,"issuers":[1]}',
        '{"version":1,"issuers":["a","a"]}',
        '{"version":1,"issuers":[]}',
    ],
)
def test_stored_forms_that_are_refused(text):
    """What a stored policy doesn't say exactly as it should is refused."""
    with pytest.raises(CallerError) as caught:
        read_policy(text)

    assert "policy.value" == caught.value.code


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"version":1,"version":1}',
        '{"version":1} x',
        '{"version":1,"a":[[]]}',
        "\ud800",
    ],
)
def test_stored_forms_are_strict_json(text):
    """A stored policy is one strict JSON value."""
    with pytest.raises(StrictJsonError):
        read_policy(text)
