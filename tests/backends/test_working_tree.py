"""The working tree of a directory store: rows as files that people may edit."""

from __future__ import annotations

import contextlib
import json
import os
import shutil

import pytest
from tests.backends.ledger import holding
from tests.backends.tree_stores import (
    SCOPE,
    Remark,
    erase,
    opened,
    page,
    put,
    scope_tree,
    shown,
    strays,
    used,
    wanted,
)

from uaix_backends import open_store
from uaix_backends.directory import scope_tree as scope_tree_module
from uaix_backends.directory import tree_files, tree_forgetting, tree_showing
from uaix_backends.directory.tree_notes import NOTES, PLACE
from uaix_conformance.schema import KIT
from uaix_core.schema.commits import Commit
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.errors import CallerError, StorageError

CANARY = "canary-7f3a"


@pytest.fixture
def store(root):
    """An open store with two files in one folder."""
    with contextlib.closing(opened(root)) as found:
        put(found, page("p1", "a.md", b"one"))
        put(found, page("p2", "in/b.md", b"two", record="s"))
        yield found


def file_at(root, path="f/a.md"):
    return scope_tree(root) / path


# What is shown


def test_rows_stand_as_files(store, root):
    """Each row is a file with the bytes that its HISTORY row holds."""
    assert {"f/a.md": b"one", "f/in/b.md": b"two"} == shown(root) == wanted(store)


def test_a_schema_without_trees_has_no_tree(root):
    """A store whose schema shows nothing makes no folder for it."""
    with contextlib.closing(open_store(f"dir:{root}", create=True, schema=KIT)) as kit:
        assert kit.tree_folder(SCOPE, "f") is None
    assert not (root / "tree").exists()


def test_a_scope_without_files_has_no_tree(root):
    """Commits that show nothing make no folder."""
    with contextlib.closing(opened(root)) as store:
        put(store, Remark(1))
    used(root)

    assert not (root / "tree").exists()


def test_a_new_state_takes_the_place_of_the_old(store, root):
    """A file follows its row: other bytes, another path, and no file in the end."""
    put(store, page("p3", "a.md", b"three"))
    assert b"three" == file_at(root).read_bytes()

    put(store, page("p4", "deep/er/c.md", b"four"))
    assert {"f/deep/er/c.md", "f/in/b.md"} == set(shown(root))

    put(store, page("p5", ""))
    assert {"f/in/b.md"} == set(shown(root))
    assert not (scope_tree(root) / "f" / "deep").exists()


@pytest.mark.parametrize(("old", "new"), [("x", "x/y"), ("x/y", "x")])
def test_a_file_becomes_a_folder_and_a_folder_a_file(store, root, old, new):
    """What goes makes room first for what comes."""
    put(store, page("p3", old, b"three"))
    put(store, page("p4", new, b"four"))

    assert wanted(store) == shown(root)


def test_two_records_exchange_their_paths(store, root):
    """Paths that change hands in one commit end with the right bytes."""
    put(store, page("p3", "in/b.md", b"1"), page("p4", "a.md", b"2", record="s"))

    assert {"f/a.md": b"2", "f/in/b.md": b"1"} == shown(root)


def test_only_changed_files_are_written(store, root):
    """A file whose row didn't change is the same file as before."""
    before = file_at(root, "f/in/b.md").stat()
    put(store, page("p3", "a.md", b"three"))

    after = file_at(root, "f/in/b.md").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_file_that_is_wanted_already_is_kept(store, root):
    """A person who writes what the next commit says keeps the file."""
    file_at(root).write_bytes(b"three")
    inode = file_at(root).stat().st_ino
    put(store, page("p3", "a.md", b"three"))
    put(store, page("p4", "a.md", b"four"))

    assert b"four" == file_at(root).read_bytes()
    assert inode != file_at(root).stat().st_ino


def test_files_are_private(store, root):
    """What stands in the tree is for its owner alone."""
    modes = {found.stat().st_mode & 0o777 for found in (root / "tree").rglob("*")}

    assert {0o600, 0o700} == modes


# What people do


def test_an_edited_file_is_never_written(store, root):
    """An edit stays over new states, tombstones, reopening and rebuilding."""
    file_at(root).write_bytes(b"mine")
    put(store, page("p3", "a.md", b"three"))
    used(root)
    store.rebuild(SCOPE)
    put(store, page("p4", ""))

    assert {"f/a.md": b"mine", "f/in/b.md": b"two"} == shown(root)


