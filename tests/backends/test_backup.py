"""Backups: what a file of a whole store owes to whoever needs it one day."""

from __future__ import annotations

import errno
import json
import os
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest
import zstandard
from tests.store.lives import CANARY, KINDS, history_of, lived, local_of, opened

from uaix_backends import open_store
from uaix_backends.backup import BackupStore, form, index, write_backup, writing
from uaix_backends.memory import MemoryStore
from uaix_conformance.examples import OTHER, SCOPE, fact, job
from uaix_conformance.schema import KIT
from uaix_core.schema.commits import Commit
from uaix_core.schema.schema import Room, Schema
from uaix_core.store.copying import all_scopes, copy_whole
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import (
    CallerError,
    ClosedError,
    IntegrityError,
    NotFoundError,
    SchemaError,
    StorageError,
    StoreOpenError,
)

MADE_AT = 1_700_000_000_000_000


@pytest.fixture
def path(tmp_path):
    return tmp_path / "my.backup"


@pytest.fixture(params=KINDS)
def source(request, tmp_path):
    """A store of each kind after the whole life."""
    with closing(lived(request.param, tmp_path)) as store:
        yield store


@pytest.fixture
def backup(path, tmp_path):
    """A backup of a store after the whole life, and what that store was."""
    with closing(lived("memory", tmp_path)) as store:
        write_backup(store, path, made_at=MADE_AT)
    return path


def reopened(path):
    return closing(BackupStore.open(path, schema=KIT))


@pytest.mark.parametrize("part_bytes", [1, 700, 1 << 20])
def test_a_backup_shows_what_the_store_showed(source, path, monkeypatch, part_bytes):
    """Scopes, chains, rows, views and local rows come back, however it is cut."""
    monkeypatch.setattr(writing, "_PART_BYTES", part_bytes)
    done = write_backup(source, path, made_at=MADE_AT)

    assert done.bytes == path.stat().st_size
    with reopened(path) as store:
        assert MADE_AT == store.made_at
        assert list(all_scopes(source)) == list(all_scopes(store))
        for scope in all_scopes(source):
            assert history_of(source, scope) == history_of(store, scope)
            assert local_of(source, scope) == local_of(store, scope)
            assert verify_scope(store, scope).is_sound
            for after in range(9):
                with store.snapshot(scope) as now, source.snapshot(scope) as then:
                    assert list(then.commits(after)) == list(now.commits(after))
        due = [("job", 9), ("job", -1), ("job", 0)]
        for relation, until in due:
            assert source.due(relation, until=until, limit=9) == store.due(
                relation, until=until, limit=9
            )


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_comes_back_from_its_backup(backup, tmp_path, kind):
    """A copy of the backup is the store again, and takes further commits."""
    with (
        closing(lived("memory", tmp_path)) as before,
        reopened(backup) as store,
        closing(opened(kind, tmp_path, "again")) as again,
    ):
        for scope in all_scopes(store):
            assert () == copy_whole(store, again, scope).differences
        assert history_of(before) == history_of(again)
        assert local_of(before) == local_of(again)
        more = Commit(SCOPE, 90, adds=[fact(7)])
        assert before.append(more).digest == again.append(more).digest


def test_an_empty_store_can_be_backed_up(path, tmp_path):
    """A store without scopes gives a backup without scopes."""
    with closing(opened("sqlite", tmp_path)) as store:
        assert () == write_backup(store, path, made_at=MADE_AT).marks
    with reopened(path) as again:
        assert [] == list(all_scopes(again))


def test_a_url_opens_it(backup):
    """``backup:PATH`` names it like any other store."""
    store = open_store(f"backup:{backup}", schema=KIT)
    with closing(store):
        assert [SCOPE, OTHER] == store.scopes(limit=9)
        assert [OTHER] == store.scopes(after=SCOPE, limit=9)
        assert [SCOPE] == store.scopes(limit=1)


