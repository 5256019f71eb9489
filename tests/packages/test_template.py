from __future__ import annotations

import json

import pytest
from tests.packages.package_maker import (
    MANIFEST,
    NOW,
    REQUIRED,
    SENTINEL,
    Maker,
    codes,
    digest,
)

from uaix_core.packages.lint import lint
from uaix_core.packages.manifest.bases import (
    MAX_BASES,
    declared_bases,
    without_bases,
)
from uaix_core.packages.source import PackageSource
from uaix_core.packages.templates.new import (
    FURTHER_SCOPES,
    KINDS,
    new_package,
    repack,
)
from uaix_core.values.errors import CallerError
from uaix_core.values.strict_json import StrictJsonError

SCOPES = {
    "universal": ("universal",),
    "persona": ("persona_profile",),
    "advanced-persona": ("advanced_persona_profile",),
    "handoff": ("project_handoff", "code_bearing"),
    "assistant": ("non_project_assistant",),
}
#: What each text has to say, by label, and in which files.
DUTIES = {
    "persona": (
        "Name",
        "Purpose",
        "Voice",
        "Symbolic posture",
        "Interaction position",
        "Relationship limits",
        "Blocked claims",
        "Switching behaviour",
        "Privacy limits",
        "Consent limits",
        "Persona-preservation policy",
    ),
    "assistant": (
        "Assistant identity",
        "User-facing purpose",
        "Interaction boundary",
        "Privacy boundary",
        "Memory-update rules",
        "Refusal/no-op triggers",
        "Review cadence",
        "Import notice",
    ),
    "code": (
        "Source roots",
        "Commands",
        "Test surfaces",
        "Support limits",
        "Next work",
    ),
    "file-handoff": (
        "Active-intake bucket declaration",
        "Disposition rules",
        "Redaction rules",
        "Evidence retention path",
        "Checksum ledger or receipt route",
        "Source-site removal rule",
        "Final-report fields",
    ),
}
CODE = ("coding-standards", "architecture", "test-plan", "next-recursive-prompt")
EVIDENCE = {
    "source-excerpts",
    "fidelity-tests",
    "variance-report",
    "source-platform",
    "provenance",
}


def new(kind, **options):
    fields = {"package_id": "first-one", "created_at": NOW, "issuer": "me.example"}
    return new_package(kind, **{**fields, **options})


def check(files):
    return lint(PackageSource(files=files), now=NOW)


@pytest.mark.parametrize("kind", KINDS)
def test_new_packages_pass(kind):
    """A new package of each kind passes lint without an error or a warning."""
    report = check(new(kind))

    assert report.is_accepted
    assert {"set.extra"} >= {finding.code for finding in report.findings}
    assert "quarantined" == report.package.state
    assert report.package.package_digest == (
        report.package.manifest.integrity.package_digest
    )


@pytest.mark.parametrize("kind", KINDS)
def test_new_packages_hold_what_their_kind_requires(kind):
    """A new package has its kind's files, evidence for an advanced persona, no more."""
    paths = set(new(kind)) - {MANIFEST}
    evidence = {path for path in paths if path.startswith("evidence/")}

    assert {*Maker(*SCOPES[kind]).files} - evidence == paths - evidence
    assert (EVIDENCE if kind == "advanced-persona" else set()) == {
        path.removeprefix("evidence/").removesuffix(".md") for path in evidence
    }
    assert {path for scope in SCOPES[kind] for path in REQUIRED[scope]} <= paths


@pytest.mark.parametrize("kind", KINDS)
def test_starter_texts_are_text_to_edit(kind):
    """Every file has a title, says what belongs there and shows an example."""
    for path, data in new(kind).items():
        if path.endswith(".json"):
            continue
        text = data.decode("utf-8")
        assert "\r" not in text
        assert text.endswith("\n")
        body = text.split("---\n\n", 1)[-1]
        title, _, belongs = body.partition("\n\n")
        assert title.startswith("# ")
        assert len(belongs.split("\n\n## ")[0]) > 40, path
        assert "\n## " in body


