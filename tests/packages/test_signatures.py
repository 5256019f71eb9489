from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packages.package_maker import MANIFEST, NOW, SENTINEL, Maker

from uaix_core.packages.findings import Findings
from uaix_core.packages.lint import lint
from uaix_core.packages.rules.signatures import SIGNATURE_ROWS, SIGNATURE_RULES
from uaix_core.packages.rules.table import RULES
from uaix_core.packages.signatures import (
    MAX_SIGNATURES,
    judge_signatures,
    key_id,
    public_key_of,
    sign,
    signing_form,
    verify,
)
from uaix_core.packages.source import PackageSource
from uaix_core.packages.templates.new import new_package, repack
from uaix_core.values.errors import CallerError
from uaix_core.values.strict_json import StrictJsonError

PRIVATE = [bytes([number]) * 32 for number in range(1, 5)]
PUBLIC = [public_key_of(key) for key in PRIVATE]
IDS = [key_id(key) for key in PUBLIC]
ADA, BEN, CAL, _ = IDS


def keys(*names):
    return {name: PUBLIC[IDS.index(name)] for name in names}


def fresh():
    return new_package(
        "universal", package_id="signed", created_at=NOW, issuer="me.example"
    )[MANIFEST]


def signed(*private, manifest=None):
    data = fresh() if manifest is None else manifest
    for key in private or PRIVATE[:1]:
        data = sign(data, key)
    return data


def outcomes(manifest, *trusted):
    report = verify(json.loads(manifest), keys(*trusted))
    return [check.outcome for check in report.checks]


def edit(manifest, change):
    wire = json.loads(manifest)
    change(wire)
    return json.dumps(wire).encode()


def first(wire):
    return wire["integrity"]["signatures"][0]


def judged(manifest, *trusted):
    findings = Findings(RULES)
    judge_signatures(json.loads(manifest), findings, keys(*trusted))
    return [(finding.code, finding.path) for finding in findings]


def test_the_rules_have_codes_of_their_own():
    """No two rules share a code, and all of this page are in the whole table."""
    assert len(SIGNATURE_ROWS) == len(SIGNATURE_RULES)
    assert SIGNATURE_RULES.items() <= RULES.items()


def test_known_key_and_signature():
    """Keys, ids and signatures are those of RFC 8032 (its first test) and SHA-256."""
    private = bytes.fromhex(
        "9d61b19deffd5a60ba844af492ec2cc4" + "4449c5697b326919703bac031cae7f60"
    )
    public = bytes.fromhex(
        "d75a980182b10ab7d54bfed3c964073a" + "0ee172f3daa62325af021a68f707511a"
    )

    assert public == public_key_of(private)
    assert hashlib.sha256(public).hexdigest() == key_id(public)


def test_the_signing_form_is_canonical_json_without_signatures():
    """What is signed is RFC 8785 of the manifest, its signatures left out."""
    wire = {"b": [1.0, "é"], "a": {}, "integrity": {"signatures": [1], "x": None}}

    expected = '{"a":{},"b":[1,"é"],"integrity":{"x":null}}'.encode()
    assert expected == signing_form(wire)
    assert [1] == wire["integrity"]["signatures"]


@pytest.mark.parametrize("wire", [{}, {"integrity": None}, {"integrity": {"a": 1}}])
def test_the_signing_form_of_an_unsigned_manifest_is_all_of_it(wire):
    """Where nothing is signed, nothing is left out."""
    assert json.dumps(wire, separators=(",", ":")).encode() == signing_form(wire)


def test_a_signature_verifies_under_its_key():
    """What was signed verifies under the trusted key, and is untrusted without it."""
    manifest = signed()

    assert ["verified"] == outcomes(manifest, ADA)
    assert ["untrusted"] == outcomes(manifest, BEN)
    assert ["untrusted"] == outcomes(manifest)
    assert {ADA} == verify(json.loads(manifest), keys(ADA, BEN)).verified


def test_an_unsigned_manifest_has_nothing_to_report():
    """Without signatures there are no checks, whichever keys are trusted."""
    report = verify(json.loads(fresh()), keys(ADA))

    assert ((), (), False, frozenset()) == (
        report.checks,
        report.uncovered,
        report.is_signed,
        report.verified,
    )


