"""The verbs backup and store copy."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

SCOPE = "acme/personal/main"
OTHER = "acme/shared/other"


@pytest.fixture
def filled(run, archive, at):
    """The URL of a store with two scopes."""
    run("install", archive, *at, "--key", "k-1")
    run("install", archive, *at[:2], "--scope", OTHER)
    return at[1]


def heads(lines):
    return [(line["scope"], line["position"], line["head"]) for line in lines]


def test_a_backup_is_a_store_to_read(run, filled, tmp_path):
    """What was backed up can be listed, looked at and verified from the file."""
    ran = run("backup", "--store", filled, "-o", "my.backup", "--json")

    assert (0, "") == (ran.code, ran.err)
    assert (tmp_path / "my.backup").stat().st_size == ran.line["bytes"]
    assert [(SCOPE, 1), (OTHER, 1)] == [h[:2] for h in heads(ran.line["scopes"])]
    at = ("--store", "backup:my.backup", "--scope", SCOPE)
    assert "ada" == run("list", *at, "--json").line["package_id"]
    shown = run("show", "ada", *at, "--json").lines
    assert shown == run("show", "ada", "--store", filled, *at[2:], "--json").lines
    # Leaving a package leaves a receipt, which a backup can't take.
    assert 3 == run("export", "ada", *at, "-o", "ada-again.uaix").code
    verified = run("verify", "--store", "backup:my.backup", "--json")
    assert (0, heads(ran.line["scopes"])) == (verified.code, heads(verified.lines[1:]))


def test_a_backup_tells_people_what_it_holds(run, filled):
    """The line for people says that it was verified, and how much it is."""
    ran = run("backup", "--store", filled, "-o", "my.backup")
    one = run("backup", "--store", filled, "-o", "one.backup", "--scope", OTHER)

    assert (0, 0) == (ran.code, one.code)
    assert "my.backup: verified: 2 commits in 2 scopes, " in ran.out
    assert "one.backup: verified: 1 commit in 1 scope, " in one.out


def test_only_a_backup_is_overwritten(run, filled, tmp_path):
    """A file that is there stays; --overwrite replaces a backup and nothing else."""
    args = ("backup", "--store", filled, "-o", "my.backup")
    (tmp_path / "my.backup").write_text("mine")

    assert 1 == run(*args).code
    refused = run(*args, "--overwrite", "--json")
    assert (1, "files.target") == (refused.code, refused.line["error"]["code"])
    assert "mine" == (tmp_path / "my.backup").read_text()
    (tmp_path / "my.backup").write_text("")
    assert 0 == run(*args, "--overwrite").code
    again = run(*args)
    assert 1 == again.code
    assert "--overwrite" in again.err
    assert 0 == run(*args, "--overwrite").code
    assert "is a backup or an empty file" in run("backup", "--help").out


@pytest.mark.parametrize("name", ["", "-", "backup:x", "sqlite:x", "dir:x", "memory:"])
def test_a_backup_goes_into_a_file(run, filled, tmp_path, name):
    """An empty name, the standard output and a URL are wrong usage, and said so."""
    before = sorted(tmp_path.iterdir())

    ran = run("backup", "--store", filled, "-o", name, "--json")

    assert (2, "usage") == (ran.code, ran.line["error"]["code"])
    assert before == sorted(tmp_path.iterdir())
    if name == "backup:x":
        assert "did you mean -o x?" in ran.err


def test_a_name_with_a_colon_is_a_file(run, filled, tmp_path):
    """What looks like no URL of a store is the name of a file."""
    for name in ("my:backup", "./backup:x"):
        assert 0 == run("backup", "--store", filled, "-o", name).code
        assert (tmp_path / name).exists()


def test_some_scopes_are_backed_up(run, filled):
    """--scope may be repeated, and what it doesn't name stays out."""
    scopes = ("--scope", OTHER, "--scope", "acme/project/none")
    args = ("backup", "--store", filled, "-o", "my.backup", "--json")

    ran = run(*args, *scopes)
    assert (1, "scope.not-found") == (ran.code, ran.line["error"]["code"])
    assert [OTHER] == [s["scope"] for s in run(*args, *scopes[:2]).line["scopes"]]
    both = run(*args, "--overwrite", "--scope", OTHER, "--scope", SCOPE)
    assert [SCOPE, OTHER] == [s["scope"] for s in both.line["scopes"]]


@pytest.fixture
def damaged(run, archive, tmp_path):
    """The URL of a store with two scopes; of one the second commit is damaged."""
    at = ("--store", "dir:store")
    run("install", archive, *at, "--scope", SCOPE)
    run("install", archive, *at, "--scope", OTHER)
    run("clone", "ada", "--id", "ada-2", *at, "--scope", SCOPE)
    for path in tmp_path.rglob("segment.jsonl"):
        data = bytearray(path.read_bytes())
        if SCOPE.encode() in data.splitlines()[0]:
            place = data.rfind(b'"body":{') + 12
            data[place] ^= 1
            path.write_bytes(data)
    return "dir:store"


