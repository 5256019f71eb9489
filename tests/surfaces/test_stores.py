from __future__ import annotations

import hashlib
import json

import pytest

from uaix_backends import read_package, write_package

SHOWN = {
    "package_id",
    "checkpoint_id",
    "number",
    "state",
    "ruleset",
    "file_count",
    "total_bytes",
    "installed_at",
    "modified_at",
    "profile_id",
    "issuer",
    "status",
    "created_utc",
    "declared_scopes",
    "manifest_sha256",
}
RECEIPT = {
    "receipt_id",
    "recorded_at",
    "seq",
    "operation",
    "outcome",
    "actor",
    "package_id",
    "checkpoint_id",
    "details",
}
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


def test_install_answers_the_same_again(run, archive, at):
    """A first install makes the store; the same package again writes nothing."""
    first = run("install", archive, *at, "--json")
    again = run("install", archive, *at, "--json")

    assert (0, 0) == (first.code, again.code)
    assert ANSWER == set(first.line)
    assert (True, False) == (first.line["is_first"], again.line["is_first"])
    assert {**first.line, "is_first": False} == again.line
    assert ("ada", "quarantined", 1) == (
        first.line["package_id"],
        first.line["state"],
        first.line["seq"],
    )


def test_install_takes_folders(run, folder, at):
    """A folder is installed as an archive is."""
    assert 0 == run("install", folder, *at).code
    assert ["ada"] == [line["package_id"] for line in run("list", *at, "--json").lines]


def test_a_refused_install_shows_findings_and_leaves_a_receipt(run, refused, at):
    """Of a refused package nothing is stored but a receipt that says so."""
    ran = run("install", refused, *at, "--json")

    assert 1 == ran.code
    report, error = ran.lines
    assert "refuse" == report["verdict"]
    assert report["receipt"]
    assert "package.refused" == error["error"]["code"]
    assert "MARKED-BODY" not in ran.out + ran.err
    listed = run("list", *at, "--json")
    assert (0, "") == (listed.code, listed.out)


def test_an_unreadable_package_makes_no_store(run, at, tmp_path):
    """What can't be read is exit code 2, before any store is made."""
    ran = run("install", "none.uaix", *at)

    assert 2 == ran.code
    assert ran.err.startswith("files.missing: ")
    assert [] == list(tmp_path.iterdir())


def test_other_content_of_the_same_id_is_a_conflict(run, archive, persona, at):
    """An installed id is taken: other content is refused with its code."""
    manifest = persona[".uai/manifest.uaix.json"]
    other = manifest.replace(b'"tests"', b'"others"')
    write_package(
        archive.with_name("other.uaix"), {**persona, ".uai/manifest.uaix.json": other}
    )
    run("install", archive, *at)

    ran = run("install", "other.uaix", *at, "--json")

    assert 1 == ran.code
    assert "package.conflict" == ran.line["error"]["code"]


def test_a_key_of_other_bytes_is_refused(run, archive, persona, at):
    """An idempotency key stands for one package and for no other."""
    manifest = persona[".uai/manifest.uaix.json"]
    write_package(
        archive.with_name("b.uaix"),
        {
            **persona,
            ".uai/manifest.uaix.json": manifest.replace(b'"tests"', b'"others"'),
        },
    )
    assert 0 == run("install", archive, *at, "--key", "monday").code
    assert 0 == run("install", archive, *at, "--key", "monday").code

    ran = run("install", "b.uaix", *at, "--key", "monday")

    assert 1 == ran.code
    assert ran.err.startswith("idempotency.reused: ")


def test_export_gives_the_same_bytes(run, archive, persona, at, tmp_path):
    """What comes out of a store equals what went in, as archive and as folder."""
    run("install", archive, *at)

    as_archive = run("export", "ada", *at, "-o", "back.uaix", "--json")
    as_folder = run("export", "ada", *at, "-o", "back", "--json")

    assert (0, 0) == (as_archive.code, as_folder.code)
    data = (tmp_path / "back.uaix").read_bytes()
    assert archive.read_bytes() == data
    assert hashlib.sha256(data).hexdigest() == as_archive.line["archive_sha256"]
    assert as_folder.line["archive_sha256"] is None
    assert persona == read_package(tmp_path / "back").files