def test_an_edit_that_is_taken_back_is_ours_again(store, root):
    """A file that again holds what was written follows its row."""
    file_at(root).write_bytes(b"mine")
    put(store, page("p3", "a.md", b"three"))
    file_at(root).write_bytes(b"one")
    put(store, page("p4", "a.md", b"four"))

    assert b"four" == file_at(root).read_bytes()


def test_a_file_in_our_way_is_somebodys(store, root):
    """A file under a name that comes to be wanted is not ours, even an empty one."""
    for name in ("full", "empty"):
        file_at(root, f"f/{name}").write_bytes(b"mine" if name == "full" else b"")
        put(store, page(f"p-{name}", name, b"ours", record=name))
    store.rebuild(SCOPE)

    assert (b"mine", b"") == tuple(shown(root)[f"f/{n}"] for n in ("full", "empty"))


def test_an_edit_during_our_write_is_seen(store, root, monkeypatch):
    """A file that changes after it was looked at is not replaced and not removed."""
    file = file_at(root)
    look = tree_files.TreeFiles.look

    def edited(self, path, sizes):
        found = look(self, path, sizes)
        file.write_bytes(b"mine, at the last moment")
        return found

    with monkeypatch.context() as patched:
        patched.setattr(tree_files.TreeFiles, "look", edited)
        put(store, page("p3", "a.md", b"three"))
        assert b"mine, at the last moment" == file.read_bytes()
        assert [] == strays(root)
        file.write_bytes(b"one")
        put(store, page("p4", "z.md", b"four"))
        assert b"mine, at the last moment" == file.read_bytes()


def test_a_write_that_was_held_back_knows_what_was_ours(store, root, monkeypatch):
    """An edit that came in between and is taken back leaves the file to the store."""
    with monkeypatch.context() as patched:
        patched.setattr(tree_files, "_is_still", lambda *_: False)
        put(store, page("p3", "a.md", b"three"))
    assert b"one" == file_at(root).read_bytes()
    put(store, page("p4", "a.md", b"four"))

    assert wanted(store) == shown(root)


def test_other_files_of_a_person_are_left_alone(store, root):
    """What we never wrote stays, and so does the folder around it."""
    mine = file_at(root, "f/in/mine.txt")
    mine.write_bytes(b"mine")
    put(store, page("p3", "", record="s"))
    used(root)

    assert {"f/a.md": b"one", "f/in/mine.txt": b"mine"} == shown(root)


@pytest.mark.parametrize("what", ["tree", "scope", "folder"])
@pytest.mark.parametrize("how", ["read", "append"])
def test_a_folder_that_was_removed_is_written_anew(store, root, what, how):
    """Removing the tree, or a part of it as a whole, does no harm."""
    place = {"tree": root / "tree", "scope": scope_tree(root)}
    shutil.rmtree(place.get(what, scope_tree(root) / "f"))
    if how == "read" and what != "folder":
        used(root)
    else:
        put(store, page("p3", "c.md", b"three", record="t"))

    assert wanted(store) == shown(root)


def test_a_removed_file_comes_back_with_its_next_state(store, root):
    """A missing file is written when its row changes, or all views are made anew."""
    file_at(root).unlink()
    used(root)
    put(store, Remark(1))
    assert {"f/in/b.md"} == set(shown(root))

    store.rebuild(SCOPE)
    assert b"one" == file_at(root).read_bytes()
    file_at(root).unlink()
    put(store, page("p3", "a.md", b"three"))
    assert wanted(store) == shown(root)


def test_a_folder_of_folders_makes_room_for_a_file(store, root):
    """Folders without files give way; one with a file, or a link, is somebody's."""
    file_at(root, "f/empty/in/deep").mkdir(parents=True)
    file_at(root, "f/full/in").mkdir(parents=True)
    file_at(root, "f/full/in/mine").write_bytes(b"mine")
    file_at(root, "f/link").mkdir()
    file_at(root, "f/link/in").symlink_to(root)
    names = ("empty", "full", "link")
    put(store, *[page(f"p-{n}", n, n.encode(), record=n) for n in names])

    assert b"empty" == file_at(root, "f/empty").read_bytes()
    assert b"mine" == file_at(root, "f/full/in/mine").read_bytes()
    assert file_at(root, "f/link/in").is_symlink()
    assert not store.read_tree(SCOPE, "f").is_behind


# What lags behind


def fail(*_args, **_options):
    raise OSError("made up")


