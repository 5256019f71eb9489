"""SQLite versions with the fault of the log: writers pass one lock of ours."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import textwrap
import threading
from contextlib import closing

import apsw
import pytest

from uaix_backends.sqlite import SqliteStore, versions
from uaix_conformance.examples import SCOPE, fact
from uaix_conformance.schema import KIT
from uaix_core.schema.commits import Commit
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import BusyError, StoreOpenError


@pytest.fixture
def faulty(monkeypatch):
    """As if the SQLite in use had the fault."""
    monkeypatch.setattr(versions, "version", lambda: (3, 40, 1))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


def opened(path, **options):
    return SqliteStore.open(path, create=True, schema=KIT, **options)


def add(store, number):
    return store.append(Commit(SCOPE, number, adds=[fact(number)]))


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ((3, 6, 23), False),
        ((3, 7, 0), True),
        ((3, 40, 1), True),
        ((3, 51, 2), True),
        ((3, 51, 3), False),
        ((3, 52, 0), False),
    ],
)
def test_the_versions_with_the_fault(monkeypatch, version, expected):
    """Versions 3.7.0 to 3.51.2 have it, the ones before and after don't."""
    monkeypatch.setattr(versions, "version", lambda: version)

    assert expected == versions.is_faulty()


def test_the_version_is_read_from_the_library():
    """The version is that of the library in use, as three numbers."""
    assert apsw.sqlite_lib_version() == ".".join(map(str, versions.version()))


@pytest.mark.usefixtures("faulty")
def test_a_writer_waits_for_whoever_holds_the_lock(path):
    """While another process holds the folder no commit begins; then it goes on."""
    with closing(opened(path, busy_timeout_s=0.2)) as store:
        add(store, 1)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            with pytest.raises(BusyError):
                add(store, 2)
            with store.snapshot(SCOPE) as snapshot:
                assert 1 == snapshot.position
            fcntl.flock(folder, fcntl.LOCK_UN)
            assert 2 == add(store, 2).seq
        finally:
            os.close(folder)


@pytest.mark.usefixtures("faulty")
def test_the_lock_is_held_from_begin_to_checkpoint(path, monkeypatch):
    """Every transaction and every checkpoint of ours runs under the lock."""
    seen = []
    folder = os.open(path.parent, os.O_RDONLY)

    def look(*_):
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            seen.append(True)
        else:
            fcntl.flock(folder, fcntl.LOCK_UN)
            seen.append(False)
        return apsw.SQLITE_OK

    real = SqliteStore.append
    try:
        with closing(opened(path)) as store:
            add(store, 1)
            writer = store._connections._writer
            writer.set_wal_hook(lambda *_: look())
            writer.set_commit_hook(lambda: bool(look()))
            for number in range(2, 5):
                real(store, Commit(SCOPE, number, adds=[fact(number)]))
            writer.set_wal_hook(None)
            writer.set_commit_hook(None)
    finally:
        os.close(folder)
    assert [True] * 6 == seen


@pytest.mark.usefixtures("faulty")
def test_closing_leaves_one_file_and_no_lock(path):
    """The log is moved into the file at the end, and the folder is free again."""
    with closing(opened(path)) as store:
        add(store, 1)
        with store.snapshot(SCOPE):
            pass
    assert [path] == list(path.parent.iterdir())
    folder = os.open(path.parent, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(folder)


@pytest.mark.usefixtures("faulty")
def test_a_busy_lock_does_not_keep_a_store_open(path):
    """Closing while another holds the lock closes, and leaves the log to the next."""
    store = opened(path, busy_timeout_s=0.1)
    add(store, 1)
    folder = os.open(path.parent, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    store.close()
    os.close(folder)
    with closing(opened(path)) as again, again.snapshot(SCOPE) as snapshot:
        assert 1 == snapshot.position


@pytest.mark.usefixtures("faulty")
def test_threads_and_stores_take_turns(path):
    """Several stores and threads on one file lose nothing and wait for each other."""

    def work(store, start):
        for number in range(start, start + 20):
            add(store, number)

    with closing(opened(path)) as one, closing(opened(path)) as other:
        threads = [
            threading.Thread(target=work, args=(store, 100 * number))
            for number, store in enumerate((one, one, other, other), 1)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert verify_scope(one, SCOPE).is_sound
        with one.snapshot(SCOPE) as snapshot:
            assert 80 == snapshot.position


def test_processes_take_turns(path):
    """Processes of a faulty version append to one chain and lose nothing."""
    code = """
        import sys
        from uaix_backends.sqlite import SqliteStore, versions
        versions.version = lambda: (3, 40, 1)
        from uaix_conformance.examples import SCOPE, fact
        from uaix_conformance.schema import KIT
        from uaix_core.schema.commits import Commit
        start = int(sys.argv[2])
        store = SqliteStore.open(sys.argv[1], create=True, schema=KIT)
        for number in range(start, start + 25):
            store.append(Commit(SCOPE, number, adds=[fact(number)]))
        store.close()
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(path)]
    processes = [subprocess.Popen([*command, str(100 * n)]) for n in range(3)]
    assert [0, 0, 0] == [process.wait() for process in processes]
    with closing(opened(path)) as store:
        assert 75 == verify_scope(store, SCOPE).position
        assert verify_scope(store, SCOPE).is_sound


@pytest.mark.usefixtures("faulty")
def test_where_there_is_no_such_lock_the_store_is_refused(path, monkeypatch):
    """Without file locks a faulty version is refused, and nothing is made."""
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(StoreOpenError) as caught:
        opened(path)
    assert "store.sqlite-version" == caught.value.code


@pytest.mark.usefixtures("faulty")
def test_it_is_said(path):
    """Examining a store says that its SQLite has the fault, and how it is held off."""
    with closing(opened(path)) as store:
        condition = store.examine()
    assert "held off by a lock" == condition.facts["wal_reset_fault"]
    assert "sqlite.wal-reset" in [advice.code for advice in condition.advice]
    assert condition.is_sound
