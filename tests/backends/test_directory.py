"""The directory backend: its files, and what a fault at any moment leaves of them."""

from __future__ import annotations

import base64
import contextlib
import errno
import fcntl
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from uaix_backends.directory import DirectoryStore, files, writing
from uaix_backends.directory.testing import harness
from uaix_backends.memory import MemoryStore
from uaix_conformance.examples import (
    OTHER,
    SCOPE,
    fact,
    job,
    lease,
    note,
    vector,
)
from uaix_conformance.schema import KIT
from uaix_core.schema.commits import Commit, Expect
from uaix_core.store.copying import all_rows, copy_scope
from uaix_core.store.seal import seal
from uaix_core.values.errors import (
    BusyError,
    ClosedError,
    ConflictError,
    IntegrityError,
    OutcomeUnknownError,
    StorageError,
    StoreOpenError,
)

CANARY = "canary-7f3a"
DAY = 86_400_000_000

#: One commit of each way in which a commit can touch the files.
COMMITS = (
    Commit(SCOPE, DAY, adds=[note(1, title="one", text=CANARY)]),
    Commit(
        SCOPE,
        DAY + 1,
        adds=[note(2, title="two", text="kept")],
        puts=[lease(1, holder="h1"), vector(1, text=CANARY), lease(2)],
    ),
    Commit(SCOPE, DAY + 2, puts=[job(1)]),
    Commit(
        SCOPE,
        DAY + 3,
        adds=[note(3, title="three", text="kept too")],
        puts=[job(2)],
        drops=[("job", (False, 1))],
    ),
    Commit(SCOPE, DAY + 4, adds=[fact(1)]),
    Commit(SCOPE, DAY + 5, erases=[("note", ("t0", 1))], puts=[job(3)]),
    Commit(SCOPE, DAY + 6, drops=[("job", (False, 3))]),
    Commit(SCOPE, DAY + 7, erases=[("note", ("t0", 3))], adds=[fact(2)]),
    Commit(SCOPE, DAY + 8, adds=[fact(3)], puts=[job(1, due_at=5)]),
)
ERASED_AT = 6

NEXT = Commit(SCOPE, 2 * DAY, adds=[fact(9, subject="next")], puts=[job(9)])


def opened(path, **options):
    return DirectoryStore.open(path, create=True, schema=KIT, **options)


def state_of(store, scope=SCOPE):
    """All that a snapshot shows, and the work number."""
    with store.snapshot(scope) as snapshot:
        rows = {
            relation.name: [
                (relation.values(row), row.version)
                for row in all_rows(snapshot, relation)
            ]
            for relation in KIT.relations.values()
        }
        chain = [(r.seq, r.recorded_at, r.digest) for r in snapshot.commits()]
        seen = snapshot.position, snapshot.head
    work = (
        store._scope(scope).current().work
        if isinstance(store, DirectoryStore)
        else (store._scopes[scope.text].work if scope.text in store._scopes else 0)
    )
    return rows, chain, seen, work


def state_at(path, scope=SCOPE):
    with contextlib.closing(DirectoryStore.open(path, schema=KIT)) as store:
        return state_of(store, scope)


@pytest.fixture(scope="module")
def states():
    """The states before the first of `COMMITS`, after it, and so on, from memory."""
    store = MemoryStore(KIT)
    found = [state_of(store)]
    for commit in COMMITS:
        store.append(commit)
        found.append(state_of(store))
    return found