def test_a_tree_that_fails_costs_no_commit(store, root, monkeypatch):
    """A commit is there although its file isn't; the next one brings both."""
    with monkeypatch.context() as patched:
        patched.setattr(tree_files.TreeFiles, "put", fail)
        put(store, page("p3", "a.md", b"three"))
    assert b"one" == file_at(root).read_bytes()
    assert b"three" == wanted(store)["f/a.md"]

    put(store, Remark(1))
    assert wanted(store) == shown(root)


def test_the_next_process_catches_up(store, root, monkeypatch):
    """What one writer couldn't show the next one shows when it reads the scope."""
    with monkeypatch.context() as patched:
        patched.setattr(tree_files.TreeFiles, "put", fail)
        put(store, page("p3", "a.md", b"three"))
        put(store, page("p4", "", record="s"))
    used(root)

    assert {"f/a.md": b"three"} == shown(root)


def test_a_file_on_its_way_is_known_for_ours(store, root, monkeypatch):
    """What was written when a writer was cut short is replaced by what comes next."""
    put_note = tree_showing.put_note

    def cut_short(notes, name, note):
        if not note.coming:
            raise OSError("made up")
        put_note(notes, name, note)

    with monkeypatch.context() as patched:
        patched.setattr(tree_showing, "put_note", cut_short)
        put(store, page("p3", "a.md", b"three"))
    assert b"three" == file_at(root).read_bytes()
    with contextlib.closing(opened(root, tree=False)) as off:
        put(off, page("p4", "a.md", b"four"))
    used(root)

    assert wanted(store) == shown(root)


def test_a_store_without_its_tree_leaves_it_behind(store, root):
    """Opened with the tree off, commits show nothing; opened with it on, they do."""
    with contextlib.closing(
        open_store(f"dir:{root}?tree=off", schema=store.schema)
    ) as off:
        put(off, page("p3", "a.md", b"three"))
        assert off.tree_folder(SCOPE, "f") is None
        assert off.read_tree(SCOPE, "f") is None
    assert b"one" == file_at(root).read_bytes()
    put(store, Remark(1))

    assert wanted(store) == shown(root)


def test_two_stores_write_one_tree(store, root):
    """Whoever commits, the tree shows the last state."""
    with contextlib.closing(opened(root)) as other:
        for number in range(6):
            one = (store, other)[number % 2]
            put(one, page(f"q{number}", "a.md", f"{number}".encode()))
            put(one, Remark(number))
            assert wanted(store) == shown(root)


def test_commits_that_show_nothing_touch_no_file(store, root):
    """Other commits write nothing into the tree, and closing notes how far it is."""
    tree = scope_tree(root)
    before = (tree / PLACE).read_bytes()
    for number in range(3):
        put(store, Remark(number))
    assert before == (tree / PLACE).read_bytes()

    store.close()
    assert 5 == json.loads((tree / PLACE).read_bytes())["seq"]


@pytest.mark.parametrize("what", ["place", "notes", "both"])
@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"\xff", b'{"format":"uaix.tree.v1"}']
)
def test_damaged_notes_count_as_none(store, root, what, data):
    """Then only what equals the store's bytes is ours, and edits stay."""
    file_at(root).write_bytes(b"mine")
    tree = scope_tree(root)
    if what != "notes":
        (tree / PLACE).write_bytes(data)
    if what != "place":
        (tree / NOTES / "f.json").write_bytes(data)
    used(root)
    put(store, page("p3", "in/b.md", b"three", record="s"))

    assert {"f/a.md": b"mine", "f/in/b.md": b"three"} == shown(root)


def test_forged_notes_do_not_reach_outside(store, root):
    """Notes that name paths outside of the folder lead to nothing."""
    outside = root.parent / "outside"
    outside.write_bytes(b"one")
    note = scope_tree(root) / NOTES / "f.json"
    form = json.loads(note.read_bytes())
    form["files"]["../../../../outside"] = form["files"]["a.md"]
    note.write_text(json.dumps(form))
    store.rebuild(SCOPE)

    assert b"one" == outside.read_bytes()


# Names that no file has


@pytest.mark.parametrize(
    "path", ["x" * 300, "d/" + "é" * 200, "../up", "a//b", "/top", "."]
)
def test_a_path_that_no_file_has_is_left_out(store, root, path):
    """The commit is there, the other files are shown, and nothing lags for it."""
    put(
        store, page("p3", path, b"three", record="t"), page("p4", "z", b"4", record="u")
    )
    used(root)

    assert {"f/a.md", "f/in/b.md", "f/z"} == set(shown(root))
    assert not store.read_tree(SCOPE, "f").is_behind
    assert [] == strays(root)


