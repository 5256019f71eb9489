"""Laws of restore, update and clone on the command line."""

from __future__ import annotations

import hashlib
import json

import pytest

from uaix_backends import read_package, write_package
from uaix_core.packages.templates.repack import repack

MANIFEST = ".uai/manifest.uaix.json"
CONTEXT = ".uai/world-context.uai"
ANCHOR = ".uai/taboo.uai"
ANSWER = {
    "path",
    "package_id",
    "operation",
    "state",
    "seq",
    "receipt",
    "checkpoint_id",
    "is_first",
    "is_current",
    "is_staged",
    "notices",
}


def edit(files, path=CONTEXT, text=b"\nMARKED-BODY answers briefly.\n"):
    """A package with more in one file, and a manifest that fits."""
    return repack({**files, path: files[path] + text}).files


def digest(files):
    """The checkpoint that an edit of these files names."""
    return hashlib.sha256(files[MANIFEST]).hexdigest()


@pytest.fixture
def edited(tmp_path, persona):
    """An edit of the package as an archive."""
    path = tmp_path / "edited.uaix"
    write_package(path, edit(persona))
    return path


@pytest.mark.parametrize("base", ["digest", "archive", "folder", "in the manifest"])
def test_update_continues_a_checkpoint(run, archive, *, folder, persona, at, base):
    """The base is a digest, a package that holds it, or what the manifest says."""
    files = persona
    more = {
        "digest": ("--based-on", digest(persona)),
        "archive": ("--based-on", archive),
        "folder": ("--based-on", folder),
    }.get(base, ())
    if not more:
        wire = json.loads(persona[MANIFEST])
        wire["basedOn"] = digest(persona)
        files = {**persona, MANIFEST: json.dumps(wire).encode()}
    write_package(archive.with_name("new.uaix"), edit(files))
    run("install", archive, *at)

    ran = run("update", "new.uaix", *more, *at, "--json")

    assert 0 == ran.code
    assert ANSWER == set(ran.line)
    assert ("update", "quarantined", 2, True) == tuple(
        ran.line[name] for name in ("operation", "state", "seq", "is_first")
    )
    again = run("update", "new.uaix", *more, *at, "--json").line
    assert {**ran.line, "is_first": False} == again
    stored = run("export", "ada", *at, "-o", "back", "--json")
    assert 0 == stored.code
    assert edit(files) == read_package(archive.with_name("back")).files


def test_an_edit_of_anything_but_the_current_checkpoint_is_refused(
    run, archive, *, edited, persona, at, tmp_path
):
    """Of two edits of one checkpoint the second is stale, and nothing changes."""
    write_package(tmp_path / "other.uaix", edit(persona, text=b"\nOther.\n"))
    run("install", archive, *at)
    run("update", edited, "--based-on", archive, *at)

    ran = run("update", "other.uaix", "--based-on", archive, *at, "--json")

    assert (1, "package.stale") == (ran.code, ran.line["error"]["code"])
    assert "MARKED-BODY" not in ran.out + ran.err
    assert 2 == run("show", "ada", *at, "--json").line["number"]


@pytest.mark.parametrize(
    ("args", "exits", "code"),
    [
        ((), 1, "update.based-on"),
        (("--based-on", "0" * 64), 1, "package.stale"),
        (("--based-on", "none.uaix"), 2, "files.missing"),
        (("--based-on", "broken.uaix"), 2, "zip.not-zip"),
        (("--based-on", "empty"), 2, "manifest.missing"),
        (("--authorise", f"{CONTEXT}:replace"), 2, "anchor.authorisation"),
        (("--authorise", f"{ANCHOR}:paint"), 2, "anchor.authorisation"),
        (("--authorise", ANCHOR), 2, "anchor.authorisation"),
    ],
)
def test_an_update_without_a_base_changes_nothing(
    run, archive, *, edited, at, tmp_path, args, exits, code
):
    """A missing, unknown or unreadable base, or no anchor, leaves all as it was."""
    (tmp_path / "broken.uaix").write_bytes(b"MARKED-BODY")
    (tmp_path / "empty").mkdir()
    run("install", archive, *at)

    ran = run("update", edited, *args, *at)

    assert exits == ran.code
    assert ran.err.startswith(f"{code}: ")
    assert "MARKED-BODY" not in ran.out + ran.err
    assert 1 == run("show", "ada", *at, "--json").line["number"]


