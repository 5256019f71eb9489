from __future__ import annotations

import json
import random
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packages.content_cases import CONTENT_CASES
from tests.packages.package_maker import (
    MANIFEST,
    NOW,
    REQUIRED,
    SENTINEL,
    Maker,
    codes,
    digest,
    errors,
)
from tests.packages.rule_cases import CASES as MANIFEST_CASES

from uaix_core.packages.findings import Findings
from uaix_core.packages.limits import Limits
from uaix_core.packages.lint import KEEP_LIMIT, lint, lint_structure
from uaix_core.packages.rules.archives import ARCHIVE_RULES
from uaix_core.packages.rules.content import CONTENT_ROWS, CONTENT_RULES
from uaix_core.packages.rules.lifecycle import LIFECYCLE_RULES
from uaix_core.packages.rules.manifests import MANIFEST_ROWS, MANIFEST_RULES
from uaix_core.packages.rules.signatures import SIGNATURE_ROWS, SIGNATURE_RULES
from uaix_core.packages.rules.table import RULES
from uaix_core.packages.source import PackageSource
from uaix_core.values.errors import CallerError, IntegrityError

TRIGGERS = {
    "malformed_schema",
    "missing_profile",
    "unsupported_capability_level",
    "authority_boundary_conflict",
    "missing_integrity_checksum",
    "provenance_mismatch",
    "runtime_execution_requested",
    "credential_validation_requested",
    "private_network_probe_requested",
    "philosophical_claim_widening",
    "certification_claim_requested",
    "memory_conflict_unresolved",
}


CASES = [*MANIFEST_CASES, *CONTENT_CASES]
PAGES = (
    ARCHIVE_RULES,
    CONTENT_RULES,
    LIFECYCLE_RULES,
    MANIFEST_RULES,
    SIGNATURE_RULES,
)


def made(scopes, edit) -> Maker:
    maker = Maker(*scopes)
    edit(maker)
    return maker


def test_codes_are_unique():
    """Each rule has a code of its own, within its page and over all pages."""
    assert len(MANIFEST_ROWS) == len(MANIFEST_RULES)
    assert len(CONTENT_ROWS) == len(CONTENT_RULES)
    assert len(SIGNATURE_ROWS) == len(SIGNATURE_RULES)
    assert len(RULES) == sum(map(len, PAGES))


def test_every_rule_has_a_fixture():
    """No rule of these two pages stands without a broken and a sound package."""
    assert [*MANIFEST_RULES, *CONTENT_RULES] == [code for code, *_ in CASES]


@pytest.mark.parametrize(
    "rule", [*MANIFEST_ROWS, *CONTENT_ROWS], ids=lambda rule: rule.code
)
def test_triggers_are_the_standards_words(rule):
    """A trigger is one of the twelve no-op names; every error has one."""
    assert TRIGGERS >= {*rule.triggers}
    assert rule.trigger in TRIGGERS or (
        rule.trigger is None and rule.severity != "error"
    )


@pytest.mark.parametrize(
    ("code", "scopes", "breaks", "_sound"), CASES, ids=[case[0] for case in CASES]
)
def test_broken_packages_are_found(code, scopes, breaks, _sound):
    """A package that breaks a rule gets its finding, and is refused for errors only."""
    report = made(scopes, breaks).lint()

    assert code in codes(report)
    assert (errors(report) == set()) == report.is_accepted
    assert (report.package is not None) == report.is_accepted
    if RULES[code].severity == "error":
        assert code in errors(report)
        assert not report.is_accepted
    else:
        assert report.is_accepted


@pytest.mark.parametrize(
    ("code", "scopes", "_breaks", "sound"), CASES, ids=[case[0] for case in CASES]
)
def test_sound_packages_are_not(code, scopes, _breaks, sound):
    """A package that comes close to breaking a rule does not get its finding."""
    report = made(scopes, sound).lint()

    assert code not in codes(report)


