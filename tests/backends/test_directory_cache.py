"""The disposable cache of the directory store: it changes no answer, and it goes."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

import uaix_core
from uaix_backends.directory import DirectoryStore, caching, files, segment_reading
from uaix_backends.directory.scope_files import CACHE, NEW_CACHE
from uaix_backends.memory import MemoryStore
from uaix_conformance.examples import SCOPE, fact, job, note
from uaix_conformance.schema import KIT
from uaix_core.schema.commits import Commit
from uaix_core.schema.relations import Keep
from uaix_core.store import sorted_rows
from uaix_core.store.scanning import all_rows
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import IntegrityError, StorageError

DAY = 86_400_000_000
CANARY = "canary-51d0"


def commit(number, **parts):
    return Commit(SCOPE, DAY + number, **parts)


#: Commits of every kind; the body of the second is erased by the last but one.
COMMITS = (
    commit(0, adds=[note(1, title="one", text="kept")]),
    commit(1, adds=[note(2, title="two", text=CANARY)]),
    commit(2, adds=[fact(1)], puts=[job(1)]),
    commit(3, adds=[note(n, title=f"n{n}", text="more") for n in range(3, 9)]),
    commit(4, adds=[fact(2)], drops=[("job", (False, 1))]),
    commit(5, erases=[("note", ("t0", 2))]),
    commit(6, adds=[fact(3)]),
)
ERASING = 5


@pytest.fixture(autouse=True)
def _always_worth_it(monkeypatch):
    """Every commit is worth a new cache, and blocks are as small as can be."""
    monkeypatch.setattr(caching, "_COMMITS", 1)
    monkeypatch.setattr(caching, "_PART", 0)
    monkeypatch.setattr(sorted_rows, "_FULL", 4)


@pytest.fixture
def root(tmp_path):
    return tmp_path / "store"


def opened(path, **options):
    return DirectoryStore.open(path, create=True, schema=KIT, **options)


def state_of(store):
    """All that a snapshot shows on every path, and its commits."""
    with store.snapshot(SCOPE) as snapshot:
        rows = {
            (relation.name, path): [
                (relation.values(row), row.version)
                for row in all_rows(snapshot, relation, path)
            ]
            for relation in KIT.kept(Keep.HISTORY, Keep.VIEW, Keep.WORK)
            for path in relation.orders
        }
        return rows, list(snapshot.commits()), snapshot.position, snapshot.head


def state_at(path, **options):
    with contextlib.closing(opened(path, **options)) as store:
        return state_of(store)


def due(commits):
    """The state after these commits, from memory."""
    store = MemoryStore(KIT)
    for one in commits:
        store.append(one)
    return state_of(store)


def write(path, commits, **options):
    with contextlib.closing(opened(path, **options)) as store:
        for one in commits:
            store.append(one)


def cache_of(path):
    (found,) = path.glob(f"scopes/*/{CACHE}")
    return found


def caches(path):
    return [p.name for n in (CACHE, NEW_CACHE) for p in path.rglob(n)]


@pytest.mark.parametrize("number", range(1, len(COMMITS) + 1))
def test_a_cache_changes_no_answer(root, number):
    """After each commit a store that begins from its cache shows what memory shows."""
    for one in COMMITS[:number]:
        write(root, [one])

    assert [CACHE] == caches(root)
    assert due(COMMITS[:number]) == state_at(root)
    assert due(COMMITS[:number]) == state_at(root, cache=False)


def test_nothing_that_is_cached_is_read_from_the_segment(root, monkeypatch):
    """With a cache only the commits after it are verified anew."""
    write(root, COMMITS[:3])
    write(root, COMMITS[3:4], cache=False)
    read = []
    real = segment_reading.read_commit

    def counted(*args):
        read.append(args)
        return real(*args)

    monkeypatch.setattr(segment_reading, "read_commit", counted)

    assert due(COMMITS[:4]) == state_at(root)
    assert 1 == len(read)
    read.clear()
    assert due(COMMITS[:4]) == state_at(root, cache=False)
    assert 4 == len(read)


def test_a_block_is_read_only_when_it_is_looked_into(root, monkeypatch):
    """Opening decodes no row; a read decodes the blocks that it needs."""
    write(root, COMMITS[:4])
    decoded = []
    real = sorted_rows.Stored.block

    def counted(self):
        decoded.append(self)
        return real(self)

    monkeypatch.setattr(sorted_rows.Stored, "block", counted)
    with contextlib.closing(opened(root)) as store, store.snapshot(SCOPE) as snapshot:
        assert 4 == snapshot.position
        assert [] == decoded
        assert snapshot.get("note", ("t0", 8)) is not None
        assert 1 == len(decoded)


def test_a_cache_is_written_only_when_it_is_worth_it(root, monkeypatch):
    """Below the number of commits that make opening slow there is no cache."""
    monkeypatch.setattr(caching, "_COMMITS", 4)
    write(root, COMMITS[:3])
    assert [] == caches(root)

    write(root, COMMITS[3:4])
    assert [CACHE] == caches(root)
    before = cache_of(root).read_bytes()
    write(root, COMMITS[4:5])
    assert before == cache_of(root).read_bytes()


def test_a_store_without_caches_writes_none(root):
    """Whoever opens with ``cache=False`` leaves no cache."""
    write(root, COMMITS, cache=False)

    assert [] == caches(root)


def test_a_damaged_byte_is_no_matter(root):
    """Whatever byte of a cache changes, answers stay, and the next close mends it."""
    write(root, COMMITS[:3])
    path = cache_of(root)
    whole = path.read_bytes()
    states = due(COMMITS[:3])
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at] + bytes((whole[at] ^ 0x10,)) + whole[at + 1 :])
        assert states == state_at(root), at
    for end in range(0, len(whole), 61):
        path.write_bytes(whole[:end])
        assert states == state_at(root), end
    write(root, COMMITS[3:4])
    assert due(COMMITS[:4]) == state_at(root)


@pytest.mark.parametrize("kind", ["symlink", "hard link", "fifo", "folder", "sparse"])
def test_what_is_planted_in_its_place_is_not_used(root, tmp_path, kind):
    """A link, a FIFO, a folder or a terabyte of nothing is no cache and no obstacle."""
    write(root, COMMITS[:3])
    path = cache_of(root)
    other = tmp_path / "other"
    other.write_bytes(path.read_bytes())
    path.unlink()
    if kind == "symlink":
        path.symlink_to(other)
    elif kind == "hard link":
        path.hardlink_to(other)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.touch()
        os.truncate(path, 1 << 40)
    content = other.read_bytes()

    assert due(COMMITS[:3]) == state_at(root)
    write(root, COMMITS[3:])

    assert due(COMMITS) == state_at(root)
    assert content == other.read_bytes()


def test_another_library_or_schema_makes_its_own(root, monkeypatch):
    """A cache of another version is not used: its views may be others."""
    write(root, COMMITS[:3])
    before = cache_of(root).read_bytes()
    monkeypatch.setattr(uaix_core, "__version__", "0.0.0")

    assert due(COMMITS[:3]) == state_at(root)
    assert before != cache_of(root).read_bytes()


def test_the_cache_of_another_history_is_not_used(root, tmp_path):
    """A cache whose last commit the segment doesn't hold in its place is none."""
    other = tmp_path / "other"
    changed = commit(1, adds=[note(2, title="two", text="something else")])
    write(root, COMMITS[:2])
    write(other, [COMMITS[0], changed])
    shutil.copy(cache_of(other), cache_of(root))

    assert due(COMMITS[:2]) == state_at(root)


