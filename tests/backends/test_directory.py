"""The directory backend: its files, and what stands in them."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import threading

import pytest
from tests.backends.directory_stores import (
    holds_canary,
    opened,
    segment_of,
    state_at,
    state_of,
)
from tests.backends.ledger import CANARY, COMMITS, DAY, NEXT

from uaix_backends.directory import DirectoryStore, files, writing
from uaix_backends.directory.testing import harness
from uaix_backends.memory import MemoryStore
from uaix_conformance.examples import (
    OTHER,
    SCOPE,
    fact,
    job,
    vector,
)
from uaix_conformance.schema import KIT
from uaix_core.schema.commits import Commit
from uaix_core.store.copying import copy_scope
from uaix_core.store.seal import seal
from uaix_core.values.errors import (
    BusyError,
    ClosedError,
    StorageError,
)


def test_states_equal_those_of_memory(root, states):
    """After each commit, and after each reopening, the state is that of memory."""
    for i, commit in enumerate(COMMITS):
        with contextlib.closing(opened(root)) as store:
            store.append(commit)
            assert states[i + 1] == state_of(store)
        assert states[i + 1] == state_at(root)


def test_the_projection_follows_from_the_history(tmp_path, full):
    """Replaying any store's history into a new folder gives the same bytes."""
    memory = MemoryStore(KIT)
    for commit in COMMITS:
        memory.append(commit)
    with contextlib.closing(opened(tmp_path / "copy")) as copy:
        copy_scope(memory, copy, SCOPE)
    with (
        contextlib.closing(opened(full)) as source,
        contextlib.closing(opened(tmp_path / "again")) as again,
    ):
        copy_scope(source, again, SCOPE)

    expected = harness.projection(full)
    assert 1 == len(expected)
    assert expected == harness.projection(tmp_path / "copy")
    assert expected == harness.projection(tmp_path / "again")


def test_local_rows_are_no_part_of_the_projection(root):
    """A scope with local rows alone has no segment and is not listed, but due."""
    with contextlib.closing(opened(root)) as store:
        store.append(Commit(OTHER, 0, puts=[job(1)]))
        assert [] == store.scopes(limit=10)
    with contextlib.closing(opened(root)) as store:
        assert [(OTHER, job(1))] == list(store.due("job", until=0, limit=10))

    assert {} == harness.projection(root)


def test_lines_agree_with_the_seal(full):
    """The digest that a line is read by is the one that the core's seal gives."""
    with contextlib.closing(opened(full)) as store, store.snapshot(SCOPE) as snapshot:
        previous = None
        for recorded in snapshot.commits():
            if previous is not None:
                assert recorded.digest == seal(KIT, recorded.commit, previous).digest
            previous = recorded.mark
        assert previous.seq == snapshot.position


def test_an_erasure_takes_dead_bytes_along(root):
    """Local rows that were dropped or replaced before the erasure leave no bytes."""
    with contextlib.closing(opened(root)) as store:
        store.append(COMMITS[0])
        store.append(Commit(SCOPE, 0, puts=[vector(1, text=CANARY)]))
        store.append(Commit(SCOPE, 0, puts=[vector(1, text="other")]))
        store.append(Commit(SCOPE, 0, drops=[("vector", ("m0", "t0", 1))]))
        store.append(Commit(SCOPE, 0, erases=[("note", ("t0", 1))]))

        assert [] == holds_canary(root)


def test_a_pending_erasure_is_finished(root, states):
    """An erase line whose row still has its body shows erased and is carried out."""
    with contextlib.closing(opened(root)) as store:
        for commit in COMMITS[:5]:
            store.append(commit)
    segment = segment_of(root)
    lines = segment.read_bytes().splitlines(keepends=True)
    work = segment.parent / "work"
    kept = root.parent / "kept"
    shutil.copytree(work, kept)
    with contextlib.closing(opened(root)) as store:
        store.append(Commit(SCOPE, DAY + 5, erases=[("note", ("t0", 1))]))
        expected = state_of(store)
    erased = segment.read_bytes()
    segment.write_bytes(b"".join([*lines, erased.splitlines(keepends=True)[-1]]))
    shutil.rmtree(work)
    shutil.copytree(kept, work)
    assert len(holds_canary(root)) > 1

    assert expected == state_at(root)

    assert [] == holds_canary(root)
    assert erased == segment.read_bytes()


def test_strays_are_removed_when_a_store_is_opened(full):
    """Files that a writer left on their way are gone after the next opening."""
    folder = segment_of(full).parent
    (folder / "segment.new").write_text(CANARY)
    (folder / "work" / "log.new").write_text(CANARY)

    DirectoryStore.open(full, schema=KIT).close()

    assert [] == holds_canary(full)


def test_a_work_number_is_given_once(root, monkeypatch):
    """Work numbers rise by one over drops, reopenings and rewritten logs."""
    monkeypatch.setattr(writing, "_SMALL", 0)
    numbers = []
    for i in range(40):
        with contextlib.closing(opened(root)) as store:
            store.append(Commit(SCOPE, 0, puts=[job(1)]))
            with store.snapshot(SCOPE) as snapshot:
                numbers.append(snapshot.get("job", (False, 1)).version)
            store.append(Commit(SCOPE, 0, drops=[("job", (False, 1))]))
            if i % 7 == 3:
                store.append(Commit(SCOPE, 0, adds=[fact(i)], puts=[job(2)]))

    assert numbers == sorted(set(numbers))
    assert 40 * 2 + 6 == state_at(root)[3]


