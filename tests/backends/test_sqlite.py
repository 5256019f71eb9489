"""The SQLite backend: what its files and connections owe beyond the contract."""

from __future__ import annotations

import linecache
import os
import random
import re
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import threading
from contextlib import closing, contextmanager, suppress
from itertools import product
from pathlib import Path

import apsw
import pytest

from uaix_backends.memory import MemoryStore
from uaix_backends.sqlite import SqliteStore
from uaix_backends.sqlite.layout import Layout
from uaix_backends.sqlite.opening import APPLICATION_NUMBER
from uaix_backends.sqlite.rows import Builder
from uaix_core.schema.commits import Commit, Expect
from uaix_core.schema.kinds import Kind
from uaix_core.schema.reduction import Changes
from uaix_core.schema.relations import Keep, Ref, Relation
from uaix_core.schema.rows import (
    BodyRow,
    Bool,
    Bytes,
    Id,
    Instant,
    Int,
    Row,
    Text,
    row,
)
from uaix_core.schema.schema import Room, Schema
from uaix_core.session.schema import SCHEMA
from uaix_core.values.errors import (
    BusyError,
    ClosedError,
    ConflictError,
    IntegrityError,
    OutcomeUnknownError,
    StorageError,
    StoreOpenError,
)
from uaix_core.values.ids import ScopeId

SCOPE = ScopeId("acme", "project", "apollo")
OTHER = ScopeId("acme", "project", "gemini")
SALT = bytes(16)
HERE = Path(__file__).parent


@row
class Page(BodyRow):
    number: Int
    flag: Bool
    title: Text | None
    data: Bytes | None


@row
class Title(Row):
    title: Text
    number: Int


@row
class Job(Row):
    job: Id
    at: Instant


@row
class Flag(Row):
    number: Int
    flag: Bool


PAGE = Relation(
    "page",
    Page,
    ("number",),
    keep=Keep.HISTORY,
    paths={"by_flag": ("flag", "number")},
    body=("title", "data"),
)
TITLE = Relation("title", Title, ("title", "number"), keep=Keep.VIEW)
JOB = Relation("job", Job, ("job",), keep=Keep.WORK, due="at")
FLAG = Relation("flag", Flag, ("number",), keep=Keep.VIEW, paths={"by_flag": ("flag",)})


def reduce_pages(recorded, erased):
    """Titles of the surviving pages."""
    pages = [r for r in recorded.commit.adds if isinstance(r, Page)]
    if any(page.number < 0 for page in pages):
        raise ArithmeticError
    return Changes(
        puts=[Title(p.title, p.number) for p in pages if p.title is not None],
        drops=[TITLE.ref(Title(p.title, p.number)) for p in erased.values()],
    )
    yield set()


def reduce_flags(recorded, _erased):
    """The flags of all pages."""
    pages = [r for r in recorded.commit.adds if isinstance(r, Page)]
    return Changes(puts=[Flag(p.number, p.flag) for p in pages])
    yield set()


PAGES = Room("pages", (PAGE, TITLE, JOB), reduce_pages)
SMALL = Schema(PAGES)
LARGER = Schema(PAGES, Room("flags", (FLAG,), reduce_flags))


def page(number, title="a", data=b"", *, flag=False):
    return PAGE.with_body(SALT, number=number, flag=flag, title=title, data=data)


def add(*pages, scope=SCOPE, **parts):
    return Commit(scope, 1, adds=pages, **parts)


def erase(*numbers):
    return Commit(SCOPE, 1, erases=[Ref("page", (n,)) for n in numbers])


def titles(store, scope=SCOPE):
    with store.snapshot(scope) as snapshot:
        return [r.number for r in snapshot.scan("title", "key", limit=1000)]


def code_of(call, kind=StorageError):
    with pytest.raises(kind) as caught:
        call()
    return caught.value.code


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def spoil(path, statement):
    """Run a statement on a closed store, as another program would.

    NO_TEXT in it is a text that is no UTF-8.
    """
    statement = statement.replace("NO_TEXT", "cast(x'61ff' as text)")
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(statement).fetchall()