@pytest.mark.parametrize("scope", REQUIRED)
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_complete_packages_pass_without_a_word(scope, method):
    """A complete package of each scope gets no finding but that it holds evidence."""
    report = lint(Maker(scope).archive(method), now=NOW)
    is_advanced = scope == "advanced_persona_profile"

    assert {"set.extra"} & codes(report) == codes(report)
    assert is_advanced == (report.findings != ())
    assert "passed these checks against ruleset 3.138" == report.summary


def test_lenient_turns_three_manifest_rules_into_warnings():
    """Lenient reading forgives unknown scope, missing style file, unregistered path."""
    lenient = {rule.code for rule in MANIFEST_ROWS if rule.lenient == "warning"}

    assert {"scope.unknown", "set.style", "set.unregistered"} == lenient
    for code, scopes, breaks, _ in CASES:
        if code in lenient:
            report = made(scopes, breaks).lint(lenient=True)
            assert report.is_accepted, code
            assert code in codes(report)


def test_checked_package_holds_what_was_recomputed():
    """The checked package carries bytes, digests and sizes as they are."""
    maker = Maker("persona_profile")
    maker.entry(".uai/persona.uai")["sha256"] = SENTINEL
    source = maker.archive()
    package = lint(source, now=NOW).package

    assert maker.manifest_bytes() == package.manifest_bytes
    assert sorted(maker.files) == [file.path for file in package.files]
    assert maker.files == {file.path: file.read() for file in package.files}
    for file in package.files:
        assert digest(maker.files[file.path]) == file.sha256
        assert len(maker.files[file.path]) == file.size
        assert (file.path == ".uai/persona.uai") == file.is_sentinel
    lines = "".join(
        f"{digest(data)} {len(data)} {path}\n"
        for path, data in sorted(maker.files.items())
    )
    assert digest(lines.encode()) == package.package_digest
    assert digest(source.archive) == package.archive_sha256
    assert lint(maker.folder(), now=NOW).package.archive_sha256 is None


@pytest.mark.parametrize(
    ("edit", "state"),
    [
        (lambda m: None, "quarantined"),
        (lambda m: m.manifest["integrity"].update(packageDigest=SENTINEL), "review"),
        (lambda m: m.manifest["files"][0].update(sha256=SENTINEL), "review"),
        (
            lambda m: m.manifest["files"][0].update(
                sha256=SENTINEL, reviewState="approved"
            ),
            "review",
        ),
    ],
)
def test_any_sentinel_keeps_the_package_in_review(edit, state):
    """A sentinel anywhere gives review_required, whatever the package claims."""
    maker = Maker()
    edit(maker)
    package = maker.lint().package

    assert {"review": "review_required"}.get(state, state) == package.state


def test_right_package_digest_passes():
    """A package digest that fits is no finding."""
    maker = Maker()
    maker.manifest["integrity"]["packageDigest"] = maker.lint().package.package_digest

    assert () == maker.lint().findings


def test_faults_do_not_hide_each_other():
    """A structural fault, a wrong word, a wrong digest and a bad body all show."""
    maker = Maker()
    del maker.manifest["issuer"]
    maker.entry(".uai/totem.uai").pop("source")
    maker.entry(".uai/totem.uai")["sha256"] = "a" * 64
    maker.entry(".uai/taboo.uai")["mediaType"] = "text/html"
    maker.add(".uai/notes/a.uai", b"\xff")
    maker.drop(".uai/talisman.uai")

    assert {
        "manifest.field",
        "hash.mismatch",
        "media.unsupported",
        "content.encoding",
        "set.missing",
    } == errors(maker.lint())


