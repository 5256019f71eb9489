"""Laws of files-first work in a directory store's own working tree."""

from __future__ import annotations

import pytest
from tests.surfaces.conftest import SCOPE

from uaix_backends import open_session
from uaix_backends.trees import edited_tree
from uaix_core import CallerError

CONTEXT = ".uai/world-context.uai"
AT = ("--store", "dir:store", "--scope", SCOPE)


@pytest.fixture
def tree(run, archive, tmp_path):
    """The folder of a stored package in the working tree."""
    run("install", archive, *AT)
    (manifest,) = (tmp_path / "store" / "tree").rglob("manifest.uaix.json")
    return manifest.parents[1]


def add(tree, path=CONTEXT, text="MARKED-BODY comes in.\n"):
    """Add a line to a file of the tree."""
    file = tree / path
    file.write_text(file.read_text(encoding="utf-8") + text, encoding="utf-8")


def revision(run, path=CONTEXT):
    """The revision that stands."""
    files = run("show", "ada", *AT, "--json").line["files"]
    return next(f["revision_id"] for f in files if f["path"] == path)


def test_an_edit_in_the_tree_is_adopted_where_it_lies(run, tree):
    """Status, diff and adopt need no folder; afterwards the tree is clean."""
    assert "nothing was edited" in run("status", "ada", *AT).out
    assert 0 == run("diff", "ada", *AT).code
    add(tree)

    status = run("status", "ada", *AT, "--json").line
    assert (None, [CONTEXT]) == (
        status["folder"],
        [f["path"] for f in status["files"] if f["state"] == "edited"],
    )
    assert [CONTEXT] == [
        c["path"] for c in run("diff", "ada", *AT, "--json").line["changed"]
    ]
    adopted = run("adopt", "ada", *AT, "--json")
    assert (0, [2], True) == (
        adopted.code,
        [r["number"] for r in adopted.line["revisions"]],
        adopted.line["refreshed"],
    )
    assert "nothing was edited" in run("status", "ada", *AT).out
    add(tree, text="Once more.\n")
    assert 0 == run("adopt", "ada", *AT).code
    assert 0 == run("diff", "ada", *AT).code


def test_an_edit_of_what_has_moved_on_is_a_conflict(run, tree, tmp_path):
    """The tree keeps an edit while others change its file, and nothing is lost."""
    add(tree)
    (tmp_path / "theirs.uai").write_bytes(
        (tree / CONTEXT).read_bytes().replace(b"MARKED-BODY", b"Theirs")
    )
    run("revise", "ada", CONTEXT, "theirs.uai", "--expect", revision(run), *AT)
    add(tree, ".uai/taboo.uai", "More.\n")

    states = {
        f["path"]: f["state"]
        for f in run("status", "ada", *AT, "--json").line["files"]
        if f["state"] != "untouched"
    }
    assert {CONTEXT: "conflict", ".uai/taboo.uai": "edited"} == states
    lost = run("adopt", "ada", *AT)
    assert (1, True) == (lost.code, lost.err.startswith("revision.conflict: "))
    assert "MARKED-BODY" in (tree / CONTEXT).read_text(encoding="utf-8")
    word = ("--authorise", ".uai/taboo.uai:replace")
    assert 0 == run("adopt", "ada", "--only", ".uai/taboo.uai", *word, *AT).code
    assert "MARKED-BODY" in (tree / CONTEXT).read_text(encoding="utf-8")


def test_what_an_editor_did_in_the_tree_is_no_edit(run, tree):
    """Other line ends and backups are told and change nothing."""
    file = tree / CONTEXT
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    (tree / ".uai" / "persona.uai~").write_text("MARKED-BODY", encoding="utf-8")

    told = run("status", "ada", *AT).out

    assert "other line ends" in told
    assert "left by an editor" in told
    assert [] == run("adopt", "ada", *AT, "--json").line["revisions"]


