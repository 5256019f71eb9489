"""Many processes and threads at one store: one writes, and nobody waits to read."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import time

import apsw
import pytest
from tests.backends.ledger import BACKENDS, check_file, opened, state_at, state_of
from tests.faults.forking import KILLED, ROOT
from tests.faults.points import IS_ALL

from uaix_backends.directory import files
from uaix_conformance.examples import SCOPE, fact, job
from uaix_core.schema.commits import Commit, Expect
from uaix_core.values.errors import BusyError, ConflictError

both = pytest.mark.parametrize("backend", BACKENDS)

#: Commits of each process.
COUNT = 300 if IS_ALL else 15


def slowed(seconds):
    """Let every sync of this process take so long."""

    def slow(fd):
        time.sleep(seconds)
        os.fsync(fd)

    files.calls.sync = files.calls.sync_data = slow

    class Slow(apsw.VFS):
        def xOpen(self, name, flags):  # noqa: N802 - SQLite's
            return SlowFile("unix", name, flags)

    class SlowFile(apsw.VFSFile):
        def xSync(self, flags):  # noqa: N802
            time.sleep(seconds)
            super().xSync(flags)

    return Slow("slow", "", makedefault=True)


def counting(say, backend, path, name, count, *slow):
    """Raise one row by one, over and over; say each number that was acknowledged."""
    kept = slowed(*slow) if slow else None
    with contextlib.closing(opened(backend, path, busy_timeout_s=60)) as store:
        done = 0
        while done < count:
            with store.snapshot(SCOPE) as snapshot:
                row = snapshot.get("job", (False, 0))
            value = row.due_at if row else 0
            expect = Expect("job", (False, 0), row.version if row else 0)
            added = fact(done, subject=name)
            next_row = job(0, due_at=value + 1)
            try:
                store.append(
                    Commit(SCOPE, 0, expects=[expect], adds=[added], puts=[next_row])
                )
            except ConflictError:
                continue
            done += 1
            say(done)
    if kept is not None:
        kept.unregister()
    return done


def watching(say, backend, path, count):
    """Read again and again; positions never fall, and no read is half."""
    with contextlib.closing(opened(backend, path)) as store:
        last = 0
        while last < count:
            with store.snapshot(SCOPE) as snapshot:
                commits = list(snapshot.commits())
                row = snapshot.get("job", (False, 0))
                assert last <= snapshot.position == len(commits)
                assert snapshot.position == (row.due_at if row else 0)
                last = snapshot.position


def checkpointing(say, path, stop):
    """Move the log into the file, again and again, as another program might."""
    with contextlib.closing(apsw.Connection(str(path / "store.sqlite"))) as connection:
        connection.set_busy_timeout(1000)
        while not stop.exists():
            with contextlib.suppress(apsw.BusyError):
                connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()


@both
def test_no_update_of_several_writers_is_lost(forker, tmp_path, backend):
    """Four processes that raise one row, and a reader: each raise counts once."""
    path = tmp_path / "store"
    opened(backend, path).close()
    writers = [forker.start(counting, backend, path, f"w{n}", COUNT) for n in range(4)]
    reader = forker.start(watching, backend, path, 4 * COUNT)

    assert [COUNT] * 4 == [writer.wait().answer for writer in writers]
    assert 0 == reader.wait().code
    rows, chain, _, _ = state_at(backend, path)
    assert 4 * COUNT == len(chain) == len(rows["fact"])


def test_a_log_that_others_move_loses_nothing(forker, tmp_path):
    """Two writers, a reader and a process that only moves the log: all commits stay."""
    path = tmp_path / "store"
    opened("sqlite", path).close()
    stop = tmp_path / "stop"
    mover = forker.start(checkpointing, path, stop)
    count = 2 * COUNT
    writers = [forker.start(counting, "sqlite", path, f"w{n}", count) for n in range(2)]
    reader = forker.start(watching, "sqlite", path, 2 * count)

    assert [count] * 2 == [writer.wait().answer for writer in writers]
    assert 0 == reader.wait().code
    stop.touch()
    assert 0 == mover.wait().code
    assert 2 * count == len(state_at("sqlite", path)[1])
    check_file(path)


@both
def test_slow_syncs_delay_and_repeat_nothing(forker, tmp_path, backend):
    """Where each sync takes long, writers wait for each other and commit once each."""
    path = tmp_path / "store"
    opened(backend, path).close()
    writers = [
        forker.start(counting, backend, path, f"w{n}", 4, 0.02) for n in range(3)
    ]

    assert [4] * 3 == [writer.wait().answer for writer in writers]
    assert 12 == len(state_at(backend, path)[1])


@both
def test_the_lock_of_a_killed_writer_is_free(forker, tmp_path, backend):
    """Whoever is killed with the lock held leaves nothing to be removed by hand."""
    path = tmp_path / "store"
    opened(backend, path).close()
    for number in range(8):
        writer = forker.start(counting, backend, path, f"w{number}", 10**6)
        while not writer.said():
            time.sleep(0.001)
        writer.kill()
        ended = writer.wait()
        assert KILLED == ended.code
        with contextlib.closing(opened(backend, path, busy_timeout_s=1)) as store:
            store.append(Commit(SCOPE, 0, adds=[fact(number, subject="next")]))
            rows = state_of(store)[0]["fact"]
        own = sum(f"w{number}" in values for values, _ in rows)
        assert own in (ended.said[-1], ended.said[-1] + 1)


@both
def test_readers_pass_a_writer_that_holds_on(forker, tmp_path, backend):
    """While one writer holds on, others give up in time and nobody waits to read."""
    path = tmp_path / "store"
    opened(backend, path).close()
    holder = forker.start(holding, backend, path)
    while not holder.said():
        time.sleep(0.001)
    with contextlib.closing(opened(backend, path, busy_timeout_s=0.05)) as store:
        before = state_of(store)
        with pytest.raises(BusyError):
            store.append(Commit(SCOPE, 0, adds=[fact(7)]))
        assert before == state_of(store)
        holder.kill()
        holder.wait()
        store.append(Commit(SCOPE, 0, adds=[fact(7)]))


def holding(say, backend, path):
    """Keep the lock of the scope that a commit takes."""
    store = opened(backend, path)
    store.append(Commit(SCOPE, 0, adds=[fact(0)]))
    with (
        store._connections.writing()
        if backend == "sqlite"
        else store._scope(SCOPE)._exclusive()
    ):
        say("holding")
        time.sleep(600)


@both
def test_threads_share_one_store(tmp_path, backend):
    """Eight threads that raise one row through one object: each raise counts once."""
    path = tmp_path / "store"
    failed = []
    with contextlib.closing(opened(backend, path)) as store:

        def work(name):
            try:
                for number in range(10):
                    store.append(
                        Commit(
                            SCOPE, 0, adds=[fact(number, subject=name)], puts=[job()]
                        )
                    )
                    state_of(store)
            except BaseException as error:  # noqa: BLE001 - told below
                failed.append(error)

        threads = [threading.Thread(target=work, args=[f"t{n}"]) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert [] == failed
        assert (80, 80) == (state_of(store)[2][0], state_of(store)[3])


ENDING = """
import os, sys, threading
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from tests.backends.ledger import opened, SCOPE
from uaix_conformance.examples import fact
from uaix_core.schema.commits import Commit

store = opened(sys.argv[2], Path(sys.argv[3]))
began = threading.Event()

def work():
    number = 0
    while True:
        store.append(Commit(SCOPE, 0, adds=[fact(number)]))
        os.write(1, b"%d\\n" % number)
        began.set()
        number += 1

threading.Thread(target=work, daemon=True).start()
began.wait()
sys.exit(0)
"""


@both
def test_an_interpreter_that_ends_in_mid_write(tmp_path, backend):
    """A process that exits while a thread writes leaves what was acknowledged."""
    path = tmp_path / "store"
    opened(backend, path).close()
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", ENDING, str(ROOT), backend, str(path)],
            capture_output=True,
            check=False,
        )
        acknowledged = len(done.stdout.split())
        after = len(state_at(backend, path)[1])
        assert after in (acknowledged, acknowledged + 1)
        shutil.rmtree(path)
        opened(backend, path).close()
