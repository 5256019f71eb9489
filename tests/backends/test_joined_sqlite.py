"""Hosts on SQLite: one library for a file, one thread at a time, one moment."""

from __future__ import annotations

import gc
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing, contextmanager

import apsw
import pytest
from tests.backends import host_variants, pages
from tests.backends.test_joined_batches import interrupted
from tests.backends.test_migrations import HARD, OLD
from tests.store.lives import LIFE, history_of, lived

from uaix_backends.backup import write_backup
from uaix_backends.migration_scripts import as_sql, migrations
from uaix_backends.sqlite import SqliteStore, hosts, libraries, lives
from uaix_backends.sqlite.testing import Harness
from uaix_conformance.comparison import contents
from uaix_conformance.examples import OTHER, SCOPE, commit, fact, job, note
from uaix_conformance.schema import KIT, ROOMS
from uaix_core.schema.reducers import Changes
from uaix_core.schema.relations import Ref
from uaix_core.schema.schema import Room, Schema
from uaix_core.session.schema import SCHEMA
from uaix_core.store.copying import copy_whole
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import (
    CallerError,
    ConflictError,
    HostTransactionLostError,
    IntegrityError,
    StaleSnapshotError,
    StoreOpenError,
)

CONNECTS = {
    "apsw": lambda file: apsw.Connection(str(file)),
    "sqlite3": lambda file: sqlite3.connect(
        file, isolation_level=None, check_same_thread=False
    ),
}
both = pytest.mark.parametrize("library", CONNECTS)


def other_than(library):
    (other,) = CONNECTS.keys() - {library}
    return other


@pytest.fixture
def file(tmp_path):
    """A host's database with our tables."""
    return host_variants.database(tmp_path, KIT)


def joined(raw, schema=KIT):
    return SqliteStore.join(raw, schema=schema)


def numbers(store):
    with store.snapshot(SCOPE) as snapshot:
        return [row.number for row in snapshot.scan("note", "key", limit=1_000)]


def code_of(call, kind=CallerError):
    with pytest.raises(kind) as caught:
        call()
    return caught.value.code


# One library for one file


@both
@pytest.mark.parametrize("gone", ["closed", "dropped", "refused"])
def test_a_claim_outlives_what_joined(file, library, gone):
    """While the connection is open no other library comes to the file, store or not."""
    raw = CONNECTS[library](file)
    with closing(CONNECTS[other_than(library)](file)) as other:
        if gone == "refused":
            code_of(lambda: joined(raw, Schema(*ROOMS[:2])))
        else:
            store = joined(raw)
            store.close() if gone == "closed" else None
            del store
        gc.collect()
        raw.execute("BEGIN IMMEDIATE")
        assert "host.second-library" == code_of(lambda: joined(other))
        joined(raw).append(commit(note(0)))
        assert "host.second-library" == code_of(lambda: joined(other))
        raw.execute("COMMIT")
        raw.close()
        joined(other)


# From 3.13 on a dropped connection warns that nobody has closed it: that is the point.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@both
@pytest.mark.parametrize("is_held", [False, True])
@pytest.mark.parametrize("end", ["close", "drop"])
def test_a_claim_ends_with_the_connection(file, library, end, is_held):
    """A connection that is closed, or that nobody holds any more, claims nothing."""
    raw = CONNECTS[library](file)
    store = joined(raw)
    with closing(CONNECTS[other_than(library)](file)) as other:
        assert "host.second-library" == code_of(lambda: joined(other))
        held = (store, raw) if is_held and end == "close" else None
        if end == "close":
            raw.close()
        del raw, store
        gc.collect()
        joined(other)
        del held


def test_a_connection_that_can_not_be_watched_claims_for_ever(file, monkeypatch):
    """Where nothing tells that a connection is closed, its file is for no other."""
    monkeypatch.setattr(libraries, "_uses", {})
    monkeypatch.setattr(lives, "_lives", {})
    monkeypatch.setattr(lives.gc, "get_referents", lambda _: [])
    raw = CONNECTS["sqlite3"](file)
    joined(raw)
    raw.close()
    with closing(CONNECTS["apsw"](file)) as other:
        assert "host.second-library" == code_of(lambda: joined(other))


