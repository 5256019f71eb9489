from __future__ import annotations

import hashlib
import json
import zipfile

import pytest

from uaix_backends import read_package, write_package
from uaix_core.packages.templates.new import KINDS

MANIFEST = ".uai/manifest.uaix.json"


def entries(path):
    """The entries of an archive, read by the standard library alone."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_package_is_valid(run, tmp_path, kind):
    """Every kind of new package is accepted as it is, named after its folder."""
    ran = run("new", kind, "mine", "--issuer", "Example Ltd", "--json")

    assert 0 == ran.code
    assert {"path", "kind", "files"} == set(ran.line)
    assert 0 == run("lint", "mine").code
    manifest = json.loads((tmp_path / "mine" / MANIFEST).read_bytes())
    assert ("mine", "Example Ltd") == (manifest["packageId"], manifest["issuer"])
    assert set(ran.line["files"]) == set(read_package(tmp_path / "mine").files)


def test_a_new_package_takes_the_id_that_it_is_given(run, tmp_path):
    """--id names the package independently of the folder."""
    assert 0 == run("new", "universal", "mine", "--id", "other-1").code
    manifest = json.loads((tmp_path / "mine" / MANIFEST).read_bytes())
    assert "other-1" == manifest["packageId"]


def test_a_new_package_never_lands_among_files(run, tmp_path):
    """A folder that isn't empty is refused and left as it is."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter").write_text("dear", encoding="utf-8")

    ran = run("new", "universal", "mine")

    assert 1 == ran.code
    assert ran.err.startswith("files.exists: ")
    assert ["letter"] == [path.name for path in (tmp_path / "mine").iterdir()]


def test_an_empty_folder_takes_a_new_package(run, tmp_path):
    """A folder that is there and empty is as good as none."""
    (tmp_path / "mine").mkdir()

    assert 0 == run("new", "universal", "mine").code
    assert 0 == run("lint", "mine").code


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("new", "persona", "."), "files.target"),
        (("new", "persona", "none/my persona"), "id.package"),
        (("pack", ".", "-o", "none/a.uaix"), "files.missing"),
        (("new", "persona", "my persona"), "id.package"),
        (("new", "persona", "mine", "--id", "a/b"), "id.package"),
        (("new", "persona", "mine", "--issuer", ""), "template.text"),
        (("new", "kingdom", "mine"), "usage"),
        (("pack", "none", "-o", "a.uaix"), "files.missing"),
        (("new", "persona", "mine", "--also", "kingdom"), "usage"),
        (("pack", ".", "-o", "a.zip"), "usage"),
        (("pack", "."), "usage"),
        (("unpack", "none.uaix", "mine"), "files.missing"),
        (("unpack", ".", "mine"), "files.form"),
    ],
)
def test_what_cant_be_done_is_wrong_usage(run, tmp_path, args, code):
    """A call that can't be carried out is exit code 2 and leaves nothing behind."""
    ran = run(*args)

    assert (2, "") == (ran.code, ran.out)
    assert ran.err.startswith(f"{code}: ")
    assert [] == list(tmp_path.iterdir())


def test_pack_brings_the_manifest_up_to_date(run, folder, tmp_path):
    """Sizes and digests in the archive are those of its files, read on their own."""
    edited = folder / ".uai/persona.uai"
    edited.write_bytes(edited.read_bytes() + b"\nThe name is Ada.\n")
    before = (folder / MANIFEST).read_bytes()

    ran = run("pack", folder, "-o", "new.uaix", "--json")

    assert 0 == ran.code
    assert (True, [".uai/persona.uai"]) == (ran.line["written"], ran.line["changed"])
    assert before == (folder / MANIFEST).read_bytes()
    with zipfile.ZipFile(tmp_path / "new.uaix") as packed:
        manifest = json.loads(packed.read(MANIFEST))
        for entry in manifest["files"]:
            data = packed.read(entry["path"])
            assert len(data) == entry["sizeBytes"]
            assert hashlib.sha256(data).hexdigest() == entry["sha256"]
    whole = (tmp_path / "new.uaix").read_bytes()
    assert hashlib.sha256(whole).hexdigest() == ran.line["archive_sha256"]
    assert 0 == run("lint", "new.uaix").code


def test_pack_writes_the_manifest_back(run, folder, tmp_path):
    """--write-back makes an edited folder valid again and touches nothing else."""
    edited = folder / ".uai/persona.uai"
    edited.write_bytes(edited.read_bytes() + b"\nThe name is Ada.\n")
    (folder / MANIFEST).chmod(0o640)
    before = read_package(folder).files
    assert 1 == run("lint", folder).code

    ran = run("pack", folder, "--write-back", "-o", "new.uaix", "--json")

    assert (0, True) == (ran.code, ran.line["written_back"])
    assert 0 == run("lint", folder).code
    after = read_package(folder).files
    assert [MANIFEST] == [path for path in before if before[path] != after[path]]
    assert before.keys() == after.keys()
    assert after == entries(tmp_path / "new.uaix")
    assert 0o640 == (folder / MANIFEST).stat().st_mode & 0o777