# Power


def test_what_the_power_took_is_written_anew(store, root, monkeypatch):
    """After a restart files that are missing, empty or zero are ours; edits stay."""
    put(store, page("p3", "c", b"three", record="t"), page("p4", "d", b"4", record="u"))
    put(store, page("p5", "e", b"five", record="v"))
    store.close()
    file_at(root).write_bytes(b"")
    file_at(root, "f/in/b.md").write_bytes(bytes(3))
    file_at(root, "f/c").unlink()
    file_at(root, "f/d").write_bytes(b"mine")
    file_at(root, "f/e").unlink()
    os.mkfifo(file_at(root, "f/e"))
    used(root)
    assert b"" == file_at(root).read_bytes()

    monkeypatch.setattr(scope_tree_module, "this_boot", lambda: "another")
    used(root)

    expected = {"f/a.md": b"one", "f/in/b.md": b"two", "f/c": b"three", "f/d": b"mine"}
    assert expected == shown(root)
    assert file_at(root, "f/e").is_fifo()


# Erasure


def test_an_erased_body_leaves_the_tree(store, root):
    """After an erase no file of the store holds the bytes."""
    put(store, page("p3", "a.md", CANARY.encode()))
    assert file_at(root) in holding(root, CANARY)
    erase(store, "p3")

    assert [] == holding(root, CANARY)
    assert wanted(store) == shown(root)


def test_an_erased_body_leaves_a_tree_that_is_off(store, root):
    """An erasure reaches the tree also of a store that doesn't show it."""
    put(store, page("p3", "a.md", CANARY.encode()))
    with contextlib.closing(opened(root, tree=False)) as off:
        erase(off, "p3")

    assert [] == holding(root, CANARY)
    assert {"f/in/b.md"} == set(shown(root))


@pytest.mark.parametrize("lost", ["notes", "place", "both"])
@pytest.mark.parametrize("path", ["a.md", "moved.md"])
def test_an_erased_body_leaves_a_tree_without_notes(store, root, lost, path):
    """Bytes are recognised as those that are erased, wherever they lie."""
    put(store, page("p3", "a.md", CANARY.encode()))
    tree = scope_tree(root)
    if path != "a.md":
        file_at(root).rename(file_at(root, f"f/{path}"))
    if lost != "place":
        shutil.rmtree(tree / NOTES)
    if lost != "notes":
        (tree / PLACE).unlink()
    erase(store, "p3")

    assert [] == holding(root, CANARY)


def test_an_erased_body_leaves_a_tree_that_lags(store, root, monkeypatch):
    """A file of an earlier state, which nobody replaced, goes too."""
    put(store, page("p3", "a.md", CANARY.encode()))
    with monkeypatch.context() as patched:
        patched.setattr(tree_files.TreeFiles, "put", fail)
        put(store, page("p4", "b.md", b"four"))
    file_at(root).parent.joinpath("x").write_text("mine")
    erase(store, "p3")

    assert [] == holding(root, CANARY)
    assert {**wanted(store), "f/x": b"mine"} == shown(root)


def test_what_a_killed_writer_left_is_erased(store, root):
    """Files on their way into the tree or the notes go with an erasure."""
    put(store, page("p3", "a.md", CANARY.encode()))
    tree = scope_tree(root)
    (tree / ".uaix-new").write_text(CANARY)
    (tree / NOTES / ".uaix-new").write_text(CANARY)
    erase(store, "p3")

    assert [] == holding(root, CANARY)
    assert [] == strays(root)


def test_an_edited_file_stays_and_is_named(store, root):
    """Nobody knows whose bytes an edited file holds: it stays, and is told."""
    file_at(root).write_bytes(b"one and mine")
    erase(store, "p1")

    assert b"one and mine" == file_at(root).read_bytes()
    (advice,) = store.examine().advice
    assert ("tree.edited", "warning") == (advice.code, advice.level)
    assert (root / advice.path).read_bytes() == b"one and mine"
    file_at(root).unlink()
    assert () == store.examine().advice


def test_an_empty_file_is_erased_where_it_was_written(store, root):
    """A body without bytes goes with its file, and other empty files stay."""
    put(store, page("p3", "void", b"", record="t"))
    file_at(root, "f/mine").write_bytes(b"")
    erase(store, "p3")

    assert {"f/a.md": b"one", "f/in/b.md": b"two", "f/mine": b""} == shown(root)
    assert () == store.examine().advice