@contextmanager
def umask(mask):
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def in_child(call):
    """The exit status of a forked child that ran this; 0 when it returned true."""
    child = os.fork()
    if child == 0:
        status = 2
        try:
            status = 0 if call() else 1
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run(script, path):
    """Run a script in a process of its own, with all names of this module."""
    start = "import sys\nsys.path.insert(0, sys.argv[1])\nfrom test_sqlite import *\n"
    text = f"{start}path = Path(sys.argv[2])\n{textwrap.dedent(script)}"
    return subprocess.run(
        [sys.executable, "-c", text, str(HERE), str(path)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def path(tmp_path):
    """Where a store may be."""
    return tmp_path / "store.sqlite"


@pytest.fixture
def store(path):
    """An open store of the small schema."""
    with closing(SqliteStore.open(path, create=True, schema=SMALL)) as opened:
        yield opened


def interrupted(call, step):
    """Whether an interrupt at the n-th line of the backend came before the end."""
    steps = iter(range(step))

    def trace(frame, event, _argument):
        name = frame.f_code.co_filename
        if "uaix_backends/sqlite" not in name:
            return None
        # No interrupt comes between a lock that is taken and the block under it.
        line = linecache.getline(name, frame.f_lineno).strip()
        if event == "line" and line != "with self._lock:" and next(steps, None) is None:
            raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


class FailingDriver:
    """A connection on which one kind of statement fails."""

    def __init__(self, connection, statement, error, *, after=False):
        self._connection = connection
        self._statement = statement
        self._error = error
        self._after = after

    def __getattr__(self, name):
        return getattr(self._connection, name)

    def execute(self, text, *values):
        if not text.startswith(self._statement):
            return self._connection.execute(text, *values)
        if self._after:
            self._connection.execute(text, *values)
        raise self._error


def fail(store, statement, error, **options):
    """Let the writer of a store fail at a statement."""
    with store._connections.writer() as writer:
        store._connections._writer = FailingDriver(writer, statement, error, **options)


# Opening


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


# Tables and statements


@pytest.mark.parametrize("schema", [SMALL, LARGER, SCHEMA], ids=["1", "2", "whole"])
def test_every_read_searches_its_index(tmp_path, schema):
    """Each scan, in each shape and direction, searches the index of its path."""
    layout = Layout(schema)
    with (
        closing(SqliteStore.open(tmp_path / "s", create=True, schema=schema)) as store,
        store._connections.writer() as connection,
    ):
        for table, path in (
            (t, p) for t in layout.tables.values() for p in t.relation.orders
        ):
            is_own = path == "key" and table.is_narrow
            index = table.indexes[path].strip('"')
            named = "PRIMARY KEY" if is_own else f"INDEX {index}"
            whole = len(table.relation.orders[path])
            texts = [
                table.scan(path, prefix, after, reverse=reverse)
                for prefix, after in product(range(whole + 1), repeat=2)
                if prefix + after <= whole
                for reverse in (False, True)
            ]
            texts += [table.many(path, n, 64) for n in range(1, whole + 1)]
            for text in texts:
                plan = connection.execute(
                    f"EXPLAIN QUERY PLAN {text}", (None,) * text.count("?")
                )
                steps = [step for *_, step in plan if "VALUES" not in step]
                assert 1 == len(steps), (text, steps)
                assert re.match(rf"SEARCH \w+ USING {named} \(", steps[0]), steps


def test_due_and_ledger_search_their_indexes(store):
    """What is due and the rows of a commit are found by indexes of their own."""
    tables = store._layout.tables
    with store._connections.writer() as connection:
        for text, index in (
            (tables["job"].due, "uaix_job.due"),
            (tables["page"].ledger, "uaix_page.ledger"),
        ):
            plan = connection.execute(
                f"EXPLAIN QUERY PLAN {text}", (None,) * text.count("?")
            )
            assert f"USING INDEX {index} (" in next(iter(plan))[3]


def test_names_that_sql_would_mix_up():
    """Fields that differ by case, or are called as our own columns, stay apart."""

    @row
    class Odd(Row):
        scope_no: Id
        seq: Int
        Seq: Int
        ord: Bool
        version_: Int

    @row
    class Scope(Row):
        select: Id
        version__: Bool | None

    odd = Relation(
        "commit", Odd, ("seq", "Seq"), keep=Keep.HISTORY, paths={"KEY": ("ord",)}
    )
    scope = Relation("scope", Scope, ("select",), keep=Keep.CACHE)
    schema = Schema(Room("odd", (odd, scope)))
    rows = [Odd("a", 1, 2, ord=True, version_=3), Odd("b", 2, 1, ord=False, version_=4)]
    puts = [Scope("x", None), Scope("y", version__=True)]
    commit = Commit(SCOPE, 1, adds=rows, puts=puts)
    memory = MemoryStore(schema)
    memory.append(commit)
    with open_temporary(schema) as store:
        store.append(commit)
        for found in (memory, store):
            with found.snapshot(SCOPE) as snapshot:
                assert rows[::-1] == list(snapshot.scan("commit", "KEY", limit=9))
                assert rows[0] == snapshot.get("commit", (1, 2))
                assert puts == list(snapshot.scan("scope", "key", limit=9))
                assert snapshot.get("scope", ("y",)).version__ is True


@contextmanager
def open_temporary(schema):
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(
            SqliteStore.open(f"{folder}/s.sqlite", create=True, schema=schema)
        ) as store,
    ):
        yield store


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 64, 97, 511, 512, 513, 1100])
def test_get_many_in_any_number(store, count):
    """Keys are found in whatever portions they are asked for."""
    store.append(add(*(page(n) for n in range(0, 1100, 2))))

    with store.snapshot(SCOPE) as snapshot:
        found = snapshot.get_many("page", [(n,) for n in range(count)])
        assert [(n,) for n in range(0, count, 2)] == sorted(found)
        assert all(row == page(key[0]) for key, row in found.items())


