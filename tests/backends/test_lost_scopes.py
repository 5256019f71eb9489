"""A scope that vanished from a store's list is missed, and the others are verified."""

from __future__ import annotations

import shutil
from contextlib import closing

import apsw
import pytest
from tests.backends.postgres_server import execute
from tests.store.lives import lived, opened

from uaix_backends.backup import write_backup
from uaix_backends.examining import check_scopes, examine, readable_scopes
from uaix_backends.postgres.testing import namespace
from uaix_conformance.examples import OTHER, SCOPE
from uaix_core.store.copying import all_scopes
from uaix_core.values.errors import IntegrityError, StorageError


def damage_segment(folder, change):
    """Change the segment of the first scope, whose head is ``kit/project/one``."""
    for path in (folder / "store").glob("scopes/*/segment.jsonl"):
        data = path.read_bytes()
        if SCOPE.text.encode() in data.partition(b"\n")[0]:
            change(path, data)
            return
    pytest.fail("no such segment")


def flip(path, data, at):
    path.write_bytes(data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :])


SEGMENTS = {
    "newline of the head": lambda p, d: flip(p, d, d.index(b"\n")),
    "a letter of the head": lambda p, d: flip(p, d, 5),
    "another head": lambda p, d: p.write_bytes(b"[" * 999 + b"\n" + d),
    "newline of the only commit": lambda p, d: flip(
        p, b"\n".join(d.split(b"\n")[:2]) + b"\n", len(b"\n".join(d.split(b"\n")[:2]))
    ),
}


@pytest.mark.parametrize("what", SEGMENTS)
def test_a_hidden_segment_is_missed(tmp_path, what):
    """Whatever bit hides a segment, verifying says so and a backup is refused."""
    lived("dir", tmp_path).close()
    damage_segment(tmp_path, SEGMENTS[what])
    with closing(opened("dir", tmp_path)) as store:
        with pytest.raises(StorageError):
            list(all_scopes(store))
        with pytest.raises(IntegrityError):
            check_scopes(store)
        condition = examine(store)
        assert not condition.is_sound
        assert [OTHER] == [s for s in readable_scopes(store) if s != SCOPE]
        with pytest.raises(StorageError):
            write_backup(store, tmp_path / "b", made_at=0)
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("act", ["empty", "remove"])
def test_a_segment_that_went_is_missed_by_what_follows_from_it(tmp_path, act):
    """A folder without its segment is missed as long as a cache or intent speaks."""
    lived("dir", tmp_path).close()

    def change(path, _data):
        (path.parent / "tables.cache").write_bytes(b"")
        path.write_bytes(b"") if act == "empty" else path.unlink()

    damage_segment(tmp_path, change)
    with closing(opened("dir", tmp_path)) as store:
        assert [OTHER] == list(all_scopes(store))
        with pytest.raises(IntegrityError) as caught:
            check_scopes(store)
        assert caught.value.path.endswith("segment.jsonl")
        assert "storage.segment" in [a.code for a in examine(store).advice]


def test_a_torn_first_commit_is_no_scope(tmp_path):
    """What was never acknowledged is neither listed nor missed."""
    lived("dir", tmp_path).close()

    def tear(path, data):
        head = data.index(b"\n") + 1
        path.write_bytes(data[: head + 40])
        shutil.rmtree(path.parent / "work")

    damage_segment(tmp_path, tear)
    with closing(opened("dir", tmp_path)) as store:
        assert [OTHER] == list(all_scopes(store))
        check_scopes(store)
        assert examine(store).is_sound


TABLES = {
    "no row": "DELETE FROM {}uaix_scope WHERE scope = 'kit/project/one'",
    "at nothing": "UPDATE {}uaix_scope SET seq = 0 WHERE scope = 'kit/project/one'",
    "below": "UPDATE {}uaix_scope SET seq = -5 WHERE scope = 'kit/project/one'",
    "beyond": "UPDATE {}uaix_scope SET seq = 99 WHERE scope = 'kit/project/one'",
    "no name": "UPDATE {}uaix_scope SET scope = 'x' WHERE scope = 'kit/project/one'",
}


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.parametrize("what", TABLES)
def test_a_hidden_row_of_a_scope_is_missed(tmp_path, what, kind):
    """Rows of a scope that isn't listed, or stands elsewhere, are found."""
    lived(kind, tmp_path).close()
    if kind == "sqlite":
        with closing(apsw.Connection(str(tmp_path / "store"))) as raw:
            raw.execute(TABLES[what].format(""))
    else:
        execute(TABLES[what].format(f'"{namespace(tmp_path / "store")}".'))
    with closing(opened(kind, tmp_path)) as store:
        with pytest.raises(IntegrityError):
            check_scopes(store)
        assert not examine(store).is_sound
        assert OTHER in list(readable_scopes(store))
        with pytest.raises(IntegrityError):
            write_backup(store, tmp_path / "b", made_at=0)


@pytest.mark.parametrize("kind", ["memory", "dir", "sqlite", "postgres"])
def test_a_sound_store_misses_nothing(tmp_path, kind):
    """In a sound store every scope is listed, and nothing is said."""
    with closing(lived(kind, tmp_path)) as store:
        check_scopes(store)
        assert examine(store).is_sound
        assert list(all_scopes(store)) == sorted(
            readable_scopes(store), key=lambda scope: scope.text
        )
