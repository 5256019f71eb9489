from __future__ import annotations

import json

import pytest

from uaix_backends import write_package

MANIFEST = ".uai/manifest.uaix.json"
PERSONA = ".uai/persona.uai"
LINE = {"path", "verdict", "ruleset", "findings"}
FINDING = {"code", "severity", "family", "path", "message", "trigger"}


@pytest.mark.parametrize("form", ["archive", "folder"])
def test_an_accepted_package_ends_with_zero(run, request, form):
    """Archives and folders are judged alike: accepted is exit code 0."""
    path = request.getfixturevalue(form)

    ran = run("lint", path)

    assert (0, "") == (ran.code, ran.err)
    assert f"{path}: accept, passed these checks against ruleset 3.138\n" == ran.out


def test_a_refused_package_ends_with_one(run, refused):
    """A refused package is exit code 1, its codes are shown, its bodies are not."""
    ran = run("lint", refused)

    assert 1 == ran.code
    assert "hash.mismatch" in ran.out
    assert "MARKED-BODY" not in ran.out + ran.err


def test_json_lines_have_exactly_the_documented_fields(run, archive, refused):
    """Each path gives one line of exactly four fields, each finding of six."""
    ran = run("lint", archive, refused, "--json")

    assert 1 == ran.code
    accepted, other = ran.lines
    assert LINE == set(accepted) == set(other)
    assert [str(archive), str(refused)] == [accepted["path"], other["path"]]
    assert ["accept", "refuse"] == [accepted["verdict"], other["verdict"]]
    assert other["findings"]
    assert all(FINDING == set(finding) for finding in other["findings"])


def test_an_unreadable_path_hides_no_other(run, archive, tmp_path):
    """What can't be read is told with its code; the other paths are judged."""
    ran = run("lint", tmp_path / "none", archive, "--json")

    assert 2 == ran.code
    missing, accepted = ran.lines
    assert {"path", "error"} == set(missing)
    assert "files.missing" == missing["error"]["code"]
    assert "accept" == accepted["verdict"]
    assert ran.err.startswith("files.missing: ")
    assert 1 == ran.err.count("\n")


def test_unreadable_weighs_more_than_refused(run, refused, tmp_path):
    """The exit code is 2 whatever the order of an unreadable and a refused path."""
    assert 2 == run("lint", refused, tmp_path / "none").code
    assert 2 == run("lint", tmp_path / "none", refused).code


def test_a_link_in_a_folder_is_refused(run, folder, tmp_path):
    """A symbolic link inside a folder is never followed and refuses the package."""
    (tmp_path / "secret").write_bytes(b"SECRET")
    (folder / "link.uai").symlink_to(tmp_path / "secret")

    ran = run("lint", folder, "--json")

    assert 1 == ran.code
    assert ["zip.special-file"] == [f["code"] for f in ran.line["findings"]]


def test_lenient_turns_an_unlisted_place_into_a_warning(run, persona, tmp_path):
    """What is an error under the strict reading may be a warning under --lenient."""
    manifest = persona[".uai/manifest.uaix.json"]
    unknown = manifest.replace(b'"persona_profile"', b'"my_profile"')
    write_package(
        tmp_path / "odd.uaix", {**persona, ".uai/manifest.uaix.json": unknown}
    )

    strict = run("lint", tmp_path / "odd.uaix", "--json").line
    lenient = run("lint", tmp_path / "odd.uaix", "--json", "--lenient").line

    def severities(line):
        return {f["severity"] for f in line["findings"] if f["code"] == "scope.unknown"}

    assert {"error"} == severities(strict)
    assert {"warning"} == severities(lenient)


def test_an_unknown_ruleset_is_wrong_usage(run, archive):
    """A ruleset that there isn't is exit code 2 and names those that there are."""
    ran = run("lint", archive, "--ruleset", "none")

    assert (2, "") == (ran.code, ran.out)
    assert "3.138" in ran.err


def test_no_path_is_wrong_usage_also_in_json(run):
    """Wrong usage is one line on the standard error, and a JSON line if asked for."""
    ran = run("lint", "--json")

    assert 2 == ran.code
    assert "usage" == ran.line["error"]["code"]
    assert 1 == ran.err.count("\n")


@pytest.mark.parametrize(
    ("path", "body", "hints"),
    [
        (
            PERSONA,
            b"Other.\n",
            {
                "hash.mismatch": "uaix pack DIR --write-back",
                "size.declared": "uaix pack DIR --write-back",
            },
        ),
        (".uai/notes.uai", b"New.\n", {"inventory.undeclared": "remove it"}),
        (PERSONA, None, {"inventory.missing": "bring it back"}),
    ],
)
def test_an_edit_by_hand_is_told_what_helps(run, folder, path, body, hints):
    """What an honest author did to the files comes with what to do next."""
    if body is None:
        (folder / path).unlink()
    else:
        (folder / path).write_bytes(body)

    ran = run("lint", folder, "--json")

    told = {f["code"]: f["message"] for f in ran.line["findings"]}
    assert 1 == ran.code
    assert dict.fromkeys(hints, True) == {
        code: hint in told[code] for code, hint in hints.items()
    }


@pytest.mark.parametrize(
    ("role", "code"), [("identity", "role.word"), ("Persona", "role.folded")]
)
def test_a_wrong_role_is_told_the_right_one(run, persona, tmp_path, role, code):
    """A warning about a role names the word that belongs there."""
    wire = json.loads(persona[MANIFEST])
    next(e for e in wire["files"] if e["path"] == PERSONA)["role"] = role
    write_package(tmp_path / "odd", {**persona, MANIFEST: json.dumps(wire).encode()})

    ran = run("lint", tmp_path / "odd", "--json")

    (message,) = [f["message"] for f in ran.line["findings"] if f["code"] == code]
    assert 0 == ran.code
    assert message.endswith(" persona")