def test_joining_again_and_again_leaves_nothing_behind(file, monkeypatch):
    """Who joins for every request takes no more room than who joins once."""
    monkeypatch.setattr(libraries, "_uses", {})
    monkeypatch.setattr(lives, "_lives", {})
    for _ in range(20):
        with closing(CONNECTS["sqlite3"](file)) as raw:
            for _ in range(5):
                joined(raw)
            (users,) = libraries._uses.values()
            assert 1 == len(users) == len(lives._lives)


def is_locked(file):
    """Whether another process finds the write lock of a file taken."""
    script = (
        "import sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)\n"
        "c.execute('BEGIN IMMEDIATE')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(file)], capture_output=True, check=False
    )
    assert b"locked" in done.stderr or not done.returncode
    return bool(done.returncode)


@pytest.mark.parametrize("mode", ["wal", "delete"])
@pytest.mark.parametrize("gone", ["open", "closed", "dropped"])
def test_a_host_s_lock_survives_who_would_open_its_file(tmp_path, gone, mode):
    """A store that is refused a file has not looked into it, so no lock was let go."""
    file = tmp_path / "own.db"
    SqliteStore.open(file, create=True, schema=KIT).close()
    with closing(CONNECTS["sqlite3"](file)) as raw:
        raw.execute(f"PRAGMA journal_mode = {mode}")
        raw.execute("BEGIN IMMEDIATE")
        store = joined(raw)
        store.append(commit(note(0)))
        if gone == "closed":
            store.close()
        elif gone == "dropped":
            store = None
            gc.collect()
        for create in (False, True):
            assert "host.second-library" == code_of(
                lambda create=create: SqliteStore.open(file, create=create, schema=KIT)
            )
        assert is_locked(file)
        raw.execute("COMMIT")
        assert not is_locked(file)
    with closing(SqliteStore.open(file, schema=KIT)) as own:
        assert 1 == history_of(own)[0]


def test_a_reader_that_outlasts_its_store_keeps_the_file(tmp_path):
    """A snapshot that is still open keeps other libraries out after its store."""
    file = tmp_path / "own.db"
    own = SqliteStore.open(file, create=True, schema=KIT)
    own.append(commit(note(0)))
    with closing(CONNECTS["sqlite3"](file)) as raw:
        with own.snapshot(SCOPE) as snapshot:
            own.close()
            assert "host.second-library" == code_of(lambda: joined(raw))
            assert 1 == snapshot.position
        assert 1 == history_of(joined(raw))[0]


# One thread at a time


class Stopping:
    """A schema whose reducer stands still until it is let go."""

    def __init__(self):
        self.came, self.go = threading.Event(), threading.Event()
        self.schema = Schema(*ROOMS, Room("slow", (), self._reduce))

    def _reduce(self, _recorded, _erased):
        self.came.set()
        assert self.go.wait(30)
        return Changes()
        yield


def in_thread(call):
    """What a call in another thread gave or raised."""
    found = []

    def work():
        try:
            found.append(call())
        except Exception as error:  # noqa: BLE001 - told by the test
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    return thread, found


@both
@pytest.mark.parametrize("is_one_store", [True, False])
def test_a_second_thread_is_refused_before_it_stages(file, library, is_one_store):
    """While one thread stages, whatever another asks of the connection is refused."""
    stopping = Stopping()
    with closing(CONNECTS[library](file)) as raw:
        store = joined(raw, stopping.schema)
        other = store if is_one_store else joined(raw)
        with other.snapshot(SCOPE) as snapshot:
            raw.execute("BEGIN IMMEDIATE")
            thread, found = in_thread(lambda: store.append(commit(note(0))))
            assert stopping.came.wait(30)
            for call in (
                lambda: other.append(commit(note(1))),
                lambda: other.rebuild(SCOPE),
                lambda: other.hold(SCOPE),
                lambda: other.scopes(limit=1),
                lambda: other.due("job", until=1, limit=1),
                lambda: other.snapshot(SCOPE).__enter__(),
                lambda: joined(raw),
                lambda: snapshot.position,
                lambda: snapshot.get("note", ("t0", 0)),
                lambda: list(snapshot.commits()),
            ):
                assert "host.thread" == code_of(call)
            stopping.go.set()
            thread.join()
        assert [1] == [each.seq for each in found]
        # In turn, threads may use what the library lets them use.
        assert 2 == other.append(commit(note(1))).seq
        raw.execute("COMMIT")
        assert 2 == history_of(other)[0]
        assert verify_scope(other, SCOPE).is_sound