@given(st.lists(st.sampled_from(range(4)), min_size=1, max_size=6))
def test_each_key_signs_once_and_all_verify(order):
    """Signing again replaces that key's signature and keeps every other one."""
    manifest = signed(*(PRIVATE[number] for number in order))
    report = verify(json.loads(manifest), keys(*IDS))

    assert [IDS[n] for n in dict.fromkeys(order)] == [c.key_id for c in report.checks]
    assert {"verified"} == {check.outcome for check in report.checks}
    assert manifest == sign(manifest, PRIVATE[order[0]])


@pytest.mark.parametrize(
    "spelled",
    [
        lambda wire: json.dumps(wire, indent=2),
        lambda wire: json.dumps(wire, indent=3).replace("\n", "\r\n") + "\r\n",
        lambda wire: json.dumps(wire, indent="\t", sort_keys=True),
        lambda wire: json.dumps(wire, separators=(",", ":")),
        lambda wire: " " + json.dumps(wire).replace('"integ', '"\\u0069nteg'),
    ],
    ids=["two", "crlf", "tabs", "compact", "escaped"],
)
@pytest.mark.parametrize("integrity", [{}, {"algorithm": "sha256"}, {"a": {"b": []}}])
def test_signing_adds_and_changes_no_other_byte(spelled, integrity):
    """A signature is one insertion; a second key's adds to it; both verify."""
    wire = {"files": [{"integrity": {"signatures": [1]}}], "integrity": integrity}
    before = spelled(wire).encode()
    one = sign(before, PRIVATE[0])
    two = sign(one, PRIVATE[1])

    for small, large in ((before, one), (one, two)):
        start = next(
            (i for i, byte in enumerate(small) if large[i] != byte), len(small)
        )
        assert small[start:] == large[start + len(large) - len(small) :]
    assert ["verified", "verified"] == outcomes(two, ADA, BEN)
    assert integrity == {
        name: value
        for name, value in json.loads(two)["integrity"].items()
        if name != "signatures"
    }


def test_signing_sets_out_lines_as_the_manifest_does():
    """In an indented manifest each signature has a line of its own."""
    before, after = fresh().decode(), signed(*PRIVATE[:2]).decode()
    new = [line for line in after.splitlines() if line not in before.splitlines()]

    assert ['    "signatures": [', "      {", "      {"] == [
        line[: line.find("{") + 1] if "{" in line else line
        for line in new
        if "packageDigest" not in line
    ]


def test_spacing_and_order_are_not_signed():
    """A signature survives another spelling of the same values."""
    wire = json.loads(signed())
    mixed = dict(reversed(wire.items()))

    assert ["verified"] == outcomes(json.dumps(mixed, indent=7).encode(), ADA)


@pytest.mark.parametrize(
    "change",
    [
        lambda wire: wire.update(issuer="someone.else"),
        lambda wire: wire.update(added=None),
        lambda wire: wire.pop("status"),
        lambda wire: wire["files"][0].update(sha256="1" * 64),
        lambda wire: wire["files"].reverse(),
        lambda wire: wire["integrity"].update(packageDigest=SENTINEL),
        lambda wire: wire["integrity"].update(more=1),
        lambda wire: first(wire).update(value=first(json.loads(SECOND))["value"]),
    ],
    ids=range(8),
)
def test_any_change_breaks_the_signature(change):
    """Another value anywhere, or another key's signature, doesn't verify."""
    assert ["bad"] == outcomes(edit(signed(), change), ADA)


SECOND = signed(PRIVATE[1])


def test_a_repacked_manifest_is_signed_no_more():
    """After an edit and a repack the old signature is bad until signed again."""
    files = new_package("universal", package_id="a", created_at=NOW, issuer="me")
    files[MANIFEST] = sign(files[MANIFEST], PRIVATE[0])
    files[".uai/totem.uai"] += b"more\n"
    again = repack(files).files[MANIFEST]

    assert ["bad"] == outcomes(again, ADA)
    assert ["verified"] == outcomes(sign(again, PRIVATE[0]), ADA)