@pytest.mark.parametrize(
    ("path", "code"),
    [(ANCHOR, "anchor.mutation"), (".uai/persona.uai", "persona.mutation")],
)
def test_a_protected_file_changes_only_with_an_authorisation(
    run, archive, *, persona, at, tmp_path, path, code
):
    """An anchor or a persona stays unless path and operation are named."""
    write_package(tmp_path / "new.uaix", edit(persona, path))
    run("install", archive, *at)
    based = ("update", "new.uaix", "--based-on", archive, *at, "--json")

    refused = run(*based)
    assert 1 == refused.code
    report, error = refused.lines
    assert code in [f["code"] for f in report["findings"]]
    assert "package.refused" == error["error"]["code"]
    assert "MARKED-BODY" not in refused.out + refused.err

    assert 1 == run(*based, "--authorise", f"{path}:tombstone").code
    assert 0 == run(*based, "--authorise", f"{path}:replace").code


def test_there_is_nothing_to_update(run, archive, edited, at, tmp_path):
    """An update makes no store, and no package where none stands."""
    ran = run("update", edited, "--based-on", archive, *at)
    assert 2 == ran.code
    assert {"ada.uaix", "edited.uaix"} == {p.name for p in tmp_path.iterdir()}

    run("install", archive, *at, "--scope", "acme/personal/other")
    ran = run("update", edited, "--based-on", archive, *at, "--json")
    assert (1, "package.not-found") == (ran.code, ran.line["error"]["code"])


def test_restore_brings_back_the_same_package(run, archive, at, tmp_path):
    """Ids stay; where the package stands there is only a receipt more."""
    first = run("restore", archive, *at, "--json")
    again = run("restore", archive, *at, "--json")

    assert (0, 0) == (first.code, again.code)
    assert ("ada", "restore", 1) == tuple(
        first.line[name] for name in ("package_id", "operation", "seq")
    )
    assert first.line["checkpoint_id"] == again.line["checkpoint_id"]
    assert first.line["receipt"] != again.line["receipt"]
    history = run("history", "ada", *at, "--json").lines
    receipts = [event for event in history if event["kind"] == "receipt"]
    assert ["restored existing persona"] * 2 == [r["details"]["note"] for r in receipts]


def test_an_older_state_never_comes_back(run, archive, edited, at):
    """Restoring what was updated since is refused."""
    run("install", archive, *at)
    run("update", edited, "--based-on", archive, *at)

    ran = run("restore", archive, *at, "--json")

    assert (1, "package.rollback") == (ran.code, ran.line["error"]["code"])
    assert 0 == run("restore", edited, *at).code


@pytest.mark.parametrize("verb", ["install", "restore"])
def test_a_key_stands_for_one_package(run, archive, edited, at, verb):
    """Under one key another package is refused."""
    assert 0 == run(verb, archive, *at, "--key", "monday").code

    ran = run(verb, edited, *at, "--key", "monday", "--json")

    assert (1, "idempotency.reused") == (ran.code, ran.line["error"]["code"])


@pytest.mark.parametrize("origin", ["ada", "ada.uaix", "./ada"])
def test_a_clone_is_somebody_else(
    run, archive, *, folder, persona, at, origin, tmp_path
):
    """Files are equal, ids are new, and the original stays, wherever it lies."""
    run("install", archive, *at)

    ran = run("clone", origin, "--id", "ada-2", *at, "--json")

    assert (0, origin, "ada-2") == (ran.code, ran.line["path"], ran.line["package_id"])
    run("export", "ada-2", *at, "-o", "copy")
    copy = read_package(tmp_path / "copy").files
    assert [MANIFEST] == [path for path in persona if persona[path] != copy[path]]
    ours, theirs = (json.loads(files[MANIFEST]) for files in (persona, copy))
    ids = [{e.get("stableId") for e in m["files"]} for m in (ours, theirs)]
    assert set() == ids[0] & ids[1]
    assert ["ada", "ada-2"] == [
        line["package_id"] for line in run("list", *at, "--json").lines
    ]
    taken = run("clone", origin, "--id", "ada-2", *at, "--json")
    assert (1, "package.conflict") == (taken.code, taken.line["error"]["code"])


def test_a_clone_gets_an_id_of_its_own(run, archive, at):
    """Without --id every clone is a new one."""
    run("install", archive, *at)

    names = {run("clone", "ada", *at, "--json").line["package_id"] for _ in range(2)}

    assert 2 == len(names - {"ada"})


@pytest.mark.parametrize(
    ("origin", "exits", "code"),
    [
        ("eve", 1, "package.not-found"),
        ("eve.uaix", 2, "files.missing"),
        ("./ada", 2, "files.missing"),
    ],
)
def test_what_isnt_there_cant_be_cloned(run, archive, *, at, origin, exits, code):
    """A name is an id or a path by its form alone, never by what is there."""
    run("install", archive, *at)

    ran = run("clone", origin, *at, "--json")

    assert (exits, code) == (ran.code, ran.line["error"]["code"])