def test_a_cache_from_before_an_erasure_is_not_used(root, tmp_path):
    """An old cache that comes back shows no erased body, and goes again."""
    write(root, COMMITS[:ERASING])
    old = tmp_path / "old"
    shutil.copy(cache_of(root), old)
    write(root, COMMITS[ERASING:])
    where = cache_of(root)
    shutil.copy(old, where)

    assert due(COMMITS) == state_at(root)
    assert where.read_bytes() != old.read_bytes()


def test_an_erasure_takes_the_cache_along(root):
    """Once an erasure is acknowledged there is no cache with the bodies."""
    write(root, COMMITS[:ERASING])
    assert [CACHE] == caches(root)
    with contextlib.closing(opened(root)) as store:
        store.append(COMMITS[ERASING])
        assert [] == caches(root)


def test_who_knew_a_body_does_not_bring_it_back(root):
    """A store that was open before an erasure by another writes no stale cache."""
    write(root, COMMITS[:4])
    cache_of(root).unlink()
    knows = opened(root)
    state_of(knows)
    with contextlib.closing(opened(root, cache=False)) as store:
        for one in COMMITS[4:]:
            store.append(one)
    knows.close()

    assert [] == caches(root)
    assert due(COMMITS) == state_at(root)


class Stop(BaseException):
    """The process is gone."""


class Failing(files.Calls):
    """Calls of which the one of a number, and all after it, fail."""

    def __init__(self, at, error):
        self.count = 0
        for name, call in vars(files.Calls).items():
            if isinstance(call, staticmethod):
                setattr(self, name, self._counted(call.__func__, at, error))

    def _counted(self, call, at, error):
        def counted(*args, **options):
            self.count += 1
            if self.count > at:
                raise error
            return call(*args, **options)

        return counted