def test_export_looks_before_it_leaves_a_receipt(run, archive, folder, at):
    """A target that is taken is refused, and no receipt tells of an export."""
    run("install", archive, *at)
    before = archive.read_bytes()

    for target, has_overwrite in ((archive, True), (folder, False)):
        ran = run("export", "ada", *at, "-o", target)
        assert 1 == ran.code
        assert ran.err.startswith("files.exists: ")
        assert has_overwrite == ("--overwrite" in ran.err)

    assert before == archive.read_bytes()
    history = run("history", "ada", *at, "--json").lines
    assert ["install"] == [e["what"] for e in history if e["kind"] == "receipt"]


def test_export_overwrites_archives_only(run, archive, folder, at):
    """--overwrite replaces an archive; for a folder it is wrong usage."""
    run("install", archive, *at)
    archive.write_bytes(b"old")

    assert 0 == run("export", "ada", *at, "-o", archive, "--overwrite").code
    assert b"old" != archive.read_bytes()
    assert 2 == run("export", "ada", *at, "-o", folder, "--overwrite").code


@pytest.mark.parametrize("name", ["out.zip", "out.UAIX", "none/out.ZIP"])
def test_export_makes_no_folder_named_like_an_archive(run, archive, at, tmp_path, name):
    """A target that looks like an archive and would be a folder is wrong usage."""
    run("install", archive, *at)

    ran = run("export", "ada", *at, "-o", name)

    assert 2 == ran.code
    assert ran.err.startswith("usage: ")
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("args", [("list",), ("show", "ada")])
def test_a_missing_store_is_told_in_words_of_the_command_line(run, at, args):
    """What helps is a verb, not an argument of the library."""
    ran = run(*args, *at)

    assert 2 == ran.code
    assert ran.err.startswith("store.missing: ")
    assert "create=True" not in ran.err
    assert "install" in ran.err


def test_an_empty_scope_is_told(run, archive, at):
    """Where nothing is listed, the standard error says that this is all."""
    run("install", archive, *at)
    other = (*at[:2], "--scope", "acme/personal/other")

    for more in ((), ("--json",)):
        for verb, word in (("list", "package"), ("receipts", "receipt")):
            ran = run(verb, *other, *more)
            assert (0, "", f"the scope holds no {word}\n") == ran


def test_receipts_list_refusals(run, archive, refused, at):
    """A refusal is about no package: it stands among all receipts of the scope."""
    run("install", archive, *at)
    run("install", refused, *at, "--actor", "human:eve")

    every = run("receipts", *at, "--json").lines
    own = run("receipts", "ada", *at, "--json").lines

    assert [("install", "accepted", "ada"), ("install", "refused", None)] == [
        (line["operation"], line["outcome"], line["package_id"]) for line in every
    ]
    assert every[:1] == own
    assert RECEIPT == set(every[1])
    assert ("human:eve", 2) == (every[1]["actor"], every[1]["seq"])
    assert "hash.mismatch" in every[1]["details"]["findings"]
    shown = run("receipts", *at)
    assert (0, "") == (shown.code, shown.err)
    assert "hash.mismatch" in shown.out


def test_receipts_of_no_package(run, archive, at):
    """A package that the scope doesn't hold is not found."""
    run("install", archive, *at)

    ran = run("receipts", "eve", *at, "--json")

    assert (1, "package.not-found") == (ran.code, ran.line["error"]["code"])


@pytest.mark.parametrize("verb", ["show", "history", "export"])
def test_an_unknown_package_is_not_found(run, archive, at, verb):
    """A package that the scope doesn't hold is exit code 1 with its code."""
    run("install", archive, *at)
    more = ("-o", "x") if verb == "export" else ()

    ran = run(verb, "eve", *at, *more, "--json")

    assert 1 == ran.code
    assert "package.not-found" == ran.line["error"]["code"]
    assert 1 == ran.err.count("\n")


def test_scopes_are_apart(run, archive, at):
    """A package of one scope is not seen in another one of the same store."""
    run("install", archive, *at)

    ran = run("list", *at[:2], "--scope", "acme/personal/other", "--json")

    assert (0, "") == (ran.code, ran.out)