def test_a_stored_package_is_cloned_in_a_store_that_is_there(run, at, tmp_path):
    """Cloning by id makes no store."""
    assert 2 == run("clone", "ada", *at).code
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("verb", ["restore", "update", "clone"])
def test_a_refused_package_leaves_a_receipt_and_no_content(run, refused, at, verb):
    """What doesn't pass is told by findings without content, whatever the verb."""
    run("install", "refused.uaix", *at)

    ran = run(verb, "./refused.uaix", *at, "--json")

    assert 1 == ran.code
    report, error = ran.lines
    assert ("refuse", True) == (report["verdict"], bool(report["receipt"]))
    assert "package.refused" == error["error"]["code"]
    assert "MARKED-BODY" not in ran.out + ran.err


@pytest.mark.parametrize("verb", ["restore", "update", "clone"])
def test_people_are_told_in_lines(run, archive, edited, at, verb):
    """Without --json the answer is a line and a table."""
    if verb != "restore":
        run("install", archive, *at)
    path = edited if verb == "update" else archive
    more = ("--based-on", archive) if verb == "update" else ()

    ran = run(verb, path, *more, *at)

    assert (0, "") == (ran.code, ran.err)
    assert ran.out.startswith(f"{path}: {verb}{'d' if verb[-1] == 'e' else 'ed'}\n")


def test_a_headline_says_where_nothing_was_done(run, archive, edited, at):
    """What was there before the call is told by its checkpoint, not as done again."""
    update = ("update", edited, "--based-on", archive, *at)
    assert f"{archive}: installed" == run("install", archive, *at).out.splitlines()[0]
    only_a_receipt = (
        "nothing to restore: already there as checkpoint 1; only a receipt was written"
    )
    steps = [
        (("install", archive, *at), "nothing to do: already there as checkpoint 1"),
        (("restore", archive, *at), only_a_receipt),
        (update, "updated"),
        (update, "nothing to do: already there as checkpoint 2"),
        (
            ("install", archive, *at),
            "nothing to do: this is checkpoint 1, the current one is 2",
        ),
    ]

    for args, expected in steps:
        ran = run(*args)
        assert (0, f"{args[1]}: {expected}") == (ran.code, ran.out.splitlines()[0])


def test_a_headline_is_about_the_verb_that_was_called(run, archive, at):
    """An install that finds a restored package doesn't say that it restored it."""
    run("restore", archive, *at, "--key", "monday")

    for verb, *more in (("install",), ("restore", "--key", "monday")):
        ran = run(verb, archive, *at, *more)
        assert (
            f"{archive}: nothing to do: already there as checkpoint 1"
            == (ran.out.splitlines()[0])
        )


@pytest.mark.parametrize("verb", ["install", "restore", "clone"])
def test_a_store_in_memory_is_told_to_keep_nothing(run, archive, verb):
    """Who stores into memory: is warned on the standard error, and only there."""
    at = ("--store", "memory:", "--scope", "acme/personal/main")

    ran = run(verb, archive, *at, "--json")

    assert (0, 1) == (ran.code, ran.err.count("\n"))
    assert ran.err.startswith("note: memory: ")
    assert ANSWER == set(ran.line)


@pytest.mark.parametrize("verb", ["install", "restore"])
@pytest.mark.parametrize("key", ["", "x\x1b", "x" * 201])
def test_a_malformed_key_is_wrong_usage(run, archive, *, at, verb, key):
    """An idempotency key that can't be one is exit code 2 and makes no store."""
    ran = run(verb, archive, *at, "--key", key, "--json")

    assert (2, "idempotency.key") == (ran.code, ran.line["error"]["code"])
    assert {archive} == set(archive.parent.iterdir())


@pytest.mark.parametrize("name", ["", "x\x1b", "a/b", "-"])
def test_a_malformed_new_id_is_wrong_usage(run, archive, *, at, name):
    """A clone's id that can't be one is exit code 2 at its option."""
    ran = run("clone", archive, *at, f"--id={name}", "--json")

    error = ran.line["error"]
    assert (2, "id.syntax", "--id") == (ran.code, error["code"], error["path"])
    assert {archive} == set(archive.parent.iterdir())


@pytest.mark.parametrize(
    ("verb", "more"),
    [
        ("show", ()),
        ("history", ()),
        ("dimensions", ()),
        ("receipts", ()),
        ("export", ("-o", "out.uaix")),
        ("clone", ()),
    ],
)
def test_a_malformed_package_id_is_wrong_usage(run, archive, *, at, verb, more):
    """What can't be an id is told as that, at the argument, with exit code 2."""
    run("install", archive, *at)
    name = "a*b" if verb == "clone" else "../x"

    ran = run(verb, name, *more, *at, "--json")

    error = ran.line["error"]
    assert (2, "id.syntax", "PACKAGE_ID") == (ran.code, error["code"], error["path"])
