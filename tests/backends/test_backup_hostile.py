"""Backups that were made to deceive: refused as damaged, and at no great cost."""

from __future__ import annotations

import hashlib
import json
import resource
import subprocess
import sys
from contextlib import closing

import attrs
import pytest
import zstandard
from tests.store.lives import lived

from uaix_backends.backup import BackupStore, form, write_backup, writing
from uaix_backends.backup.index import index_frames, read_index
from uaix_conformance.examples import OTHER, SCOPE
from uaix_conformance.schema import KIT
from uaix_core.store.copying import all_scopes
from uaix_core.store.seal import genesis
from uaix_core.store.segments import head_line
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import IntegrityError

MIB = 1 << 20
ZEROS = "0" * 64
#: What a reader may have in memory, the interpreter and its libraries included.
ROOM = 200 * MIB

GENESIS = genesis(SCOPE)
START = [GENESIS.seq, GENESIS.recorded_at, GENESIS.digest]


def made(path, parts, index):
    """A file of these frames and this text of an index, with an end that fits."""
    body = form.HEAD + b"".join(parts)
    frame = form.packed(index)
    path.write_bytes(body + frame + form.end_frame(len(body), frame))
    return path


def part(data, previous=START, at=None, frame=None):
    """The form of a part with these lines, and its frame."""
    frame = form.packed(data) if frame is None else frame
    at = len(form.HEAD) if at is None else at
    digest = hashlib.sha256(frame).hexdigest()
    return [at, len(frame), len(data), digest, previous], frame


def entry(parts=(), **fields):
    return {
        "scope": SCOPE.text,
        "mark": [1, 0, ZEROS],
        "work": 0,
        "parts": list(parts),
        **fields,
    }


def index(*entries, **fields):
    whole = {"format": "uaix.backup.v1", "made_at": 0, "scopes": entries, **fields}
    return json.dumps(whole).encode()


def read_all(path):
    with closing(BackupStore.open(path, schema=KIT)) as store:
        for scope in all_scopes(store):
            with store.snapshot(scope) as snapshot:
                list(snapshot.commits())
                for relation in KIT.relations:
                    snapshot.scan(relation, "key", limit=9)


GOOD, GOOD_FRAME = part(head_line(SCOPE) + b"{}\n")


def changed(place, value):
    """A sound part but for one of its fields."""
    return [*GOOD[:place], value, *GOOD[place + 1 :]]


INDEXES = {
    "a number that is none": b'{"format":"uaix.backup.v1","made_at":1e999,"scopes":[]}',
    "not a number": index(made_at=float("nan")),
    "half a number": index(made_at=1.5),
    "a truth": index(made_at=True),
    "a text": index(made_at="1"),
    "deep": b'{"format":"uaix.backup.v1","made_at":' + b"[" * 100_000,
    "a list": b"[]",
    "nothing": b"null",
    "no text": b"\xff",
    "scopes that are none": index(scopes=5),
    "entries that are none": index(5),
    "no mark": index(entry([GOOD], mark=None)),
    "a mark without end": index(entry([GOOD], mark=[10**4000, 0, ZEROS])),
    "an endless mark": index(entry([GOOD], mark=[float("inf"), 0, ZEROS])),
    "a head that acts": index(entry([GOOD], mark=[1, 0, "\x1b[31mX\ud800"])),
    "a head in capitals": index(entry([GOOD], mark=[1, 0, "A" * 64])),
    "a scope that acts": index(entry([GOOD], scope="kit/project/\x1b[31m")),
    "a scope that is none": index(entry([GOOD], scope=None)),
    "no parts": index(entry([])),
    "a mark before its part": index(entry([GOOD], mark=[0, 0, ZEROS])),
    "another beginning": index(entry([changed(4, [0, 0, ZEROS])])),
    "a beginning in the middle": index(entry([changed(4, [1, 0, ZEROS])])),
    "a part before the file": index(entry([changed(0, -5)])),
    "a part behind the file": index(entry([changed(0, 2**62)])),
    "a part beyond any file": index(entry([changed(0, 2**80)])),
    "a negative size": index(entry([changed(1, -5)])),
    "an empty part": index(entry([changed(1, 0)])),
    "a part too long": index(entry([changed(1, 2**40)])),
    "the same part twice": index(entry([GOOD, GOOD], mark=[2, 0, ZEROS])),
    "local rows first": index(entry([changed(4, None), GOOD])),
    "local rows without work": index(entry([GOOD, changed(4, None)])),
    "work without local rows": index(entry([GOOD], work=3)),
    "a digest of a part that is none": index(entry([changed(3, "x")])),
    "a scope twice": index(entry([GOOD]), entry([GOOD])),
    "bytes of no scope": index(),
}