def test_the_lines_are_those_of_segments(backup):
    """A decompressor alone shows the ledger: the end is a frame that it skips."""
    with backup.open("rb") as file:
        whole = zstandard.ZstdDecompressor()
        text = whole.stream_reader(file, read_across_frames=True).read()
    lines = text.splitlines()
    assert b'{"format":"uaix.segment.v1","scope":"kit/project/one"}' == lines[0]
    assert [1, 2, 3, 4, 5] == [json.loads(line)["seq"] for line in lines[1:6]]
    data = backup.read_bytes()
    assert b"UAIXBACK" == data[-form.END_BYTES + 8 : -form.END_BYTES + 16]


def test_an_erased_body_is_not_in_it(backup):
    """What was erased before the backup is in none of its parts."""
    with reopened(backup) as store, store.snapshot(SCOPE) as snapshot:
        assert snapshot.get("note", ("t0", 1)).text is None
        text = "".join(map(repr, snapshot.commits()))
    assert CANARY not in text


def test_it_is_private(backup):
    """The file is for its owner only."""
    assert 0o600 == stat.S_IMODE(backup.stat().st_mode)


def test_it_is_not_overwritten_unless_wanted(backup, tmp_path):
    """An existing file stays as it is, and with overwrite it is replaced."""
    before = backup.read_bytes()
    with closing(opened("memory", tmp_path)) as store:
        with pytest.raises(CallerError) as caught:
            write_backup(store, backup, made_at=MADE_AT)
        assert "files.exists" == caught.value.code
        assert before == backup.read_bytes()
        write_backup(store, backup, made_at=MADE_AT, overwrite=True)
    assert before != backup.read_bytes()


def test_writing_verbs_are_refused(backup):
    """A backup takes no commit and no rebuild, and says what to do instead."""
    with reopened(backup) as store:
        for call in (
            lambda: store.append(Commit(SCOPE, 1, adds=[fact(1)])),
            lambda: store.rebuild(SCOPE),
        ):
            with pytest.raises(StorageError) as caught:
                call()
            assert "storage.readonly" == caught.value.code
            assert "store copy" in caught.value.hint


def test_snapshots_keep_the_port(backup):
    """Unknown scopes are empty; a closed snapshot and a closed store are refused."""
    with reopened(backup) as store:
        unknown = type(SCOPE).parse("kit/project/none")
        with store.snapshot(unknown) as snapshot:
            assert (0, []) == (snapshot.position, list(snapshot.commits()))
            assert [] == snapshot.scan("note", "key", limit=3)
            assert MemoryStore(KIT).snapshot(unknown).__enter__().head == snapshot.head
        with store.snapshot(SCOPE) as closed:
            walk = closed.commits()
            next(walk)
        for use in (
            lambda: closed.position,
            lambda: closed.head,
            lambda: closed.get("note", ("t0", 1)),
            lambda: closed.get_many("note", [("t0", 1)]),
            lambda: closed.scan("note", "key", limit=1),
            lambda: list(closed.commits()),
            lambda: next(walk),
        ):
            with pytest.raises(ClosedError):
                use()
        with store.snapshot(SCOPE) as snapshot, pytest.raises(SchemaError):
            snapshot.scan("nothing", "key", limit=1)
    for use in (
        lambda: store.snapshot(SCOPE).__enter__(),
        lambda: store.scopes(limit=1),
        lambda: store.due("job", until=1, limit=1),
    ):
        with pytest.raises(ClosedError):
            use()


def test_a_commit_of_another_schema_is_told(backup):
    """A backup opened with a schema that lacks a relation says which."""
    none = Schema(Room("none", ()))
    with (
        closing(BackupStore.open(backup, schema=none)) as store,
        store.snapshot(SCOPE) as snapshot,
        pytest.raises(SchemaError),
    ):
        list(snapshot.commits())


def read_all(path):
    with reopened(path) as store:
        return {
            scope.text: (history_of(store, scope), local_of(store, scope))
            for scope in all_scopes(store)
        }