@both
def test_threads_in_one_connection_lose_nothing(file, library):
    """What threads that run into each other were told was staged is there; no more."""
    done, codes = [], set()
    barrier = threading.Barrier(4)
    with closing(CONNECTS[library](file)) as raw:
        raw.execute("BEGIN IMMEDIATE")

        def work(me):
            store = stores[me % 2]
            barrier.wait()
            for number in range(me * 100, me * 100 + 40):
                try:
                    store.append(commit(note(number), puts=[job(number)]))
                except CallerError as error:
                    codes.add(error.code)
                else:
                    done.append(number)

        stores = [joined(raw), joined(raw)]
        threads = [threading.Thread(target=work, args=(me,)) for me in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        raw.execute("COMMIT")
        assert codes <= {"host.thread"}
        for store in stores:
            with store.snapshot(SCOPE) as snapshot:
                rows = snapshot.scan("note", "key", limit=1_000)
            assert sorted(done) == [row.number for row in rows]
            assert verify_scope(store, SCOPE).is_sound


SLOW = (
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3000000) "
    "SELECT count(*) FROM r"
)


def busy(raw):
    """A thread of the host's own that runs one long statement."""
    thread, _ = in_thread(lambda: raw.execute(SLOW).fetchall())
    while True:
        try:
            raw.in_transaction  # noqa: B018 - raises once the statement runs
        except apsw.ThreadingViolationError:
            return thread


def test_a_thread_of_the_host_s_own_is_told(file):
    """A connection of apsw that is at work in another thread isn't called closed."""
    with closing(CONNECTS["apsw"](file)) as raw:
        store = joined(raw)
        raw.execute("BEGIN IMMEDIATE")
        thread = busy(raw)
        for call in (
            lambda: store.append(commit(note(0))),
            lambda: store.scopes(limit=1),
            lambda: joined(raw),
        ):
            assert "host.thread" == code_of(call)
        thread.join()
        assert 1 == store.append(commit(note(0))).seq
        raw.execute("ROLLBACK")


@pytest.mark.parametrize("is_patient", [True, False])
def test_a_stage_is_taken_back_once_the_host_s_thread_is_done(
    file, monkeypatch, is_patient
):
    """Who comes into the middle of a stage ends it: it goes, or the host is told."""
    threads = []

    def interfere(_recorded, _erased):
        threads.append(busy(raw))
        return Changes()
        yield

    # However long a busy machine lets the other thread take.
    tries = 100_000 if is_patient else 1
    monkeypatch.setattr("uaix_backends.sqlite.hosts._TRIES", tries)
    with closing(CONNECTS["apsw"](file)) as raw:
        store = joined(raw, Schema(*ROOMS, Room("bad", (), interfere)))
        raw.execute("BEGIN IMMEDIATE")
        raw.execute("INSERT INTO words VALUES ('a')")
        call = lambda: store.append(commit(note(0)))  # noqa: E731
        if is_patient:
            assert "host.thread" == code_of(call)
        else:
            assert "host.transaction-lost" == code_of(call, HostTransactionLostError)
        threads[0].join()
        raw.execute("COMMIT" if is_patient else "ROLLBACK")
        words = raw.execute("SELECT word FROM words").fetchall()
        assert ([("a",)] if is_patient else []) == words
        assert 0 == history_of(joined(raw))[0]


# Interrupts


