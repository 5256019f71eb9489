from __future__ import annotations

import json
import subprocess
import sys
import uuid

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packages.package_maker import MANIFEST, SENTINEL, Maker, codes, digest

from uaix_core.packages.manifest.codec import (
    from_wire,
    read_entrypoints,
    to_bytes,
    to_wire,
    wire_fields,
)
from uaix_core.packages.manifest.values import (
    FileEntry,
    Integrity,
    Manifest,
    derived_stable_id,
    files_digest,
)

TOP = (
    "uaixVersion packageFormat packageId profileId status createdUtc issuer "
    "declaredScopes entrypoints files integrity supportBoundary"
)
ENTRY = "path role requiredStatus scope mediaType sizeBytes sha256 reviewState source"
NAMES = st.text("abcxyz", min_size=1, max_size=4).map("x-{}".format)
EXTRAS = st.dictionaries(NAMES, st.none() | st.integers(0, 9) | st.text(max_size=3))


def wire_of(*scopes) -> dict:
    return json.loads(Maker(*scopes).manifest_bytes())


def test_wire_names_are_the_standards():
    """The codec knows the twelve fields, the nine of an entry, and our own two."""
    assert (*TOP.split(" "), "basedOn") == wire_fields(Manifest)
    assert (*ENTRY.split(" "), "stableId") == wire_fields(FileEntry)
    assert ("algorithm", "digestScope", "packageDigest") == wire_fields(Integrity)


@given(EXTRAS, EXTRAS, EXTRAS)
def test_unknown_fields_go_through_unchanged(top, entry, integrity):
    """Fields that the format doesn't name come back on all three levels."""
    wire = wire_of("persona_profile")
    wire.update(top)
    wire["files"][2].update(entry)
    wire["integrity"].update(integrity)
    manifest = from_wire(wire)
    wire["files"].sort(key=lambda row: row["path"])

    assert wire == to_wire(manifest)
    assert wire == json.loads(to_bytes(manifest))
    assert top == manifest.extra
    assert integrity == manifest.integrity.extra


def test_written_form_is_fixed():
    """A manifest is written in UTF-8 with LF, its files sorted by code points."""
    maker = Maker()
    for path in (".uai/notes/\U0001f331.uai", ".uai/notes/\uff5a.uai", ".uai/B.uai"):
        maker.add(path)
    maker.manifest["issuer"] = "Zoë"
    data = to_bytes(from_wire(maker.manifest))

    assert "Zoë".encode() in data
    assert b"\r" not in data
    assert data.endswith(b"}\n")
    paths = [row["path"] for row in json.loads(data)["files"]]
    assert sorted(maker.files) == paths
    assert data == to_bytes(from_wire(json.loads(data)))


def test_spellings_are_kept():
    """Folded words are warned about and written back as they were read."""
    maker = Maker("persona_profile")
    entry = maker.entry(".uai/persona.uai")
    spelled = {
        "scope": "Persona-Profile",
        "requiredStatus": " profile required",
        "role": "PERSONA",
        "reviewState": "Review-Required",
    }
    entry.update(spelled)
    maker.manifest["declaredScopes"] = ["universal", "persona profile"]
    report = maker.lint()

    assert report.is_accepted
    assert {"scope.folded", "required.folded", "role.folded", "review.folded"} == codes(
        report
    )
    manifest = report.package.manifest
    written = next(
        row for row in to_wire(manifest)["files"] if row["path"] == entry["path"]
    )
    assert spelled == {name: written[name] for name in spelled}
    assert {"universal", "persona_profile"} == manifest.scopes


@pytest.mark.parametrize(
    "wire",
    [
        [".uai/identity.uai", ".uai/totem.uai"],
        [
            {"path": ".uai/totem.uai", "order": 2},
            {"path": ".uai/identity.uai", "order": 1},
        ],
        [
            {"path": ".uai/totem.uai", "order": 1},
            {"path": ".uai/identity.uai", "order": 1},
        ],
        {"then": ".uai/totem.uai", "first": ".uai/identity.uai"},
    ],
)
def test_three_shapes_of_entrypoints(wire):
    """Entrypoints are read from a list, placed objects or named paths."""
    maker = Maker()
    maker.manifest["entrypoints"] = wire
    report = maker.lint()

    assert () == report.findings
    paths = (".uai/identity.uai", ".uai/totem.uai")
    assert paths == report.package.manifest.entrypoints
    assert list(paths) == to_wire(report.package.manifest)["entrypoints"]
    assert () == read_entrypoints([])


@pytest.mark.parametrize(
    "wire",
    [
        "x",
        ["x", {"path": "x", "order": 1}],
        [{"path": "x"}],
        [{"path": "x", "order": True}],
        [1],
        {"x": 1},
        [""],
    ],
)
def test_other_shapes_are_refused(wire):
    """Any other shape of entrypoints is a wrong type."""
    maker = Maker()
    maker.manifest["entrypoints"] = wire

    assert ["entrypoints"] == [
        f.path for f in maker.lint().findings if f.code == "manifest.type"
    ]


@pytest.mark.parametrize("field", TOP.split(" "))
def test_every_field_is_required(field):
    """Each of the twelve fields is missed when it is left out."""
    maker = Maker()
    del maker.manifest[field]
    report = maker.lint()

    assert [field] == [f.path for f in report.findings if f.code == "manifest.field"]