def test_every_flipped_byte_is_found(backup):
    """Whatever byte changes, reading it all is a typed error, and never other rows."""
    whole = backup.read_bytes()
    states = read_all(backup)
    for at in range(len(whole)):
        backup.write_bytes(whole[:at] + bytes((whole[at] ^ 0x21,)) + whole[at + 1 :])
        with pytest.raises((IntegrityError, StoreOpenError)):
            read_all(backup)
    backup.write_bytes(whole)
    assert states == read_all(backup)


def test_every_shorter_file_is_refused(backup):
    """Cut short or with more at its end it is damaged, and without its head none."""
    whole = backup.read_bytes()
    for end in [*range(0, len(whole), 13), len(whole) - 1]:
        backup.write_bytes(whole[:end])
        with pytest.raises((IntegrityError, StoreOpenError)) as caught:
            read_all(backup)
        begins = end >= len(form.HEAD)
        expected = "storage.backup" if begins else "store.not-a-store"
        assert expected == caught.value.code
    backup.write_bytes(whole + b"\0")
    with pytest.raises(IntegrityError):
        read_all(backup)


@pytest.mark.parametrize("what", ["none", "folder", "fifo", "text"])
def test_what_is_no_backup_is_refused(tmp_path, what):
    """A missing file, a folder, a FIFO and any other file are told at once."""
    place = tmp_path / "place"
    if what == "folder":
        place.mkdir()
    elif what == "fifo":
        os.mkfifo(place)
    elif what == "text":
        place.write_text("no backup\n" * 99)
    with pytest.raises((StoreOpenError, StorageError)) as caught:
        BackupStore.open(place)
    expected = {"none": "store.missing"}.get(what, "store.not-a-store")
    assert expected == caught.value.code


def test_writers_go_on_meanwhile(tmp_path, path):
    """A backup made while others write holds a state that each scope was in."""
    stop = threading.Event()
    with closing(opened("sqlite", tmp_path)) as store:
        store.append(Commit(SCOPE, 1, adds=[fact(0)], puts=[job(0)]))

        def write():
            number = 1
            while not stop.is_set():
                parts = {"adds": [fact(number)], "puts": [job(number)]}
                store.append(Commit(SCOPE, number, **parts))
                number += 1

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for number in range(5):
                write_backup(store, path, made_at=number, overwrite=True)
                with reopened(path) as again, again.snapshot(SCOPE) as snapshot:
                    position = snapshot.position
                    facts = snapshot.scan("fact", "key", limit=1_000)
                    jobs = snapshot.scan("job", "key", limit=1_000)
                    assert min(position, 1_000) == len(facts) == len(jobs)
        finally:
            stop.set()
            writer.join()
        assert verify_scope(store, SCOPE).is_sound


def test_what_is_read_back_otherwise_leaves_no_file(tmp_path, path, monkeypatch):
    """When the medium gives back other bytes than were written, no file appears."""
    real = writing.BackupStore.open

    def spoiled(place, **options):
        data = bytearray(place.read_bytes())
        data[len(data) // 3] ^= 1
        place.write_bytes(data)
        return real(place, **options)

    monkeypatch.setattr(writing.BackupStore, "open", spoiled)
    with closing(lived("memory", tmp_path)) as store, pytest.raises(IntegrityError):
        write_backup(store, path, made_at=MADE_AT)
    assert [] == list(tmp_path.iterdir())


def test_a_full_disk_leaves_no_file(tmp_path, path, monkeypatch):
    """When there is no room the error is typed, and neither file nor rest is left."""
    monkeypatch.setattr(writing, "_PART_BYTES", 1)
    real = os.fsync

    def full(descriptor):
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.ENOSPC, "made up")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with (
        closing(lived("memory", tmp_path)) as store,
        pytest.raises(StorageError) as caught,
    ):
        write_backup(store, path, made_at=MADE_AT)
    assert "files.io" == caught.value.code
    assert [] == list(tmp_path.iterdir())