def test_commits_come_in_portions(store):
    """However many commits and rows there are, each comes whole and in order."""
    sizes = [1, 300, 2, 1, 255, 1, *([1] * 300)]
    number = 0
    for size in sizes:
        store.append(add(*(page(number + n) for n in range(size))))
        number += size

    with store.snapshot(SCOPE) as snapshot:
        found = list(snapshot.commits())
        assert sizes == [len(r.commit.adds) for r in found]
        assert list(range(number)) == [p.number for r in found for p in r.commit.adds]
        assert found[300:] == list(snapshot.commits(300))


def test_reading_commits_may_be_given_up(store):
    """Whoever stops in the middle, or goes on after closing, harms nothing."""
    for n in range(600):
        store.append(add(page(n)))
    with store.snapshot(SCOPE) as snapshot:
        commits = snapshot.commits()
        assert 1 == next(commits).seq
    assert "snapshot.closed" == code_of(lambda: list(commits), ClosedError)

    assert 601 == store.append(add(page(600))).seq


# Writers


def test_a_reducer_that_fails_leaves_nothing(store):
    """An exception in a reducer rolls back, and the store goes on."""
    store.append(add(page(1)))

    with pytest.raises(ArithmeticError):
        store.append(add(page(2), page(-1)))

    assert [1] == titles(store)
    assert 2 == store.append(add(page(2))).seq


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("statement", ["INSERT INTO uaix_commit", "COMMIT", "BEGIN"])
def test_an_interrupt_leaves_nothing(store, statement, error):
    """An interrupt in the middle of a commit rolls back, and the store goes on."""
    store.append(add(page(1)))
    fail(store, statement, error())

    with pytest.raises(error):
        store.append(add(page(2)))
    assert [1] == titles(store)

    store._connections._writer = store._connections._writer._connection
    assert 2 == store.append(add(page(2))).seq


def test_an_interrupt_anywhere_leaves_all_or_nothing(store):
    """Wherever an interrupt strikes, the commit is whole or absent; work goes on."""
    step, seen = 0, [[]]
    while interrupted(lambda step=step: store.append(add(page(step))), step):
        seen.append(titles(store))
        assert seen[-1] in (seen[-2], [*seen[-2], step])
        step += 1

    assert step > 100
    with store.snapshot(SCOPE) as snapshot:
        assert snapshot.position == len(list(snapshot.commits()))