def test_an_index_of_this_form_is_taken(tmp_path):
    """What the other tests change one thing of is opened as it is."""
    path = made(tmp_path / "x", [GOOD_FRAME], index(entry([GOOD])))

    with closing(BackupStore.open(path, schema=KIT)) as store:
        assert [SCOPE] == list(all_scopes(store))


@pytest.mark.parametrize("name", INDEXES)
def test_an_index_that_nobody_wrote_is_refused(tmp_path, name):
    """Whatever an index says that no backup says, the backup is damaged."""
    path = made(tmp_path / "x", [GOOD_FRAME], INDEXES[name])

    with pytest.raises(IntegrityError) as caught:
        BackupStore.open(path, schema=KIT)
    assert "storage.backup" == caught.value.code


LINES = {
    "deep": b"[" * 100_000,
    "an endless number": b'{"seq":1e999}',
    "an endless instant": b'{"adds":[],"digest":"x","erases":[],"recorded_at":1e999,'
    b'"seq":1}',
    "nothing": b"null",
    "a list": b"[]",
    "an empty line": b"",
    "many digits": b"9" * 5000,
}


@pytest.mark.parametrize("name", LINES)
def test_a_line_that_is_no_commit_is_refused(tmp_path, name):
    """Whatever stands in the place of a commit, it is damage and no defect."""
    form_of, frame = part(head_line(SCOPE) + LINES[name] + b"\n")
    path = made(tmp_path / "x", [frame], index(entry([form_of])))

    with pytest.raises(IntegrityError):
        read_all(path)
    with closing(BackupStore.open(path, schema=KIT)) as store:
        assert not verify_scope(store, SCOPE).is_sound


@pytest.fixture
def backup(tmp_path, monkeypatch):
    """A backup of a whole life in parts of one line each."""
    monkeypatch.setattr(writing, "_PART_BYTES", 1)
    path = tmp_path / "my.backup"
    with closing(lived("memory", tmp_path)) as store:
        write_backup(store, path, made_at=1)
    return path


def taken_apart(path):
    """The parts of a backup as they stand, and its index."""
    data = path.read_bytes()
    at, digest = form.read_end(data[-form.END_BYTES :])
    return data[:at], read_index(data[at : -form.END_BYTES], digest, at, "here")