def test_pack_can_write_back_alone(run, folder, tmp_path):
    """Without an archive --write-back brings the folder up to date, once."""
    edited = folder / ".uai/persona.uai"
    edited.write_bytes(edited.read_bytes() + b"\nThe name is Ada.\n")

    first = run("pack", folder, "--write-back", "--json").line
    again = run("pack", folder, "--write-back", "--json").line

    assert (True, False) == (first["written_back"], again["written_back"])
    assert first["archive_sha256"] is None
    assert 0 == run("lint", folder).code
    assert ["ada"] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize("blocked", ["a refusal", "a taken target"])
def test_pack_writes_nothing_back_when_it_fails(run, folder, tmp_path, blocked):
    """When no archive is written, the folder's manifest stays as it is."""
    if blocked == "a refusal":
        (folder / ".uai/extra.uai").write_bytes(b"more\n")
    else:
        (tmp_path / "new.uaix").write_bytes(b"old")
    edited = folder / ".uai/persona.uai"
    edited.write_bytes(edited.read_bytes() + b"\nThe name is Ada.\n")
    before = (folder / MANIFEST).read_bytes()

    assert 1 == run("pack", folder, "--write-back", "-o", "new.uaix").code
    assert before == (folder / MANIFEST).read_bytes()


def test_a_new_package_makes_the_folders_around_it(run, tmp_path):
    """Missing parents are made; a file in their place is wrong usage."""
    assert 0 == run("new", "persona", "a/b/mine").code
    assert 0 == run("lint", tmp_path / "a" / "b" / "mine").code

    (tmp_path / "file").write_bytes(b"")
    ran = run("new", "persona", "file/b/mine")
    assert (2, "files.missing") == (ran.code, ran.err.split(":")[0])


def test_a_new_package_declares_what_it_is_told_to(run, tmp_path):
    """--also adds a scope with the files that it requires."""
    ran = run("new", "handoff", "mine", "--also", "agent_file_handoff", "--json")

    assert 0 == ran.code
    assert ".uai/file-handoff.uai" in ran.line["files"]
    assert 0 == run("lint", "mine").code


def test_pack_writes_no_refused_package(run, folder, tmp_path):
    """A file that the manifest doesn't list is a finding, and nothing is written."""
    (folder / ".uai/extra.uai").write_bytes(b"more\n")

    ran = run("pack", folder, "-o", "new.uaix", "--json")

    assert 1 == ran.code
    assert ("refuse", False) == (ran.line["verdict"], ran.line["written"])
    assert ran.line["findings"]
    assert not (tmp_path / "new.uaix").exists()


def test_pack_tells_of_a_folder_without_manifest(run, tmp_path):
    """A folder that is no package at all is refused with its code."""
    (tmp_path / "mine").mkdir()
    ran = run("pack", "mine", "-o", "new.uaix")

    assert 1 == ran.code
    assert ran.err.startswith("manifest.missing: ")


def test_pack_overwrites_only_when_told(run, folder, tmp_path):
    """An archive that is there stays, unless --overwrite says otherwise."""
    (tmp_path / "new.uaix").write_bytes(b"old")

    kept = run("pack", folder, "-o", "new.uaix")
    assert (1, b"old") == (kept.code, (tmp_path / "new.uaix").read_bytes())
    assert kept.err.startswith("files.exists: ")
    assert "--overwrite" in kept.err

    assert 0 == run("pack", folder, "-o", "new.uaix", "--overwrite").code
    assert b"old" != (tmp_path / "new.uaix").read_bytes()