@both
def test_an_interrupt_anywhere_leaves_all_or_nothing(file, library):
    """Wherever an interrupt strikes, a stage is whole or absent; the host goes on."""
    rooms = ("uaix_backends/sqlite", "uaix_backends/tabular/writing")
    with closing(CONNECTS[library](file)) as raw:
        raw.execute("PRAGMA secure_delete = OFF").fetchall()
        store = joined(raw)
        raw.execute("BEGIN IMMEDIATE")
        step, seen = 0, []
        while interrupted(
            lambda step=step: store.append(commit(note(step, title=f"{step}"))),
            step,
            rooms,
        ):
            found = numbers(store)
            assert found in (seen, [*seen, step])
            seen = found
            step += 1
        assert step > 100
        raw.execute("COMMIT")
        assert numbers(joined(raw)) == numbers(store) == [*seen, step]
        assert verify_scope(store, SCOPE).is_sound


# Another writer between two reads


@contextmanager
def intruding(monkeypatch, intrude):
    """Call something before each statement of ours; with how many came before it."""
    real = hosts.Host.execute
    count = 0

    def execute(self, *values):
        nonlocal count
        count += 1
        intrude(count - 1)
        return real(self, *values)

    with monkeypatch.context() as patched:
        patched.setattr(hosts.Host, "execute", execute)
        yield lambda: count


def staged(raw, store, *made):
    raw.execute("BEGIN IMMEDIATE")
    for each in made:
        store.append(each)
    raw.execute("COMMIT")


def changing(turn):
    """A commit that changes rows of each kind."""
    return commit(
        note(2 + turn),
        fact(turn, f"s{turn}"),
        puts=[job(0, due_at=turn)],
        erases=[Ref("note", ("t0", 1 + turn))],
    )


def moved(call):
    """Whether reading was refused because another writer's commit came between."""
    try:
        call()
    except StaleSnapshotError as error:
        told = error
    else:
        return False
    assert "snapshot.moved" == told.code
    assert "another writer's commit came between the reads" == told.message
    assert told.hint.startswith("read again, or read in a transaction")
    return True


@pytest.fixture
def two(file, request):
    """A host's connection with a store of two notes, and another writer's."""
    library = getattr(request, "param", "sqlite3")
    with (
        closing(CONNECTS[library](file)) as raw,
        closing(CONNECTS[library](file)) as theirs,
    ):
        store, other = joined(raw), joined(theirs)
        staged(theirs, other, commit(note(0), note(1), puts=[job(0)]))
        yield raw, store, theirs, other


both_libraries = pytest.mark.parametrize("two", CONNECTS, indirect=True)


@both_libraries
@pytest.mark.parametrize("is_in_transaction", [False, True])
def test_what_is_read_was_there_at_one_moment(two, monkeypatch, is_in_transaction):
    """Wherever another's commit comes, a snapshot shows before or after, or neither."""
    raw, store, theirs, other = two
    execute, outcomes = hosts.Host.execute, []
    for turn in range(0, 200, 3):
        before = contents(other, SCOPE)
        if is_in_transaction:
            raw.execute("BEGIN")
            raw.execute("SELECT * FROM words").fetchall()
        found = []

        def intrude(count, turn=turn):
            if count == turn:
                with monkeypatch.context() as patched:
                    patched.setattr(hosts.Host, "execute", execute)
                    staged(theirs, other, changing(turn))

        with intruding(monkeypatch, intrude) as taken:
            is_moved = moved(lambda found=found: found.append(contents(store, SCOPE)))
        raw.execute("ROLLBACK") if is_in_transaction else None
        if taken() <= turn:
            break
        after = contents(other, SCOPE)
        assert before != after
        assert is_moved or found[0] in (before, after)
        outcomes.append(is_moved)
    assert turn > 10
    assert any(outcomes) != is_in_transaction
    assert verify_scope(other, SCOPE).is_sound