@pytest.fixture
def root(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def full(root):
    """A closed store with all of `COMMITS`."""
    with contextlib.closing(opened(root)) as store:
        for commit in COMMITS:
            store.append(commit)
    return root


def segment_of(path):
    (segment,) = path.glob("scopes/*/segment.jsonl")
    return segment


def holds_canary(path, canary=CANARY):
    data = canary.encode()
    spellings = [data] + [
        base64.urlsafe_b64encode(b"x" * skip + data)[4:-4] for skip in range(3)
    ]
    return [
        file
        for file in path.rglob("*")
        if file.is_file()
        for content in [file.read_bytes()]
        if any(spelling in content for spelling in spellings)
    ]


def open_descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


# Opening


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


# The yardstick


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


# Torn and damaged files


def test_every_prefix_of_the_last_line_is_old_or_new(full, states):
    """A last line that was cut anywhere is not there or, once whole, is there."""
    segment = segment_of(full)
    whole = segment.read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1
    shutil.rmtree(segment.parent / "work")
    new = _history(states[-1])
    old = None
    for end in range(start, len(whole) + 1):
        for filler in (b"", b"\0" * 9):
            segment.write_bytes(whole[:end] + filler)
            seen = _history(state_at(full))
            old = old or seen
            assert seen == (new if end >= len(whole) - 1 else old)
            if end % 5 and end < len(whole) - 2:
                continue
            with contextlib.closing(opened(full)) as store:
                store.append(NEXT)
            after = _history(state_at(full))
            assert len(seen[1]) + 1 == len(after[1])
            shutil.rmtree(segment.parent / "work")
    assert len(old[1]) + 1 == len(new[1])


def _history(state):
    """A state without local rows, which the tests of the segment do without."""
    rows, chain, seen, _work = state
    local = ("job", "lease", "vector", "entry")
    return {n: r for n, r in rows.items() if n not in local}, chain, seen


def test_sectors_that_were_never_written_are_torn(root):
    """A last line whose older sectors were lost is cut; the commits before stay."""
    with contextlib.closing(opened(root)) as store:
        store.append(COMMITS[0])
        kept = state_of(store)
    segment = segment_of(root)
    before = segment.read_bytes()
    with contextlib.closing(opened(root)) as store:
        store.append(Commit(SCOPE, DAY, adds=[note(5, title="5", text="x" * 3000)]))
    after = bytearray(segment.read_bytes())
    cut = (len(before) // 512 + 2) * 512
    after[len(before) : cut] = bytes(cut - len(before))
    segment.write_bytes(after)

    assert kept == state_at(root)
    with contextlib.closing(opened(root)) as store:
        store.append(COMMITS[4])
        assert 2 == state_of(store)[2][0]
    assert segment.read_bytes().startswith(before)


@pytest.mark.parametrize(
    "change",
    [lambda b: b ^ 1, lambda b: b ^ 0x20, lambda _: 0, lambda _: 0x0A],
    ids=["low bit", "case bit", "zero", "line end"],
)
def test_a_damaged_byte_is_no_silent_change(root, change):
    """Each byte of a segment, once changed, is refused or changes no answer."""
    with contextlib.closing(opened(root)) as store:
        store.append(COMMITS[0])
        store.append(COMMITS[4])
        expected = state_of(store)
    segment = segment_of(root)
    whole = segment.read_bytes()
    named = 0
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] = change(damaged[at])
        if damaged == whole:
            continue
        segment.write_bytes(damaged)
        try:
            assert expected == state_at(root)
        except IntegrityError as error:
            named += (error.path or "").startswith(SCOPE.text)
            with contextlib.closing(opened(root)) as store, pytest.raises(StorageError):
                store.append(NEXT)
            assert damaged == segment.read_bytes()
    assert named > len(whole) * 0.8


def test_a_damaged_byte_of_local_state_is_no_silent_change(root):
    """Each byte of the log and the intent, once changed, is refused or harmless."""
    with contextlib.closing(opened(root)) as store:
        for commit in COMMITS[:4]:
            store.append(commit)
        expected = state_of(store)
    work = segment_of(root).parent / "work"
    for name in ("log.jsonl", "intent"):
        whole = (work / name).read_bytes()
        for at in range(0, len(whole), 7):
            damaged = bytearray(whole)
            damaged[at] ^= 1
            (work / name).write_bytes(damaged)
            with contextlib.suppress(IntegrityError):
                assert expected == state_at(root)
        (work / name).write_bytes(whole)


def test_a_replaced_line_is_noticed(full):
    """A line of the middle that is gone breaks the chain and is named by its seq."""
    segment = segment_of(full)
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join(lines[:2] + lines[3:]))

    with pytest.raises(IntegrityError) as caught:
        state_at(full)

    assert f"{SCOPE.text}#2" == caught.value.path


