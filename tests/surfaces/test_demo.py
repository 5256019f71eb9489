from __future__ import annotations

import hashlib
import json
import zipfile

import pytest

from uaix_surfaces.cli import demo_steps

MANIFEST = ".uai/manifest.uaix.json"
STEPS = [
    "make",
    "lint",
    "install",
    "export",
    "bytes",
    "manifest",
    "hostile",
    "edit",
    "update",
    "diff",
    "clone",
    "copy",
]


def entries(path):
    """The entries of an archive, read by the standard library alone."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def mismatches(files):
    """The paths whose size or SHA-256 isn't what the manifest says."""
    return [
        entry["path"]
        for entry in json.loads(files[MANIFEST])["files"]
        for data in [files[entry["path"]]]
        if (len(data), hashlib.sha256(data).hexdigest())
        != (entry["sizeBytes"], entry["sha256"])
    ]


@pytest.fixture
def shown(run, tmp_path):
    """The demonstration in a folder of its own, and that folder."""
    ran = run("demo", "there", "--json")
    return ran, tmp_path / "there"


def test_every_step_holds(shown):
    """The demonstration ends with 0 and tells each step on a line."""
    ran, _ = shown

    assert (0, "") == (ran.code, ran.err)
    assert STEPS == [line["name"] for line in ran.lines]
    assert all(line["holds"] for line in ran.lines)
    assert {"step", "name", "title", "holds", "shown", "files"} == set(ran.lines[0])


def test_the_files_that_it_names_are_there(shown, tmp_path):
    """Each file or folder that a step names lies where it says."""
    ran, _ = shown
    named = [tmp_path / name for line in ran.lines for name in line["files"]]

    assert named
    assert [] == [path for path in named if not path.exists()]


def test_what_came_back_is_what_went_in(shown):
    """Folder, archive and both exports hold equal bytes, as other readers see them."""
    _, there = shown
    source = {
        path.relative_to(there / "persona").as_posix(): path.read_bytes()
        for path in (there / "persona").rglob("*")
        if path.is_file()
    }
    exported = {
        path.relative_to(there / "exported").as_posix(): path.read_bytes()
        for path in (there / "exported").rglob("*")
        if path.is_file()
    }

    assert len(source) > 30
    assert source == exported
    assert source == entries(there / "persona.uaix") == entries(there / "exported.uaix")
    assert [] == mismatches(source)


def test_the_twins_are_hostile(shown):
    """One twin points outside, the other differs from its manifest in one file."""
    ran, there = shown

    assert "../outside.uai" in entries(there / "hostile/traversal.uaix")
    assert [".uai/persona.uai"] == mismatches(
        entries(there / "hostile/wrong-hash.uaix")
    )
    (told,) = [line["shown"] for line in ran.lines if line["name"] == "hostile"]
    assert "wrong-hash.uaix: hash.mismatch, digest.mismatch" in told
    assert "path.traversal" in told
    assert not (there.parent / "outside.uai").exists()
    assert not list(there.rglob("outside.uai"))


def test_the_edit_is_one_file(shown):
    """The edited package differs in one file and in a manifest that fits it."""
    _, there = shown
    before, after = entries(there / "persona.uaix"), entries(there / "edited.uaix")

    assert before.keys() == after.keys()
    assert {MANIFEST, ".uai/persona.uai"} == {
        p for p in before if before[p] != after[p]
    }
    assert after[".uai/persona.uai"].startswith(before[".uai/persona.uai"])
    assert [] == mismatches(after)
    folder = there / "edited"
    assert after == {path: (folder / path).read_bytes() for path in after}


def test_the_update_continues_the_first_checkpoint(shown, run):
    """History holds both checkpoints, and what is stored now is the edit."""
    ran, there = shown
    at = ("--store", f"sqlite:{there}/store.db", "--scope", "demo/personal/main")

    events = run("history", "demo-persona", *at, "--json").lines
    checkpoints = [e for e in events if e["kind"] == "checkpoint"]
    assert ["install", "update"] == [event["what"] for event in checkpoints]
    changed = [e["path"] for e in events if e["what"] == "replace"]
    assert [".uai/persona.uai"] == changed
    line = run("show", "demo-persona", *at, "--json").line
    edited = entries(there / "edited.uaix")[MANIFEST]
    assert hashlib.sha256(edited).hexdigest() == line["manifest_sha256"]
    (told,) = [line["shown"] for line in ran.lines if line["name"] == "update"]
    assert "package.rollback" in told


def test_the_clone_is_somebody_else(shown):
    """Bodies are equal, package id and every stable id are not."""
    _, there = shown
    edited, clone = entries(there / "edited.uaix"), entries(there / "clone.uaix")

    assert [MANIFEST] == [path for path in edited if edited[path] != clone[path]]
    ours, theirs = (json.loads(files[MANIFEST]) for files in (edited, clone))
    assert ("demo-persona", "demo-clone") == (ours["packageId"], theirs["packageId"])
    ids = [{e["stableId"] for e in m["files"]} for m in (ours, theirs)]
    assert set() == ids[0] & ids[1]
    assert [] == mismatches(clone)


def test_what_it_says_to_try_next_works(run):
    """Each command that the demonstration ends with ends as it should."""
    ran = run("demo", "there")

    assert 0 == ran.code
    tail = ran.out.partition("What to try next:")[2]
    commands = [line.split()[1:] for line in tail.splitlines() if line.split()]
    assert [1, 1, 0, 0, 0] == [run(*command).code for command in commands]


def test_the_current_folder_is_its_place(run, tmp_path):
    """Without a folder it works in the current one, when that is empty."""
    assert 0 == run("demo").code
    assert (tmp_path / "persona.uaix").is_file()

    again = run("demo")

    assert 2 == again.code
    assert again.err.startswith("files.exists: ")


def test_a_step_that_fails_ends_it(run, monkeypatch):
    """When a step doesn't hold, the next ones aren't tried and the exit code is 1."""
    step = demo_steps.Step("make", "make it", lambda _: demo_steps.Shown(False, "no"))
    monkeypatch.setattr("uaix_surfaces.cli.demo.STEPS", (step, *demo_steps.STEPS))

    ran = run("demo", "there", "--json")

    assert (1, False) == (ran.code, ran.line["holds"])


def test_an_error_in_a_step_is_a_step_that_fails(run, monkeypatch):
    """An error of the library is told as what the step showed."""
    monkeypatch.setattr("uaix_surfaces.cli.demo.STEPS", demo_steps.STEPS[2:])

    ran = run("demo", "there")

    assert 1 == ran.code
    assert "files.missing" in ran.out
    assert "What to try next" not in ran.out


def test_a_file_is_no_place_for_it(run, tmp_path):
    """A path that is no folder, or lies in none, is wrong usage."""
    (tmp_path / "file").write_bytes(b"")

    for place in ("file", "none/there"):
        ran = run("demo", place)
        assert 2 == ran.code
        assert ran.err.startswith("files.target: ")