@both_libraries
@pytest.mark.parametrize(
    "made",
    [commit(note(7)), commit(puts=[job(0, due_at=1)])],
    ids=["history", "work"],
)
def test_a_snapshot_that_moved_stays_refused(two, made):
    """A commit of another writer, also of local rows alone, ends what is read of it."""
    raw, store, theirs, other = two
    with store.snapshot(SCOPE) as snapshot, store.snapshot(OTHER) as beside:
        each = snapshot.commits()
        staged(theirs, other, made)
        for read in (
            lambda: snapshot.position,
            lambda: snapshot.head,
            lambda: snapshot.get("note", ("t0", 0)),
            lambda: snapshot.get_many("note", [("t0", 0)]),
            lambda: snapshot.scan("note", "key", limit=1),
            lambda: list(snapshot.commits()),
            lambda: next(each),
        ):
            assert moved(read)
        assert 0 == beside.position
        raw.execute("BEGIN IMMEDIATE")
        store.append(commit(note(8)))
        raw.execute("COMMIT")
        # What is staged excuses no other writer.
        assert moved(lambda: snapshot.position)
    with store.snapshot(SCOPE) as snapshot:
        assert snapshot.get("note", ("t0", 0)) is not None


@both_libraries
def test_a_snapshot_moves_along_with_its_own_connection(two):
    """What is staged on it shows in a snapshot, goes with a rollback, and is kept."""
    raw, store, theirs, other = two
    beside = joined(raw)
    with store.snapshot(OTHER) as snapshot:
        assert 0 == snapshot.position
        staged(theirs, other, commit(note(3)))
        raw.execute("BEGIN IMMEDIATE")
        assert 0 == snapshot.position
        raw.execute("COMMIT")
    with store.snapshot(OTHER) as snapshot:
        raw.execute("BEGIN IMMEDIATE")
        store.append(commit(note(0), scope=OTHER))
        assert 1 == snapshot.position
        raw.execute("SAVEPOINT mine")
        beside.append(commit(note(1), puts=[job(1)], scope=OTHER))
        assert 2 == len(snapshot.scan("note", "key", limit=9))
        raw.execute("ROLLBACK TO SAVEPOINT mine")
        assert [1] == [each.seq for each in snapshot.commits()]
        store.append(commit(puts=[job(2)], scope=OTHER))
        assert [2] == [row.number for row in snapshot.scan("job", "key", limit=9)]
        raw.execute("COMMIT")
        assert 1 == len(snapshot.scan("note", "key", limit=9))
        raw.execute("BEGIN IMMEDIATE")
        store.append(commit(note(2), scope=OTHER))
        assert 2 == snapshot.position
        raw.execute("ROLLBACK")
        assert 1 == snapshot.position


@pytest.mark.parametrize("verb", ["verify", "back up", "copy"])
def test_verbs_over_a_whole_store_tell_that_it_moved(two, monkeypatch, tmp_path, verb):
    """Outside a transaction no damage is told that isn't there; inside all is sound."""
    raw, store, theirs, other = two

    def run():
        if verb == "verify":
            return verify_scope(store, SCOPE).is_sound
        if verb == "back up":
            write_backup(store, tmp_path / "a.backup", made_at=1, overwrite=True)
            return True
        with closing(Harness().open(tmp_path / f"{turn}", KIT)) as target:
            return not copy_whole(store, target, SCOPE).differences

    execute, sound, is_moved = hosts.Host.execute, [], []
    for turn in range(1, 40, 5):

        def intrude(count, turn=turn):
            if count == turn:
                with monkeypatch.context() as patched:
                    patched.setattr(hosts.Host, "execute", execute)
                    staged(theirs, other, changing(turn))

        with intruding(monkeypatch, intrude):
            is_moved.append(moved(lambda: sound.append(run())))
    assert any(is_moved)
    assert all(sound)
    raw.execute("BEGIN")
    assert run()
    raw.execute("ROLLBACK")


# Triggers of the host's


