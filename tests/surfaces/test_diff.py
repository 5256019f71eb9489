"""Laws of the verbs that look: diff, explain, dimensions."""

from __future__ import annotations

import json
import zipfile

import pytest

from uaix_backends import write_package
from uaix_core.packages.templates.new import KINDS

MANIFEST = ".uai/manifest.uaix.json"
PERSONA = ".uai/persona.uai"
DIFF = {
    "a",
    "b",
    "equal",
    "manifest_kind",
    "manifest",
    "added",
    "removed",
    "moved",
    "changed",
    "entries",
}
ROW = {
    "path",
    "record_id",
    "ordinal",
    "revision_id",
    "field",
    "value",
    "label",
    "section",
    "depth_level",
    "disclosure",
}


def test_equal_packages_end_with_zero(run, archive, folder):
    """An archive and a folder of the same files are equal."""
    ran = run("diff", archive, folder, "--json")

    assert 0 == ran.code
    assert DIFF == set(ran.line)
    assert (True, [], []) == (ran.line["equal"], ran.line["changed"], ran.line["added"])
    assert f"{archive} and {folder} are equal\n" == run("diff", archive, folder).out


def test_different_packages_end_with_one(run, archive, folder):
    """An edited folder is compared as it is, before it is packed."""
    persona = folder / PERSONA
    persona.write_bytes(persona.read_bytes() + b"\n## Pace\n\nSlow.\n")

    ran = run("diff", archive, folder, "--json")

    assert (1, None) == (ran.code, ran.line["manifest_kind"])
    (changed,) = ran.line["changed"]
    assert (PERSONA, "content") == (changed["path"], changed["kind"])
    (pace,) = changed["dimensions"]
    assert ("pace", "added", None, "Slow.") == (
        pace["field"],
        pace["change"],
        pace["before"],
        pace["after"]["value"],
    )
    shown = run("diff", archive, folder)
    assert (1, "") == (shown.code, shown.err)
    assert "pace" in shown.out
    assert "Slow." in shown.out


def test_all_kinds_of_difference_are_shown(run, archive, persona, tmp_path):
    """Files, fields of the manifest and of its entries are told to people, too."""
    wire = json.loads(persona[MANIFEST])
    moved = next(e for e in wire["files"] if e["path"] == PERSONA)
    moved |= {"path": ".uai/moved.uai", "reviewState": "reviewed"}
    wire["issuer"] = "x" * 100
    wire["files"][0]["note"] = {"a": 1}
    files = {**persona, MANIFEST: json.dumps(wire).encode(), ".uai/new.uai": b"New.\n"}
    files[".uai/moved.uai"] = files.pop(PERSONA).replace(b"\n", b"\r\n")
    del files[".uai/totem.uai"]
    write_package(tmp_path / "other", files)

    ran = run("diff", archive, "other")

    assert 1 == ran.code
    for word in (
        "issuer",
        "moved",
        "added",
        "removed",
        "only line ends",
        "reviewState",
    ):
        assert word in ran.out
    assert "x" * 100 not in ran.out


@pytest.mark.parametrize(
    ("name", "code"),
    [("none", "files.missing"), ("broken.uaix", "zip.not-zip"), ("empty", "manifest.")],
)
def test_what_cant_be_read_ends_with_two(run, archive, tmp_path, name, code):
    """As with diff of files, 2 says that there was nothing to compare."""
    (tmp_path / "broken.uaix").write_bytes(b"MARKED-BODY")
    (tmp_path / "empty").mkdir()

    for pair in ((archive, name), (name, archive)):
        ran = run("diff", *pair, "--json")
        assert 2 == ran.code
        assert ran.line["error"]["code"].startswith(code)
        assert "MARKED-BODY" not in ran.out + ran.err


def test_a_missing_package_is_told_before_a_broken_one(run, tmp_path):
    """That one of two paths leads nowhere is told, whatever the other one holds."""
    (tmp_path / "empty").mkdir()

    for pair in (("empty", "nope"), ("nope", "empty")):
        ran = run("diff", *pair, "--json")
        assert (2, "files.missing") == (ran.code, ran.line["error"]["code"])


def test_a_hostile_diff_acts_on_no_terminal(run, archive, folder):
    """Values of both packages reach the terminal escaped."""
    persona = folder / PERSONA
    persona.write_bytes(persona.read_bytes() + "\n## Pace\n\n\x1b[31m\u202e\n".encode())

    for args in ((), ("--json",)):
        ran = run("diff", archive, folder, *args)
        assert 1 == ran.code
        assert "\x1b" not in ran.out
        assert "\u202e" not in ran.out