@pytest.mark.parametrize("field", ENTRY.split(" "))
def test_every_field_of_an_entry_is_required(field):
    """Each of the nine fields of an entry is missed when it is left out."""
    maker = Maker()
    del maker.manifest["files"][3][field]
    report = maker.lint()

    assert [f"files[3].{field}"] == [
        f.path for f in report.findings if f.code == "manifest.field"
    ]


@pytest.mark.parametrize("field", TOP.split(" "))
@pytest.mark.parametrize("value", [None, True, 7, 1.5])
def test_types_of_fields(field, value):
    """No field of the manifest is null, a boolean or a number."""
    maker = Maker()
    maker.manifest[field] = value
    report = maker.lint()

    assert [field] == [f.path for f in report.findings if f.code == "manifest.type"]


@pytest.mark.parametrize("field", ENTRY.split(" "))
@pytest.mark.parametrize("value", [None, True, 1.5, [], -1])
def test_types_of_an_entrys_fields(field, value):
    """No field of an entry is null, a boolean, a fraction, a list or negative."""
    maker = Maker()
    maker.manifest["files"][3][field] = value
    report = maker.lint()

    assert [f"files[3].{field}"] == [
        f.path for f in report.findings if f.code == "manifest.type"
    ]


@pytest.mark.parametrize(
    "field", ["uaixVersion", "status", "issuer", "packageId", "declaredScopes"]
)
def test_empty_values_are_refused(field):
    """A text or the list of scopes can't be empty."""
    maker = Maker()
    maker.manifest[field] = type(maker.manifest[field])()

    assert "manifest.type" in codes(maker.lint())


@pytest.mark.parametrize("key", ["algorithm", "digestScope"])
def test_integrity_names_its_algorithm_and_scope(key):
    """Integrity without its algorithm or digest scope lacks a field."""
    maker = Maker()
    del maker.manifest["integrity"][key]

    assert [f"integrity.{key}"] == [
        f.path for f in maker.lint().findings if f.code == "manifest.field"
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("2026-01-02T03:04:05Z", None),
        ("2026-01-02T03:04:05.5Z", None),
        ("2026-01-02t03:04:05Z", "time.syntax"),
        ("2026-01-02 03:04:05Z", "time.syntax"),
        ("2026-01-02T03:04:05", "time.syntax"),
        ("2026-01-02T03:04:05.Z", "time.syntax"),
        ("2026-01-02T03:04Z", "time.syntax"),
        ("\u0662026-01-02T03:04:05Z", "time.syntax"),
        ("", "time.syntax"),
        ("0000-01-01T00:00:00Z", "time.date"),
        ("2026-13-01T00:00:00Z", "time.date"),
        ("2026-01-01T24:00:00Z", "time.date"),
        ("2016-12-31T23:59:60Z", "time.date"),
        ("9999-12-31T23:59:59.999999999Z", "time.future"),
    ],
)
def test_created_is_a_real_utc_time(text, code):
    """CreatedUtc has one pattern and names a date that exists."""
    maker = Maker()
    maker.manifest["createdUtc"] = text

    assert ({code} if code else set()) == codes(maker.lint())


@pytest.mark.parametrize("word", ["con", "NUL", "Lpt9.x", "aux.", "-a", "a" * 129, "é"])
def test_ids_that_are_refused(word):
    """An id is short, plain, and no device name on any platform."""
    maker = Maker()
    maker.manifest["packageId"] = word

    assert {"id.package"} == codes(maker.lint())


def test_stable_ids():
    """An entry keeps its stableId; one without gets the same UUIDv5 every time."""
    maker = Maker()
    maker.entry(".uai/totem.uai")["stableId"] = "kept-1"
    manifest = maker.lint().package.manifest
    ids = {entry.path: manifest.stable_id(entry) for entry in manifest.files}

    assert "kept-1" == ids[".uai/totem.uai"]
    assert derived_stable_id("made-by-code", ".uai/taboo.uai") == ids[".uai/taboo.uai"]
    package = uuid.uuid5(uuid.NAMESPACE_URL, "urn:uaix:package:made-by-code")
    assert str(uuid.uuid5(package, ".uai/taboo.uai")) == ids[".uai/taboo.uai"]
    assert len(set(ids.values())) == len(ids)


def test_files_digest_leaves_the_manifest_out():
    """The package digest is over sorted lines and never over the manifest."""
    rows = [("b", 1, "2" * 64), (MANIFEST, 9, "9" * 64), ("a", 10, "1" * 64)]
    lines = f"{'1' * 64} 10 a\n{'2' * 64} 1 b\n"

    assert digest(lines.encode()) == files_digest(rows)
    assert digest(b"") == files_digest([])


def test_sentinels_are_seen():
    """A manifest knows whether any of its digests is a placeholder."""
    manifest = Maker().lint().package.manifest

    assert not manifest.is_sentinel
    assert attrs.evolve(
        manifest, integrity=Integrity(package_digest=SENTINEL)
    ).is_sentinel


def test_codec_loads_cattrs_on_first_use():
    """Importing lint loads no cattrs; structuring does."""
    code = "import sys, uaix_core.packages.lint; print('cattrs' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert "False" == done.stdout.strip()