LOCAL = {
    "an endless number": b'{"relation":"job","row":{},"work":1e999}',
    "a name that is a list": b'{"relation":["job"],"row":{},"work":1}',
    "a row that is a list": b'{"relation":"job","row":[],"work":1}',
    "an endless field": b'{"relation":"job","row":{"due_at":1e999},"work":1}',
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("name", LOCAL)
def test_a_local_row_that_is_none_is_refused(backup, name):
    """Whatever stands in the place of a local row, it is damage and no defect."""
    data, whole = taken_apart(backup)
    first, second = whole.entries
    line, frame = part(LOCAL[name] + b"\n", None, at=len(data))
    assert second.parts[-1].previous is None
    spoiled = attrs.evolve(
        second,
        parts=(*second.parts, type(second.parts[0])(*line)),
    )
    data += frame
    index_of = attrs.evolve(whole, entries=(first, spoiled))
    backup.write_bytes(data + index_frames(index_of, len(data)))

    with (
        closing(BackupStore.open(backup, schema=KIT)) as store,
        store.snapshot(OTHER) as snapshot,
        pytest.raises(IntegrityError) as caught,
    ):
        snapshot.scan("job", "key", limit=1)
    assert "storage.backup" == caught.value.code


@pytest.mark.parametrize("seq", range(1, 6))
@pytest.mark.parametrize("kept", ["all parts", "as many"])
def test_a_mark_that_the_commits_do_not_reach_is_refused(backup, seq, kept):
    """What a backup says of a scope's position is what its commits come to."""
    data, whole = taken_apart(backup)
    first, second = whole.entries
    chained = first.chained
    later = attrs.evolve(chained[-1][1], seq=chained[-1][1].seq + seq)
    marks = [later, attrs.evolve(chained[-1][1], digest=ZEROS)]
    if kept == "as many":
        marks.append(attrs.evolve(chained[-1][1], recorded_at=seq))
    for mark in marks:
        false = attrs.evolve(whole, entries=(attrs.evolve(first, mark=mark), second))
        backup.write_bytes(data + index_frames(false, len(data)))
        with closing(BackupStore.open(backup, schema=KIT)) as store:
            with (
                store.snapshot(SCOPE) as snapshot,
                pytest.raises(IntegrityError) as caught,
            ):
                list(snapshot.commits())
            assert "storage.backup" == caught.value.code
            assert not verify_scope(store, SCOPE).is_sound
            assert verify_scope(store, OTHER).is_sound


def test_a_mark_inside_of_a_part_is_refused(tmp_path):
    """A backup that says less than its commits gives none beyond what it says."""
    path = tmp_path / "my.backup"
    with closing(lived("memory", tmp_path)) as store:
        write_backup(store, path, made_at=1)
        with store.snapshot(SCOPE) as snapshot:
            marks = [recorded.mark for recorded in snapshot.commits()]
    data, whole = taken_apart(path)
    first, second = whole.entries
    for mark in marks[:-1]:
        false = attrs.evolve(whole, entries=(attrs.evolve(first, mark=mark), second))
        path.write_bytes(data + index_frames(false, len(data)))
        with closing(BackupStore.open(path, schema=KIT)) as store:
            found = []
            with store.snapshot(SCOPE) as snapshot, pytest.raises(IntegrityError):
                found.extend(snapshot.commits())
            assert all(recorded.seq <= mark.seq for recorded in found)


READING = """
import sys
from uaix_backends.backup import BackupStore
from uaix_core.store.copying import all_scopes
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import IntegrityError
try:
    store = BackupStore.open(sys.argv[1])
    for scope in all_scopes(store):
        assert not verify_scope(store, scope).is_sound
    store.close()
except IntegrityError as error:
    assert error.code == "storage.backup"
# Not `ru_maxrss`: that begins with what the process that started this one had.
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM:")))
"""


def bomb(tmp_path, name):
    """A small file that unpacks to as much as a frame can."""
    size = 500 * MIB
    lines = {"empty lines": b"\n", "one line": b"a", "lists": b"[],"}
    if name in lines:
        text = lines[name] * (size // len(lines[name]))
        frame = zstandard.ZstdCompressor(level=1).compress(text)
        form_of, _ = part(b"", frame=frame)
        form_of[2] = len(text)
        return made(tmp_path / "x", [frame], index(entry([form_of])))
    if name == "honest lists":
        # As long as the file may say without being refused for it.
        text = head_line(SCOPE) + b"[" + b"[]," * (4 * MIB // 3) + b"[]]\n"
        form_of, frame = part(text)
        return made(tmp_path / "x", [frame], index(entry([form_of])))
    if name == "honest objects":
        return made(tmp_path / "x", [], b"[" + b"{}," * (20 * MIB) + b"{}]")
    many = {"objects": b"{},", "numbers": b"0,", "brackets": b"["}[name]
    head = b'{"format":"uaix.backup.v1","made_at":0,"scopes":['
    text = head + many * (60 * MIB // len(many)) + b"{}]}"
    frame = zstandard.ZstdCompressor(level=1).compress(text)
    path = tmp_path / "x"
    end = form.end_frame(len(form.HEAD), frame)
    path.write_bytes(form.HEAD + frame + end)
    return path


@pytest.mark.parametrize(
    "name",
    [
        *("empty lines", "one line", "lists", "honest lists"),
        *("objects", "honest objects", "numbers", "brackets"),
    ],
)
def test_a_small_file_takes_little_memory(tmp_path, name):
    """What 250 KB can unpack to is never built: 200 MB are enough to say no."""
    path = bomb(tmp_path, name)
    assert 250_000 > path.stat().st_size

    ran = subprocess.run(
        [sys.executable, "-c", READING, path],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)),
    )

    assert 0 == ran.returncode, ran.stderr
    assert ROOM > int(ran.stdout) * 1024


def test_what_packs_well_can_be_backed_up():
    """However well lines pack, their frame is one that is taken, and prints alone."""
    data = b"a" * (10 * MIB)

    frame = form.packed(data)

    assert data == form.unpacked(frame, len(data), "here")
    stream = zstandard.ZstdDecompressor().stream_reader(frame, read_across_frames=True)
    assert data == stream.read(11 * MIB)


@pytest.mark.parametrize("where", ["index", "part"])
def test_no_memory_is_damage(backup, monkeypatch, where):
    """Where memory doesn't suffice for what a file asks, it is told as damage."""

    def fail(*_):
        raise MemoryError

    if where == "index":
        monkeypatch.setattr("uaix_backends.backup.index.json.loads", fail)
    else:
        monkeypatch.setattr("uaix_backends.backup.store.read_commit", fail)
    with pytest.raises(IntegrityError) as caught:
        read_all(backup)
    assert "storage.backup" == caught.value.code
