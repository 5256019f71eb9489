"""Opening a SQLite store: what is one, what is not, and schemas that grow."""

from __future__ import annotations

import stat
import subprocess
import sys
import textwrap
from contextlib import closing

import pytest
from tests.backends.pages import (
    FLAG,
    LARGER,
    OTHER,
    PAGE,
    PAGES,
    SCOPE,
    SMALL,
    TITLE,
    Job,
    add,
    code_of,
    contents,
    erase,
    page,
    reduce_pages,
    run,
    spoil,
    titles,
    umask,
)

from uaix_backends.sqlite import SqliteStore
from uaix_backends.sqlite.opening import APPLICATION_NUMBER
from uaix_core.schema.relations import Keep, Relation
from uaix_core.schema.schema import Room, Schema
from uaix_core.values.errors import (
    StoreOpenError,
)


def test_nothing_is_made_without_create(path):
    """Opening a missing path is refused, with a hint, and makes nothing."""
    with pytest.raises(StoreOpenError) as caught:
        SqliteStore.open(path)

    assert "store.missing" == caught.value.code
    assert caught.value.hint
    assert [] == list(path.parent.iterdir())


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize("found", [b"x", b"hello, world\n" * 500, b"SQLite format 3\0"])
def test_another_file_is_not_a_store(path, found, create):
    """A file that is no SQLite database is refused and left as it was."""
    path.write_bytes(found)

    assert "store.not-a-store" == code_of(
        lambda: SqliteStore.open(path, create=create), StoreOpenError
    )
    assert {path.name: found} == contents(path.parent)


def test_an_empty_file_becomes_a_store_only_when_asked(path):
    """An empty file is refused without create; with it, it is where a maker stopped."""
    path.touch()
    assert "store.not-a-store" == code_of(
        lambda: SqliteStore.open(path), StoreOpenError
    )

    with closing(SqliteStore.open(path, create=True, schema=SMALL)) as store:
        assert 1 == store.append(add(page(1))).seq


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_another_database_is_not_a_store(path, create, mode):
    """A database of somebody else is refused, and no file is changed or made."""
    spoil(
        path, f"PRAGMA journal_mode={mode}; CREATE TABLE t (x); INSERT INTO t VALUES(1)"
    )
    before = contents(path.parent)

    assert "store.not-a-store" == code_of(
        lambda: SqliteStore.open(path, create=create), StoreOpenError
    )
    assert before == contents(path.parent)


@pytest.mark.parametrize("create", [True, False])
def test_a_folder_is_not_a_store(tmp_path, create):
    """A folder at the path is refused."""
    assert "store.not-a-store" == code_of(
        lambda: SqliteStore.open(tmp_path, create=create), StoreOpenError
    )


@pytest.mark.parametrize("ending", ["-wal", "-journal"])
def test_a_log_without_its_file_is_nobody_s_to_delete(path, store, ending):
    """No new store is made where the log of another one lies: its commits stay."""
    store.append(add(page(1)))
    log = path.with_name(path.name + "-wal").read_bytes()
    store.close()
    whole = path.read_bytes()
    path.unlink()
    orphan = path.with_name(path.name + ending)
    orphan.write_bytes(log)
    for make in (None, path.touch) if ending == "-wal" else (None,):
        make() if make else None
        before = contents(path.parent)
        with pytest.raises(StoreOpenError) as caught:
            SqliteStore.open(path, create=True, schema=SMALL)
        assert ("store.orphan-log", str(orphan)) == (
            caught.value.code,
            caught.value.path,
        )
        assert before == contents(path.parent)
    # An empty one holds nothing, and a store's own log is none.
    path.unlink(missing_ok=True)
    orphan.write_bytes(b"")
    with closing(SqliteStore.open(path, create=True, schema=SMALL)) as made:
        assert [] == titles(made)
        made.append(add(page(2)))
        SqliteStore.open(path, create=True, schema=SMALL).close()
    path.write_bytes(whole)
    with closing(SqliteStore.open(path, create=True, schema=SMALL)) as again:
        assert [1] == titles(again)


def test_a_store_that_was_moved_with_its_log_is_whole(path, store):
    """The file and what stands beside it, moved together, are the store elsewhere."""
    moved = path.with_name("moved.db")
    script = f"""
        store = SqliteStore.open({str(path)!r}, schema=SMALL)
        store.append(add(page(1)))
        os._exit(0)
    """
    store.close()
    run(script, path)
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).rename(moved.with_name(moved.name + ending))
    SqliteStore.open(path, create=True, schema=SMALL).close()
    with closing(SqliteStore.open(moved, schema=SMALL)) as again:
        assert [1] == titles(again)


def test_the_folder_must_exist(tmp_path):
    """A new store is not made in a folder that isn't there."""
    lost = tmp_path / "lost" / "store.sqlite"

    assert "store.folder" == code_of(
        lambda: SqliteStore.open(lost, create=True), StoreOpenError
    )
    assert [] == list(tmp_path.iterdir())


def test_another_format_is_refused(path, store):
    """A store of a later format version is refused and left as it was."""
    store.close()
    spoil(path, "PRAGMA user_version = 2")
    before = contents(path.parent)

    assert "store.format" == code_of(
        lambda: SqliteStore.open(path, schema=SMALL), StoreOpenError
    )
    assert before == contents(path.parent)


def test_another_schema_is_refused(path, store):
    """A store that was made with another schema is refused and left as it was."""
    store.append(add(page(1)))
    store.close()
    before = contents(path.parent)

    assert "store.schema" == code_of(lambda: SqliteStore.open(path), StoreOpenError)
    assert before == contents(path.parent)


