"""Where a backup may go: over a backup, and never over or into anything else."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.store.lives import lived, opened

from uaix_backends.backup import BackupStore, form, target, write_backup
from uaix_conformance.examples import SCOPE, fact
from uaix_conformance.schema import KIT
from uaix_core.schema.commits import Commit
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import CallerError


@pytest.fixture
def folder(tmp_path):
    """A folder with a store of each kind, open, and a backup."""
    with closing(lived("memory", tmp_path)) as store:
        write_backup(store, tmp_path / "a.backup", made_at=1)
    return tmp_path


def refused(store, path, *, overwrite=True):
    """The code of the refusal; what lies at the path is as it was."""
    before = os.lstat(path) if os.path.lexists(path) else None
    with pytest.raises(CallerError) as caught:
        write_backup(store, path, made_at=2, overwrite=overwrite)
    after = os.lstat(path) if os.path.lexists(path) else None
    assert (before and before.st_ino) == (after and after.st_ino)
    assert (before and before.st_size) == (after and after.st_size)
    return caught.value.code


@pytest.mark.parametrize("kind", ["dir", "sqlite"])
def test_no_file_of_an_open_store_is_replaced(tmp_path, kind):
    """Each file of the store that is backed up stays, and the store goes on."""
    with closing(lived(kind, tmp_path)) as store:
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert len(files) > 1
        for path in files:
            assert "files.target" == refused(store, path)
        store.append(Commit(SCOPE, 90, adds=[fact(7)]))
        assert verify_scope(store, SCOPE).is_sound
    with closing(opened(kind, tmp_path)) as store:
        assert verify_scope(store, SCOPE).is_sound


def locks_on(path):
    """The locks that this process has on a file, as the system lists them."""
    lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    name = f":{path.stat().st_ino}"
    return sorted(line[1:] for line in lines if name in " ".join(line))


@pytest.mark.skipif(not os.path.exists("/proc/locks"), reason="no list of locks")  # noqa: PTH110
def test_looking_at_a_database_lets_go_of_no_lock(tmp_path):
    """A refused backup leaves the locks that this process holds on other stores."""
    with (
        closing(lived("sqlite", tmp_path)) as store,
        closing(lived("sqlite", tmp_path, "two")),
    ):
        before = [locks_on(tmp_path / name) for name in ("store", "two")]
        assert all(before)
        for name in ("store", "two"):
            assert "files.target" == refused(store, tmp_path / name)
        assert before == [locks_on(tmp_path / name) for name in ("store", "two")]


@pytest.mark.skipif(not os.path.exists("/proc/locks"), reason="no list of locks")  # noqa: PTH110
@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_host_s_database_keeps_the_locks_of_its_library(tmp_path, mode):
    """A refused backup leaves the locks of another SQLite library of this process."""
    path = tmp_path / "host.db"
    with (
        closing(lived("sqlite", tmp_path)) as store,
        closing(sqlite3.connect(path, isolation_level=None)) as raw,
    ):
        raw.execute(f"PRAGMA journal_mode = {mode}")
        raw.execute("CREATE TABLE words (word TEXT)")
        raw.execute("BEGIN IMMEDIATE")
        raw.execute("INSERT INTO words VALUES ('a')")
        before = locks_on(path)
        assert before
        assert "files.target" == refused(store, path)
        assert before == locks_on(path)
        raw.execute("COMMIT")


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("overwrite", [False, True])
def test_no_name_that_sqlite_uses_is_taken(tmp_path, ending, overwrite):
    """No backup stands where SQLite looks for the log of a database."""
    with closing(lived("memory", tmp_path)) as store:
        sqlite3.connect(tmp_path / "host.db").close()
        (tmp_path / "host.db").touch()
        path = tmp_path / f"host.db{ending}"
        assert "files.target" == refused(store, path, overwrite=overwrite)
        path.touch()
        assert refused(store, path, overwrite=overwrite).startswith("files.")
        free = tmp_path / f"free{ending}"
        write_backup(store, free, made_at=1, overwrite=overwrite)


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("place", ["x", "scopes/x", "link/x"])
def test_nothing_is_written_into_a_directory_store(tmp_path, place, overwrite):
    """No backup lies in the folder of any store, however it is named."""
    with closing(lived("dir", tmp_path)) as store:
        (tmp_path / "store" / "link").symlink_to(tmp_path / "store" / "scopes")
        path = tmp_path / "store" / place
        assert "files.target" == refused(store, path, overwrite=overwrite)
        outside = tmp_path / "way-in"
        outside.symlink_to(tmp_path / "store")
        path = outside / place
        assert "files.target" == refused(store, path, overwrite=overwrite)


def test_a_backup_is_not_written_over_itself(folder):
    """The backup that is read stays, under each of its names."""
    (folder / "b.backup").hardlink_to(folder / "a.backup")
    with closing(BackupStore.open(folder / "a.backup", schema=KIT)) as store:
        for name in ("a.backup", "b.backup"):
            assert "files.target" == refused(store, folder / name)
        write_backup(store, folder / "c.backup", made_at=1)


@pytest.mark.parametrize("what", ["text", "short", "link", "loose", "fifo", "folder"])
def test_only_a_backup_is_replaced(folder, what):
    """What is no backup stays: texts, links even to a backup, FIFOs and folders."""
    path = folder / "place"
    if what == "text":
        path.write_bytes(b"mine" * 99)
    elif what == "short":
        path.write_bytes(b"m")
    elif what == "link":
        path.symlink_to(folder / "a.backup")
    elif what == "loose":
        path.symlink_to(folder / "nowhere")
    elif what == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()
    with closing(lived("memory", folder)) as store:
        assert "files.target" == refused(store, path)


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="no device")  # noqa: PTH110
def test_no_device_is_replaced(folder):
    """A device is neither replaced nor opened."""
    with closing(lived("memory", folder)) as store:
        assert "files.target" == refused(store, "/dev/null")


@pytest.mark.parametrize("what", ["backup", "damaged", "empty"])
def test_a_backup_or_an_empty_file_is_replaced(folder, what):
    """Another backup, also one with a damaged part, and an empty file may go."""
    path = folder / "a.backup"
    if what == "damaged":
        data = bytearray(path.read_bytes())
        data[len(form.HEAD) + 9] ^= 1
        path.write_bytes(data)
    elif what == "empty":
        path.write_bytes(b"")
    with closing(lived("memory", folder)) as store:
        write_backup(store, path, made_at=2, overwrite=True)
    with closing(BackupStore.open(path, schema=KIT)) as again:
        assert 2 == again.made_at


def test_what_came_in_between_is_not_replaced(folder, monkeypatch):
    """What takes the place while the backup is written stays there."""
    path = folder / "a.backup"
    checks = []
    real = target.check_target

    def check(*args, **options):
        if checks:
            path.write_text("mine now")
        checks.append(args)
        real(*args, **options)

    monkeypatch.setattr("uaix_backends.backup.writing.check_target", check)
    with (
        closing(lived("memory", folder)) as store,
        pytest.raises(CallerError) as caught,
    ):
        write_backup(store, path, made_at=2, overwrite=True)
    assert "files.target" == caught.value.code
    assert "mine now" == path.read_text()
    assert [path] == list(folder.iterdir())