def test_equal_bytes_of_another_row_stay(store, root):
    """A file that another row stands for keeps its bytes, equal or not."""
    put(store, page("p3", "same.md", b"one", record="t"))
    erase(store, "p1")

    assert {"f/same.md": b"one", "f/in/b.md": b"two"} == shown(root) == wanted(store)


def test_an_erasure_tells_no_digest(store, root):
    """What is noted of an erased file goes with it: a digest would confirm a guess."""
    erase(store, "p1")

    assert [] == holding(root, sha256_hex(b"one"))


def test_an_erasure_that_is_refused_is_made_good(store, root, monkeypatch):
    """When the erasure fails after the tree was cleared, the file comes back."""
    with monkeypatch.context() as patched:
        patched.setattr("uaix_backends.directory.scope.erase", fail)
        with pytest.raises(StorageError):
            erase(store, "p1")
    assert not file_at(root).exists()

    assert {"f/a.md": b"one", "f/in/b.md": b"two"} == wanted(store) == shown(root)


def test_an_erasure_that_stops_half_way_is_made_good(store, root, monkeypatch):
    """When the tree was cleared in part, the next reading brings it back."""
    with monkeypatch.context() as patched:
        patched.setattr(tree_forgetting, "_stands", fail)
        with pytest.raises(StorageError):
            erase(store, "p1")
    assert not file_at(root).exists()
    used(root)

    assert {"f/a.md": b"one", "f/in/b.md": b"two"} == shown(root)


def test_an_erasure_that_cannot_reach_the_tree_is_refused(store, root, monkeypatch):
    """What can't be removed from the tree isn't erased anywhere."""
    with monkeypatch.context() as patched:
        patched.setattr("uaix_backends.directory.scope_tree.forget", fail)
        with pytest.raises(StorageError):
            erase(store, "p1")

    assert {"f/a.md": b"one", "f/in/b.md": b"two"} == wanted(store) == shown(root)


def test_a_replay_shows_the_same_tree(store, root):
    """A copy of the ledger shows what survives, born erased or not."""
    put(store, page("p3", "c", b"three", record="t"))
    erase(store, "p1")
    copy = root.parent / "copy"
    with contextlib.closing(opened(copy)) as other, store.snapshot(SCOPE) as snapshot:
        for recorded in snapshot.commits():
            other.append(recorded)

    assert shown(root) == shown(copy)


# Reading


def test_a_folder_is_found_and_read(store, root):
    """Callers are told where a folder is and what stands there, edits included."""
    folder = store.tree_folder(SCOPE, "f")
    assert root / "tree" / scope_tree(root).name / "f" == folder
    (folder / "a.md").write_bytes(b"mine")
    (folder / "in" / "new.md").write_bytes(b"new")
    found = store.read_tree(SCOPE, "f")

    assert {"a.md": b"mine", "in/b.md": b"two", "in/new.md": b"new"} == found.files
    assert ["a.md", "in/b.md", "in/new.md"] == list(found.files)
    assert {"a.md": "p1", "in/b.md": "p2"} == {
        path: written.key for path, written in found.written.items()
    }
    assert ({}, False) == (found.others, found.is_behind)


def test_a_folder_that_is_not_there_is_none(store):
    """No such folder is no error; a name that is no id is one."""
    assert store.tree_folder(SCOPE, "g") is None
    assert store.read_tree(SCOPE, "g") is None
    for ask in (store.tree_folder, store.read_tree):
        with pytest.raises(CallerError, match=r"id\.syntax|an id is"):
            ask(SCOPE, "../f")


def test_a_tree_that_can_not_follow_says_so(store, root, monkeypatch):
    """A reader is told that files may be older than the store, and so is a doctor."""
    monkeypatch.setattr(tree_files.TreeFiles, "put", fail)
    put(store, page("p3", "a.md", b"three"))
    found = store.read_tree(SCOPE, "f")

    assert found.is_behind
    assert b"one" == found.files["a.md"]
    assert ["tree.behind"] == [advice.code for advice in store.examine().advice]


def test_an_empty_commit_of_the_same_bytes_writes_nothing(store, root):
    """A new state with the same bytes leaves the file as it is."""
    inode = file_at(root).stat().st_ino
    store.append(Commit(SCOPE, 0, adds=[page("p3", "a.md", b"one")]))

    assert inode == file_at(root).stat().st_ino
    assert "p3" == store.read_tree(SCOPE, "f").written["a.md"].key