def test_a_damaged_store_is_not_backed_up(tmp_path, path):
    """A store that can't be read gives its own error and no file."""
    with closing(lived("dir", tmp_path)):
        pass
    (segment, *_rest) = sorted((tmp_path / "store").rglob("segment.jsonl"))
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.write_bytes(data)
    with closing(opened("dir", tmp_path)) as store, pytest.raises(IntegrityError):
        write_backup(store, path, made_at=MADE_AT)
    assert not path.exists()


def test_descriptors_return(backup):
    """Opening, failing to open, reading and closing leave no descriptor behind."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        read_all(backup)
        with pytest.raises(StoreOpenError):
            BackupStore.open(backup.parent / "none")
    data = backup.read_bytes()
    backup.write_bytes(data[:-1] + bytes((data[-1] ^ 1,)))
    with pytest.raises(IntegrityError):
        BackupStore.open(backup)
    assert before == len(list(Path("/proc/self/fd").iterdir()))


def test_a_promise_of_too_much_is_not_believed(backup):
    """A part is unpacked to the length that the index says, and to no byte more."""
    frame = form.packed(b"0" * 10_000_000)

    with pytest.raises(IntegrityError):
        form.unpacked(frame, 100, "here")
    with pytest.raises(IntegrityError):
        form.unpacked(frame, 10_000_001, "here")
    with pytest.raises(IntegrityError):
        form.unpacked(frame, 1 << 40, "here")
    assert 10_000_000 == len(form.unpacked(frame, 10_000_000, "here"))


def test_another_format_is_told(backup, monkeypatch):
    """A backup of a later form is refused as such, and not called damaged."""
    data = backup.read_bytes()
    at, digest = form.read_end(data[-form.END_BYTES :])
    known = index.read_index(data[at : -form.END_BYTES], digest, at, "here")
    with monkeypatch.context() as later:
        later.setattr(index, "FORMAT", "uaix.backup.v2")
        backup.write_bytes(data[:at] + index.index_frames(known, at))
    with pytest.raises(StoreOpenError) as caught:
        BackupStore.open(backup)
    assert "store.format" == caught.value.code


def test_some_scopes_are_backed_up_alone(source, path):
    """With scopes named, those are in the backup and no other."""
    done = write_backup(source, path, made_at=MADE_AT, scopes=[OTHER])

    assert [OTHER] == [scope for scope, _mark in done.marks]
    with reopened(path) as store:
        assert [OTHER] == list(all_scopes(store))
        assert history_of(source, OTHER) == history_of(store, OTHER)
    both = path.parent / "both"
    write_backup(source, both, made_at=MADE_AT, scopes=[OTHER, SCOPE, OTHER])
    with reopened(both) as store:
        assert [SCOPE, OTHER] == list(all_scopes(store))


def test_a_scope_that_is_not_there_is_not_backed_up(source, path):
    """A scope that the store doesn't hold is told, and there is no file."""
    unknown = type(SCOPE).parse("kit/project/none")

    with pytest.raises(NotFoundError) as caught:
        write_backup(source, path, made_at=MADE_AT, scopes=[SCOPE, unknown])
    assert ("scope.not-found", unknown.text) == (caught.value.code, caught.value.path)
    assert not path.exists()


def test_a_damaged_scope_is_named_and_can_be_left_out(tmp_path, path):
    """One damaged scope ends a backup of all, and none of the others'."""
    with closing(lived("dir", tmp_path)):
        pass
    for segment in (tmp_path / "store").rglob("segment.jsonl"):
        data = bytearray(segment.read_bytes())
        if OTHER.text.encode() in data.splitlines()[0]:
            data[len(data) // 2] ^= 1
            segment.write_bytes(data)
    with closing(opened("dir", tmp_path)) as store:
        with pytest.raises(IntegrityError) as caught:
            write_backup(store, path, made_at=MADE_AT)
        assert caught.value.path.startswith(OTHER.text)
        assert caught.value.hint == writing.ONE_DAMAGED
        assert not path.exists()
        write_backup(store, path, made_at=MADE_AT, scopes=[SCOPE])
    with reopened(path) as again:
        assert verify_scope(again, SCOPE).is_sound
