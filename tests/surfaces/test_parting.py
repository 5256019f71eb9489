"""Laws of branch, derive and pick on the command line."""

from __future__ import annotations

import pytest

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