def test_limits_end_the_reading():
    """After a limit nothing further is read; the limit itself is named."""
    maker = Maker()
    maker.add(".uai/notes/a.uai", b"\xff" * 2000)
    report = maker.lint(limits=Limits(entry_bytes=1999))

    assert "zip.limit-entry" in errors(report)
    assert "content.encoding" not in codes(report)


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (Limits(entries=7), "zip.limit-entries"),
        (Limits(entry_bytes=20), "zip.limit-entry"),
        (Limits(total_bytes=20), "zip.limit-total"),
        (Limits(manifest_bytes=20), "manifest.limit"),
        (Limits(json_depth=2), "json.depth"),
    ],
)
def test_limits_hold_for_folders(limits, code):
    """A folder meets the limits of an archive."""
    assert code in errors(Maker().lint(limits=limits))
    assert code in errors(lint(Maker().archive(), limits=limits, now=NOW))


def test_damaged_bodies_are_refused_once():
    """A body that can't be inflated is the archive's finding and has no digest."""
    source = Maker().archive(zipfile.ZIP_DEFLATED)
    data = bytearray(source.archive)
    for path in (MANIFEST, ".uai/totem.uai"):
        start = data.index(path.encode()) + len(path)
        damaged = bytes(data[:start]) + b"\xff\xff" + bytes(data[start + 2 :])
        found = codes(lint(PackageSource(archive=damaged), now=NOW))
        assert "zip.deflate" in found
        assert not found & {"hash.mismatch", "manifest.missing", "inventory.missing"}


def test_absence_is_not_claimed_of_a_broken_archive():
    """An archive whose directory can't be read is not said to lack its files."""
    data = Maker().archive().archive
    found = codes(lint(PackageSource(archive=data[:-40]), now=NOW))

    assert not found & {"manifest.missing", "inventory.missing", "set.missing"}


def test_entries_that_are_no_objects():
    """An entry that is no object is a wrong type and hides no other entry."""
    maker = Maker()
    maker.manifest["files"][0:0] = [7, {"role": "totem", "mediaType": "text/html"}]
    report = maker.lint()

    assert ["files[0]"] == [
        f.path for f in report.findings if f.code == "manifest.type"
    ]
    assert {"manifest.type", "manifest.field"} == codes(report)


def test_scopes_that_are_no_words():
    """A declared scope that is no filled text is a wrong type, told by its place."""
    maker = Maker()
    maker.manifest["declaredScopes"] = [1, "universal", ""]

    assert {"declaredScopes[0]", "declaredScopes[2]"} == {
        finding.path for finding in maker.lint().findings
    }


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_bodies_come_back_as_they_were(method):
    """A checked file gives the bytes that were packed, however they were packed."""
    maker = Maker("persona_profile")
    package = lint(maker.archive(method), now=NOW).package

    assert maker.files == {file.path: file.read() for file in package.files}


def test_many_extra_fields_are_counted():
    """Beyond twenty names, and for odd names, extra fields are only counted."""
    maker = Maker()
    for number in range(30):
        maker.manifest["x" * (number + 1)] = number
    maker.manifest["a key"] = maker.manifest["k9"] = 0
    maker.entry(".uai/totem.uai")["mood"] = maker.entry(".uai/taboo.uai")["mood"] = 1
    found = [f for f in maker.lint().findings if f.code == "manifest.extra"]

    assert len(found) <= 22
    assert any("2 times" in f.message for f in found if f.path == "files[].mood")
    assert not any("k9" in (f.path or "") for f in found)


def test_the_manifest_lists_itself_at_most_once():
    """A second entry of the manifest for itself is a repeat."""
    maker = Maker()
    for _ in range(2):
        maker.add(MANIFEST, b"", role="manifest", sha256=SENTINEL)
        del maker.files[MANIFEST]

    assert {"inventory.repeated"} == errors(maker.lint())


def test_the_manifests_own_digest_is_never_taken_on_trust():
    """A self-entry with a digest that isn't the sentinel must match, and can't."""
    maker = Maker()
    maker.add(MANIFEST, b"", role="manifest", sha256="a" * 64)
    del maker.files[MANIFEST]

    assert {"hash.mismatch"} == errors(maker.lint())


@pytest.mark.parametrize("value", [None, 7, []])
def test_package_digest_is_a_text(value):
    """A package digest that is no string is a wrong type."""
    maker = Maker()
    maker.manifest["integrity"]["packageDigest"] = value

    assert {"manifest.type"} == codes(maker.lint())