def test_a_damaged_scope_keeps_no_other_from_its_backup(run, damaged, tmp_path):
    """Which scope is damaged is said, and how the others are backed up."""
    args = ("backup", "--store", damaged, "-o", "my.backup")

    ran = run(*args)
    assert 3 == ran.code
    assert SCOPE in ran.err
    assert "--scope" in ran.err
    assert not (tmp_path / "my.backup").exists()
    assert 0 == run(*args, "--scope", OTHER).code
    assert 0 == run("verify", "--store", "backup:my.backup").code


def test_a_copy_that_stops_tells_where_and_what_it_saved(run, archive, tmp_path):
    """At a damaged commit the copy names it, and what stands in the target."""
    at = ("--store", "sqlite:store.db")
    run("install", archive, *at, "--scope", SCOPE)
    run("install", archive, *at, "--scope", OTHER)
    run("clone", "ada", "--id", "ada-2", *at, "--scope", SCOPE)
    with closing(sqlite3.connect(tmp_path / "store.db")) as spoiling, spoiling:
        spoiling.execute("UPDATE uaix_commit SET digest = ? WHERE seq = 2", ("0" * 64,))

    ran = run("store", "copy", "sqlite:store.db", "dir:new", "--json")
    shown = run("store", "copy", "sqlite:store.db", "dir:again")

    assert (1, 1) == (ran.code, shown.code)
    stopped, whole = ran.lines
    assert (SCOPE, 1, 1, False) == tuple(
        stopped[name] for name in ("scope", "position", "commits", "ok")
    )
    assert (OTHER, True) == (whole["scope"], whole["ok"])
    error = stopped["error"]
    assert f"{SCOPE}#2" == error["path"]
    told = f"{error['code']}: {error['message']} at {error['path']}"
    assert f"{told}; 1 commit saved before it" in shown.out
    verified = run("verify", "--store", "dir:new", "--json")
    assert 0 == verified.code
    assert heads(ran.lines) == heads(verified.lines[1:])


def test_a_damaged_store_is_restored_with_what_came_since(run, archive, tmp_path):
    """Behind a backup, the damaged store gives the commits that can still be read."""
    at = ("--store", "sqlite:store.db", "--scope", SCOPE)
    run("install", archive, *at)
    run("clone", "ada", "--id", "ada-2", *at)
    run("backup", *at[:2], "-o", "my.backup")
    run("clone", "ada", "--id", "ada-3", *at)
    before = run("verify", *at[:2], "--json").lines[1]
    with closing(sqlite3.connect(tmp_path / "store.db")) as spoiling, spoiling:
        spoiling.execute("UPDATE uaix_commit SET digest = ? WHERE seq = 1", ("0" * 64,))
    assert 1 == run("verify", *at[:2]).code

    for source in ("backup:my.backup", "sqlite:store.db"):
        assert 0 == run("store", "copy", source, "dir:again").code

    assert before == run("verify", "--store", "dir:again", "--json").lines[1]


@pytest.mark.parametrize(
    ("verb", "options"),
    [("verify", ()), ("backup", ("-o", "new")), ("store copy", ("dir:new",))],
)
def test_a_scope_that_is_not_there_is_told(run, filled, tmp_path, verb, options):
    """A mistyped scope is not found, and nothing is made for it."""
    named = (filled,) if verb == "store copy" else ("--store", filled)
    before = sorted(tmp_path.iterdir())

    scope = ("--scope", "acme/personal/mistyped", "--json")
    ran = run(*verb.split(), *named, *options, *scope)

    assert (1, "scope.not-found") == (ran.code, ran.line["error"]["code"])
    assert before == sorted(tmp_path.iterdir())


def test_a_backup_is_no_target_of_a_copy(run, filled, tmp_path):
    """To copy into a backup is wrong usage that says which verb makes one."""
    ran = run("store", "copy", filled, "backup:q")

    assert 2 == ran.code
    assert f"uaix backup --store {filled} -o q" in ran.err
    assert not (tmp_path / "q").exists()


def test_a_store_is_not_copied_into_itself(run, filled, tmp_path):
    """FROM and TO are two stores, however they are spelled."""
    (tmp_path / "link").symlink_to(filled.partition(":")[2])
    kind, _colon, path = filled.partition(":")

    for other in (filled, f"{kind}:./{path}", f"{kind}:link"):
        ran = run("store", "copy", filled, other)
        assert 2 == ran.code
        assert "same store" in ran.err


