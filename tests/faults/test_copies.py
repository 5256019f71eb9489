"""Files that are copied, exchanged or taken away while a store has them open."""

from __future__ import annotations

import contextlib
import shutil

import pytest
from tests.backends.ledger import BACKENDS, check_file, opened, state_at, state_of
from tests.faults.points import IS_ALL

from uaix_backends.examining import examine
from uaix_conformance.examples import SCOPE, fact, job, note
from uaix_core.schema.commits import Commit
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import StorageError, StoreOpenError

both = pytest.mark.parametrize("backend", BACKENDS)


def writing(say, backend, path, count):
    """Commit rows of all kinds, one commit after the other."""
    with contextlib.closing(opened(backend, path)) as store:
        for number in range(count):
            adds = [fact(number), note(number, title=f"{number}", text="x" * 3_000)]
            store.append(Commit(SCOPE, 0, adds=adds, puts=[job(number)]))
            say(number)


def check_copy(backend, path):
    """What passes every check of ours is a state that was."""
    with contextlib.closing(opened(backend, path)) as store:
        if not (examine(store).is_sound and verify_scope(store, SCOPE).is_sound):
            return
        rows, chain, (position, _), _ = state_of(store)
    assert position == len(chain) == len(rows["fact"]) == len(rows["note"])
    check_file(path)


@both
def test_a_copy_of_a_live_store_is_whole_or_refused(forker, tmp_path, backend):
    """`cp -r` in mid-write: a state that was, or refused, or found out by checking."""
    path = tmp_path / "store"
    count = 3_000 if IS_ALL else 150
    opened(backend, path).close()
    writer = forker.start(writing, backend, path, count)
    copies = 0
    while len(writer.said()) < count:
        copy = tmp_path / "copy"
        with contextlib.suppress(shutil.Error, FileNotFoundError):
            # A file of SQLite may go while it is copied.
            shutil.copytree(path, copy)
        with contextlib.suppress(StorageError, StoreOpenError):
            check_copy(backend, copy)
        shutil.rmtree(copy, ignore_errors=True)
        copies += 1
    assert 0 == writer.wait().code
    assert copies


def test_a_copy_without_its_log_is_a_whole_earlier_state(tmp_path):
    """Only the main file of a live SQLite store: what the log held is missing."""
    path, copy = tmp_path / "store", tmp_path / "copy"
    with contextlib.closing(opened("sqlite", path)) as store:
        store.append(Commit(SCOPE, 0, adds=[fact(0)]))
    with contextlib.closing(opened("sqlite", path)) as store:
        store.append(Commit(SCOPE, 0, adds=[fact(1)]))
        copy.mkdir()
        shutil.copy(path / "store.sqlite", copy)
        assert 1 == state_at("sqlite", copy)[2][0]
        assert 2 == state_of(store)[2][0]


@pytest.mark.parametrize("act", ["swapped", "deleted", "emptied"])
def test_a_log_that_is_no_longer_ours(forker, tmp_path, act):
    """The log exchanged or gone under an open store: told, or only whole commits."""
    path = tmp_path / "store"
    codes = forker.run(with_another_log, path, act).answer

    assert set(codes) <= {"done", "storage.corrupt", "storage.io", "storage.replaced"}
    with contextlib.suppress(StorageError, StoreOpenError):
        rows, chain, (position, _), _ = state_at("sqlite", path)
        assert position == len(chain) == len(rows["fact"])
        check_file(path)
        if act != "emptied":
            # What stood in the log that was emptied is lost, by whoever did it.
            assert position >= codes.count("done")


def with_another_log(say, path, act):
    """Take the log of an open store away, and use it further."""
    other = path.parent / "other"
    codes = []
    with (
        contextlib.closing(opened("sqlite", other)) as second,
        contextlib.closing(opened("sqlite", path)) as store,
    ):
        for number in range(3):
            store.append(Commit(SCOPE, 0, adds=[fact(number)]))
            second.append(Commit(SCOPE, 0, adds=[fact(number, subject="other")]))
        log = path / "store.sqlite-wal"
        if act == "swapped":
            shutil.copy(other / "store.sqlite-wal", path / "new")
            (path / "new").replace(log)
        elif act == "deleted":
            log.unlink()
        else:
            log.write_bytes(b"")
        for number in range(3, 6):
            try:
                state_of(store)
                store.append(Commit(SCOPE, 0, adds=[fact(number)]))
                codes.append("done")
            except StorageError as error:
                codes.append(error.code)
    return codes
