"""The verbs backup and store copy."""

from __future__ import annotations

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

    assert 0 == ran.code
    assert "my.backup: verified: 2 commits in 2 scopes" in ran.out


def test_a_backup_is_not_overwritten(run, filled, tmp_path):
    """A file that is there stays, unless --overwrite is said."""
    (tmp_path / "my.backup").write_text("mine")

    assert 1 == run("backup", "--store", filled, "-o", "my.backup").code
    assert "mine" == (tmp_path / "my.backup").read_text()
    args = ("backup", "--store", filled, "-o", "my.backup", "--overwrite")
    assert 0 == run(*args).code


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
    """Without a word, and with a wrong one, the group tells its verbs."""
    assert "copy" in run("store", "--help").out
    assert 2 == run("store", "move", "a", "b").code