def test_a_foreign_segment_is_refused(full):
    """A segment in the folder of another scope is damage, not that scope's history."""
    folder = segment_of(full).parent
    with contextlib.closing(opened(full)) as store:
        store.append(Commit(OTHER, 0, adds=[fact(1)]))
    (other,) = set(full.glob("scopes/*")) - {folder}
    shutil.copy(segment_of_folder(folder), segment_of_folder(other))

    with contextlib.closing(opened(full)) as store:
        with pytest.raises(IntegrityError), store.snapshot(OTHER):
            pass
        with pytest.raises(IntegrityError):
            store.scopes(limit=10)


def segment_of_folder(folder):
    return folder / "segment.jsonl"


@pytest.mark.parametrize("kind", ["symlink", "hard link", "fifo", "folder"])
def test_what_is_no_plain_file_is_refused(full, kind):
    """A segment that is a link, a FIFO or a folder is refused without blocking."""
    segment = segment_of(full)
    real = full.parent / "real"
    segment.rename(real)
    match kind:
        case "symlink":
            segment.symlink_to(real)
        case "hard link":
            segment.hardlink_to(real)
        case "fifo":
            os.mkfifo(segment)
        case "folder":
            segment.mkdir()
    before = real.read_bytes()
    with contextlib.closing(opened(full)) as store:
        for use in (
            lambda: state_of(store),
            lambda: store.append(NEXT),
            lambda: store.scopes(limit=9),
            lambda: store.due("job", until=DAY, limit=9),
        ):
            with pytest.raises(StorageError) as caught:
                use()
            assert "storage.file" == caught.value.code

    assert before == real.read_bytes()


def test_a_linked_folder_is_not_followed(full):
    """A scope's folder that is a symlink is refused."""
    folder = segment_of(full).parent
    real = full.parent / "real"
    folder.rename(real)
    folder.symlink_to(real)

    with contextlib.closing(opened(full)) as store:
        for use in (
            lambda: state_of(store),
            lambda: store.scopes(limit=9),
            lambda: store.due("job", until=DAY, limit=9),
        ):
            with pytest.raises(StorageError) as error:
                use()
            assert "storage.file" == error.value.code


@pytest.mark.parametrize("call", ["open", "read", "listdir", "stat"])
def test_a_failing_medium_is_told_by_every_listing(full, monkeypatch, call):
    """Whatever a listing of scopes stumbles over, the error is one of ours."""
    with contextlib.closing(opened(full)) as store:

        def fail(*_arguments, **_named):
            raise OSError(errno.EIO, "failed")

        if call == "open":
            monkeypatch.setattr(files.calls, "open", fail)
        else:
            monkeypatch.setattr(os, "pread" if call == "read" else call, fail)
        for use in (
            lambda: store.scopes(limit=9),
            lambda: store.due("job", until=DAY, limit=9),
        ):
            with pytest.raises(StorageError) as caught:
                use()
            assert "storage.io" == caught.value.code
        monkeypatch.undo()


def test_a_huge_hole_is_not_read(full, states):
    """A file that was lengthened by a terabyte of nothing reads as before."""
    os.truncate(segment_of(full), 1 << 40)

    assert states[-1] == state_at(full)
    with contextlib.closing(opened(full)) as store:
        store.append(NEXT)
    assert segment_of(full).stat().st_size < 1 << 20


# Faults


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
    for at in range(1_000):
        path = tmp_path / f"{at}"
        shutil.copytree(before, path)
        store = opened(path)
        state_of(store)
        faults = Faults(at=at, **MODES[mode])
        monkeypatch.setattr(files, "calls", faults)
        outcome = _attempt(store, COMMITS[step])
        monkeypatch.setattr(files, "calls", files.Calls())
        _check_outcome(path, store, states, step, outcome)
        store.close()
        if not faults.was_reached:
            break
        shutil.rmtree(path)
    assert outcome[0]
    assert at > 3


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