def test_what_is_no_plain_file_is_left_aside(run, tree, tmp_path):
    """A link in the place of a file is neither followed nor taken for a removal."""
    (tmp_path / "outside.txt").write_text("MARKED-BODY", encoding="utf-8")
    (tree / CONTEXT).unlink()
    (tree / CONTEXT).symlink_to(tmp_path / "outside.txt")

    assert "no plain file" in run("status", "ada", *AT).out
    ran = run("adopt", "ada", "--remove", *AT, "--json")

    assert (0, []) == (ran.code, ran.line["revisions"])
    assert (tree / CONTEXT).is_symlink()


def test_files_come_and_go_in_the_tree(run, tree):
    """A new file is named with --new, one that is gone with --remove."""
    new = tree / ".uai" / "notes" / "more.uai"
    new.parent.mkdir()
    new.write_text("More.\n", encoding="utf-8")

    refused = run("adopt", "ada", *AT)
    assert (1, True) == (refused.code, refused.err.startswith("adopt.unlisted: "))
    assert 0 == run("adopt", "ada", "--new", ".uai/notes/more.uai", *AT).code
    new.unlink()
    gone = run("adopt", "ada", *AT)
    assert (1, True) == (gone.code, gone.err.startswith("adopt.removed: "))
    ran = run("adopt", "ada", "--remove", *AT, "--json")
    assert ["tombstone"] == [r["change"] for r in ran.line["revisions"]]
    assert "nothing was edited" in run("status", "ada", *AT).out


def test_where_there_is_no_tree(run, archive, tmp_path):
    """A store without a tree, or with it switched off, asks for a folder."""
    run("install", archive, "--store", "sqlite:store.db", "--scope", SCOPE)
    run("install", archive, "--store", "dir:off?tree=off", "--scope", SCOPE)
    for url in ("sqlite:store.db", "dir:off?tree=off"):
        ran = run("status", "ada", "--store", url, "--scope", SCOPE)
        assert (1, True) == (ran.code, ran.err.startswith("tree.none: "))
    missing = run("adopt", "none", "--store", "sqlite:store.db", "--scope", SCOPE)
    assert missing.err.startswith("package.not-found: ")
    assert tmp_path.is_dir()


def test_a_program_reads_the_tree(tree):
    """Each file of the tree has the revision that was written there as its base."""
    add(tree)
    with open_session("dir:store", scope=SCOPE, principal="human:ada") as session:
        edited = edited_tree(session.store, session.scope, "ada")
        standing = {f.path: f.revision_id for f in session.packages.show("ada").files}
        assert standing == edited.bases
        (file,) = session.packages.edits("ada", edited).status.changed
        assert (CONTEXT, "edited") == (file.path, file.state)
        with pytest.raises(CallerError):
            edited_tree(session.store, session.scope, "none")


def test_the_tree_is_known_by_whatever_name(run, tree, tmp_path):
    """Named as FOLDER it is still the tree: each file has its own base, and loses."""
    add(tree)
    (tmp_path / "theirs.uai").write_bytes(
        (tree / CONTEXT).read_bytes().replace(b"MARKED-BODY", b"Theirs")
    )
    run("revise", "ada", CONTEXT, "theirs.uai", "--expect", revision(run), *AT)
    before = revision(run)

    for name in (tree, tree / "." / ".uai" / ".."):
        told = run("status", "ada", name, *AT, "--json").line
        states = {f["path"]: f["state"] for f in told["files"]}
        assert (None, "conflict") == (told["folder"], states[CONTEXT])
        lost = run("adopt", "ada", name, "--only", CONTEXT, *AT)
        assert (1, True) == (lost.code, lost.err.startswith("revision.conflict: "))
        derived = run("derive", "ada", name, "--id", "eva", "--reason", "why", *AT)
        assert derived.err.startswith("revision.conflict: ")
        refresh = run("refresh", "ada", name, *AT)
        assert (1, True) == (refresh.code, refresh.err.startswith("tree.own: "))
    assert before == revision(run)
