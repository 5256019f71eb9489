from __future__ import annotations

import copy
import json
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packages.package_maker import (
    MANIFEST,
    REQUIRED,
    SENTINEL,
    Maker,
    codes,
    errors,
)
from tests.packages.rule_cases import CASES
from tests.packages.schema_checker import is_valid

from uaix_core.packages.manifest.json_schema import DIALECT, manifest_schema
from uaix_core.packages.manifest.words import SOFT_STATUSES
from uaix_core.packages.required.sets import RULESETS
from uaix_core.packages.signatures import sign

SCHEMA = manifest_schema()

#: What the schema can't see: the files, and what more than one field decides.
UNSEEN = {
    "manifest.nul",
    "hash.mismatch",
    "size.declared",
    "digest.mismatch",
    "inventory.missing",
    "inventory.undeclared",
    "inventory.repeated",
    "entrypoint.absent",
    "entrypoint.order",
    "id.stable-repeated",
    "scope.undeclared",
    "time.date",
    "content.binary",
    "content.binary-executable",
    "content.encoding",
    "json.depth",
    "json.number",
    "manifest.limit",
}

#: Fields of the made packages that the format doesn't require.
OURS = {"longTermMemory"}

#: What may be said of a package that holds all that is required.
QUIET = {"set.extra", "evidence.missing"}

#: Spellings that are read, and that nobody should write.
FOLDED = {"scope.folded", "required.folded", "review.folded"}


def test_the_dialect():
    """The schema names its dialect, its ruleset and the format."""
    assert (
        "https://json-schema.org/draft/2020-12/schema" == SCHEMA["$schema"] == DIALECT
    )
    assert "urn:uaix-core:manifest-schema:3.138" == SCHEMA["$id"]
    assert SCHEMA == json.loads(json.dumps(SCHEMA))


@pytest.mark.parametrize("pair", list(combinations(REQUIRED, 2)))
def test_complete_packages_keep_the_schema(pair):
    """What lint accepts without a warning, for any two scopes, keeps the schema."""
    maker = Maker(*pair)
    maker.manifest["profileId"] = next(
        (scope for scope in pair if scope == "advanced_persona_profile"), pair[0]
    )

    assert QUIET >= codes(maker.lint())
    assert is_valid(maker.manifest, SCHEMA)


@pytest.mark.parametrize("name", RULESETS)
@pytest.mark.parametrize("scope", REQUIRED)
def test_each_ruleset_has_its_schema(name, scope):
    """A schema is kept by the packages that its ruleset finds complete."""
    maker = Maker(scope)
    accepted = maker.lint(ruleset=name).is_accepted

    assert accepted == is_valid(maker.manifest, manifest_schema(ruleset=name))


def parsed_cases():
    """The broken and the sound package of each rule that isn't about raw bytes."""
    for code, scopes, broken, sound in CASES:
        for name, edit in (("broken", broken), ("sound", sound)):
            maker = Maker(*scopes)
            edit(maker)
            if maker.raw is None and not maker.bare and not maker.doubled:
                yield pytest.param(maker, id=f"{code}-{name}")


@pytest.mark.parametrize("maker", list(parsed_cases()))
def test_the_schema_says_what_lint_says(maker):
    """The schema is broken where lint refuses or folds, unless it can't see that."""
    report = maker.lint()

    refused = errors(report) - UNSEEN | codes(report) & FOLDED
    assert bool(refused) != is_valid(maker.manifest, SCHEMA), refused


@given(st.sampled_from(list(REQUIRED)), st.data())
def test_a_missing_field_breaks_the_schema(scope, data):
    """Every field of the manifest, of an entry and of integrity is required."""
    wire = Maker(scope).manifest
    places = [wire, wire["integrity"], data.draw(st.sampled_from(wire["files"]))]
    place = data.draw(st.sampled_from(places))
    name = data.draw(st.sampled_from(sorted(place.keys() - OURS)))
    value = place.pop(name)

    assert not is_valid(wire, SCHEMA)
    place[name] = value
    assert is_valid(wire, SCHEMA)


@given(st.sampled_from(list(REQUIRED)), st.data())
def test_a_wrong_type_breaks_the_schema(scope, data):
    """Null, a float and a truth value stand for no field."""
    wire = Maker(scope).manifest
    places = [wire, wire["integrity"], data.draw(st.sampled_from(wire["files"]))]
    place = data.draw(st.sampled_from(places))
    place[data.draw(st.sampled_from(sorted(place.keys() - OURS)))] = data.draw(
        st.sampled_from([None, 1.5, True])
    )

    assert not is_valid(wire, SCHEMA)


@pytest.mark.parametrize("scope", REQUIRED)
def test_a_missing_file_breaks_the_schema(scope):
    """The schema asks for every file whose absence refuses a package, no other."""
    whole = Maker(scope)
    for path in list(whole.files):
        maker = copy.deepcopy(whole)
        maker.manifest["entrypoints"] = []
        maker.drop(path)
        assert maker.lint().is_accepted == is_valid(maker.manifest, SCHEMA), path