def headings(files, *stems):
    """The headings of these memory files."""
    texts = [files[f".uai/{stem}.uai"].decode() for stem in stems]
    return {
        line[3:] for text in texts for line in text.split("\n") if line[:3] == "## "
    }


@pytest.mark.parametrize(
    ("kind", "duty", "stems"),
    [
        ("persona", "persona", ["persona"]),
        ("advanced-persona", "persona", ["persona"]),
        ("assistant", "persona", ["persona"]),
        ("assistant", "assistant", ["persona"]),
        ("handoff", "code", CODE),
        ("handoff", "file-handoff", ["file-handoff"]),
    ],
)
def test_starter_texts_do_their_duties(kind, duty, stems):
    """What the standard asks a text to say has a heading in the starter text."""
    files = new(kind, also=["agent_file_handoff"])

    assert set(DUTIES[duty]) <= headings(files, *stems)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scopes", [FURTHER_SCOPES[:1], FURTHER_SCOPES])
def test_further_scopes_bring_their_files(kind, scopes):
    """A scope that is declared as well comes with its files and passes lint."""
    files = new(kind, also=scopes)
    manifest = json.loads(files[MANIFEST])

    assert {"set.extra"} >= {finding.code for finding in check(files).findings}
    assert set(Maker(*SCOPES[kind], *scopes).files) <= files.keys()
    assert {"universal", *SCOPES[kind], *scopes} == set(manifest["declaredScopes"])
    assert SCOPES[kind][0] == manifest["profileId"]


def test_files_stand_under_the_scope_that_requires_them():
    """Each entry names the declared scope that its file is there for."""
    manifest = json.loads(new("handoff")[MANIFEST])
    scopes = {entry["path"]: entry["scope"] for entry in manifest["files"]}

    for scope in ("project_handoff", "code_bearing"):
        assert {scope} == {scopes[path] for path in REQUIRED[scope]}
    assert "universal" == scopes[".uai/totem.uai"]


def test_the_read_order_of_a_hand_off():
    """The export manifest names the start-up order, without itself, and the scopes."""
    files = new("handoff")
    exported = json.loads(files[".uai/exports/manifest.json"])
    entrypoints = json.loads(files[MANIFEST])["entrypoints"]

    assert [*SCOPES["handoff"]] == exported["packageProfile"]
    assert exported["activeReadOrder"] == [
        path for path in entrypoints if path != ".uai/exports/manifest.json"
    ]


def test_new_packages_are_reproducible():
    """The same arguments give the same bytes; another id gives other stable ids."""
    assert new("persona") == new("persona")
    ids = [
        {row["stableId"] for row in json.loads(files[MANIFEST])["files"]}
        for files in (new("persona"), new("persona", package_id="second"))
    ]
    assert not ids[0] & ids[1]


def test_entrypoints_are_in_startup_order():
    """A new manifest names its files to load in start-up order."""
    manifest = json.loads(new("persona")[MANIFEST])

    assert ".uai/memory-maintenance.uai" == manifest["entrypoints"][0]
    assert ".uai/persona.uai" == manifest["entrypoints"][-1]
    assert "2026-06-01T12:00:00Z" == manifest["createdUtc"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"kind": "novel"}, "template.kind"),
        ({"also": ["persona_profile"]}, "template.scope"),
        ({"package_id": "../x"}, "id.package"),
        ({"package_id": "con"}, "id.package"),
        ({"issuer": ""}, "template.text"),
        ({"source": ""}, "template.text"),
        ({"created_at": 10**20}, "instant.range"),
    ],
)
def test_wrong_arguments_are_the_callers_error(options, code):
    """A kind, id, text or instant that can't be used is refused."""
    with pytest.raises(CallerError) as caught:
        new(**{"kind": "universal", **options})

    assert code == caught.value.code


def test_repack_of_an_untouched_folder_changes_nothing():
    """Repacking what wasn't edited gives the same bytes."""
    files = new("advanced-persona")
    again = repack(files)

    assert files == again.files
    assert ((), (), ()) == (again.changed, again.undeclared, again.missing)