def test_a_changed_relation_is_refused(path, store):
    """A relation of the same name with another path is another schema."""
    store.close()
    job = Relation("job", Job, ("job",), keep=Keep.WORK, paths={"by_at": ("at",)})
    changed = Schema(Room("pages", (PAGE, TITLE, job), reduce_pages))

    assert "store.schema" == code_of(
        lambda: SqliteStore.open(path, schema=changed), StoreOpenError
    )


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON uaix_page BEGIN DELETE FROM uaix_title; END",
        "CREATE VIEW harmless AS SELECT * FROM uaix_page",
        "DROP INDEX 'uaix_page.by_flag'",
        "ALTER TABLE uaix_job ADD COLUMN more TEXT",
        "DELETE FROM uaix_meta",
        "DELETE FROM uaix_migration",
        "DROP TABLE uaix_migration",
    ],
)
def test_planted_tables_are_refused(path, store, statement):
    """Tables, triggers and views that aren't the declared ones are refused."""
    store.close()
    spoil(path, statement)

    assert "store.schema" == code_of(
        lambda: SqliteStore.open(path, schema=SMALL), StoreOpenError
    )


def test_an_unknown_setting_is_refused(path):
    """Synchronous is FULL or NORMAL: nothing else is handed on to the database."""
    assert "store.option" == code_of(
        lambda: SqliteStore.open(path, create=True, synchronous="OFF"), StoreOpenError
    )
    assert not path.exists()


def test_a_stopped_maker_is_no_obstacle(path):
    """A maker that is stopped anywhere leaves what create makes into a store."""
    script = textwrap.dedent(
        """
        import os, sys
        from uaix_backends.sqlite import opening, SqliteStore
        place, stop = sys.argv[1:]
        steps = iter(range(int(stop)))
        def trace(frame, event, _argument):
            if event == "line" and next(steps, None) is None:
                os._exit(7)
            return trace if frame.f_code.co_filename == opening.__file__ else None
        sys.settrace(trace)
        SqliteStore.open(place, create=True).close()
        os._exit(0)
        """
    )
    for stop in range(20, 400, 60):
        subprocess.run(
            [sys.executable, "-c", script, str(path), str(stop)], check=False
        )
        with closing(SqliteStore.open(path, create=True)) as store:
            assert [] == list(store.scopes(limit=1))
        for left in path.parent.iterdir():
            left.unlink()


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o777])
def test_files_are_private_whatever_the_umask(path, mask):
    """The file and those that stand beside it in use are for their owner alone."""
    with (
        umask(mask),
        closing(SqliteStore.open(path, create=True, schema=SMALL)) as store,
    ):
        store.append(add(page(1)))
        found = {p.name: stat.S_IMODE(p.stat().st_mode) for p in path.parent.iterdir()}

    names = [path.name, f"{path.name}-shm", f"{path.name}-wal"]
    assert dict.fromkeys(names, 0o600) == found


def test_closing_leaves_one_file(path, store):
    """A closed store is one file: nothing stands beside it."""
    store.append(add(page(1)))
    store.close()

    assert [path] == list(path.parent.iterdir())


@pytest.mark.parametrize(("synchronous", "level"), [("FULL", 2), ("NORMAL", 1)])
def test_pragmas_are_set(path, synchronous, level):
    """The writer and every reader have the pragmas that safety rests on."""
    with closing(
        SqliteStore.open(path, create=True, synchronous=synchronous, busy_timeout_s=1.5)
    ) as store:
        reader = store._connections.lend()
        with store._connections.writer() as writer:
            for connection in (writer, reader):
                for name, value in {
                    "journal_mode": "wal",
                    "synchronous": level,
                    "secure_delete": 1,
                    "trusted_schema": 0,
                    "cell_size_check": 1,
                    "mmap_size": 0,
                    "busy_timeout": 1500,
                    "application_id": APPLICATION_NUMBER,
                }.items():
                    assert (name, value) == (name, connection.pragma(name))
            assert (0, 1) == (writer.pragma("query_only"), reader.pragma("query_only"))
        store._connections.give_back(reader)


def test_a_new_relation_is_added_and_its_view_filled(path, store):
    """Opening with more relations adds their tables and computes their views."""
    store.append(add(page(1, flag=True), page(2)))
    store.append(add(page(3), scope=OTHER))
    store.append(erase(2))
    store.close()

    for _ in range(2):
        with closing(SqliteStore.open(path, schema=LARGER)) as larger:
            for scope, flags in ((SCOPE, [2, 1]), (OTHER, [3])):
                with larger.snapshot(scope) as snapshot:
                    found = snapshot.scan("flag", "by_flag", limit=9)
                    assert flags == [row.number for row in found]
            assert [1] == titles(larger)
    assert "store.newer" == code_of(
        lambda: SqliteStore.open(path, schema=SMALL), StoreOpenError
    )


def test_a_store_that_was_outgrown_writes_no_more(path, store):
    """Who has a store open with fewer relations reads on, but leaves writing."""
    store.append(add(page(1)))
    SqliteStore.open(path, schema=LARGER).close()

    assert [1] == titles(store)
    for call in (lambda: store.append(add(page(2))), lambda: store.rebuild(SCOPE)):
        assert "store.newer" == code_of(call, StoreOpenError)


def test_growing_is_whole_or_nothing(path, store):
    """When a view can't be computed the store stays as it was."""
    store.append(add(page(1)))
    store.close()

    def reduce_badly(_recorded, _erased):
        raise ArithmeticError
        yield set()

    broken = Schema(PAGES, Room("flags", (FLAG,), reduce_badly))
    with pytest.raises(ArithmeticError):
        SqliteStore.open(path, schema=broken)

    with closing(SqliteStore.open(path, schema=SMALL)) as again:
        assert [1] == titles(again)