@pytest.mark.parametrize(
    "change",
    [
        lambda row: row.clear(),
        lambda row: row.update(keyId=row["keyId"].upper()),
        lambda row: row.update(keyId=7),
        lambda row: row.update(algorithm="ed25519"),
        lambda row: row.pop("algorithm"),
        lambda row: row.update(value=row["value"] + "=="),
        lambda row: row.update(value=row["value"][:-1]),
        lambda row: row.update(value=row["value"] + "A"),
        lambda row: row.update(value="+" * 86),
        lambda row: row.update(value="é" * 86),
        lambda row: row.update(value=None),
        # The last character has two idle bits: any but zero is another spelling.
        lambda row: row.update(value="A" * 85 + "B"),
    ],
    ids=range(12),
)
@pytest.mark.parametrize("trusted", [(), (ADA,)])
def test_malformed_signatures_are_bad(change, trusted):
    """A row that isn't a well-formed signature is bad, whoever is trusted."""
    manifest = edit(signed(), lambda wire: change(first(wire)))

    assert ["bad"] == outcomes(manifest, *trusted)
    assert [("signature.bad", "integrity.signatures[0]")] == judged(manifest, *trusted)


@pytest.mark.parametrize("rows", [None, {}, "x", 1, True])
def test_signatures_are_a_list(rows):
    """Anything but a list of signatures is one bad signature."""
    manifest = edit(signed(), lambda wire: wire["integrity"].update(signatures=rows))

    assert [("signature.bad", "integrity.signatures")] == judged(manifest, ADA)


@pytest.mark.parametrize("row", [None, [], "x", 1])
def test_a_row_is_an_object(row):
    """Anything but an object in the list is a bad signature beside good ones."""
    manifest = edit(signed(), lambda wire: wire["integrity"]["signatures"].append(row))

    assert ["verified", "bad"] == outcomes(manifest, ADA)


def test_a_key_signs_once():
    """A second signature that names the same key is bad, however good it is."""
    manifest = edit(
        signed(),
        lambda wire: wire["integrity"]["signatures"].append(dict(first(wire))),
    )

    assert ["verified", "bad"] == outcomes(manifest, ADA)
    assert ["untrusted", "bad"] == outcomes(manifest)


@pytest.mark.parametrize("more", [0, 1])
def test_there_are_only_so_many_signatures(more):
    """Up to the limit each signature is read; beyond it none is."""
    rows = [
        {"keyId": f"{n:064x}", "algorithm": "Ed25519", "value": "A" * 86}
        for n in range(MAX_SIGNATURES + more)
    ]
    manifest = edit(fresh(), lambda wire: wire["integrity"].update(signatures=rows))

    assert (["untrusted"] * MAX_SIGNATURES, ["bad"])[more] == outcomes(manifest, ADA)


def test_sentinel_files_are_uncovered():
    """Files under the sentinel are named as not covered, the manifest's entry not."""
    maker = Maker()
    for path in (".uai/totem.uai", ".uai/identity.uai"):
        maker.entry(path)["sha256"] = SENTINEL
    maker.manifest["files"].append({**maker.entry(".uai/totem.uai"), "path": MANIFEST})
    manifest = maker.manifest_bytes()
    report = verify(json.loads(sign(manifest, PRIVATE[0])), keys(ADA))

    assert (".uai/identity.uai", ".uai/totem.uai") == report.uncovered
    assert [] == judged(manifest, ADA)
    assert [
        ("signature.uncovered", ".uai/identity.uai"),
        ("signature.uncovered", ".uai/totem.uai"),
    ] == judged(sign(manifest, PRIVATE[0]), ADA)


def test_findings_have_their_severities():
    """Bad refuses, untrusted informs, uncovered warns, verified says nothing."""
    severities = {code: rule.severity for code, rule in SIGNATURE_RULES.items()}

    assert {
        "signature.bad": "error",
        "signature.untrusted": "info",
        "signature.uncovered": "warning",
        "signature.missing": "error",
        "policy.issuer": "error",
        "policy.scope": "error",
        "policy.key": "error",
    } == severities
    assert [] == judged(signed(), ADA)
    assert [("signature.untrusted", "integrity.signatures[0]")] == judged(signed())