def test_a_log_of_dead_rows_stays_short(root, monkeypatch):
    """Putting the same row again and again does not fill the disk."""
    monkeypatch.setattr(writing, "_SMALL", 1_000)
    with contextlib.closing(opened(root)) as store:
        for i in range(100):
            store.append(Commit(SCOPE, 0, puts=[job(1, due_at=i)]))
        assert 100 == state_of(store)[3]
    (log,) = root.glob("scopes/*/*/log.jsonl")

    assert log.stat().st_size < 5_000
    assert 100 == state_at(root)[3]


def test_an_intent_that_never_counted_is_dropped(root, monkeypatch):
    """The same history without local rows does not wake an intent that failed."""
    together = Commit(SCOPE, DAY, adds=[fact(1)], puts=[job(1)])
    with contextlib.closing(opened(root)) as store:
        store.append(COMMITS[0])
        faults = files.Calls()

        def fail(name, *args, **options):
            if name == "segment.jsonl" and args[0] & os.O_WRONLY:
                raise OSError(errno.ENOSPC, "made up")
            return os.open(name, *args, **options)

        faults.open = fail
        monkeypatch.setattr(files, "calls", faults)
        with pytest.raises(StorageError):
            store.append(together)
        monkeypatch.setattr(files, "calls", files.Calls())
        store.append(Commit(SCOPE, DAY, adds=[fact(1)]))
        rows, _chain, _seen, work = state_of(store)

    assert ([], 0) == (rows["job"], work)
    assert ([], 0) == (state_at(root)[0]["job"], state_at(root)[3])


def test_two_stores_on_one_path_see_each_other(root, states):
    """Each store object sees what the other has committed, erasures included."""
    with (
        contextlib.closing(opened(root)) as one,
        contextlib.closing(opened(root)) as two,
    ):
        for i, commit in enumerate(COMMITS):
            (one, two)[i % 2].append(commit)
            assert states[i + 1] == state_of(one)
            assert states[i + 1] == state_of(two)


def test_a_reader_waits_for_nobody(root, states):
    """A snapshot is taken while another holds the lock; a writer gives up in time."""
    with contextlib.closing(opened(root, busy_timeout_s=0.05)) as store:
        store.append(COMMITS[0])
        lock = segment_of(root).parent / "lock"
        with lock.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            assert states[1] == state_of(store)
            assert states[1] == state_at(root)
            with pytest.raises(BusyError):
                store.append(COMMITS[1])
        store.append(COMMITS[1])

        assert states[2] == state_of(store)


def test_a_reader_in_the_same_process_sees_only_what_is_durable(
    root, monkeypatch, states
):
    """While a commit is synced, other threads read the state before it at once."""
    with contextlib.closing(opened(root)) as store:
        store.append(COMMITS[0])
        entered, leave = threading.Event(), threading.Event()

        def wait(fd):
            entered.set()
            leave.wait(30)
            os.fdatasync(fd)

        faults = files.Calls()
        faults.sync_data = wait
        monkeypatch.setattr(files, "calls", faults)
        writer = threading.Thread(target=store.append, args=[COMMITS[1]])
        writer.start()
        assert entered.wait(30)
        seen = state_of(store)
        leave.set()
        writer.join()

        assert states[1] == seen
        assert states[2] == state_of(store)


def test_a_closed_store_refuses(full):
    """Every verb of a closed store is refused, also of one that is in use."""
    store = opened(full)
    with store.snapshot(SCOPE) as snapshot:
        store.close()
        assert snapshot.get("note", ("t0", 2)) is not None
    for use in (
        lambda: store.append(NEXT),
        lambda: store.rebuild(SCOPE),
        lambda: store.scopes(limit=1),
        lambda: store.due("job", until=0, limit=1),
        lambda: state_of(store),
    ):
        with pytest.raises(ClosedError):
            use()


def test_rebuilding_changes_no_answer(full, states):
    """Views made anew in memory are those that the commits gave."""
    with contextlib.closing(opened(full)) as store:
        assert states[-1][2][0] == store.rebuild(SCOPE)
        assert states[-1] == state_of(store)


def test_replaying_what_is_there_makes_it_durable(root, monkeypatch):
    """A replayed commit that another wrote is synced before it counts, and once."""
    with contextlib.closing(opened(root)) as store:
        recorded = store.append(COMMITS[0])
    synced = []
    counting = files.Calls()
    counting.sync_data = lambda fd: synced.append(os.fstat(fd).st_ino)
    monkeypatch.setattr(files, "calls", counting)
    with contextlib.closing(opened(root)) as store:
        assert recorded == store.append(recorded)
        assert [segment_of(root).stat().st_ino] == synced
        store.append(recorded)
        assert 1 == len(synced)