@both
@pytest.mark.parametrize("verb", ["INSERT", "UPDATE", "DELETE"])
def test_a_statement_that_did_nothing_takes_the_stage_back(file, library, verb):
    """Whatever table a trigger keeps as it is: all of a life is there, or it's told."""
    told = 0
    with closing(CONNECTS[library](file)) as raw:
        store = joined(raw)
        found = raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for (table,) in found.fetchall():
            raw.execute(
                f"CREATE TRIGGER mine BEFORE {verb} ON {table} "
                "BEGIN SELECT RAISE(IGNORE); END"
            )
            raw.execute("BEGIN IMMEDIATE")
            raw.execute("INSERT INTO words VALUES ('a')") if table != "words" else None
            for each in LIFE:
                before = contents(store, SCOPE)
                try:
                    store.append(each)
                except IntegrityError as error:
                    told += error.code == "storage.rows"
                    assert before == contents(store, SCOPE)
                    break
            else:
                assert lived_contents() == contents(store, SCOPE)
            raw.execute("ROLLBACK")
            raw.execute("DROP TRIGGER mine")
        raw.execute("BEGIN IMMEDIATE")
        for each in LIFE:
            store.append(each)
        assert history_of(store)[0] == store.rebuild(SCOPE)
        raw.execute("COMMIT")
        assert lived_contents() == contents(store, SCOPE)
    assert told >= 3


def lived_contents():
    return contents(lived("memory", None), SCOPE)


@both
@pytest.mark.parametrize(
    "setting",
    [
        "count_changes = ON",
        "recursive_triggers = ON",
        "foreign_keys = ON",
        "reverse_unordered_selects = ON",
        "case_sensitive_like = ON",
        "full_column_names = ON",
    ],
)
def test_what_a_host_has_set_changes_nothing(file, library, setting):
    """Under whatever settings of the host's a life is staged as it is without."""
    with closing(CONNECTS[library](file)) as raw:
        raw.execute(f"PRAGMA {setting}").fetchall()
        store = joined(raw)
        staged(raw, store, *LIFE)
        raw.execute("BEGIN IMMEDIATE")
        assert history_of(store)[0] == store.rebuild(SCOPE)
        raw.execute("COMMIT")
        assert lived_contents() == contents(store, SCOPE)


@both
def test_a_trigger_that_keeps_views_is_told_of_a_rebuild(file, library):
    """A rebuild that a trigger keeps from emptying a view is taken back and told."""
    with closing(CONNECTS[library](file)) as raw:
        store = joined(raw)
        staged(raw, store, *LIFE)
        raw.execute(
            "CREATE TRIGGER mine BEFORE DELETE ON uaix_latest WHEN old.number > 0 "
            "BEGIN SELECT RAISE(IGNORE); END"
        )
        raw.execute("BEGIN IMMEDIATE")
        assert "storage.rows" == code_of(lambda: store.rebuild(SCOPE), IntegrityError)
        raw.execute("COMMIT")
        assert verify_scope(store, SCOPE).is_sound


@both
def test_what_a_trigger_writes_beside_is_the_host_s(file, library):
    """A trigger that writes rows of the host's own is in nobody's way."""
    with closing(CONNECTS[library](file)) as raw:
        for verb in ("INSERT", "UPDATE", "DELETE"):
            raw.execute(
                f"CREATE TRIGGER mine_{verb} AFTER {verb} ON uaix_latest BEGIN "  # noqa: S608 - names of verbs
                "INSERT INTO words VALUES ('a'), ('b'); END"
            )
        store = joined(raw)
        staged(raw, store, *LIFE)
        assert lived_contents() == contents(store, SCOPE)
        assert raw.execute("SELECT 1 FROM words").fetchone()


# Tables that aren't the declared ones


def refused(raw, code, *, schema=KIT):
    with pytest.raises(StoreOpenError) as caught:
        joined(raw, schema)
    return code == caught.value.code and bool(caught.value.hint)


@both
def test_tables_must_be_in_the_main_file(tmp_path, file, library):
    """Tables of an attached or temporary database aren't joined: they commit apart."""
    with closing(CONNECTS[library](tmp_path / "other.db")) as raw:
        raw.execute("CREATE TABLE orders (id)")
        raw.execute(f"ATTACH '{file}' AS attached")
        assert refused(raw, "store.missing")
    with closing(CONNECTS[library](file)) as raw:
        raw.execute(f"ATTACH '{tmp_path / 'other.db'}' AS attached")
        store = joined(raw)
        for kind in ("TABLE", "VIEW"):
            raw.execute("BEGIN IMMEDIATE")
            raw.execute(f"CREATE TEMP {kind} uaix_note AS SELECT 1 AS x")
            assert refused(raw, "store.schema")
            for call in (
                lambda: store.append(commit(note(0))),
                lambda: store.rebuild(SCOPE),
            ):
                assert "store.schema" == code_of(call)
            raw.execute("COMMIT")
            raw.execute(f"DROP {kind} temp.uaix_note")
        joined(raw)
    with closing(CONNECTS[library](":memory:")) as raw:
        for text in SqliteStore.ddl(KIT):
            raw.execute(text.replace("CREATE TABLE", "CREATE TEMP TABLE"))
        assert refused(raw, "store.missing")