@pytest.mark.parametrize("after", [False, True])
def test_a_failing_commit_has_an_unknown_outcome(store, after):
    """When making it durable fails the caller is told so, and the next one works."""
    fail(store, "COMMIT", apsw.IOError("fsync"), after=after)

    with pytest.raises(OutcomeUnknownError):
        store.append(add(page(1)))

    assert ([1] if after else []) == titles(store)
    assert (2 if after else 1) == store.append(add(page(2))).seq


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (apsw.BusyError, BusyError, "storage.busy"),
        (apsw.FullError, StorageError, "storage.full"),
        (apsw.IOError, StorageError, "storage.io"),
        (apsw.ReadOnlyError, StorageError, "storage.readonly"),
        (apsw.CantOpenError, StorageError, "storage.cant-open"),
        (apsw.CorruptError, IntegrityError, "storage.corrupt"),
        (apsw.ConstraintError, IntegrityError, "storage.rows"),
        (apsw.MisuseError, StorageError, "storage.failed"),
    ],
)
def test_errors_of_the_driver_are_translated(store, error, kind, code):
    """What the driver raises arrives as our error; nothing was written."""
    fail(store, "INSERT INTO uaix_commit", error("content"))

    with pytest.raises(kind) as caught:
        store.append(add(page(1)))
    assert code == caught.value.code
    assert "content" not in str(caught.value)

    store._connections._writer = store._connections._writer._connection
    assert 1 == store.append(add(page(1))).seq


def test_a_full_disk_is_told_and_survived(path):
    """When the disk is full a commit is refused whole, and later ones go on."""
    done = run(
        """
        import resource
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        store = SqliteStore.open(path, create=True, schema=SMALL)
        store.append(add(page(1)))
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
        try:
            store.append(add(page(2, data=bytes(1_000_000))))
            sys.exit("no error")
        except StorageError as error:
            print(error.code)
        assert [1] == titles(store)
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        assert 2 == store.append(add(page(2, data=bytes(1_000_000)))).seq
        store.close()
        """,
        path,
    )

    assert 0 == done.returncode, done.stderr
    assert done.stdout.strip() in (
        "storage.io",
        "storage.full",
        "storage.outcome-unknown",
    )
    with closing(SqliteStore.open(path, schema=SMALL)) as store:
        assert [1, 2] == titles(store)


def test_a_busy_store_is_told_after_the_timeout(path, store):
    """A writer waits for another process's commit no longer than it was told."""
    with closing(SqliteStore.open(path, schema=SMALL, busy_timeout_s=0)) as second:
        with store._connections.writing():
            assert "storage.busy" == code_of(lambda: second.append(add(page(1))))
        assert 1 == second.append(add(page(1))).seq


