"""Laws of starts and consents on the command line."""

from __future__ import annotations

import json

import pytest
from tests.surfaces.conftest import CREATED_AT, SCOPE

from uaix_backends import open_session, write_package
from uaix_core.packages.templates.new import new_package
from uaix_core.packages.templates.repack import repack

PERSONA = ".uai/persona.uai"
DIARY = b"\n## Diary (private)\n\nsecret-day\n"
UNTIL = ("--until", "2999-01-01T00:00:00Z")


@pytest.fixture
def url(at):
    """The store that the options name."""
    return at[1]


@pytest.fixture
def files(persona):
    """A package that hides something, and that is bound to an agent."""
    manifest = json.loads(persona[".uai/manifest.uaix.json"])
    manifest["agentId"] = "ada"
    edited = {
        **persona,
        PERSONA: persona[PERSONA] + DIARY,
        ".uai/manifest.uaix.json": json.dumps(manifest).encode(),
    }
    return repack(edited).files


@pytest.fixture
def stored(run, tmp_path, files, at):
    """The package in a store, in quarantine."""
    write_package(tmp_path / "bound.uaix", files)
    assert 0 == run("install", "bound.uaix", *at).code


@pytest.fixture
def active(stored, url):
    """The package in a store, reviewed."""
    with open_session(url, scope=SCOPE, principal="human:eva") as session:
        waiting = session.review.waiting("ada")
        seen = {file.path: file.revision_id for file in waiting.records}
        session.review.records("ada", "approved", seen)
        session.review.package("ada", "active", checkpoint_id=waiting.checkpoint_id)


def receipts(run, at):
    """The receipts of starts: outcome and actor."""
    lines = run("receipts", "ada", *at, "--json").lines
    return [(x["outcome"], x["actor"]) for x in lines if x["operation"] == "start"]


def test_a_start_shows_what_is_given(run, at, active, files):
    """In start-up order, with digests of what is stored, and what is blanked named."""
    ran = run("start", "ada", "--agent", "ada", *at, "--json")

    assert 0 == ran.code
    line = ran.line
    assert ("ada", "ada", None, 1) == (
        line["package_id"],
        line["agent_id"],
        line["path"],
        line["blanked_count"],
    )
    assert list(range(1, 9)) == [record["position"] for record in line["records"]]
    last = line["records"][-1]
    assert (PERSONA, len(files[PERSONA]), ["diary"]) == (
        last["path"],
        last["size_bytes"],
        last["blanked"],
    )
    assert "secret" not in ran.out
    shown = run("start", "ada", "--agent", "ada", *at, "--actor", "agent:ada").out
    assert "started for ada" in shown
    assert PERSONA in shown
    assert "diary" in shown
    assert last["sha256"][:12] in shown
    assert [("accepted", "operator:local"), ("accepted", "agent:ada")] == receipts(
        run, at
    )


def test_a_start_writes_a_folder(run, at, active, files, tmp_path):
    """What is given lies in a new folder, file by file, and nothing beside it."""
    ran = run("start", "ada", "--agent", "ada", *at, "-o", "out", "--json")

    assert (0, "out") == (ran.code, ran.line["path"])
    written = {
        str(path.relative_to(tmp_path / "out")): path.read_bytes()
        for path in (tmp_path / "out").rglob("*")
        if path.is_file()
    }
    expected = {p: d for p, d in files.items() if p != ".uai/manifest.uaix.json"}
    expected[PERSONA] = expected[PERSONA].replace(b"secret-day", b"")
    assert expected == written
    shown = run("start", "ada", "--agent", "ada", *at, "-o", "out2")
    assert "out2: 8 files" in shown.out


def test_a_start_never_writes_over_anything(run, at, active, tmp_path):
    """A folder with something in it stays as it is, and no start is recorded."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("mine")
    (tmp_path / "empty").mkdir()

    ran = run("start", "ada", "--agent", "ada", *at, "-o", "out", "--json")

    assert (1, "files.exists") == (ran.code, ran.line["error"]["code"])
    assert ["mine"] == [path.name for path in (tmp_path / "out").iterdir()]
    assert [] == receipts(run, at)
    assert 0 == run("start", "ada", "--agent", "ada", *at, "-o", "empty").code
    assert (tmp_path / "empty" / PERSONA).is_file()


def test_a_refused_start_shows_every_check(run, at, stored, tmp_path):
    """All checks that fail are told, nothing is written, and a receipt says so."""
    args = ("start", "ada", "--agent", "eve", *at, "-o", "out")
    ran = run(*args, "--json")

    error = ran.line["error"]
    assert (1, "startup.refused", "ada") == (ran.code, error["code"], error["path"])
    codes = [check["code"] for check in error["checks"]]
    assert ["startup.agent", *["startup.review"] * 8, "startup.state"] == codes
    assert error["receipt"]
    assert not (tmp_path / "out").exists()
    shown = run(*args)
    assert 1 == shown.code
    assert "startup.review" in shown.out
    assert ".uai/taboo.uai" in shown.out
    assert "a person reviews it first" in shown.out
    assert shown.err.startswith("startup.refused: ")
    assert [("refused", "operator:local")] * 2 == receipts(run, at)


def test_further_files_have_to_be_there(run, at, active):
    """A file that is named to load and isn't there keeps the package from starting."""
    args = ("start", "ada", "--agent", "ada", *at, "--json")

    assert 0 == run(*args, "--also", PERSONA).code
    (check,) = run(*args, "--also", "x.uai").line["error"]["checks"]
    assert ("startup.trigger", "x.uai") == (check["code"], check["path"])


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("start", "ada"), "usage"),
        (("start", "ada", "--agent", "no id"), "id.syntax"),
        (("consent", "grant", "ada", "--reader", "ada"), "principal.syntax"),
        (("consent", "grant", "ada", "--reader", "agent:a", "--place", ":x"), None),
        (("consent", "grant", "ada", "--reader", "agent:a", "--until", "now"), None),
        (("consent", "revoke", "no id"), "id.syntax"),
        (("consent",), None),
    ],
)
def test_what_can_not_be_meant_is_wrong_usage(run, at, stored, args, code):
    """Values that can't be are exit code 2."""
    ran = run(*args, *(at if len(args) > 1 else ()), "--json")

    assert 2 == ran.code
    if code is not None:
        assert code == ran.line["error"]["code"]