@both
@pytest.mark.parametrize(
    "change",
    [
        "DROP INDEX 'uaix_note.ledger'",
        "DROP TABLE uaix_note",
        "DROP TABLE uaix_note; CREATE TABLE uaix_note (x)",
        "DROP TABLE uaix_note; CREATE VIEW uaix_note AS SELECT 1 AS x",
        "ALTER TABLE uaix_job ADD COLUMN more TEXT",
    ],
)
def test_other_tables_than_declared_are_not_joined(file, library, change):
    """A database whose tables or indexes aren't as its migrations made them."""
    with closing(CONNECTS[library](file)) as raw:
        names = [n for (n,) in raw.execute("SELECT name FROM sqlite_master").fetchall()]
        index = next(n for n in names if n.startswith("uaix_note."))
        for text in change.replace("uaix_note.ledger", index).split("; "):
            raw.execute(text)
        assert refused(raw, "store.schema")


@both
def test_what_a_host_makes_beside_is_its_own(file, library):
    """Views, triggers and indexes of the host's are no reason to refuse its tables."""
    with closing(CONNECTS[library](file)) as raw:
        raw.execute("CREATE VIEW mine AS SELECT * FROM uaix_note")
        raw.execute("CREATE INDEX more ON uaix_note (title)")
        raw.execute(
            "CREATE TRIGGER seen AFTER INSERT ON uaix_note "
            "BEGIN INSERT INTO words VALUES ('a'); END"
        )
        staged(raw, joined(raw), commit(note(0)))


SHELL = shutil.which("sqlite3")


@pytest.mark.skipif(not SHELL, reason="there is no sqlite3 shell")
@pytest.mark.parametrize("options", [["-bail"], []], ids=["bail", "no bail"])
def test_a_printed_migration_is_run_whole_or_is_not_joined(tmp_path, options):
    """What a shell makes of the text where a table is in the way is used by nobody."""
    file = tmp_path / "half.db"
    text = as_sql(migrations("sqlite"))

    def run():
        return subprocess.run(
            [SHELL, *options, str(file)], input=text, text=True, check=False
        ).returncode

    with closing(sqlite3.connect(file)) as raw:
        raw.execute("CREATE TABLE uaix_review (x)")
    assert run()
    with closing(sqlite3.connect(file)) as raw:
        code = "store.missing" if options else "store.schema"
        assert refused(raw, code, schema=SCHEMA)
        (count,) = raw.execute("SELECT count(*) FROM sqlite_master").fetchone()
        assert (count == 1) == bool(options)
    if options:
        with closing(sqlite3.connect(file)) as raw:
            raw.execute("DROP TABLE uaix_review")
        assert not run()
        with closing(sqlite3.connect(file)) as raw:
            joined(raw, SCHEMA)


# Erasures


def erased_life(raw, store):
    """Pages with canaries, superseded, moved about and erased; what must be gone."""
    gone = []
    for start in range(0, 400, 100):
        titles = [(n, f"CANARY{n:04}T" * 9) for n in range(start, start + 100)]
        staged(
            raw,
            store,
            pages.add(
                *(
                    pages.page(n, title, f"CANDATA{n:04}".encode() * (n % 5 * 300 + 1))
                    for n, title in titles
                )
            ),
        )
    for n in range(0, 400, 2):
        staged(raw, store, pages.erase(n))
        gone += [f"CANARY{n:04}T".encode(), f"CANDATA{n:04}".encode()]
    return gone