@pytest.mark.parametrize(
    "change",
    [
        lambda wire: wire.update(uaixVersion="0.2"),
        lambda wire: wire.update(packageFormat="package.v0.1"),
        lambda wire: wire.update(packageId="../x"),
        lambda wire: wire.update(profileId=".x"),
        lambda wire: wire.update(profileId="advanced_persona_profile"),
        lambda wire: wire.update(status=""),
        lambda wire: wire.update(createdUtc="2026-01-02"),
        lambda wire: wire.update(declaredScopes=[]),
        lambda wire: wire["declaredScopes"].append("other"),
        lambda wire: wire["declaredScopes"].append("persona_profile"),
        lambda wire: wire.update(entrypoints=[1]),
        lambda wire: wire.update(entrypoints=[{"path": "a"}]),
        lambda wire: wire.update(basedOn="x"),
        lambda wire: wire["integrity"].update(algorithm="sha512"),
        lambda wire: wire["integrity"].update(digestScope="files-v2"),
        lambda wire: wire["integrity"].update(packageDigest="x"),
        lambda wire: wire["files"][0].update(sizeBytes=-1),
        lambda wire: wire["files"][0].update(sha256="A" * 64),
        lambda wire: wire["files"][0].update(mediaType="text/html"),
        lambda wire: wire["files"][0].update(mediaType="image/png"),
        lambda wire: wire["files"][0].update(requiredStatus="out_of_scope"),
        lambda wire: wire["files"][0].update(requiredStatus="profile_required"),
        lambda wire: wire["files"][0].update(reviewState="done"),
        lambda wire: wire["files"][0].update(scope="other"),
        lambda wire: wire["files"][0].update(source=""),
        lambda wire: wire["files"][0].update(stableId=""),
    ],
    ids=range(26),
)
def test_what_breaks_the_schema_is_refused(change):
    """A broken word breaks the schema, and lint refuses it as well."""
    maker = Maker()
    change(maker.manifest)

    assert not is_valid(maker.manifest, SCHEMA)
    assert not maker.lint().is_accepted


@pytest.mark.parametrize("status", sorted(SOFT_STATUSES))
def test_soft_words_break_the_schema(status):
    """None of the forbidden soft words is a status."""
    maker = Maker()
    maker.manifest["files"][0]["requiredStatus"] = status

    assert not is_valid(maker.manifest, SCHEMA)


@pytest.mark.parametrize(
    ("path", "scopes"),
    [
        ("src/a.py", ()),
        ("README.md", ()),
        (".uai\\a.uai", ()),
        ("docs/", ()),
        (".uai/persona.uai", ("project_handoff",)),
        (".uai/personality/sense-of-winter.uai", ()),
    ],
)
def test_files_in_the_wrong_place_break_the_schema(path, scopes):
    """A file where none may stand, or beside the wrong scopes, breaks the schema."""
    maker = Maker(*scopes)
    maker.add(path, b"x\n")

    assert not is_valid(maker.manifest, SCHEMA)
    assert not maker.lint().is_accepted


@pytest.mark.parametrize(
    "change",
    [
        lambda wire: wire.update(uaixVersion="3.138.0"),
        lambda wire: wire.update(packageFormat="uaix.package.v9"),
        lambda wire: wire.update(createdUtc="2026-01-02T03:04:05.123Z"),
        lambda wire: wire.update(entrypoints={"a": ".uai/totem.uai"}),
        lambda wire: wire.update(entrypoints=[{"path": ".uai/totem.uai", "order": 1}]),
        lambda wire: wire.update(basedOn="a" * 64, other={"kept": [1]}),
        lambda wire: wire["integrity"].update(packageDigest=SENTINEL, more=1),
        lambda wire: wire["files"][0].update(sha256=SENTINEL, source={"by": "hand"}),
        lambda wire: wire["files"][0].update(reviewState="approved", stableId="a", x=1),
    ],
    ids=range(9),
)
def test_what_lint_accepts_keeps_the_schema(change):
    """Other readings, sentinels and further fields keep the schema."""
    maker = Maker()
    change(maker.manifest)

    assert maker.lint().is_accepted
    assert is_valid(maker.manifest, SCHEMA)


def test_evidence_may_be_an_image():
    """Images keep the schema below evidence/ and nowhere else."""
    maker = Maker()
    maker.add("evidence/a.png", b"x", mediaType="image/png")
    assert is_valid(maker.manifest, SCHEMA)
    maker.add("docs/a.png", b"x", mediaType="image/png")
    assert not is_valid(maker.manifest, SCHEMA)


def test_signed_manifests_keep_the_schema():
    """A signature is in the schema, and a malformed one breaks it."""
    wire = json.loads(sign(Maker().manifest_bytes(), b"k" * 32))
    assert is_valid(wire, SCHEMA)
    wire["integrity"]["signatures"][0]["value"] += "="
    assert not is_valid(wire, SCHEMA)


def test_the_manifest_may_list_itself():
    """An own entry of the manifest keeps the schema."""
    maker = Maker()
    maker.manifest["files"].append(
        {**maker.manifest["files"][0], "path": MANIFEST, "sha256": SENTINEL}
    )
    maker.manifest["files"][-1]["requiredStatus"] = "profile_required"

    assert is_valid(maker.manifest, SCHEMA)