def test_threads_make_one_chain(store):
    """Eight threads that append to one scope make one dense chain."""
    failed = []

    def work(start):
        try:
            for n in range(start, start + 20):
                store.append(add(page(n)))
                titles(store)
        except BaseException as error:  # noqa: BLE001 - told below
            failed.append(error)

    threads = [threading.Thread(target=work, args=(20 * i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [] == failed
    with store.snapshot(SCOPE) as snapshot:
        chain = list(snapshot.commits())
    assert list(range(1, 161)) == [r.seq for r in chain]
    copy = MemoryStore(SMALL)
    assert [r.digest for r in chain] == [copy.append(r).digest for r in chain]


def test_two_stores_on_one_path(path, store):
    """Two open stores see each other's commits and refuse what the other changed."""
    with closing(SqliteStore.open(path, schema=SMALL)) as second:
        first = store.append(add(page(1)))
        assert [1] == titles(second)
        assert 2 == second.append(add(page(2))).seq
        assert [1, 2] == titles(store)
        with pytest.raises(ConflictError):
            second.append(add(page(3), expects=[Expect("page", (1,), 0)]))
        assert first.digest == store.append(first).digest


def test_readers_are_never_in_the_way(store):
    """A snapshot reads on while another thread is in the middle of a commit."""
    store.append(add(page(1)))
    with store._connections.writing() as writer:
        writer.execute("DELETE FROM uaix_title")
        assert [1] == titles(store)


# Erasure


def searched(folder, *needles):
    """Those needles that some file of the folder holds."""
    return [n for n in needles if any(n in data for data in contents(folder).values())]


def test_erased_bytes_leave_all_files(path, store):
    """An erased body is in no file, neither in use nor after closing."""
    store.append(add(page(1, "erased-title", b"erased-data"), page(2, "kept-title")))
    store.append(erase(1))

    needles = (b"erased-title", b"erased-data", b"kept-title")
    assert not store.has_pending_erasures
    assert [b"kept-title"] == searched(path.parent, *needles)
    store.close()
    assert [b"kept-title"] == searched(path.parent, *needles)


def test_a_reader_delays_an_erasure_until_it_closes(path, store):
    """What an open snapshot may still show goes when the snapshot does."""
    store.append(add(page(1, "erased-title", b"erased-data")))
    with store.snapshot(SCOPE) as snapshot:
        store.append(erase(1))
        assert store.has_pending_erasures
        assert not store.settle()
        assert "erased-title" == snapshot.get("page", (1,)).title

    assert not store.has_pending_erasures
    store.close()
    assert [] == searched(path.parent, b"erased-title", b"erased-data")


def test_a_reader_that_outlives_its_store(path, store):
    """A snapshot still reads after its store was closed, and then cleans up."""
    store.append(add(page(1, "erased-title", b"erased-data")))
    with store.snapshot(SCOPE) as snapshot:
        store.append(erase(1))
        store.close()
        assert "erased-title" == snapshot.get("page", (1,)).title

    assert [path] == list(path.parent.iterdir())
    assert [] == searched(path.parent, b"erased-title", b"erased-data")


def test_a_killed_eraser_is_finished_by_the_next(path, store):
    """An erasure that a killed process left pending is finished at the next open."""
    store.append(add(page(1, "erased-title", b"erased-data")))
    store.close()

    def die():
        mine = SqliteStore.open(path, schema=SMALL)
        with mine.snapshot(SCOPE):
            mine.append(erase(1))
            os.kill(os.getpid(), signal.SIGKILL)

    assert -signal.SIGKILL == in_child(die)
    SqliteStore.open(path, schema=SMALL).close()
    assert [] == searched(path.parent, b"erased-title", b"erased-data")


@pytest.mark.parametrize("seed", range(3))
def test_pages_that_were_rebalanced_hold_no_copy(path, seed):
    """However rows moved between pages before, no copy of an erased one is left."""
    draw = random.Random(seed)
    names = [f"{draw.randrange(16**8):08x}-{n:05}-name" for n in range(1500)]
    with closing(
        SqliteStore.open(path, create=True, schema=SMALL, synchronous="NORMAL")
    ) as store:
        at = 0
        while at < len(names):
            size = draw.choice((1, 20, 200))
            part = range(at, min(at + size, len(names)))
            long = [draw.choice((0, 30, 300, 5000)) * "x" for _ in part]
            store.append(
                add(
                    *(
                        page(n, names[n] + tail)
                        for n, tail in zip(part, long, strict=True)
                    )
                )
            )
            at += size
        gone = draw.sample(range(len(names)), 700)
        for start in range(0, len(gone), 50):
            store.append(erase(*gone[start : start + 50]))

    data = path.read_bytes()
    found = {int(n) for n in re.findall(rb"-(\d{5})-name", data)}
    assert set(range(len(names))) - set(gone) == found
    with closing(apsw.Connection(str(path))) as connection:
        assert "ok" == connection.pragma("integrity_check")


def test_a_large_file_is_cleaned_when_it_is_closed(path, store, monkeypatch):
    """In a large file the pages are cleaned on closing, or when asked."""
    monkeypatch.setattr("uaix_backends.sqlite.erasing._AT_ONCE", 0)
    store.append(add(page(1, "one"), page(2, "two")))
    store.append(erase(1))
    assert store.has_pending_erasures
    assert store.settle()
    store.append(erase(2))
    store.close()

    with closing(SqliteStore.open(path, schema=SMALL)) as again:
        assert not again.has_pending_erasures


# Processes and files


def test_a_forked_child_is_refused(store):
    """A child may use neither the store nor its snapshots; the parent goes on."""
    store.append(add(page(1)))
    with store.snapshot(SCOPE) as snapshot:

        def refused():
            calls = [
                lambda: store.append(add(page(2))),
                lambda: store.snapshot(SCOPE).__enter__(),
                lambda: snapshot.get("page", (1,)),
                lambda: snapshot.position,
                lambda: store.due("job", until=1, limit=1),
                lambda: store.scopes(limit=1),
                lambda: store.rebuild(SCOPE),
            ]
            codes = {code_of(call, ClosedError) for call in calls}
            store.close()
            return codes == {"store.forked"}

        assert 0 == in_child(refused)
        assert 1 == snapshot.position
    assert 2 == store.append(add(page(2))).seq


def test_a_child_that_exits_leaves_locks_and_log(path, store):
    """A child that closes and exits in the usual way takes nothing from its parent."""
    store.append(add(page(1)))
    done = run(
        """
        store = SqliteStore.open(path, schema=SMALL)
        with store._connections.writing() as writer:
            writer.execute("UPDATE uaix_scope SET work = work")
            child = os.fork()
            if child == 0:
                store.close()
                sys.exit(0)
            assert 0 == os.waitpid(child, 0)[1]
            second = SqliteStore.open(path, schema=SMALL, busy_timeout_s=0)
            assert "storage.busy" == code_of(lambda: second.append(add(page(2))))
            second.close()
        assert 2 == store.append(add(page(2))).seq
        store.close()
        """,
        path,
    )

    assert 0 == done.returncode, done.stderr
    assert [1, 2] == titles(store)


@pytest.mark.parametrize("act", ["unlink", "rename", "replace"])
def test_a_replaced_file_is_noticed(path, store, act):
    """No commit goes into a file that is no longer the one at the path."""
    store.append(add(page(1)))
    spare = path.with_suffix(".spare")
    if act == "unlink":
        path.unlink()
    elif act == "rename":
        path.rename(spare)
    else:
        spare.write_bytes(b"")
        spare.replace(path)

    assert "storage.replaced" == code_of(lambda: store.append(add(page(2))))
    assert "storage.replaced" == code_of(lambda: store.rebuild(SCOPE))


def test_a_closed_store_is_closed(store):
    """After closing every verb is refused, and closing again changes nothing."""
    store.append(add(page(1)))
    store.close()
    store.close()

    for call in (
        lambda: store.append(add(page(2))),
        lambda: store.snapshot(SCOPE).__enter__(),
        lambda: store.scopes(limit=1),
        store.settle,
    ):
        assert "store.closed" == code_of(call, ClosedError)


def test_a_link_leads_to_one_store(tmp_path, path, store):
    """A store that is opened through a symbolic link erases in the same files."""
    store.append(add(page(1, "erased-title")))
    link = tmp_path / "elsewhere"
    link.mkdir()
    (link / "link.sqlite").symlink_to(path)
    with closing(SqliteStore.open(link / "link.sqlite", schema=SMALL)) as second:
        second.append(erase(1))
        assert not second.has_pending_erasures
    store.close()

    assert [] == searched_file(path, b"erased-title")


def searched_file(path, needle):
    return [needle] if needle in path.read_bytes() else []


# Damage


def test_flipped_bytes_are_an_error_or_no_matter(path, store):
    """A damaged file gives our errors or rows of the right types; nothing crashes."""
    for n in range(8):
        store.append(add(page(n, f"title-{n}", bytes([n]) * 300)))
    store.append(Commit(SCOPE, 1, puts=[Job("j", 1)]))
    store.close()
    whole = path.read_bytes()
    draw = random.Random(5)
    told = 0
    for _ in range(150):
        damaged = bytearray(whole)
        at = draw.randrange(len(whole))
        damaged[at] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        try:
            with closing(SqliteStore.open(path, schema=SMALL)) as opened:
                for call in READS.values():
                    with suppress(StorageError):
                        call(opened)
                opened.append(add(page(100)))
                _read(opened, lambda snapshot: list(snapshot.commits()))
        except (StoreOpenError, StorageError, ConflictError):
            told += 1
    assert told


READS = {
    "get": lambda store: _read(store, lambda s: s.get("page", (1,))),
    "get_many": lambda store: _read(store, lambda s: s.get_many("page", [(1,)])),
    "scan": lambda store: _read(store, lambda s: s.scan("page", "key", limit=9)),
    "commits": lambda store: _read(store, lambda s: list(s.commits())),
    "title": lambda store: _read(store, lambda s: s.scan("title", "key", limit=9)),
    "job": lambda store: _read(store, lambda s: s.get("job", ("j",))),
    "due": lambda store: store.due("job", until=9, limit=9),
    "scopes": lambda store: store.scopes(limit=9),
    "rebuild": lambda store: store.rebuild(SCOPE),
    "replay": lambda store: store.append(_recorded(1)),
}
ALL_PAGES = {"commits", "rebuild"}
PAGE_READS = {"get", "get_many", "scan"} | ALL_PAGES


def _read(store, call):
    with store.snapshot(SCOPE) as snapshot:
        return call(snapshot)


def _recorded(seq):
    with closing(MemoryStore(SMALL)) as other:
        for commit in DAMAGED:
            recorded = other.append(commit)
            if recorded.seq == seq:
                return recorded
    raise AssertionError


DAMAGED = (
    add(page(1, "one", b"ones")),
    Commit(SCOPE, 1, adds=[page(2)], puts=[Job("j", 1)]),
    erase(2),
)


@pytest.mark.parametrize(
    ("statement", "refused"),
    [
        # Text that is no UTF-8 is noticed by every read of it.
        ("update uaix_page set title = NO_TEXT where number = 1", PAGE_READS),
        ("update uaix_page set body_digest = NO_TEXT", PAGE_READS),
        ("update uaix_title set title = NO_TEXT", {"title"}),
        ("update uaix_job set job = NO_TEXT", {"due"}),
        ("update uaix_scope set scope = NO_TEXT", {"scopes", "due"}),
        ("update uaix_commit set digest = NO_TEXT", ALL_PAGES | {"replay"}),
        ("update uaix_commit set erases = NO_TEXT where seq = 3", ALL_PAGES),
        ("update uaix_scope set scope = 'nothing'", {"scopes", "due"}),
        # So is a value of a kind with but a few of them.
        ("update uaix_page set flag = 2 where number = 1", PAGE_READS),
        # Everything else, by whoever reads a history whole.
        ("update uaix_page set title = 'a' || char(0) where number = 1", ALL_PAGES),
        ("update uaix_page set title = 'two' where number = 1", ALL_PAGES),
        ("update uaix_page set data = x'00' where number = 1", ALL_PAGES),
        ("update uaix_page set data = null where number = 1", ALL_PAGES),
        ("update uaix_page set salt = null where number = 1", ALL_PAGES),
        ("update uaix_page set salt = x'00' where number = 1", ALL_PAGES),
        ("update uaix_page set body_digest = 'no digest'", ALL_PAGES),
        ("update uaix_page set body_digest = ' ' where number = 2", ALL_PAGES),
        ("update uaix_commit set erases = '{' where seq = 3", ALL_PAGES),
        ("""update uaix_commit set erases = '[["x", [1]]]'""", ALL_PAGES),
        ("""update uaix_commit set erases = '[["page", []]]'""", ALL_PAGES),
        ("""update uaix_commit set erases = '[["page", 1]]'""", ALL_PAGES),
        ("update uaix_commit set erases = '7'", ALL_PAGES),
    ],
)
def test_a_damaged_row_is_an_integrity_error(path, store, statement, refused):
    """Who reads what can't be read is told so, never that there is nothing."""
    for commit in DAMAGED:
        store.append(commit)
    store.close()
    spoil(path, statement)

    for name, call in READS.items():
        with closing(SqliteStore.open(path, schema=SMALL)) as opened:
            if name in refused:
                assert "storage.row" == code_of(lambda: call(opened), IntegrityError)  # noqa: B023 - called at once
            elif name != "job" or "uaix_job" not in statement:
                call(opened)


def test_a_damaged_row_is_named(path, store):
    """The error of a row names its relation and key, and shows no content."""
    store.append(add(page(7, "content-of-seven")))
    store.close()
    spoil(path, "update uaix_page set title = 'content-of-eight'")

    with closing(SqliteStore.open(path, schema=SMALL)) as opened:
        with pytest.raises(IntegrityError) as caught:
            READS["commits"](opened)
        with pytest.raises(IntegrityError) as again:
            opened.rebuild(SCOPE)

    assert "page 7" == caught.value.path == again.value.path
    assert "content" not in str(caught.value)


@pytest.mark.parametrize("seq", [1, 2, 3])
def test_a_commit_that_is_gone_is_missed(path, store, seq):
    """A gap anywhere in the chain is an error of the chain."""
    for commit in DAMAGED:
        store.append(commit)
    store.close()
    spoil(path, f"delete from uaix_commit where seq = {seq}")  # noqa: S608 - a number

    with closing(SqliteStore.open(path, schema=SMALL)) as opened:
        for name in ("commits", "rebuild"):
            assert "storage.chain" == code_of(lambda: READS[name](opened))  # noqa: B023 - called at once


@pytest.mark.parametrize(
    "statement",
    [
        "update uaix_meta set value = NO_TEXT",
        "update uaix_meta set name = NO_TEXT where name = 'relations'",
        """
        pragma writable_schema = on;
        update sqlite_schema set sql = sql || ' --' || NO_TEXT where name = 'uaix_page'
        """,
    ],
)
def test_damaged_texts_about_the_store_keep_it_closed(path, store, statement):
    """Own tables and declarations that are no UTF-8 are no raw error either."""
    store.close()
    spoil(path, statement)

    with pytest.raises((StoreOpenError, IntegrityError)):
        SqliteStore.open(path, schema=SMALL)


def test_a_damaged_schema_text_stops_an_open_store(path, store):
    """The check before each commit reads a text too."""
    spoil(path, "update uaix_meta set value = NO_TEXT")

    assert "storage.row" == code_of(lambda: store.append(add(page(1))), IntegrityError)


@pytest.mark.parametrize(
    ("relation", "field"),
    [
        pytest.param(relation, field, id=f"{relation.name}.{field.name}")
        for relation in (*SCHEMA.relations.values(), PAGE)
        for field in relation.ordered
        if field.kind in (Kind.WORD, Kind.BOOL)
    ],
)
def test_a_word_that_is_none_is_no_row(relation, field):
    """No read makes a row of a word or a truth value that its field doesn't have."""
    examples = {
        Kind.ID: "an-id",
        Kind.TEXT: "text",
        Kind.JSON: "{}",
        Kind.BYTES: b"",
        Kind.BOOL: 0,
    }
    values = [
        f.words[-1] if f.kind is Kind.WORD else examples.get(f.kind, 1)
        for f in relation.ordered
    ]
    builder = Builder(relation)
    good = (*values, 3)
    assert [builder.one(good)] == builder.many([good])
    assert 3 == builder.one(good).version

    at = relation.columns.index(field.name)
    for bad in ("SECRET", "SECRET\0", 2, b"x", *([] if field.optional else [None])):
        broken = (*values[:at], bad, *values[at + 1 :], 3)
        for call in (
            lambda: builder.one(broken),  # noqa: B023 - called at once
            lambda: builder.many([good, broken]),  # noqa: B023
        ):
            with pytest.raises(IntegrityError) as caught:
                call()
            assert "storage.row" == caught.value.code
            assert caught.value.path.startswith(f"{relation.name} ")
            assert "SECRET" not in str(caught.value)


# Schemas that grow


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
    assert "store.schema" == code_of(
        lambda: SqliteStore.open(path, schema=SMALL), StoreOpenError
    )


def test_a_store_that_was_outgrown_writes_no_more(path, store):
    """Who has a store open with fewer relations reads on, but leaves writing."""
    store.append(add(page(1)))
    SqliteStore.open(path, schema=LARGER).close()

    assert [1] == titles(store)
    for call in (lambda: store.append(add(page(2))), lambda: store.rebuild(SCOPE)):
        assert "store.schema" == code_of(call, StoreOpenError)


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