def test_long_texts_are_checked_in_pieces():
    """A character across the edge of a piece is whole; a broken one is placed."""
    edge = 1024 * 1024
    whole = b"a" * (edge - 2) + "\U0001f331".encode() + b"b" * edge
    maker = Maker()
    maker.add(".uai/notes/a.uai", whole)
    assert {"set.extra", "content.unparsed"} == codes(maker.lint())
    maker.add(".uai/notes/b.uai", whole[:-edge][:-1] + b"b" * edge)
    found = [f for f in maker.lint().findings if f.code == "content.encoding"]

    assert [f"byte {edge - 2} of a text file isn't UTF-8"] == [f.message for f in found]


def test_errors_come_first():
    """Findings are ordered by severity, then path, then code."""
    maker = Maker()
    maker.manifest["mood"] = 1
    maker.entry(".uai/totem.uai").update(role="x", sha256="a" * 64)
    maker.entry(".uai/taboo.uai").update(mediaType="text/html")
    report = maker.lint()

    assert [
        ("error", "media.unsupported"),
        ("error", "hash.mismatch"),
        ("warning", "role.word"),
        ("info", "manifest.extra"),
    ] == [(finding.severity, finding.code) for finding in report.findings]
    assert "refused with 2 errors against ruleset 3.138" == report.summary


def test_report_is_plain_data():
    """A report can be written as JSON and holds no content."""
    maker = Maker()
    maker.add(".uai/notes/a.uai", b"nothing of this may show")
    plain = json.dumps(maker.lint().as_dict())

    assert "accept" == json.loads(plain)["verdict"]
    assert "nothing of this" not in plain


@pytest.mark.parametrize(
    "edit",
    [
        lambda m: m.manifest.update(issuer={"k": "xyzzy"}, status="xyzzy"),
        lambda m: m.manifest.update(packageId="xyzzy/", profileId="xyzzy/"),
        lambda m: m.manifest.update(declaredScopes=["xyzzy"], createdUtc="xyzzy"),
        lambda m: m.entry(".uai/totem.uai").update(
            dict.fromkeys(m.entry(".uai/totem.uai").keys() - {"path"}, "xyzzy")
        ),
        lambda m: m.manifest.update({"xyzzy1": 1}),
        lambda m: m.manifest["integrity"].update(
            algorithm="xyzzy", packageDigest="xyzzy"
        ),
    ],
)
def test_values_are_not_quoted(edit):
    """No finding repeats a value of the manifest: it could be a secret."""
    maker = Maker()
    edit(maker)

    assert "xyzzy" not in json.dumps(maker.lint().as_dict()["findings"])


def test_large_packages_are_read_again_on_demand(monkeypatch):
    """Bodies beyond the keep limit are inflated anew and are the same bytes."""
    monkeypatch.setattr(f"{lint.__module__}.KEEP_LIMIT", KEEP_LIMIT // 64)
    maker = Maker()
    for index in range(3):
        noise = random.Random(index).randbytes(KEEP_LIMIT // 64 // 5).hex()
        maker.add(f".uai/notes/{index}.uai", noise.encode())
    package = lint(maker.archive(zipfile.ZIP_DEFLATED), now=NOW).package

    assert maker.files == {file.path: file.read() for file in package.files}


def test_changed_buffer_is_noticed():
    """A buffer that shrank after the check raises and gives no other bytes."""
    maker = Maker()
    files = {MANIFEST: maker.manifest_bytes(), **maker.files}
    package = lint(PackageSource(files=files), now=NOW).package
    file = package.files[0]
    object.__setattr__(file, "_kept", None)
    object.__setattr__(file._content, "_data", b"")
    with pytest.raises(IntegrityError) as caught:
        file.read()

    assert "package.changed" == caught.value.code


def test_unknown_rulesets_are_the_callers_error():
    """A ruleset that isn't known raises before anything is read."""
    with pytest.raises(CallerError) as caught:
        lint(Maker().folder(), ruleset="latest", now=NOW)

    assert "ruleset.unknown" == caught.value.code


def test_file_name_counts_only_when_given():
    """The extension is judged for a named archive and for nothing else."""
    archive = Maker().archive().archive
    named = lint(PackageSource(name="a.zip", archive=archive), now=NOW)

    assert {"zip.extension"} == errors(named)
    assert lint(PackageSource(archive=archive), now=NOW).is_accepted
    folder = PackageSource(name="a.zip", files=Maker().folder().files)
    assert lint(folder, now=NOW).is_accepted


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["path", "order", "files", "x"]), inner)
    ),
    max_leaves=8,
)