# Losing power: what was not synced is gone


class Disk(files.Calls):
    """Calls that remember what a disk would hold if the power went now.

    Content counts once its file was synced, a name once its folder was.
    """

    def __init__(self, root):
        self.root = root
        self.content = {}
        self.listed = {}
        self.pins = []
        self.left = None
        for name, call in vars(files.Calls).items():
            if isinstance(call, staticmethod):
                setattr(self, name, self._counted(name, call.__func__))

    def _counted(self, name, call):
        def counted(*args, **options):
            if self.left is not None:
                if not self.left:
                    raise Crash
                self.left -= 1
            result = call(*args, **options)
            if name == "open":
                # An inode that is open is not given to another file.
                self.pins.append(os.dup(result))
            if name in ("sync", "sync_data"):
                self._note(args[0])
            return result

        return counted

    def _note(self, fd):
        inode = os.fstat(fd).st_ino
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            self.listed[inode] = {
                name: os.stat(name, dir_fd=fd).st_ino
                for name in os.listdir(fd)  # noqa: PTH208 - of a descriptor
            }
        else:
            self.content[inode] = Path(f"/proc/self/fd/{fd}").read_bytes()

    def restore(self, target):
        """Write what is left after the power went."""
        self._restore(self.root.stat().st_ino, target)

    def _restore(self, inode, target):
        target.mkdir(0o700)
        for name, child in self.listed.get(inode, {}).items():
            if child in self.listed or self._is_folder(child):
                self._restore(child, target / name)
            else:
                (target / name).write_bytes(self.content.get(child, b""))
                (target / name).chmod(0o600)

    def _is_folder(self, inode):
        for fd in self.pins:
            status = os.fstat(fd)
            if status.st_ino == inode:
                return stat.S_ISDIR(status.st_mode)
        return False

    def close(self):
        for fd in self.pins:
            os.close(fd)


def test_what_was_acknowledged_survives_a_power_cut(tmp_path, monkeypatch, states):
    """Wherever the power goes, each acknowledged commit is there and no half one."""
    monkeypatch.setattr(writing, "_SMALL", 0)
    for cut in range(2_000):
        path = tmp_path / f"{cut}"
        disk = Disk(path)
        monkeypatch.setattr(files, "calls", disk)
        opened(path).close()
        disk.left = cut
        acknowledged = 0
        with contextlib.suppress(Crash):
            store = opened(path)
            for commit in COMMITS:
                store.append(commit)
                acknowledged += 1
        monkeypatch.setattr(files, "calls", files.Calls())
        left = tmp_path / "left"
        disk.restore(left)
        disk.close()
        assert state_at(left) in states[acknowledged : acknowledged + 2]
        if acknowledged >= ERASED_AT:
            assert [] == holds_canary(left)
        shutil.rmtree(left)
        shutil.rmtree(path)
        if acknowledged == len(COMMITS):
            break
    assert cut > 50


@pytest.mark.parametrize("step", range(len(COMMITS)))
def test_what_follows_a_crash_survives_a_power_cut(tmp_path, monkeypatch, states, step):
    """What is acknowledged after another's crash doesn't rest on unsynced bytes."""
    for cut in range(1_000):
        path = tmp_path / f"{cut}"
        disk = Disk(path)
        monkeypatch.setattr(files, "calls", disk)
        store = opened(path)
        for commit in COMMITS[:step]:
            store.append(commit)
        other = opened(path)
        state_of(other)
        disk.left = cut
        is_done, _ = _attempt(store, COMMITS[step])
        disk.left = None
        if state_of(other) == states[step]:
            other.append(COMMITS[step])
        for commit in COMMITS[step + 1 : step + 3] or [NEXT]:
            other.append(commit)
        expected = state_of(other)
        monkeypatch.setattr(files, "calls", files.Calls())
        left = tmp_path / "left"
        disk.restore(left)
        disk.close()
        assert expected == state_at(left)
        store.close()
        other.close()
        shutil.rmtree(left)
        shutil.rmtree(path)
        if is_done:
            break
    assert cut > 3