def test_list_and_show_have_the_documented_fields(run, archive, persona, at):
    """A package's line has its fields, and show adds its files in start-up order."""
    run("install", archive, *at)

    listed = run("list", *at, "--json").line
    shown = run("show", "ada", *at, "--json").line

    assert SHOWN == set(listed)
    assert {**listed, "files": shown["files"]} == shown
    assert ["universal", "persona_profile"] == listed["declared_scopes"]
    assert set(persona) - {".uai/manifest.uaix.json"} == {
        file["path"] for file in shown["files"]
    }
    orders = [(file["startup_order"], file["path"]) for file in shown["files"]]
    assert sorted(orders) == orders
    for file in shown["files"]:
        data = persona[file["path"]]
        assert (len(data), hashlib.sha256(data).hexdigest()) == (
            file["size_bytes"],
            file["sha256"],
        )


def test_history_tells_in_order_who_did_what_when(run, archive, persona, at):
    """Checkpoints, revisions and receipts stand in order with actor and instant."""
    run("install", archive, *at, "--actor", "human:ada")
    run("export", "ada", *at, "-o", "back.uaix", "--actor", "agent:bob")

    events = run("history", "ada", *at, "--json").lines

    assert sorted(event["seq"] for event in events) == [e["seq"] for e in events]
    kinds = [event["kind"] for event in events]
    files = len(persona) - 1
    assert ["checkpoint", *["revision"] * files, "receipt", "receipt"] == kinds
    assert {"human:ada"} == {event["actor"] for event in events[:-1]}
    assert ("agent:bob", "export", "accepted") == (
        events[-1]["actor"],
        events[-1]["what"],
        events[-1]["outcome"],
    )
    assert all(event["recorded_at"].endswith("Z") for event in events)
    assert sorted(e["recorded_at"] for e in events) == [
        e["recorded_at"] for e in events
    ]


@pytest.mark.parametrize("verb", ["list", "show", "history"])
def test_people_get_tables(run, archive, at, verb):
    """Without --json a verb prints a table that names the package or its files."""
    run("install", archive, *at)

    ran = run(verb, *(() if verb == "list" else ("ada",)), *at)

    assert (0, "") == (ran.code, ran.err)
    assert "quarantined" in ran.out
    with pytest.raises(ValueError):
        json.loads(ran.out.splitlines()[0])


def test_memory_is_empty_each_time(run, archive):
    """A memory store takes a package and forgets it at the end of the call."""
    at = ("--store", "memory:", "--scope", "acme/personal/main")

    assert 0 == run("install", archive, *at).code
    assert (0, "") == run("list", *at, "--json")[:2]


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("list", "--store", "sqlite:none.db", "--scope", "a/personal/b"), "store."),
        (("list", "--store", "dir:none", "--scope", "a/personal/b"), "store."),
        (("list", "--store", "none", "--scope", "a/personal/b"), "store.url"),
        (("list", "--store", "memory:", "--scope", "a/b"), "scope.syntax"),
        (("list", "--store", "memory:", "--scope", "a/none/b"), "scope.kind"),
        (("list", "--store", "memory:", "--scope", "a/personal/.."), "id.syntax"),
        (("list", "--store", "memory:"), "usage"),
        (("list", "--scope", "a/personal/b"), "usage"),
    ],
)
def test_stores_and_scopes_are_named_and_never_guessed(run, tmp_path, args, code):
    """A missing or wrong store or scope is exit code 2 and makes nothing."""
    ran = run(*args)

    assert (2, "") == (ran.code, ran.out)
    assert ran.err.startswith(code)
    assert [] == list(tmp_path.iterdir())


def test_a_wrong_actor_makes_no_store(run, archive, at, tmp_path):
    """An actor of no known kind is exit code 2, before any store is made."""
    ran = run("install", archive, *at, "--actor", "ghost:x")

    assert 2 == ran.code
    assert ran.err.startswith("principal.kind: ")
    assert {"ada.uaix"} == {path.name for path in tmp_path.iterdir()}


def test_people_see_notices_as_findings(run, archive, folder, at):
    """What an accepted package is told about beside is a table of findings."""
    run("install", archive, *at)

    ran = run("clone", "./ada", *at)

    assert 0 == ran.code
    assert "package.same-persona" in ran.out
    assert "notices" not in ran.out


def test_people_see_why_an_install_was_refused(run, refused, at):
    """Without --json the findings are a table and the error is one line."""
    ran = run("install", refused, *at)

    assert 1 == ran.code
    assert "hash.mismatch" in ran.out
    assert "uaix pack DIR --write-back" in ran.out
    assert ran.err.startswith("package.refused: the package is refused with ")
    assert "(" not in ran.err
    assert 1 == ran.err.count("\n")
    assert "MARKED-BODY" not in ran.out + ran.err
