"""Whichever call of a directory store fails, the commit is there whole or not."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil

import pytest
from tests.backends.directory_stores import (
    holds_canary,
    opened,
    segment_of,
    state_at,
    state_of,
)
from tests.backends.ledger import COMMITS, ERASED_AT
from tests.faults.points import chosen

from uaix_backends.directory import DirectoryStore, files, writing
from uaix_conformance.examples import (
    SCOPE,
)
from uaix_conformance.schema import KIT
from uaix_core.values.errors import (
    OutcomeUnknownError,
    StorageError,
)

#: So many calls of a commit fail in one way, unless all do.
SHARE = 8


class Crash(BaseException):
    """The process is gone."""


class Faults(files.Calls):
    """Calls of which one, or all from one on, fail."""

    def __init__(self, fail, at, *, is_sticky=False, is_after=False, tears=False):
        self.fail = fail
        self.at = at
        self.is_sticky = is_sticky
        self.is_after = is_after
        self.tears = tears
        self.count = 0
        for name, call in vars(files.Calls).items():
            if isinstance(call, staticmethod):
                setattr(self, name, self._counting(name, call.__func__))

    @property
    def was_reached(self):
        return self.count > self.at

    def _counting(self, name, call):
        def counted(*args, **options):
            number, self.count = self.count, self.count + 1
            fails = number >= self.at if self.is_sticky else number == self.at
            if not fails:
                return call(*args, **options)
            if self.is_after and name != "open":
                call(*args, **options)
            if self.tears and name == "write" and number == self.at:
                call(args[0], bytes(args[1])[: len(args[1]) // 2])
            raise self.fail()

        return counted


def _io_error():
    return OSError(errno.EIO, "made up")


def _no_space():
    return OSError(errno.ENOSPC, "made up")


MODES = {
    "one error": {"fail": _io_error},
    "errors from then on": {"fail": _no_space, "is_sticky": True, "tears": True},
    "crash before": {"fail": Crash, "is_sticky": True},
    "crash within": {"fail": Crash, "is_sticky": True, "tears": True},
    "interrupt after": {"fail": KeyboardInterrupt, "is_after": True},
    "no memory": {"fail": MemoryError, "tears": True},
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("step", range(len(COMMITS)))
def test_a_fault_at_any_call_leaves_all_or_nothing(
    tmp_path, monkeypatch, states, mode, step
):
    """Whichever call fails, the commit is there whole or not, and all before it is."""
    monkeypatch.setattr(writing, "_SMALL", 0)
    before = tmp_path / "before"
    with contextlib.closing(opened(before)) as store:
        for commit in COMMITS[:step]:
            store.append(commit)

    def struck(at):
        """A call fails, or none if there are fewer; how many there were."""
        path = tmp_path / f"{at}"
        shutil.copytree(before, path)
        with contextlib.closing(opened(path)) as store:
            state_of(store)
            faults = Faults(at=at, **MODES[mode])
            monkeypatch.setattr(files, "calls", faults)
            outcome = _attempt(store, COMMITS[step])
            monkeypatch.setattr(files, "calls", files.Calls())
            _check_outcome(path, store, states, step, outcome)
        shutil.rmtree(path)
        assert outcome[0] or faults.was_reached
        return faults.count

    count = struck(1_000)
    assert count > 3
    for at in chosen(f"{step} {mode}", range(count), SHARE):
        assert struck(at) > at


def _attempt(store, commit):
    try:
        store.append(commit)
    except (StorageError, Crash, KeyboardInterrupt, MemoryError) as error:
        return False, error
    return True, None


def _check_outcome(path, store, states, step, outcome):
    done, error = outcome
    old, new = states[step], states[step + 1]
    seen = state_at(path)
    assert seen in (old, new)
    if done:
        assert new == seen
    elif isinstance(error, StorageError) and not isinstance(error, OutcomeUnknownError):
        assert old == seen
    if done and step >= ERASED_AT - 1:
        assert [] == holds_canary(path)
    # The same object goes on where the files stand, and so does everybody else.
    if not isinstance(error, Crash):
        assert seen == state_of(store)
        if seen == old:
            store.append(COMMITS[step])
        assert new == state_of(store)
    with contextlib.closing(opened(path)) as again:
        if state_of(again) == old:
            again.append(COMMITS[step])
        for commit in COMMITS[step + 1 :]:
            again.append(commit)
        assert states[-1] == state_of(again)
    assert states[-1] == state_at(path)
    assert [] == holds_canary(path)
    assert [] == [file for file in path.rglob("*") if file.suffix == ".new"]


def test_a_crash_while_a_store_is_made_is_made_good(tmp_path, monkeypatch):
    """A folder in which making a store was cut short can be made a store."""
    for at in range(100):
        path = tmp_path / f"{at}"
        faults = Faults(Crash, at, is_sticky=True, tears=True)
        monkeypatch.setattr(files, "calls", faults)
        with contextlib.suppress(Crash):
            opened(path).close()
        monkeypatch.setattr(files, "calls", files.Calls())
        with contextlib.closing(opened(path)) as store:
            store.append(COMMITS[0])
        if not faults.was_reached:
            break
    assert at > 3


@pytest.mark.parametrize("step", [1, 5, 7])
def test_a_second_crash_during_recovery_is_recovered_from(
    tmp_path, monkeypatch, states, step
):
    """A crash while another crash is repaired leaves all or nothing as well."""
    before = tmp_path / "before"
    with contextlib.closing(opened(before)) as store:
        for commit in COMMITS[:step]:
            store.append(commit)
    first = 0
    while True:
        crashed = tmp_path / "crashed"
        shutil.copytree(before, crashed)
        faults = Faults(Crash, first, is_sticky=True, tears=True)
        _crash(crashed, monkeypatch, faults, COMMITS[step])
        if not faults.was_reached:
            break
        for second in range(first % 4, 1_000, 4):
            path = tmp_path / "again"
            shutil.copytree(crashed, path)
            faults = Faults(Crash, second, is_sticky=True, tears=True)
            _crash(path, monkeypatch, faults, None)
            seen = state_at(path)
            assert seen in (states[step], states[step + 1])
            shutil.rmtree(path)
            if not faults.was_reached:
                break
        shutil.rmtree(crashed)
        first += 1
    assert first > 3


def _crash(path, monkeypatch, faults, commit):
    monkeypatch.setattr(files, "calls", faults)
    try:
        with contextlib.suppress(Crash):
            store = DirectoryStore.open(path, schema=KIT)
            if commit is not None:
                store.append(commit)
            else:
                state_of(store)
                store._scope(SCOPE).finish()
    finally:
        monkeypatch.setattr(files, "calls", files.Calls())


def test_a_failed_sync_is_not_tried_again(root, monkeypatch):
    """After a failed sync the outcome is unknown, and the next use reads the disk."""
    with contextlib.closing(opened(root)) as store:
        store.append(COMMITS[0])
        synced = []

        def fail(fd):
            synced.append(fd)
            raise _io_error()

        faults = files.Calls()
        faults.sync_data = fail
        monkeypatch.setattr(files, "calls", faults)
        with pytest.raises(OutcomeUnknownError):
            store.append(COMMITS[4])
        assert 1 == len(synced)
        monkeypatch.setattr(files, "calls", files.Calls())

        assert state_at(root) == state_of(store)
        store.append(COMMITS[8])


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, "storage.full"),
        (errno.EDQUOT, "storage.full"),
        (errno.EROFS, "storage.readonly"),
        (errno.EIO, "storage.io"),
    ],
)
def test_a_failed_write_is_taken_back(root, monkeypatch, number, code):
    """A write that fails in the middle leaves the file as it was."""
    with contextlib.closing(opened(root)) as store:
        store.append(COMMITS[0])
        before = segment_of(root).read_bytes()

        def tear(fd, data):
            os.write(fd, bytes(data)[:10])
            raise OSError(number, "made up")

        faults = files.Calls()
        faults.write = tear
        monkeypatch.setattr(files, "calls", faults)
        with pytest.raises(StorageError) as caught:
            store.append(COMMITS[4])
        monkeypatch.setattr(files, "calls", files.Calls())

        assert code == caught.value.code
        assert before == segment_of(root).read_bytes()
        assert 2 == store.append(COMMITS[4]).seq


def test_short_writes_are_continued(root, monkeypatch, states):
    """A system that takes a few bytes at a time gets all of them."""
    faults = files.Calls()
    faults.write = lambda fd, data: os.write(fd, bytes(data)[:100])
    monkeypatch.setattr(files, "calls", faults)
    with contextlib.closing(opened(root)) as store:
        for commit in COMMITS:
            store.append(commit)

    assert states[-1] == state_at(root)