def test_a_consent_shows_what_is_hidden(run, at, active):
    """While it holds, a start by its reader shows the place; revoked, it doesn't."""
    start = ("start", "ada", "--agent", "ada", "--actor", "agent:ada", *at, "--json")
    place = ("--reader", "agent:ada", "--place", f"{PERSONA}:Diary")

    granted = run("consent", "grant", "ada", *place, *UNTIL, *at, "--json")

    assert (0, "granted") == (granted.code, granted.line["outcome"])
    consent_id = granted.line["consent_id"]
    assert ([consent_id], 0) == (
        run(*start).line["consents"],
        run(*start).line["blanked_count"],
    )
    line = run("consent", "list", "ada", *at, "--json").line
    assert {
        "consent_id": consent_id,
        "package_id": "ada",
        "reader": "agent:ada",
        "until_at": "2999-01-01T00:00:00.000000Z",
        "places": [{"path": PERSONA, "field": "Diary"}],
        "granted_by": "operator:local",
        "receipt": granted.line["receipt"],
        "is_revoked": False,
    } == line
    shown = run("consent", "list", "ada", *at).out
    assert f"{PERSONA}:Diary" in shown
    assert "yes" not in shown
    revoked = run("consent", "revoke", consent_id, *at)
    assert (0, True) == (revoked.code, "revoked" in revoked.out)
    assert (
        "unchanged"
        == run("consent", "revoke", consent_id, *at, "--json").line["outcome"]
    )
    assert "yes" in run("consent", "list", "ada", *at).out
    assert ([], 1) == (run(*start).line["consents"], run(*start).line["blanked_count"])


def test_a_consent_may_be_for_a_whole_file(run, at, active):
    """A place without a field is the file."""
    place = ("--reader", "agent:ada", "--place", PERSONA)
    assert 0 == run("consent", "grant", "ada", *place, *UNTIL, *at).code

    shown = run("consent", "list", "ada", *at, "--json").line
    assert [{"path": PERSONA, "field": None}] == shown["places"]
    assert f"{PERSONA}:" not in run("consent", "list", "ada", *at).out


def test_only_a_person_consents(run, at, active):
    """A consent of an agent is refused, and nothing is listed."""
    place = ("--reader", "agent:ada", "--place", PERSONA)
    ran = run(
        "consent", "grant", "ada", *place, *UNTIL, *at, "--actor", "agent:x", "--json"
    )

    assert (1, "consent.reviewer") == (ran.code, ran.line["error"]["code"])
    listed = run("consent", "list", "ada", *at)
    assert (0, "") == (listed.code, listed.out)
    assert "nobody consented" in listed.err


def test_starting_makes_no_store(run, at, tmp_path):
    """What isn't there isn't made."""
    assert 2 == run("start", "ada", "--agent", "ada", *at).code
    assert 2 == run("consent", "list", "ada", *at).code
    assert [] == list(tmp_path.iterdir())


def test_a_whole_advanced_persona_starts(run, at, tmp_path, url):
    """The starter text of an advanced persona starts, its dimensions blanked."""
    made = new_package(
        "advanced-persona", package_id="ada", created_at=CREATED_AT, issuer="tests"
    )
    write_package(tmp_path / "ada.uaix", made)
    run("install", "ada.uaix", *at)
    with open_session(url, scope=SCOPE, principal="human:eva") as session:
        waiting = session.review.waiting("ada")
        seen = {file.path: file.revision_id for file in waiting.records}
        session.review.records("ada", "approved", seen)
        session.review.package("ada", "active", checkpoint_id=waiting.checkpoint_id)

    line = run("start", "ada", "--agent", "any", *at, "--json").line

    assert 30 == len(line["records"])
    assert all(
        bool(record["blanked"]) == ("personality" in record["path"])
        for record in line["records"]
    )