def test_pack_keeps_to_source_date_epoch(run, folder, monkeypatch, tmp_path):
    """SOURCE_DATE_EPOCH sets the time of every entry; nonsense is wrong usage."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767323045")
    assert 0 == run("pack", folder, "-o", "new.uaix").code
    with zipfile.ZipFile(tmp_path / "new.uaix") as packed:
        times = {entry.date_time for entry in packed.infolist()}
    assert {(2026, 1, 2, 3, 4, 4)} == times

    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    assert 2 == run("pack", folder, "-o", "other.uaix").code


def test_unpack_and_pack_give_the_same_bytes(run, archive, tmp_path):
    """An archive that was unpacked and packed again is the same, byte for byte."""
    assert 0 == run("unpack", archive, "there").code
    assert 0 == run("pack", "there", "-o", "back.uaix").code

    assert archive.read_bytes() == (tmp_path / "back.uaix").read_bytes()
    with zipfile.ZipFile(archive) as packed:
        for name in packed.namelist():
            assert packed.read(name) == (tmp_path / "there" / name).read_bytes()


def test_unpack_writes_nothing_of_a_refused_archive(run, refused, tmp_path):
    """Of a refused archive there is a verdict and no folder."""
    ran = run("unpack", refused, "there", "--json")

    assert (1, "refuse", False) == (
        ran.code,
        ran.line["verdict"],
        ran.line["written"],
    )
    assert not (tmp_path / "there").exists()


def test_unpack_never_leaves_its_folder(run, archive, tmp_path):
    """An entry that points outside refuses the whole archive."""
    with zipfile.ZipFile(archive, "a") as hostile:
        hostile.writestr("../outside.uai", b"out")

    ran = run("unpack", archive, "there")

    assert 1 == ran.code
    assert "path.traversal" in ran.out
    assert {"ada.uaix"} == {path.name for path in tmp_path.iterdir()}


def test_unpack_never_lands_among_files(run, archive, folder):
    """A folder that isn't empty is refused."""
    ran = run("unpack", archive, folder)

    assert 1 == ran.code
    assert ran.err.startswith("files.exists: ")


def test_a_limit_of_archives_refuses_at_packing(run, persona, tmp_path, monkeypatch):
    """A package that is well only as a folder is not written as an archive."""
    from uaix_surfaces.cli import packing  # noqa: PLC0415 - to stand in for its writer

    write_package(tmp_path / "mine", persona)
    monkeypatch.setattr(packing, "write_archive", lambda *_, **__: b"no archive")

    ran = run("pack", "mine", "-o", "new.uaix", "--json")

    assert (1, "refuse") == (ran.code, ran.line["verdict"])
    assert not (tmp_path / "new.uaix").exists()


@pytest.mark.parametrize(
    ("issuer", "code"),
    [
        ("/home/ada/x", "path.local-absolute"),
        ("AKIA" + "Q7ZK2MWX" * 2, "secret.found"),
    ],
)
def test_a_new_package_that_would_be_refused_is_not_made(
    run, tmp_path, *, issuer, code
):
    """An issuer that the lint refuses ends with findings, and is never shown."""
    ran = run("new", "persona", "around/mine", "--issuer", issuer, "--json")

    assert (1, "refuse", False) == (ran.code, ran.line["verdict"], ran.line["written"])
    assert code in {finding["code"] for finding in ran.line["findings"]}
    people = run("new", "persona", "around/mine", "--issuer", issuer)
    assert (1, True) == (people.code, code in people.out)
    assert issuer not in ran.out + ran.err + people.out + people.err
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("target", ["ada/in.uaix", "ada/.uai/in.uaix", "link/in.uaix"])
@pytest.mark.parametrize("more", [(), ("--overwrite",), ("--write-back",)])
def test_no_archive_lands_in_the_folder_that_it_is_made_of(
    run, folder, tmp_path, *, target, more
):
    """A target inside the packed folder, by whatever way, is refused with a hint."""
    (tmp_path / "link").symlink_to(folder)
    before = read_package(folder).files

    ran = run("pack", folder, "-o", target, *more, "--json")

    error = ran.line["error"]
    assert (2, "files.target", target) == (ran.code, error["code"], error["path"])
    assert "outside" in error["hint"]
    assert before == read_package(folder).files


def test_an_archive_may_lie_beside_its_folder(run, folder, monkeypatch):
    """From within a folder its archive goes to a place around it."""
    monkeypatch.chdir(folder)

    assert 2 == run("pack", ".", "-o", "in.uaix").code
    assert 0 == run("pack", ".", "-o", "../ada.uaix").code


def test_a_file_that_vanishes_is_named(run, folder, monkeypatch):
    """A file that goes while its folder is packed is what the error is about."""
    gone = folder / ".uai/persona.uai"
    from uaix_backends import files  # noqa: PLC0415 - to look in between

    opened = files.os.open

    def opening(path, *args, **more):
        if str(path).endswith("persona.uai"):
            gone.unlink()
        return opened(path, *args, **more)

    monkeypatch.setattr(files.os, "open", opening)
    ran = run("pack", folder, "-o", "new.uaix", "--json")

    error = ran.line["error"]
    assert (2, "files.missing", str(gone)) == (ran.code, error["code"], error["path"])


def test_archives_are_for_their_owner(run, folder, tmp_path):
    """An archive that is packed has mode 0600."""
    assert 0 == run("pack", folder, "-o", "new.uaix").code
    assert 0o600 == (tmp_path / "new.uaix").stat().st_mode & 0o777