def test_repack_changes_sizes_and_digests_only():
    """After an edit only that entry's size and digest and the package digest change."""
    files = new("persona")
    files[".uai/totem.uai"] = b"We hold to what we said.\n"
    assert not check(files).is_accepted
    again = repack(files)

    assert (".uai/totem.uai",) == again.changed
    assert check(again.files).is_accepted
    before, after = (
        text.decode().splitlines() for text in (files[MANIFEST], again.files[MANIFEST])
    )
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert ["sizeBytes", "sha256", "packageDigest"] == [
        line.split('"')[1] for line in changed
    ]


def test_repack_keeps_every_other_byte():
    """Odd spacing, key order, escapes, unknown fields and CRLF stay as they were."""
    maker = Maker()
    text = json.dumps(maker.manifest, indent=3).replace("\n", "\r\n")
    text = text.replace('"sizeBytes": ', '"\\u0073izeBytes"  :')
    text = text.replace(
        '"files"', '"x": [{"sha256": "[{,:", "files": [1, {}]}], "files"'
    )
    maker.files[".uai/taboo.uai"] += b"more\n"
    maker.raw = text.encode()
    again = repack(maker.folder().files)
    data = maker.files[".uai/taboo.uai"]
    entry = maker.entry(".uai/taboo.uai")

    expected = text.replace(entry["sha256"], digest(data)).replace(
        f'  :{entry["sizeBytes"]},\r\n         "sha256": "{digest(data)}',
        f'  :{len(data)},\r\n         "sha256": "{digest(data)}',
    )
    assert expected.encode() == again.files[MANIFEST]
    assert check(again.files).is_accepted


def test_repack_replaces_sentinels():
    """A placeholder becomes the real digest, of a file and of the package."""
    maker = Maker()
    maker.manifest["files"][0]["sha256"] = SENTINEL
    maker.manifest["integrity"]["packageDigest"] = SENTINEL
    again = repack(maker.folder().files)

    assert "quarantined" == check(again.files).package.state


def bare(files):
    """The manifest of a folder without what it says that it was made over."""
    text = files[MANIFEST].decode()
    return without_bases(text, json.loads(text))


@pytest.mark.parametrize("indent", [None, 3])
def test_repack_says_what_a_manifest_was_made_over(indent):
    """A manifest that changes names the one before it, and no other byte is new."""
    maker = Maker()
    maker.raw = json.dumps(maker.manifest, indent=indent).encode()
    files = dict(maker.folder().files)
    assert files == repack(files, says_base=True).files
    named = []
    for number in range(MAX_BASES + 2):
        named.insert(0, digest(files[MANIFEST]))
        files[".uai/totem.uai"] += b"%d\n" % number
        again = repack(files, says_base=True).files
        assert check(again).is_accepted
        assert bare(repack(files).files) == bare(again)
        assert tuple(named[:MAX_BASES]) == declared_bases(json.loads(again[MANIFEST]))
        files = again
    assert codes(check(maker.folder().files)) >= codes(check(files))


def test_repack_reports_and_adds_nothing():
    """New files are undeclared, deleted ones missing; neither is settled silently."""
    files = new("universal")
    files["docs/new.md"] = b"new"
    del files[".uai/totem.uai"]
    again = repack(files)

    assert ("docs/new.md",) == again.undeclared
    assert (".uai/totem.uai",) == again.missing
    assert files[MANIFEST] == again.files[MANIFEST]


@pytest.mark.parametrize(
    ("manifest", "code"),
    [
        (None, "manifest.missing"),
        (b"[]", "manifest.type"),
        (b'{"files": 1}', "manifest.type"),
    ],
)
def test_repack_needs_a_manifest(manifest, code):
    """A folder without a manifest that lists files can't be repacked."""
    with pytest.raises(CallerError) as caught:
        repack({} if manifest is None else {MANIFEST: manifest})

    assert code == caught.value.code


def test_repack_refuses_loose_json():
    """A manifest that isn't strict JSON is refused, not repaired."""
    with pytest.raises(StrictJsonError):
        repack({MANIFEST: b'{"files": [], "files": []}'})