@pytest.mark.parametrize("kind", KINDS)
def test_every_new_file_is_explained(run, kind, tmp_path):
    """No file of a new package is refused by the explanation of its own scopes."""
    run("new", kind, "mine")
    wire = json.loads((tmp_path / "mine" / MANIFEST).read_bytes())
    required = [e["path"] for e in wire["files"] if e["role"] != "evidence"]

    for path in required[::3]:
        ran = run("explain", path, "--package", "mine", "--json")
        assert (0, "required") == (ran.code, ran.line["standing"])
        assert set(wire["declaredScopes"]) == set(ran.line["scopes"])


@pytest.mark.parametrize(
    ("path", "args", "standing", "rule"),
    [
        (PERSONA, ("--scope-of", "persona_profile"), "required", "set.missing"),
        (
            PERSONA,
            ("--scope-of", "project_handoff"),
            "out_of_scope",
            "set.out-of-scope",
        ),
        (PERSONA, (), "allowed", None),
        (".uai/notes.uai", (), "allowed", "set.extra"),
        ("notes.txt", (), "refused", "set.unregistered"),
        ("../x", (), "refused", "path.traversal"),
        (".uai/totem.uai", ("--ruleset", "launch-5"), "required", "set.missing"),
    ],
)
def test_explain_names_the_rule(run, path, args, standing, rule):
    """The answer is what the lint would say, and the question always ends with 0."""
    ran = run("explain", path, *args, "--json")

    assert 0 == ran.code
    assert {"path", "standing", "rule", "ruleset", "text", "scopes"} == set(ran.line)
    assert (path, standing, rule) == tuple(
        ran.line[name] for name in ("path", "standing", "rule")
    )
    assert f"{ran.line['text']}\n" == run("explain", path, *args).out


def test_explain_reads_scopes_of_any_manifest(run, persona, tmp_path):
    """Scopes that are no words count as none; a package that isn't there is told."""
    wire = json.loads(persona[MANIFEST])
    wire["declaredScopes"] = [1, "persona_profile"]
    odd = {**persona, MANIFEST: json.dumps(wire).encode()}
    write_package(tmp_path / "odd", odd)

    ran = run("explain", PERSONA, "--package", "odd", "--json")

    assert ["persona_profile", "universal"] == ran.line["scopes"]
    assert 2 == run("explain", PERSONA, "--package", "none").code


def test_dimensions_tell_what_files_say(run, archive, persona, at):
    """Each line is one value of one field, with the file that says it."""
    run("install", archive, *at)

    lines = run("dimensions", "ada", *at, "--json").lines

    assert lines
    assert all(ROW == set(line) for line in lines)
    assert {line["path"] for line in lines} <= set(persona)
    for line in lines:
        assert line["value"].split()[0].encode() in persona[line["path"]]
    shown = run("dimensions", "ada", *at)
    assert (0, "") == (shown.code, shown.err)
    assert PERSONA in shown.out


def test_dimensions_of_one_field(run, archive, at):
    """--field keeps just the lines of that field."""
    run("install", archive, *at)
    lines = run("dimensions", "ada", *at, "--json").lines

    named = run("dimensions", "ada", "--field", "name", *at, "--json").lines

    assert named
    assert sorted(map(str, named)) == sorted(
        str(line) for line in lines if line["field"] == "name"
    )
    for more in ((), ("--json",)):
        nothing = run("dimensions", "ada", "--field", "none", *at, *more)
        assert (0, "", "no such field here: none\n") == nothing


def test_dimensions_of_no_package(run, archive, at):
    """A package that the scope doesn't hold is not found."""
    run("install", archive, *at)
    ran = run("dimensions", "eve", *at, "--json")

    assert (1, "package.not-found") == (ran.code, ran.line["error"]["code"])


def test_a_hostile_name_is_no_path(run, archive):
    """An archive whose entry points outside can't be compared at all."""
    with zipfile.ZipFile(archive, "a") as hostile:
        hostile.writestr("../outside.uai", b"out")

    ran = run("diff", archive, archive, "--json")

    assert (2, "path.traversal") == (ran.code, ran.line["error"]["code"])


@pytest.mark.parametrize("place", [".uai/{}.uai", "{}", "../{}", ".uai/{}/x.uai"])
def test_explain_shows_no_secret(run, persona, tmp_path, place):
    """A path or a scope that holds a secret is withheld, in JSON and for people."""
    secret = "AKIA" + "Q7ZK2MWX" * 2
    wire = json.loads(persona[MANIFEST])
    wire["declaredScopes"] = [secret, "persona_profile"]
    odd = {**persona, MANIFEST: json.dumps(wire).encode()}
    write_package(tmp_path / "odd", odd)
    args = ("explain", place.format(secret), "--package", "odd", "--scope-of", secret)

    ran, people = run(*args, "--json"), run(*args)

    assert (0, 0) == (ran.code, people.code)
    assert secret not in ran.out + ran.err + people.out + people.err
    assert "(withheld)" == ran.line["path"]
    assert ["(withheld)", "persona_profile", "universal"] == ran.line["scopes"]
    assert f"{ran.line['text']}\n" == people.out
    assert ran.line["standing"] in people.out