# Erasing


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


# Local state


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
                raise _no_space()
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


# Several at once


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


WRITER = """
import sys
from uaix_conformance.examples import SCOPE, fact, job
from uaix_conformance.schema import KIT
from uaix_backends.directory import DirectoryStore
from uaix_core.schema.commits import Commit

store = DirectoryStore.open(sys.argv[1], schema=KIT, busy_timeout_s=60)
for i in range(int(sys.argv[3])):
    puts = [job(int(sys.argv[2]))] if i % 3 == 0 else []
    store.append(Commit(SCOPE, 0, adds=[fact(i, subject=f"w{sys.argv[2]}")], puts=puts))
    print(i, flush=True)
"""


def _writer(path, name, count):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, path, name, count], stdout=subprocess.PIPE
    )


def test_two_processes_append_to_one_chain(root):
    """Two processes of a hundred commits each end in one dense chain of all."""
    opened(root).close()
    for writer in [_writer(root, str(n), "100") for n in (1, 2)]:
        writer.communicate()
        assert 0 == writer.returncode

    _rows, chain, _seen, work = state_at(root)
    assert list(range(1, 201)) == [seq for seq, _at, _digest in chain]
    assert 68 == work


def test_a_killed_writer_loses_nothing_that_it_had_acknowledged(root):
    """What a process had acknowledged when it was killed is there, in a dense chain."""
    opened(root).close()
    for name in range(6):
        writer = _writer(root, str(name), "1000")
        for _ in range(5 + name):
            acknowledged = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        rest, _ = writer.communicate()
        acknowledged = max([acknowledged, *map(int, rest.split()[:-1])])

        rows, chain, _seen, _work = state_at(root)
        assert list(range(1, len(chain) + 1)) == [seq for seq, _at, _digest in chain]
        of_it = [v for v, _version in rows["fact"] if v[KEY_OF_SUBJECT] == f"w{name}"]
        assert len(of_it) > acknowledged


KEY_OF_SUBJECT = KIT.relation("fact").columns.index("subject")


@pytest.mark.parametrize("what", ["store", "scopes", "scope", "segment"])
def test_a_store_that_was_replaced_is_noticed(full, what):
    """A folder or file that is gone or another one is refused, and nothing written."""
    with contextlib.closing(opened(full)) as store:
        state_of(store)
        path = {
            "store": full,
            "scopes": full / "scopes",
            "scope": segment_of(full).parent,
            "segment": segment_of(full),
        }[what]
        aside = full.parent / "aside"
        path.rename(aside)
        for restored in (False, True):
            if restored and path != segment_of_folder(path.parent):
                path.mkdir(0o700)
            for use in (lambda: store.append(NEXT), lambda: state_of(store)):
                with pytest.raises(StorageError) as caught:
                    use()
                assert "storage.replaced" == caught.value.code
        if path.is_dir():
            assert [] == list(path.iterdir())


def test_another_history_in_its_place_is_noticed(tmp_path, full):
    """A segment that does not continue what was read before is refused."""
    other = tmp_path / "other"
    with contextlib.closing(opened(other)) as store:
        store.append(COMMITS[4])
    with contextlib.closing(opened(full)) as store:
        state_of(store)
        segment_of(other).replace(segment_of(full))
        with pytest.raises(StorageError) as caught:
            store.append(NEXT)

    assert "storage.replaced" == caught.value.code


def test_a_forked_child_is_refused(full, states):
    """A child refuses every verb and does no harm to its parent's store."""
    with contextlib.closing(opened(full)) as store:
        child = os.fork()
        if not child:
            code = 1
            try:
                store.append(NEXT)
            except ClosedError as error:
                code = 0 if error.code == "store.forked" else 2
            finally:
                store.close()
                os._exit(code)
        assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert states[-1] == state_of(store)
        store.append(NEXT)


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