@both
@pytest.mark.parametrize("setting", [0, 1, 2])
@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_an_erasure_overwrites_what_it_deletes(tmp_path, library, setting, mode):
    """After commit and checkpoint no erased byte is left, and the setting stays."""
    file = tmp_path / "host.db"
    with closing(CONNECTS[library](file)) as raw:
        raw.execute(f"PRAGMA journal_mode = {mode}").fetchall()
        word = ("OFF", "ON", "FAST")[setting]
        raw.execute(f"PRAGMA secure_delete = {word}").fetchall()
        for text in SqliteStore.ddl(pages.SMALL):
            raw.execute(text)
        store = joined(raw, pages.SMALL)
        gone = erased_life(raw, store)
        assert (setting,) == raw.execute("PRAGMA secure_delete").fetchone()
        assert (
            []
            == raw.execute("SELECT * FROM uaix_meta WHERE name = 'erasing'").fetchall()
        )
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        # A view's table may hold stale copies between its rows until then.
        raw.execute("VACUUM")
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    assert [file] == list(tmp_path.iterdir())
    held = file.read_bytes()
    assert [] == [needle for needle in gone if needle in held]
    assert b"CANARY0001T" in held


@both
def test_freed_pages_of_an_erasure_hold_nothing(tmp_path, library):
    """Where no view has a copy, commit and checkpoint alone leave no erased byte."""
    file = tmp_path / "host.db"
    with closing(CONNECTS[library](file)) as raw:
        raw.execute("PRAGMA journal_mode = wal").fetchall()
        raw.execute("PRAGMA secure_delete = OFF").fetchall()
        for text in SqliteStore.ddl(pages.SMALL):
            raw.execute(text)
        store = joined(raw, pages.SMALL)
        bodies = [pages.page(n, "a", b"CANDATA%04d" % n * 900) for n in range(40)]
        staged(raw, store, pages.add(*bodies))
        staged(raw, store, pages.erase(*range(0, 40, 2)))
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        held = file.read_bytes()
    found = [n for n in range(40) if b"CANDATA%04d" % n in held]
    assert list(range(1, 40, 2)) == found


@both
def test_a_refused_stage_leaves_the_setting(file, library):
    """What a stage sets of the connection is set back when it fails, too."""
    with closing(CONNECTS[library](file)) as raw:
        raw.execute("PRAGMA secure_delete = OFF").fetchall()
        store = joined(raw)
        raw.execute("BEGIN IMMEDIATE")
        store.append(commit(note(0)))
        code_of(lambda: store.append(commit(note(0))), ConflictError)
        raw.execute("COMMIT")
        code_of(lambda: store.append(commit(note(1))))
        assert (0,) == raw.execute("PRAGMA secure_delete").fetchone()


@both
def test_a_store_of_its_own_finishes_what_a_host_erased(tmp_path, library):
    """In the file of an owned store an erasure is noted, and done when it is opened."""
    file = tmp_path / "own.db"
    SqliteStore.open(file, create=True, schema=pages.SMALL).close()
    with closing(CONNECTS[library](file)) as raw:
        gone = erased_life(raw, joined(raw, pages.SMALL))
        noted = "SELECT value FROM uaix_meta WHERE name = 'erasing'"
        assert ("1",) == raw.execute(noted).fetchone()
    with closing(SqliteStore.open(file, schema=pages.SMALL)) as own:
        assert not own.has_pending_erasures
    held = file.read_bytes()
    assert [] == [needle for needle in gone if needle in held]


# Migrations that came later


@both
def test_no_verb_writes_into_tables_of_a_later_version(tmp_path, library):
    """After a migration that isn't additive an older joined store writes nothing."""
    with closing(CONNECTS[library](tmp_path / "host.db")) as raw:
        for text in SqliteStore.ddl(OLD):
            raw.execute(text)
        store = joined(raw, OLD)
        staged(raw, store, commit(note(0)))
        for text in SqliteStore.migrations(HARD)[1].texts:
            raw.execute(text)
        raw.execute("BEGIN IMMEDIATE")
        for call in (
            lambda: store.append(commit(note(1))),
            lambda: store.rebuild(SCOPE),
        ):
            assert "store.newer" == code_of(call)
        raw.execute("ROLLBACK")