@pytest.mark.parametrize(
    "error", [Stop(), OSError(errno.ENOSPC, "made up")], ids=["killed", "full"]
)
@pytest.mark.parametrize("step", [ERASING, ERASING + 1], ids=["erasing", "adding"])
def test_a_fault_at_any_call_leaves_a_true_cache_or_none(
    root, tmp_path, monkeypatch, error, step
):
    """Whatever fails while a store works and closes, no answer is wrong afterwards."""
    write(tmp_path / "before", COMMITS[:step])
    states = due(COMMITS[:step]), due(COMMITS[: step + 1])
    at = 0
    while True:
        shutil.copytree(tmp_path / "before", root)
        store = opened(root)
        failing = Failing(at, error)
        monkeypatch.setattr(files, "calls", failing)
        with contextlib.suppress(Stop, StorageError):
            store.append(COMMITS[step])
        with contextlib.suppress(Stop):
            store.close()
        monkeypatch.setattr(files, "calls", files.Calls())
        seen = state_at(root)
        assert seen in states
        assert NEW_CACHE not in caches(root)
        if seen == states[0]:
            write(root, COMMITS[step : step + 1])
        assert states[1] == state_at(root)
        shutil.rmtree(root)
        if failing.count <= at:
            break
        at += 1
    assert at > 5


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["write", "reopen", "other"]), max_size=12))
def test_any_order_of_reopening_shows_the_same(tmp_path_factory, steps):
    """Stores that come, write and go in any order all show what memory shows."""
    root = tmp_path_factory.mktemp("any") / "store"
    store, other = opened(root), opened(root)
    written = 0
    for step in steps:
        if step == "write" and written < len(COMMITS):
            store.append(COMMITS[written])
            written += 1
        elif step == "reopen":
            store.close()
            store = opened(root)
        else:
            store, other = other, store
        assert due(COMMITS[:written]) == state_of(store)
    store.close()
    other.close()
    assert due(COMMITS[:written]) == state_at(root)


def forge(root, **changes):
    """Write a cache whose digest is right, with other members in its index."""
    path = cache_of(root)
    data = path.read_bytes()[:-32]
    start = int.from_bytes(data[-8:], "little")
    index = json.loads(zstandard.ZstdDecompressor().decompress(data[start:-8]))
    for name, change in changes.items():
        index[name] = change(index[name])
    packed = zstandard.ZstdCompressor().compress(json.dumps(index).encode())
    sealed = data[:start] + packed + data[-8:]
    path.write_bytes(sealed + hashlib.sha256(sealed).digest())


@pytest.mark.parametrize(
    "changes",
    [
        {"place": lambda _: ["a", "b", "c"]},
        {"place": lambda _: [0, 2**70, "x"]},
        {"place": lambda _: None},
        {"mark": lambda m: ["1", "2", m[2]]},
        {"mark": lambda m: [*m[:2], "c" * 64]},
        {"mark": lambda m: [10**9, *m[1:]]},
        {"mark": lambda m: [m[0], m[1] + 1, m[2]]},
        {"maps": lambda _: {"a": 1}},
        {"maps": lambda _: [["no_such", "key", []]]},
        {"log": lambda _: [[0, 1]]},
        {"log": lambda _: 1e999},
        {"schema": lambda _: "other"},
    ],
)
def test_an_index_of_somebody_else_is_not_used(root, changes):
    """A cache that isn't what its segment says is none, whatever its digest."""
    write(root, COMMITS[:4])
    forge(root, **changes)

    assert due(COMMITS[:4]) == state_at(root)
    write(root, COMMITS[4:])
    assert due(COMMITS) == state_at(root, cache=False)


@pytest.mark.parametrize(
    "content",
    [
        b"null",
        b"no json",
        b"[[1]]",
        b"[" * 5_000,
        b'[[0,"t0",1,2,3]]',
        b"[1e999]",
        b"[" + b"9" * 5_000 + b"]",
        None,
    ],
)
def test_a_block_of_somebody_else_is_a_typed_error(root, content):
    """A block that this library doesn't write is told, with what to remove."""
    commits = (COMMITS[0], COMMITS[1], COMMITS[3])
    write(root, commits)
    packed = b"no frame"
    if content is not None:
        packed = zstandard.ZstdCompressor().compress(content)
    path = cache_of(root)
    data = path.read_bytes()[:-32]
    start = int.from_bytes(data[-8:], "little")
    index = json.loads(zstandard.ZstdDecompressor().decompress(data[start:-8]))
    blocks = [
        [name, way, [[top, 0, len(packed)] for top, _at, _size in found]]
        for name, way, found in index["maps"]
    ]
    log = [[0, len(packed), count] for _at, _size, count in index["log"]]
    index = {**index, "maps": blocks, "log": log}
    frame = zstandard.ZstdCompressor().compress(json.dumps(index).encode())
    sealed = packed + frame + len(packed).to_bytes(8, "little")
    path.write_bytes(sealed + hashlib.sha256(sealed).digest())

    with contextlib.closing(opened(root)) as store:
        with store.snapshot(SCOPE) as snapshot:
            for read in (
                lambda: snapshot.scan("note", "key", limit=9),
                lambda: list(snapshot.commits()),
            ):
                with pytest.raises(IntegrityError) as caught:
                    read()
                assert "storage.cache" == caught.value.code
                assert "tables.cache" in caught.value.hint
        assert ["storage.cache"] == [f.code for f in verify_scope(store, SCOPE).flaws]
    path.unlink()
    assert due(commits) == state_at(root)