@given(st.binary(max_size=200))
def test_any_bytes_get_a_report(data):
    """Lint answers for any bytes, as an archive or as a manifest, and never raises."""
    assert not lint(PackageSource(archive=data), now=NOW).is_accepted
    assert not lint(PackageSource(files={MANIFEST: data}), now=NOW).is_accepted


@given(st.sampled_from(sorted(Maker().manifest)), JSON)
def test_any_value_of_a_field_gets_a_report(field, value):
    """Lint answers for any JSON value of any field of the manifest."""
    maker = Maker()
    maker.manifest[field] = value
    report = maker.lint()

    assert report.verdict in ("accept", "refuse")


@given(st.sampled_from(sorted(Maker().manifest["files"][0])), JSON)
def test_any_value_of_an_entry_gets_a_report(field, value):
    """Lint answers for any JSON value of any field of an entry."""
    maker = Maker()
    maker.manifest["files"][3][field] = value
    report = maker.lint()

    assert report.verdict in ("accept", "refuse")


def test_long_lists_are_cut_off_by_a_limit():
    """A manifest that lists more than a package may hold is refused, not walked."""
    maker = Maker()
    maker.manifest["entrypoints"] = [str(n) for n in range(5000)]
    report = maker.lint()

    assert "manifest.limit" in errors(report)
    assert "entrypoint.absent" not in codes(report)


def test_same_finding_counts_once():
    """A finding is told apart by code, path and message."""
    findings = Findings(RULES)
    for _ in range(2):
        findings.add("set.missing", "a")

    assert 1 == len(findings)


def test_samples_get_their_verdict(sample_packages):
    """Every sample gets its known verdict, for a reason of the right family."""
    wrong = []
    for line in (sample_packages / "index.jsonl").read_text().splitlines():
        row = json.loads(line)
        accept = row["expect"] == "accept"
        name = row["name"]
        data = (sample_packages / name).read_bytes()
        report = lint(PackageSource(name=name, archive=data), now=NOW)
        families = {f.family for f in report.findings if f.severity == "error"}
        if accept:
            fits = report.is_accepted and report.package.state == row["after"]
        else:
            fits = not families.isdisjoint({row["family"], *row["also"]})
        if not fits:
            wrong.append((name, families))

    assert [] == wrong


@pytest.mark.parametrize(
    ("code", "scopes", "breaks", "_sound"),
    CONTENT_CASES,
    ids=[case[0] for case in CONTENT_CASES],
)
def test_the_structure_can_be_judged_apart(code, scopes, breaks, _sound):
    """Without the content rules all other findings are the same."""
    maker = made(scopes, breaks)
    maker.manifest["mood"] = 1
    maker.manifest["uaixVersion"] = "1.0"
    whole = maker.lint()
    structure = lint_structure(maker.folder(), now=NOW)
    expected = {f for f in whole.findings if f.code not in CONTENT_RULES}

    assert expected == set(structure.findings)
    assert code not in codes(structure)


def test_families_are_the_samples_words(sample_packages):
    """Every family of the rule table is one that the samples' key explains."""
    known = json.loads((sample_packages / "families.json").read_text())

    assert set() == {rule.family for rule in RULES.values()} - known.keys()