def test_an_interrupted_copy_says_how_it_goes_on(run, filled, monkeypatch):
    """The interrupt key ends a copy, and who pressed it is told what comes next."""

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("uaix_surfaces.cli.copying.copy_whole", stop)

    ran = run("store", "copy", filled, "dir:new")

    assert 130 == ran.code
    assert "the same command goes on" in ran.err


def test_a_backup_takes_no_package(run, filled, archive):
    """Storing into a backup is refused, with the way to a store."""
    run("backup", "--store", filled, "-o", "my.backup")

    at = ("--store", "backup:my.backup", "--scope", "acme/project/new")
    ran = run("install", archive, *at)

    assert 3 == ran.code
    assert "uaix store copy" in ran.err


@pytest.mark.parametrize("target", ["sqlite:again.db", "dir:again"])
@pytest.mark.parametrize("way", ["straight", "by backup"])
def test_a_copy_is_the_store_again(run, filled, archive, target, way):
    """Every scope has the same head there, and a known key still writes nothing."""
    source = filled
    if way == "by backup":
        run("backup", "--store", filled, "-o", "my.backup")
        source = "backup:my.backup"

    ran = run("store", "copy", source, target, "--json")

    assert (0, "") == (ran.code, ran.err)
    assert [(1, True), (1, True)] == [
        (line["commits"], line["ok"]) for line in ran.lines
    ]
    verified = run("verify", "--store", target, "--json")
    assert (0, heads(ran.lines)) == (verified.code, heads(verified.lines[1:]))
    again = run("install", archive, "--store", target, "--scope", SCOPE, "--key", "k-1")
    assert 0 == again.code
    assert heads(ran.lines) == heads(
        run("verify", "--store", target, "--json").lines[1:]
    )


def test_a_copy_may_be_repeated(run, filled, archive):
    """The second time nothing is new; later it brings what came since."""
    run("store", "copy", filled, "dir:again")

    ran = run("store", "copy", filled, "dir:again", "--json")
    assert [0, 0] == [line["commits"] for line in ran.lines]
    run("install", archive, "--store", filled, "--scope", "acme/project/more")
    ran = run("store", "copy", filled, "dir:again", "--json")
    assert [0, 1, 0] == [line["commits"] for line in ran.lines]


def test_a_copy_of_one_scope(run, filled):
    """With --scope no other scope is copied."""
    ran = run("store", "copy", filled, "dir:again", "--scope", OTHER, "--json")

    assert [OTHER] == [line["scope"] for line in ran.lines]
    assert [OTHER] == [
        line["scope"]
        for line in run("verify", "--store", "dir:again", "--json").lines[1:]
    ]


def test_another_history_is_told_and_left(run, filled, archive):
    """A scope with another history there is refused; the other scopes are copied."""
    run("install", archive, "--store", "sqlite:other.db", "--scope", SCOPE)
    before = run("verify", "--store", "sqlite:other.db", "--json").lines[1]

    ran = run("store", "copy", filled, "sqlite:other.db", "--json")

    assert 1 == ran.code
    assert [(SCOPE, False), (OTHER, True)] == [
        (line["scope"], line["ok"]) for line in ran.lines
    ]
    assert "chain.fork" == ran.lines[0]["error"]["code"]
    after = run("verify", "--store", "sqlite:other.db", "--json").lines[1]
    assert before == after
    shown = run("store", "copy", filled, "sqlite:other.db")
    assert 1 == shown.code
    assert "chain.fork" in shown.out


def test_copying_needs_a_source(run, tmp_path):
    """Where there is no source nothing is made."""
    assert 2 == run("store", "copy", "dir:none", "dir:new").code
    assert [] == list(tmp_path.iterdir())


def test_an_empty_store_is_copied(run, tmp_path):
    """A store without scopes gives one without scopes."""
    ran = run("store", "copy", "memory:", "sqlite:new.db")

    assert 0 == ran.code
    assert "no scope" in ran.out
    assert (tmp_path / "new.db").exists()


def test_the_group_says_what_it_has(run):
    """Without a word it is wrong usage that shows the help, as does a wrong one."""
    shown = run("store", "--help")
    assert (0, True) == (shown.code, "\n  copy " in shown.out)
    alone = run("store")
    assert (2, "", shown.out) == (alone.code, alone.out, alone.err)
    wrong = run("store", "move", "a", "b")
    assert 2 == wrong.code
    assert wrong.err.startswith("usage: ")


def test_the_verb_of_the_group_has_its_examples(run):
    """Each example of a verb of a group stands on a line of its own."""
    shown = run("store", "copy", "--help").out

    assert 3 == shown.count("\n    uaix store copy ")
    assert "\\b" not in shown
