"""Laws of branch, derive and pick on the command line."""

from __future__ import annotations

import pytest

from uaix_backends import open_session, read_package, write_package
from uaix_core import repack

CONTEXT = ".uai/world-context.uai"
PERSONA = ".uai/persona.uai"


@pytest.fixture
def work(run, archive, at, tmp_path):
    """An exported folder of a stored package."""
    run("install", archive, *at)
    run("export", "ada", *at, "-o", "work")
    return tmp_path / "work"


def add(work, path, text="MARKED-BODY comes in.\n"):
    """Add a line to a file of the folder."""
    file = work / path
    file.write_text(file.read_text(encoding="utf-8") + text, encoding="utf-8")


def test_a_divergent_package_is_branched_and_picked(run, work, at):
    """A package that was edited elsewhere lives on beside the other one."""
    add(work, CONTEXT)
    run("pack", work, "--write-back")

    ran = run("branch", work, "--id", "ada-2", *at, "--json")

    assert (0, "branch", "ada-2") == (
        ran.code,
        ran.line["operation"],
        ran.line["package_id"],
    )
    assert "branched" in run("branch", work, "--id", "ada-3", *at).out
    picked = run("pick", "ada-2", "--over", "ada", "--note", "newer", *at, "--json")
    assert (0, "picked") == (picked.code, picked.line["verdict"])
    assert "rejected" == run("show", "ada", *at[:4], "--json").line["state"]
    wrong = run("pick", "ada-2", "--over", "ada-3", *at)
    assert (1, True) == (wrong.code, wrong.err.startswith("review.unrelated: "))


def test_a_conflict_is_branched(run, work, at):
    """A candidate that lost may live on in a package of its own."""
    run("export", "ada", *at, "-o", "other")
    add(work.with_name("other"), CONTEXT, "Theirs.\n")
    run("adopt", "ada", work.with_name("other"), *at)
    add(work, CONTEXT)
    run("adopt", "ada", work, *at)
    (conflict,) = run("waiting", "ada", *at[:4], "--json").line["conflicts"]

    ran = run("resolve", conflict["conflict_id"], "branch", "--id", "ada-2", *at)

    assert 0 == ran.code
    run("export", "ada-2", *at, "-o", "branch")
    assert "MARKED-BODY" in (work.with_name("branch") / CONTEXT).read_text("utf-8")


def test_a_persona_is_derived(run, work, at):
    """A transformed persona is another package, with a reason and a note."""
    add(work, PERSONA)
    asked = ("derive", "ada", work, "--id", "ada-2", "--reason", "a play", *at)

    silent = run(*asked)
    assert (1, True) == (silent.code, silent.err.startswith("derive.note: "))
    assert 2 == run(*asked, "--note", "nothing").code
    ran = run(*asked, "--note", f"{PERSONA}=faster", "--json")

    assert (0, "derive") == (ran.code, ran.line["operation"])
    assert "MARKED-BODY" not in ran.out + ran.err
    run("export", "ada", *at, "-o", "again")
    assert "MARKED-BODY" not in (work.with_name("again") / PERSONA).read_text("utf-8")


def parted(at, package_id="ada"):
    """The branch and the checkpoint at which it parted, of each descendant."""
    with open_session(at[1], scope=at[3], principal="human:ada") as session:
        rows = session.packages.descendants(package_id)
        first = session.packages.checkpoints(package_id)[0].checkpoint_id
    return {row.package_id: row.from_checkpoint_id == first for row in rows}


def test_a_folder_carries_what_it_was_made_from(run, work, at):
    """What pack brings up to date names its base: for branch, update and adopt."""
    run("export", "ada", *at, "-o", "other")
    other = work.with_name("other")
    add(other, CONTEXT, "Theirs.\n")
    assert 0 == run("adopt", "ada", other, *at).code
    for number in range(2):
        add(work, CONTEXT)
        assert 0 == run("pack", work, "--write-back").code, number

    assert 0 == run("branch", work, "--id", "said", *at).code
    stale = run("update", work, *at)
    assert (1, True) == (stale.code, stale.err.startswith("package.stale: "))
    conflict = run("adopt", "ada", work, *at)
    assert conflict.err.startswith("revision.conflict: ")
    assert {"said": True} == parted(at)
    # An export that was brought up to date goes on from there.
    run("export", "ada", *at, "-o", "again")
    again = work.with_name("again")
    for _ in range(2):
        add(again, ".uai/short-term-memory.uai")
        run("pack", again, "--write-back")
        assert 0 == run("update", again, *at).code


def test_a_branch_may_say_where_it_parted(run, work, at, archive):
    """Without a word the lineage names no checkpoint; --based-on names it."""
    run("export", "ada", *at, "-o", "other")
    other = work.with_name("other")
    add(other, CONTEXT, "Theirs.\n")
    run("adopt", "ada", other, *at)
    files = dict(read_package(work).files)
    files[CONTEXT] += b"Mine.\n"
    write_package(work.with_name("mine.uaix"), repack(files).files)
    for name, more in (("mute", ()), ("told", ("--based-on", archive))):
        asked = ("branch", "mine.uaix", "--id", name, *more, "--key", name)
        first, again = (run(*asked, *at, "--json").line for _ in range(2))
        assert (True, False) == (first["is_first"], again["is_first"])

    assert {"mute": False, "told": True} == parted(at)


def test_a_stale_folder_derives_nothing_by_the_way(run, work, at):
    """Only edits are a transformation; one that moved on since is a conflict."""
    run("export", "ada", *at, "-o", "other")
    other = work.with_name("other")
    add(other, CONTEXT, "Theirs.\n")
    run("adopt", "ada", other, *at)
    add(work, PERSONA)
    asked = ("derive", "ada", work, "--reason", "a play", *at)
    note = ("--note", f"{PERSONA}=faster")

    assert 0 == run(*asked, *note, "--id", "ada-2").code
    run("export", "ada-2", *at, "-o", "derived")
    derived = work.with_name("derived")
    assert (other / CONTEXT).read_bytes() == (derived / CONTEXT).read_bytes()
    add(work, CONTEXT)
    lost = run(*asked, *note)
    assert (1, True) == (lost.code, lost.err.startswith("revision.conflict: "))
    assert [] == run("waiting", "ada", *at[:4], "--json").line["conflicts"]


def test_a_thinned_out_folder_says_what_is_to_go(run, work, at):
    """A file that isn't there stays in the derivative unless it is named."""
    extra = work / ".uai/notes/extra.uai"
    extra.parent.mkdir()
    extra.write_text("More.\n", encoding="utf-8")
    run("adopt", "ada", work, "--new", ".uai/notes/extra.uai", *at)
    extra.unlink()
    asked = ("derive", "ada", work, "--reason", "a play", *at)

    gone = run(*asked)
    assert (1, True) == (gone.code, gone.err.startswith("adopt.removed: "))
    keyed = ("--remove", ".uai/notes/extra.uai", "--key", "k", "--json")
    first, again = (run(*asked, *keyed).line for _ in range(2))
    assert first["package_id"] == again["package_id"]
    assert (True, False) == (first["is_first"], again["is_first"])
