"""Hosts on SQLite: one library for a file, one thread at a time, one moment."""

from __future__ import annotations

import gc
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import apsw
import pytest
from tests.backends import host_variants
from tests.store.lives import history_of

from uaix_backends.sqlite import SqliteStore, lives
from uaix_conformance.examples import SCOPE, commit, job, note
from uaix_conformance.schema import KIT, ROOMS
from uaix_core.schema.reducers import Changes
from uaix_core.schema.schema import Room, Schema
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import CallerError, HostTransactionLostError

CONNECTS = {
    "apsw": lambda file: apsw.Connection(str(file)),
    "sqlite3": lambda file: sqlite3.connect(
        file, isolation_level=None, check_same_thread=False
    ),
}
both = pytest.mark.parametrize("library", CONNECTS)


def other_than(library):
    (other,) = CONNECTS.keys() - {library}
    return other


@pytest.fixture
def file(tmp_path):
    """A host's database with our tables."""
    return host_variants.database(tmp_path, KIT)


def joined(raw, schema=KIT):
    return SqliteStore.join(raw, schema=schema)


def code_of(call, kind=CallerError):
    with pytest.raises(kind) as caught:
        call()
    return caught.value.code


# One library for one file


@both
@pytest.mark.parametrize("gone", ["closed", "dropped", "refused"])
def test_a_claim_outlives_what_joined(file, library, gone):
    """While the connection is open no other library comes to the file, store or not."""
    raw = CONNECTS[library](file)
    with closing(CONNECTS[other_than(library)](file)) as other:
        if gone == "refused":
            code_of(lambda: joined(raw, Schema(*ROOMS[:2])))
        else:
            store = joined(raw)
            store.close() if gone == "closed" else None
            del store
        gc.collect()
        raw.execute("BEGIN IMMEDIATE")
        assert "host.second-library" == code_of(lambda: joined(other))
        joined(raw).append(commit(note(0)))
        assert "host.second-library" == code_of(lambda: joined(other))
        raw.execute("COMMIT")
        raw.close()
        joined(other)


@both
@pytest.mark.parametrize("is_held", [False, True])
@pytest.mark.parametrize("end", ["close", "drop"])
def test_a_claim_ends_with_the_connection(file, library, end, is_held):
    """A connection that is closed, or that nobody holds any more, claims nothing."""
    raw = CONNECTS[library](file)
    store = joined(raw)
    with closing(CONNECTS[other_than(library)](file)) as other:
        assert "host.second-library" == code_of(lambda: joined(other))
        held = (store, raw) if is_held and end == "close" else None
        if end == "close":
            raw.close()
        del raw, store
        gc.collect()
        joined(other)
        del held


def test_a_connection_that_can_not_be_watched_claims_for_ever(file, monkeypatch):
    """Where nothing tells that a connection is closed, its file is for no other."""
    monkeypatch.setattr(lives.gc, "get_referents", lambda _: [])
    raw = CONNECTS["sqlite3"](file)
    joined(raw)
    raw.close()
    with closing(CONNECTS["apsw"](file)) as other:
        assert "host.second-library" == code_of(lambda: joined(other))


def test_joining_again_and_again_leaves_nothing_behind(file, monkeypatch):
    """Who joins for every request takes no more room than who joins once."""
    from uaix_backends.sqlite import libraries  # noqa: PLC0415 - its registry

    monkeypatch.setattr(libraries, "_uses", {})
    monkeypatch.setattr(lives, "_lives", {})
    for _ in range(20):
        with closing(CONNECTS["sqlite3"](file)) as raw:
            for _ in range(5):
                joined(raw)
            (users,) = libraries._uses.values()
            assert 1 == len(users) == len(lives._lives)


def is_locked(file):
    """Whether another process finds the write lock of a file taken."""
    script = (
        "import sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)\n"
        "c.execute('BEGIN IMMEDIATE')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(file)], capture_output=True, check=False
    )
    assert b"locked" in done.stderr or not done.returncode
    return bool(done.returncode)


@pytest.mark.parametrize("mode", ["wal", "delete"])
@pytest.mark.parametrize("gone", ["open", "closed", "dropped"])
def test_a_host_s_lock_survives_who_would_open_its_file(tmp_path, gone, mode):
    """A store that is refused a file has not looked into it, so no lock was let go."""
    file = tmp_path / "own.db"
    SqliteStore.open(file, create=True, schema=KIT).close()
    with closing(CONNECTS["sqlite3"](file)) as raw:
        raw.execute(f"PRAGMA journal_mode = {mode}")
        raw.execute("BEGIN IMMEDIATE")
        store = joined(raw)
        store.append(commit(note(0)))
        if gone == "closed":
            store.close()
        elif gone == "dropped":
            store = None
            gc.collect()
        for create in (False, True):
            assert "host.second-library" == code_of(
                lambda create=create: SqliteStore.open(file, create=create, schema=KIT)
            )
        assert is_locked(file)
        raw.execute("COMMIT")
        assert not is_locked(file)
    with closing(SqliteStore.open(file, schema=KIT)) as own:
        assert 1 == history_of(own)[0]


def test_a_reader_that_outlasts_its_store_keeps_the_file(tmp_path):
    """A snapshot that is still open keeps other libraries out after its store."""
    file = tmp_path / "own.db"
    own = SqliteStore.open(file, create=True, schema=KIT)
    own.append(commit(note(0)))
    with closing(CONNECTS["sqlite3"](file)) as raw:
        with own.snapshot(SCOPE) as snapshot:
            own.close()
            assert "host.second-library" == code_of(lambda: joined(raw))
            assert 1 == snapshot.position
        assert 1 == history_of(joined(raw))[0]