def test_a_signed_package_passes_lint():
    """A signature takes nothing from a package that passes without one."""
    files = new_package("persona", package_id="a", created_at=NOW, issuer="me")
    files[MANIFEST] = sign(files[MANIFEST], PRIVATE[0])

    report = lint(PackageSource(files=files), now=NOW)

    assert ["signature.untrusted"] == [finding.code for finding in report.findings]
    assert report.is_accepted


@given(
    st.recursive(
        st.sampled_from([None, True, 0, "", "x", SENTINEL, ADA]),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(
                st.sampled_from(
                    ["integrity", "signatures", "files", "sha256", "path", "keyId"]
                ),
                inner,
                max_size=3,
            )
        ),
        max_leaves=8,
    )
)
def test_no_parsed_manifest_makes_verify_fail(value):
    """Whatever JSON stands there, the answer is a report."""
    wire = {"integrity": {"signatures": value}, "files": value}
    report = verify(wire, keys(ADA))

    assert report.is_signed == bool(not isinstance(value, list) or value)
    assert "verified" not in {check.outcome for check in report.checks}


@pytest.mark.parametrize("key", [b"", b"x" * 31, b"x" * 33])
def test_keys_have_32_bytes(key):
    """A key of another length is the caller's error, and no error shows it."""
    for use in (key_id, public_key_of, lambda k: sign(fresh(), k)):
        with pytest.raises(CallerError) as caught:
            use(key)
        assert "signature.key" == caught.value.code
        assert "xxx" not in str(caught.value)


def test_trusted_keys_stand_under_their_own_id():
    """A trusted key under another key's id is the caller's error."""
    with pytest.raises(CallerError) as caught:
        verify(json.loads(signed()), {ADA: PUBLIC[1]})

    assert "signature.key" == caught.value.code


@pytest.mark.parametrize(
    "manifest",
    [
        b"[]",
        b"{}",
        b'{"integrity": 1}',
        b'{"integrity": {"signatures": {}}}',
        b'{"integrity": {"signatures": [1]}}',
    ],
)
def test_what_cannot_be_signed(manifest):
    """A manifest without an integrity object, or with other signatures, is refused."""
    with pytest.raises(CallerError) as caught:
        sign(manifest, PRIVATE[0])

    assert "signature.manifest" == caught.value.code


def test_only_strict_json_is_signed():
    """What two readers could read differently is never signed."""
    with pytest.raises(StrictJsonError):
        sign(b'{"integrity": {}, "integrity": {}}', PRIVATE[0])


def test_signing_keeps_what_others_wrote():
    """Further keys of another signature, and rows that aren't understood, stay."""
    rows = '[ {"keyId":"x",  "by":{"a":[1]}} ,{"algorithm" : "other"}]'
    manifest = f'{{"integrity":{{"signatures":{rows}}}}}'.encode()
    again = sign(manifest, PRIVATE[0]).decode()

    assert '{"keyId":"x",  "by":{"a":[1]}}, {"algorithm" : "other"}, {' in again
    assert ["bad", "bad", "verified"] == outcomes(again.encode(), ADA)


def test_reports_are_plain_data():
    """A report goes into JSON whole and comes back equal."""
    report = verify(json.loads(signed(*PRIVATE[:2])), keys(ADA)).as_dict()

    assert report == json.loads(json.dumps(report))
    assert ["verified", "untrusted"] == [row["outcome"] for row in report["signatures"]]


def test_values_are_base64url_of_the_signature():
    """The value is 64 bytes in base64url without padding."""
    value = first(json.loads(signed()))["value"]

    assert 64 == len(base64.urlsafe_b64decode(value + "=="))
    assert "=" not in value


def test_unsigned_packages_cost_no_cryptography():
    """Checking an unsigned manifest doesn't load the cryptography library."""
    code = (
        "import sys\n"
        "from uaix_core.packages.signatures import verify\n"
        "verify({'integrity': {}})\n"
        "print('cryptography' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert "False" == done.stdout.strip()
