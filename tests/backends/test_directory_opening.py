"""Opening a directory store: what is one, what is not, and what it makes."""

from __future__ import annotations

import contextlib
import os
import stat

import pytest
from tests.backends.directory_stores import (
    open_descriptors,
    opened,
)
from tests.backends.ledger import CANARY, COMMITS, DAY

from uaix_backends.directory import DirectoryStore
from uaix_conformance.examples import (
    SCOPE,
    note,
)
from uaix_conformance.schema import KIT
from uaix_core.schema.commits import Commit, Expect
from uaix_core.values.errors import (
    ConflictError,
    StoreOpenError,
)


def test_a_missing_folder_is_refused(tmp_path):
    """Without create a path where nothing stands is refused and stays empty."""
    with pytest.raises(StoreOpenError) as caught:
        DirectoryStore.open(tmp_path / "none", schema=KIT)

    assert "store.missing" == caught.value.code
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("notes.txt", "hello", "store.not-a-store"),
        ("uaix-store.json", "hello", "store.not-a-store"),
        ("uaix-store.json", "[]", "store.not-a-store"),
        ("uaix-store.json", '{"format":"uaix.directory.v1"}', "store.not-a-store"),
        ("uaix-store.json", '{"format":"uaix.directory.v2"}\n', "store.format"),
        ("uaix-store.json", '{"format":"uaix.directory.v1"}\n', "store.not-a-store"),
    ],
)
def test_what_is_no_store_is_refused_and_unchanged(root, name, content, code, create):
    """A folder that is not our store, or of another format, is left as it was."""
    root.mkdir()
    (root / name).write_text(content)
    before = root.stat().st_mtime_ns

    with pytest.raises(StoreOpenError) as caught:
        DirectoryStore.open(root, create=create, schema=KIT)

    assert code == caught.value.code
    assert [name] == [file.name for file in root.iterdir()]
    assert content == (root / name).read_text()
    assert before == root.stat().st_mtime_ns


@pytest.mark.parametrize("create", [False, True])
def test_a_file_is_no_store(root, create):
    """A path that is a file is refused and the file stays as it was."""
    root.write_bytes(b"mine")

    with pytest.raises(StoreOpenError) as caught:
        DirectoryStore.open(root, create=create, schema=KIT)

    assert "store.not-a-store" == caught.value.code
    assert b"mine" == root.read_bytes()


def test_an_empty_folder_becomes_a_store_only_when_wanted(root):
    """Asking for it decides whether an empty folder is made a store."""
    root.mkdir()
    with pytest.raises(StoreOpenError) as caught:
        DirectoryStore.open(root, schema=KIT)
    assert "store.not-a-store" == caught.value.code
    assert [] == list(root.iterdir())

    opened(root).close()

    assert (
        b'{"format":"uaix.directory.v1"}\n' == (root / "uaix-store.json").read_bytes()
    )


def test_a_linked_marker_is_no_store(full):
    """The marker has to be a plain file of its own."""
    marker = full / "uaix-store.json"
    marker.rename(full / "elsewhere")
    marker.symlink_to("elsewhere")

    with pytest.raises(StoreOpenError) as caught:
        DirectoryStore.open(full, schema=KIT)

    assert "store.not-a-store" == caught.value.code


@pytest.mark.parametrize("umask", [0o000, 0o027, 0o777])
def test_modes_are_private_whatever_the_umask(root, umask):
    """Files are 0600 and folders 0700 under every umask."""
    before = os.umask(umask)
    try:
        with contextlib.closing(opened(root)) as store:
            for commit in COMMITS:
                store.append(commit)
    finally:
        os.umask(before)

    modes = {
        (path.is_dir(), stat.S_IMODE(path.stat().st_mode))
        for path in [root, *root.rglob("*")]
    }
    assert {(True, 0o700), (False, 0o600)} == modes


def test_a_refused_first_commit_leaves_nothing(root):
    """A scope whose only commit was refused, or that was only read, has no files."""
    with contextlib.closing(opened(root)) as store:
        with pytest.raises(ConflictError):
            store.append(
                Commit(SCOPE, 0, expects=[Expect("note", ("t0", 1), 7)], adds=[note(1)])
            )
        with store.snapshot(SCOPE) as snapshot:
            assert 0 == snapshot.position
        assert 0 == store.rebuild(SCOPE)
        assert [] == store.scopes(limit=10)

    assert [] == list((root / "scopes").iterdir())


def test_names_tell_nothing(full):
    """No file or folder name holds a part of a scope, key or body."""
    names = " ".join(str(path.relative_to(full)) for path in full.rglob("*"))

    assert not [
        word
        for word in ("kit", "project", "one", "t0", "note", CANARY)
        if word in names
    ]


def test_descriptors_return(root):
    """Opening, writing, reading and closing leaves no descriptor open."""
    before = open_descriptors()
    store = opened(root)
    idle = open_descriptors()
    for commit in COMMITS:
        store.append(commit)
    store.due("job", until=DAY, limit=10)
    store.scopes(limit=10)

    assert idle == open_descriptors()
    store.close()
    store.close()
    assert before == open_descriptors()