# One thread at a time


class Stopping:
    """A schema whose reducer stands still until it is let go."""

    def __init__(self):
        self.came, self.go = threading.Event(), threading.Event()
        self.schema = Schema(*ROOMS, Room("slow", (), self._reduce))

    def _reduce(self, _recorded, _erased):
        self.came.set()
        assert self.go.wait(30)
        return Changes()
        yield


def in_thread(call):
    """What a call in another thread gave or raised."""
    found = []

    def work():
        try:
            found.append(call())
        except Exception as error:  # noqa: BLE001 - told by the test
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    return thread, found


@both
@pytest.mark.parametrize("is_one_store", [True, False])
def test_a_second_thread_is_refused_before_it_stages(file, library, is_one_store):
    """While one thread stages, whatever another asks of the connection is refused."""
    stopping = Stopping()
    with closing(CONNECTS[library](file)) as raw:
        store = joined(raw, stopping.schema)
        other = store if is_one_store else joined(raw)
        with other.snapshot(SCOPE) as snapshot:
            raw.execute("BEGIN IMMEDIATE")
            thread, found = in_thread(lambda: store.append(commit(note(0))))
            assert stopping.came.wait(30)
            for call in (
                lambda: other.append(commit(note(1))),
                lambda: other.rebuild(SCOPE),
                lambda: other.hold(SCOPE),
                lambda: other.scopes(limit=1),
                lambda: other.due("job", until=1, limit=1),
                lambda: other.snapshot(SCOPE).__enter__(),
                lambda: joined(raw),
                lambda: snapshot.position,
                lambda: snapshot.get("note", ("t0", 0)),
                lambda: list(snapshot.commits()),
            ):
                assert "host.thread" == code_of(call)
            stopping.go.set()
            thread.join()
        assert [1] == [each.seq for each in found]
        # In turn, threads may use what the library lets them use.
        assert 2 == other.append(commit(note(1))).seq
        raw.execute("COMMIT")
        assert 2 == history_of(other)[0]
        assert verify_scope(other, SCOPE).is_sound


@both
def test_threads_in_one_connection_lose_nothing(file, library):
    """What threads that run into each other were told was staged is there; no more."""
    done, codes = [], set()
    barrier = threading.Barrier(4)
    with closing(CONNECTS[library](file)) as raw:
        raw.execute("BEGIN IMMEDIATE")

        def work(me):
            store = stores[me % 2]
            barrier.wait()
            for number in range(me * 100, me * 100 + 40):
                try:
                    store.append(commit(note(number), puts=[job(number)]))
                except CallerError as error:
                    codes.add(error.code)
                else:
                    done.append(number)

        stores = [joined(raw), joined(raw)]
        threads = [threading.Thread(target=work, args=(me,)) for me in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        raw.execute("COMMIT")
        assert codes <= {"host.thread"}
        for store in stores:
            with store.snapshot(SCOPE) as snapshot:
                rows = snapshot.scan("note", "key", limit=1_000)
            assert sorted(done) == [row.number for row in rows]
            assert verify_scope(store, SCOPE).is_sound


SLOW = (
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3000000) "
    "SELECT count(*) FROM r"
)


def busy(raw):
    """A thread of the host's own that runs one long statement."""
    thread, _ = in_thread(lambda: raw.execute(SLOW).fetchall())
    while True:
        try:
            raw.in_transaction  # noqa: B018 - raises once the statement runs
        except apsw.ThreadingViolationError:
            return thread


def test_a_thread_of_the_host_s_own_is_told(file):
    """A connection of apsw that is at work in another thread isn't called closed."""
    with closing(CONNECTS["apsw"](file)) as raw:
        store = joined(raw)
        raw.execute("BEGIN IMMEDIATE")
        thread = busy(raw)
        for call in (
            lambda: store.append(commit(note(0))),
            lambda: store.scopes(limit=1),
            lambda: joined(raw),
        ):
            assert "host.thread" == code_of(call)
        thread.join()
        assert 1 == store.append(commit(note(0))).seq
        raw.execute("ROLLBACK")


@pytest.mark.parametrize("is_patient", [True, False])
def test_a_stage_is_taken_back_once_the_host_s_thread_is_done(
    file, monkeypatch, is_patient
):
    """Who comes into the middle of a stage ends it: it goes, or the host is told."""
    threads = []

    def interfere(_recorded, _erased):
        threads.append(busy(raw))
        return Changes()
        yield

    if not is_patient:
        monkeypatch.setattr("uaix_backends.sqlite.hosts._TRIES", 1)
    with closing(CONNECTS["apsw"](file)) as raw:
        store = joined(raw, Schema(*ROOMS, Room("bad", (), interfere)))
        raw.execute("BEGIN IMMEDIATE")
        raw.execute("INSERT INTO words VALUES ('a')")
        call = lambda: store.append(commit(note(0)))  # noqa: E731
        if is_patient:
            assert "host.thread" == code_of(call)
        else:
            assert "host.transaction-lost" == code_of(call, HostTransactionLostError)
        threads[0].join()
        raw.execute("COMMIT" if is_patient else "ROLLBACK")
        words = raw.execute("SELECT word FROM words").fetchall()
        assert ([("a",)] if is_patient else []) == words
        assert 0 == history_of(joined(raw))[0]
