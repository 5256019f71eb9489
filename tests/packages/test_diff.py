"""Laws of the diff of two packages: complete, mirrored, and told in its own terms."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packages.package_maker import MANIFEST, Maker

from uaix_core import CallerError, PackageSource
from uaix_core.packages.diff import diff_packages, readable_files

NOTE = ".uai/notes.uai"
VOICE = ".uai/identity.uai"


def files(**manifest) -> dict[str, bytes]:
    """The files of a universal package with one further file."""
    maker = Maker()
    maker.add(NOTE, b"A first note.\n")
    maker.manifest |= manifest
    return {**maker.files, MANIFEST: maker.manifest_bytes()}


def with_manifest(bodies, edit) -> dict[str, bytes]:
    """The same bodies under a manifest that was edited."""
    wire = json.loads(bodies[MANIFEST])
    edit(wire)
    return {**bodies, MANIFEST: json.dumps(wire).encode()}


def entry(wire, path):
    """The manifest entry of a path."""
    return next(row for row in wire["files"] if row["path"] == path)


def mirrored(found):
    """What the diff the other way round has to say, as plain data."""
    swap = {"added": "removed", "removed": "added", "changed": "changed"}

    def field(row):
        names = {"before": "after", "after": "before"}
        turned = {names.get(name, name): value for name, value in row.items()}
        return {**turned, "change": swap[row["change"]]}

    return {
        "equal": found["equal"],
        "manifest_kind": found["manifest_kind"],
        "manifest": [field(row) for row in found["manifest"]],
        "added": found["removed"],
        "removed": found["added"],
        "changed": [
            {
                **row,
                "size_before": row["size"],
                "size": row["size_before"],
                "sha256_before": row["sha256"],
                "sha256": row["sha256_before"],
                "dimensions": sorted(map(field, row["dimensions"]), key=str),
            }
            for row in found["changed"]
        ],
    }


def test_equal_packages_have_no_difference():
    """A package differs in nothing from itself."""
    found = diff_packages(files(), files())

    assert found.is_equal
    assert [True, None, *([[]] * 6)] == list(found.as_dict().values())


def test_manifest_fields_are_told_by_their_json_path():
    """Each field of the manifest that differs is named, with both of its values."""

    def edit(wire):
        wire["issuer"] = "others"
        wire["createdUtc"] = "2026-02-03T04:05:06Z"
        wire["integrity"]["note"] = True
        del wire["status"]

    before = files()
    found = diff_packages(before, with_manifest(before, edit))

    wire = json.loads(before[MANIFEST])
    assert [
        ("createdUtc", "changed", wire["createdUtc"], "2026-02-03T04:05:06Z"),
        ("integrity.note", "added", None, True),
        ("issuer", "changed", wire["issuer"], "others"),
        ("status", "removed", wire["status"], None),
    ] == [(f.place, f.change, f.before, f.after) for f in found.manifest]
    assert "content" == found.manifest_kind
    added = found.manifest[1].as_dict()
    assert {"place": "integrity.note", "change": "added", "after": True} == added


@pytest.mark.parametrize(
    ("before", "after", "places"),
    [
        (["a", "b"], ["a", "c"], ["x[1]"]),
        (["a"], ["a", "b"], ["x"]),
        ({"a": 1}, {"a": True}, ["x.a"]),
        (1, 1.0, ["x"]),
        (None, False, ["x"]),
        ([{"a": []}], [{"a": {}}], ["x[0].a"]),
    ],
)
def test_json_values_are_compared_as_json(before, after, places):
    """Lists of one length are compared by place, and true is not 1."""
    found = diff_packages(files(x=before), files(x=after))

    assert places == [field.place for field in found.manifest]


def test_a_manifest_in_other_spelling_differs_in_spelling_alone():
    """Blanks of a manifest are a difference of bytes and of no field."""
    before = files()
    respelled = with_manifest(before, lambda _wire: None)
    found = diff_packages(before, respelled)

    assert before[MANIFEST] != respelled[MANIFEST]
    assert ("spelling", (), ()) == (found.manifest_kind, found.manifest, found.entries)
    assert not found.is_equal


def test_added_and_removed_files_are_named():
    """A file that only one side has is added or removed, whatever a manifest says."""
    before = files()
    after = {**before, ".uai/more.uai": b"More.\n"}
    del after[NOTE]

    found = diff_packages(before, after)

    assert ((".uai/more.uai",), (NOTE,)) == (found.added, found.removed)
    assert ((), ()) == (found.changed, found.entries)


def test_a_file_moves_with_its_stable_id():
    """The same stable id at another path is a move, also when the bytes change."""

    def edit(wire):
        row = entry(wire, NOTE)
        row |= {"path": ".uai/moved.uai", "stableId": "note-1"}

    before = with_manifest(
        files(), lambda wire: entry(wire, NOTE).update(stableId="note-1")
    )
    after = with_manifest(before, edit)
    after[".uai/moved.uai"] = after.pop(NOTE) + b"And more.\n"

    found = diff_packages(before, after)

    assert [(NOTE, ".uai/moved.uai")] == [(m.path_before, m.path) for m in found.moved]
    assert [".uai/moved.uai"] == [c.path for c in found.changed]
    assert ((), ()) == (found.added, found.removed)
    (fields,) = [row.fields for row in found.entries]
    assert ["path"] == [field.place for field in fields]


def test_files_that_change_places_moved():
    """Two files that swap their paths with their ids are two moves and no edit."""
    other = ".uai/other.uai"
    maker = Maker()
    maker.add(NOTE, b"A.\n", stableId="a")
    maker.add(other, b"B.\n", stableId="b")
    before = {**maker.files, MANIFEST: maker.manifest_bytes()}

    def edit(wire):
        entry(wire, NOTE)["path"] = "?"
        entry(wire, other)["path"] = NOTE
        entry(wire, "?")["path"] = other

    after = with_manifest(before, edit)
    after |= {NOTE: before[other], other: before[NOTE]}

    found = diff_packages(before, after)

    assert {(NOTE, other), (other, NOTE)} == {
        (m.path_before, m.path) for m in found.moved
    }
    assert () == found.changed


def test_a_copy_under_new_ids_has_the_same_files():
    """Where every id is new, files are the same ones by their paths."""

    def edit(wire):
        wire["packageId"] = "clone"
        for number, row in enumerate(wire["files"]):
            row["stableId"] = f"id-{number}"

    before = files()
    found = diff_packages(before, with_manifest(before, edit))

    assert ((), (), (), ()) == (found.added, found.removed, found.moved, found.changed)
    assert len(before) - 1 == len(found.entries)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (b"One.\nTwo.\n", b"One.\r\nTwo.\r\n", "line_ends"),
        (b"One.\nTwo.\n", b"One.\rTwo.\r", "line_ends"),
        (b"# A\n\nOne.\n", b"# A\n\n\nOne.\n", "spelling"),
        (b"# A\n\nOne.\n", b"\xef\xbb\xbf# A\n\nOne.\n", "spelling"),
        (b"One.\n", b"Two.\n", "content"),
        (b"One.\n", b"\xff", "content"),
    ],
)
def test_how_bytes_differ(before, after, kind):
    """Line ends alone, other spelling under one canonical digest, or content."""
    found = diff_packages({**files(), NOTE: before}, {**files(), NOTE: after})

    (changed,) = found.changed
    assert (NOTE, kind) == (changed.path, changed.kind)
    assert (len(before), len(after)) == (changed.size_before, changed.size)


def test_line_ends_change_no_field():
    """A registered file whose line ends alone differ differs in no field."""
    body = b"# Identity\n\nName: Ada\n\n## Voice\n\nWarm.\n"
    crlf = body.replace(b"\n", b"\r\n")
    found = diff_packages({**files(), VOICE: body}, {**files(), VOICE: crlf})

    assert [("line_ends", ())] == [(c.kind, c.dimensions) for c in found.changed]


def test_fields_are_told_with_values_section_and_disclosure():
    """Of a registered file each field that differs is told, old and new."""
    before = (
        b"# Identity\n\nName: Ada\nAge: 30\n\n"
        b"## Birth\n\nDisclosure: private\nYear: 1815\n"
    )
    after = (
        b"# Identity\n\nName: Eve\nPlace: Paris\n\n"
        b"## Birth\n\nDisclosure: public\nYear: 1815\n"
    )
    found = diff_packages({**files(), VOICE: before}, {**files(), VOICE: after})

    (changed,) = found.changed
    told = {
        (d.section, d.field): (
            d.change,
            None if d.before is None else (d.before.value, d.before.disclosure),
            None if d.after is None else (d.after.value, d.after.disclosure),
        )
        for d in changed.dimensions
    }
    assert ("changed", ("Ada", None), ("Eve", None)) == told["", "name"]
    assert ("removed", ("30", None), None) == told["", "age"]
    assert ("added", None, ("Paris", None)) == told["", "place"]
    year = ("changed", ("1815", "private"), ("1815", "public"))
    assert year == told["birth", "year"]


def test_one_item_of_a_list_is_one_difference():
    """Of several values of a field those that stay are not told."""
    before = b"## Words\n\n- one\n- two\n- three\n"
    after = b"## Words\n\n- three\n- one\n- four\n"
    found = diff_packages({**files(), VOICE: before}, {**files(), VOICE: after})

    (changed,) = found.changed
    assert [("two", "four")] == [
        (d.before.value, d.after.value) for d in changed.dimensions
    ]


def test_other_files_are_not_taken_apart():
    """A file that no scope registers is compared as bytes, as stores keep it."""
    found = diff_packages(
        {**files(), NOTE: b"Name: Ada\n"}, {**files(), NOTE: b"Name: Eve\n"}
    )

    assert [()] == [changed.dimensions for changed in found.changed]


bodies = st.lists(
    st.sampled_from(["Name: Ada", "Name: Eve", "## Voice", "- warm", "- dry", ""]),
    max_size=5,
).map(lambda lines: ("\n".join(lines) + "\n").encode())


@given(bodies, bodies, st.sampled_from(["a", "b"]), st.booleans())
def test_a_diff_is_mirrored(before, after, issuer, keeps):
    """The diff the other way round says the same with sides changed."""
    one = {**files(issuer="a"), VOICE: before}
    other = {**files(issuer=issuer), VOICE: after}
    if not keeps:
        del other[NOTE]

    there = diff_packages(one, other).as_dict()
    back = diff_packages(other, one).as_dict()

    wanted = mirrored(there)
    for row in back["changed"]:
        row["dimensions"].sort(key=str)
    assert wanted == {name: back[name] for name in wanted}


@given(bodies, bodies)
def test_a_diff_is_empty_only_for_equal_bytes(before, after):
    """Packages without a difference have the same bytes."""
    one, other = {**files(), VOICE: before}, {**files(), VOICE: after}

    assert (one == other) == diff_packages(one, other).is_equal


@pytest.mark.parametrize(
    ("manifest", "code"),
    [(None, "manifest.missing"), (b"[]", "manifest.type"), (b"{", "json.syntax")],
)
def test_what_has_no_manifest_cant_be_compared(manifest, code):
    """Without a manifest that is an object there is nothing to compare."""
    broken = {**files()}
    del broken[MANIFEST]
    if manifest is not None:
        broken[MANIFEST] = manifest

    with pytest.raises(CallerError) as caught:
        diff_packages(files(), broken)

    assert code == caught.value.code


@pytest.mark.parametrize(
    "rows", [None, {}, [1, None, {"path": 1}, {"path": NOTE, "stableId": 3}]]
)
def test_manifests_of_any_shape_are_compared(rows):
    """Whatever the manifest lists, all files are compared by path at least."""
    broken = with_manifest(files(), lambda wire: wire.update(files=rows, packageId=7))
    broken[NOTE] = b"Other.\n"

    found = diff_packages(files(), broken)

    assert [NOTE] == [changed.path for changed in found.changed]
    assert ((), ()) == (found.added, found.removed)


def test_an_id_that_two_files_claim_tells_none_apart():
    """Files that share one id are the same ones by their paths."""
    shared = with_manifest(
        files(), lambda wire: [row.update(stableId="x") for row in wire["files"]]
    )

    assert diff_packages(shared, shared).is_equal
    assert () == diff_packages(files(), shared).moved


def test_readable_files_are_those_of_an_archive():
    """An archive gives its files without being judged, and a folder its own."""
    maker = Maker()
    maker.add(NOTE, b"A note.\n")
    maker.manifest["issuer"] = ""

    assert maker.files[NOTE] == readable_files(maker.archive())[NOTE]
    assert {"a": b"b"} == readable_files(PackageSource(files={"a": b"b"}))


@pytest.mark.parametrize(
    ("archive", "code"),
    [(b"no archive", "zip.not-zip"), (b"", "zip.not-zip")],
)
def test_a_broken_archive_cant_be_compared(archive, code):
    """What isn't one archive from end to end is refused by its rule."""
    with pytest.raises(CallerError) as caught:
        readable_files(PackageSource(archive=archive))

    assert code == caught.value.code
