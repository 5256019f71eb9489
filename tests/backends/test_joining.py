"""Joined stores: every wrong way is a typed error, and loses nothing of the host's."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import closing

import apsw
import psycopg
import pytest
import sqlalchemy
import sqlalchemy.orm
from psycopg.rows import dict_row
from psycopg.types.string import TextLoader
from tests.backends import host_variants
from tests.backends.postgres_server import execute, fresh_namespace
from tests.store.lives import history_of, lived, local_of

from uaix_backends.postgres import PostgresStore
from uaix_backends.postgres.testing import Host as PostgresHost
from uaix_backends.postgres.testing import server
from uaix_backends.sqlite import SqliteStore
from uaix_backends.sqlite.testing import Host as SqliteHost
from uaix_backends.system import SystemClock, SystemIds, SystemRandom
from uaix_conformance.examples import OTHER, SCOPE, commit, expect, fact, job, note
from uaix_conformance.schema import KIT, ROOMS
from uaix_core import PackageSource, Principal, Session, new_package
from uaix_core.schema.reducers import Changes
from uaix_core.schema.schema import Room, Schema
from uaix_core.session.schema import SCHEMA
from uaix_core.session.writes import write
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import (
    CallerError,
    ClosedError,
    ConflictError,
    HostTransactionLostError,
    NoTransactionError,
    StaleSnapshotError,
    StorageError,
    StoreOpenError,
)

HOSTS = (
    "apsw",
    "legacy",
    "immediate",
    "manual",
    "alchemy-sqlite",
    "psycopg",
    "alchemy",
)


@pytest.fixture
def host(request, tmp_path):
    """A host application of the kind that the test asks for."""
    kind = getattr(request, "param", "apsw")
    if kind == "apsw":
        return SqliteHost(tmp_path / "host.sqlite", KIT)
    if kind == "psycopg":
        return PostgresHost(fresh_namespace(), KIT)
    name = {
        "alchemy-sqlite": "alchemy_sqlite",
        "alchemy": "alchemy_postgres",
    }.get(kind, kind)
    return getattr(host_variants, name).host(tmp_path, KIT)


@pytest.fixture
def mine(host):
    with closing(host.connect()) as connection:
        yield connection


@pytest.fixture
def theirs(host):
    with closing(host.connect()) as connection:
        yield connection


every_host = pytest.mark.parametrize("host", HOSTS, indirect=True)
sqlite_host = pytest.mark.parametrize("host", HOSTS[:5], indirect=True)


def code_of(call, kind):
    with pytest.raises(kind) as caught:
        call()
    return caught.value.code


# One transaction


@every_host
def test_a_whole_life_is_staged_and_equal(mine):
    """All that a store can do is done in one transaction, and equals memory's."""
    from tests.store.lives import LIFE  # noqa: PLC0415 - its own commits

    store = mine.join(KIT)
    mine.begin()
    for each in LIFE:
        store.append(each)
    mine.write("a")
    mine.commit()

    memory = lived("memory", None)
    mine.begin()
    for scope in (SCOPE, OTHER):
        assert history_of(memory, scope) == history_of(store, scope)
        assert local_of(memory, scope) == local_of(store, scope)
        assert verify_scope(store, scope).is_sound
    assert [SCOPE, OTHER] == list(store.scopes(limit=9))
    assert [OTHER, SCOPE] == [s for s, _ in store.due("job", until=9, limit=9)][::-1]
    assert store.rebuild(SCOPE) == history_of(store)[0]
    mine.rollback()
    assert ["a"] == mine.words()


@every_host
def test_a_savepoint_of_the_host_takes_the_stage_along(mine):
    """What was staged inside a savepoint goes with it, and its place is used again."""
    store = mine.join(KIT)
    raw = getattr(mine, "connection", None)
    mine.begin()
    store.append(commit(note(0)))
    if raw is not None:
        nested = raw.begin_nested()
        store.append(commit(note(1)))
        nested.rollback()
    else:
        raw = getattr(mine, "raw", None) or mine._raw
        raw.execute("SAVEPOINT mine")
        store.append(commit(note(1)))
        raw.execute("ROLLBACK TO SAVEPOINT mine")
    assert 2 == store.append(commit(note(2))).seq
    mine.commit()
    with host_variants.looking(mine), store.snapshot(SCOPE) as snapshot:
        keys = [row.number for row in snapshot.scan("note", "key", limit=9)]
    assert [0, 2] == keys


@every_host
def test_two_stores_on_one_connection_are_one(mine):
    """Stores joined to one connection see what each has staged."""
    one, other = mine.join(KIT), mine.join(KIT)
    mine.begin()
    one.append(commit(note(0)))
    assert 2 == other.append(commit(note(1))).seq
    with pytest.raises(ConflictError):
        one.append(commit(fact(1), expects=[expect("latest", ("t0",), 1)]))
    mine.commit()


@every_host
def test_a_closed_store_refuses(mine):
    """After close every verb is refused, and the host goes on."""
    store = mine.join(KIT)
    store.close()
    store.close()
    mine.begin()
    for call in (
        lambda: store.append(commit(note(0))),
        lambda: store.snapshot(SCOPE).__enter__(),
        lambda: store.scopes(limit=1),
        lambda: store.due("job", until=1, limit=1),
        lambda: store.rebuild(SCOPE),
    ):
        assert "store.closed" == code_of(call, ClosedError)
    mine.write("a")
    mine.commit()
    assert ["a"] == mine.words()


# Transactions that aren't there, are stale, or get lost


@every_host
def test_outside_a_transaction_nothing_is_written(mine):
    """Without a transaction of the host's nothing is staged, begun or committed."""
    store = mine.join(KIT)
    for call in (lambda: store.append(commit(note(0))), lambda: store.rebuild(SCOPE)):
        assert "host.no-transaction" == code_of(call, NoTransactionError)
    assert not mine.in_transaction()
    with host_variants.looking(mine):
        assert 0 == history_of(store)[0]


def test_sqlalchemy_s_default_transaction_is_none(tmp_path):
    """SQLAlchemy's default over sqlite3 begins nothing; a savepoint would commit."""
    file = host_variants.database(tmp_path, KIT)
    engine = sqlalchemy.create_engine(f"sqlite:///{file}")
    with engine.connect() as connection:
        store = SqliteStore.join(connection, schema=KIT)
        with connection.begin() as transaction:
            assert "host.no-transaction" == code_of(
                lambda: store.append(commit(note(0))), NoTransactionError
            )
            transaction.rollback()
        assert 0 == history_of(store)[0]
    engine.dispose()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="from Python 3.12 on")
def test_the_modes_of_312_are_told_apart(tmp_path):
    """autocommit=True has a transaction only after BEGIN, autocommit=False always."""
    file = host_variants.database(tmp_path, KIT)
    with closing(sqlite3.connect(file, autocommit=True)) as raw:
        store = SqliteStore.join(raw, schema=KIT)
        assert "host.no-transaction" == code_of(
            lambda: store.append(commit(note(0))), NoTransactionError
        )
        raw.execute("BEGIN IMMEDIATE")
        store.append(commit(note(0)))
        raw.execute("COMMIT")
        store.close()
    with closing(sqlite3.connect(file, autocommit=False)) as raw:
        store = SqliteStore.join(raw, schema=KIT)
        assert 2 == store.append(commit(note(1))).seq
        raw.rollback()
        assert 2 == store.append(commit(note(2))).seq
        raw.commit()
        assert 2 == history_of(store)[0]
        store.close()


@sqlite_host
def test_a_stale_reader_is_told_to_repeat(mine, theirs):
    """Who read before another writer committed can't write: repeat all of it."""
    raw = getattr(mine, "raw", None) or getattr(mine, "_raw", None)
    store, other = mine.join(KIT), theirs.join(KIT)
    if raw is not None:
        raw.execute("BEGIN DEFERRED")
    else:
        mine.begin()
    mine.words()
    theirs.begin()
    other.append(commit(note(0)))
    theirs.commit()

    assert "host.stale-snapshot" == code_of(
        lambda: store.append(commit(note(1))), StaleSnapshotError
    )
    assert mine.in_transaction()
    if raw is not None:
        raw.execute("ROLLBACK")
    else:
        mine.rollback()
    mine.begin()
    assert 2 == store.append(commit(note(1))).seq
    mine.commit()


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
@pytest.mark.parametrize("is_new", [False, True])
def test_a_stale_transaction_of_postgres_is_told_to_repeat(level, is_new):
    """Under a stricter level, a commit that came in between asks for a repetition."""
    host = PostgresHost(fresh_namespace(), KIT)
    with closing(host.connect()) as mine, closing(host.connect()) as theirs:
        store, other = mine.join(KIT), theirs.join(KIT)
        if not is_new:
            theirs.begin()
            other.append(commit(note(5)))
            theirs.commit()
        mine._raw.execute(f"BEGIN ISOLATION LEVEL {level}")
        mine.write("a")
        theirs.begin()
        other.append(commit(note(0)))
        theirs.commit()

        assert "host.stale-snapshot" == code_of(
            lambda: store.append(commit(note(1))), StaleSnapshotError
        )
        assert mine.in_transaction()
        mine.rollback()
        mine._raw.execute(f"BEGIN ISOLATION LEVEL {level}")
        mine.write("a")
        assert (2 if is_new else 3) == store.append(commit(note(1))).seq
        mine.commit()
        assert ["a"] == mine.words()


@pytest.mark.parametrize("level", ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"])
def test_every_level_of_postgres_keeps_a_whole_transaction(level):
    """What nobody disturbs is kept under each isolation level."""
    host = PostgresHost(fresh_namespace(), KIT)
    with closing(host.connect()) as mine:
        store = mine.join(KIT)
        mine._raw.execute(f"BEGIN ISOLATION LEVEL {level}")
        for number in range(3):
            store.append(commit(note(number), puts=[job(number)]))
        mine.commit()
        assert 3 == history_of(store)[0]


def ending(end):
    """A schema whose reducer ends the host's transaction behind our back."""

    def reduce_badly(_recorded, _erased):
        end()
        return Changes()
        yield

    return Schema(*ROOMS, Room("bad", (), reduce_badly))


@every_host
@pytest.mark.parametrize("how", ["commit", "rollback"])
def test_a_transaction_that_ends_meanwhile_is_lost(mine, how):
    """When the host's transaction ends inside a stage, that is told, and no more."""
    ends = []
    store = mine.join(ending(lambda: ends.append(getattr(mine, how)())))
    mine.begin()
    mine.write("a")

    assert "host.transaction-lost" == code_of(
        lambda: store.append(commit(note(0))), HostTransactionLostError
    )
    assert [None] == ends
    assert not mine.in_transaction()
    with host_variants.looking(mine):
        assert (["a"] if how == "commit" else []) == mine.words()
        assert 0 == history_of(mine.join(KIT))[0]


def test_a_host_that_died_leaves_nothing(tmp_path):
    """A host that is killed between staging and its commit has written nothing."""
    code = """
        import os, signal, sys
        from tests.backends.host_variants import database, stdlib
        from uaix_backends.sqlite import SqliteStore
        from uaix_conformance.examples import commit, note
        from uaix_conformance.schema import KIT
        import apsw
        raw = apsw.Connection(sys.argv[1])
        store = SqliteStore.join(raw, schema=KIT)
        raw.execute("BEGIN IMMEDIATE")
        raw.execute("INSERT INTO words VALUES ('a')")
        assert store.append(commit(note(0))).seq == 1
        os.kill(os.getpid(), signal.SIGKILL)
    """
    file = tmp_path / "host.sqlite"
    host = SqliteHost(file, KIT)
    paths = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(file)],
        env={**os.environ, "PYTHONPATH": paths},
        check=False,
    )
    assert -signal.SIGKILL == done.returncode
    with closing(host.connect()) as connection:
        assert [] == connection.words()
        assert 0 == history_of(connection.join(KIT))[0]


# Whose connection it is


@pytest.mark.parametrize("join", [SqliteStore.join, PostgresStore.join])
def test_what_is_no_connection_is_refused(join, tmp_path):
    """Pools, engines, sessions, cursors and paths are refused, with what to hand in."""
    engine = sqlalchemy.create_engine("sqlite://")
    with closing(sqlite3.connect(":memory:")) as raw:
        for wrong in (
            "sqlite:store.db",
            tmp_path,
            None,
            raw.cursor(),
            apsw.Connection(":memory:").cursor(),
            engine,
            engine.pool,
            sqlalchemy.orm.Session(engine),
            object(),
        ):
            assert "host.connection" == code_of(
                lambda wrong=wrong: join(wrong, schema=KIT), CallerError
            )
    engine.dispose()


def test_each_database_has_its_own_verb():
    """A connection of the other database is refused."""
    with psycopg.connect(server()) as raw:
        assert "host.connection" == code_of(lambda: SqliteStore.join(raw), CallerError)
    with closing(sqlite3.connect(":memory:")) as other:
        assert "host.connection" == code_of(
            lambda: PostgresStore.join(other), CallerError
        )


def test_missing_and_other_tables_are_told(tmp_path):
    """A database without the tables, or with those of another schema, is refused."""
    with closing(sqlite3.connect(tmp_path / "empty.db")) as raw:
        assert "store.missing" == code_of(
            lambda: SqliteStore.join(raw, schema=KIT), StoreOpenError
        )
    with closing(SqliteHost(tmp_path / "host.db", KIT).connect()) as mine:
        assert "store.schema" == code_of(
            lambda: mine.join(Schema(*ROOMS[:2])), StoreOpenError
        )
    name = fresh_namespace()
    with psycopg.connect(server()) as raw:
        store = PostgresStore.join(raw, schema=KIT, namespace=name)
        raw.execute("SELECT 1")
        assert "store.missing" == code_of(
            lambda: store.append(commit(note(0))), StoreOpenError
        )
        assert [(1,)] == raw.execute("SELECT 1").fetchall()


# What of a connection must not leak in


def test_factories_and_converters_of_sqlite3_stay_outside(tmp_path):
    """Row factories, converters and adapters of the host's change no answer."""
    file = host_variants.database(tmp_path, KIT)
    options = {
        "detect_types": sqlite3.PARSE_DECLTYPES | sqlite3.PARSE_COLNAMES,
        "isolation_level": None,
    }
    for name in ("TEXT", "INTEGER", "BLOB"):
        sqlite3.register_converter(name, lambda data: ("converted", data))
    sqlite3.register_adapter(bool, lambda value: f"adapted {value}")
    try:
        with closing(sqlite3.connect(file, **options)) as raw:
            raw.row_factory = sqlite3.Row
            store = SqliteStore.join(raw, schema=KIT)
            raw.execute("BEGIN")
            pinned = note(0, pinned=True, data=b"\0\xff")
            store.append(commit(pinned, fact(1, sure=True)))
            with store.snapshot(SCOPE) as snapshot:
                row = snapshot.get("note", ("t0", 0))
                assert (True, b"\0\xff") == (row.pinned, row.data)
                assert [True] == [
                    found.sure for found in snapshot.scan("fact", "key", limit=9)
                ]
                assert 1 == len(list(snapshot.commits()))
            raw.execute("COMMIT")
            assert sqlite3.Row is raw.row_factory
            assert verify_scope(store, SCOPE).is_sound
            store.close()
    finally:
        sqlite3.converters.clear()
        sqlite3.adapters.pop((bool, sqlite3.PrepareProtocol), None)


def test_a_text_factory_is_refused(tmp_path):
    """A connection whose texts are something else is refused at every call."""
    file = host_variants.database(tmp_path, KIT)
    with closing(sqlite3.connect(file, isolation_level=None)) as raw:
        store = SqliteStore.join(raw, schema=KIT)
        raw.execute("BEGIN")
        raw.text_factory = bytes
        for call in (
            lambda: store.append(commit(note(0))),
            lambda: store.snapshot(SCOPE).__enter__(),
            lambda: store.scopes(limit=1),
            lambda: SqliteStore.join(raw, schema=KIT),
        ):
            assert "host.text-factory" == code_of(call, CallerError)
        raw.text_factory = str
        store.append(commit(note(0)))
        raw.execute("ROLLBACK")
        store.close()


def test_traces_of_apsw_stay_outside(tmp_path):
    """Traces and cursor factories of the host's see and change nothing of ours."""
    seen = []
    with closing(SqliteHost(tmp_path / "host.db", KIT).connect()) as mine:
        mine._raw.row_trace = lambda _cursor, row: tuple(f"traced {v}" for v in row)
        mine._raw.exec_trace = lambda _cursor, text, _: seen.append(text) is None
        mine._raw.cursor_factory = lambda _connection: 1 / 0
        store = SqliteStore.join(mine._raw, schema=KIT)
        mine._raw.cursor_factory = apsw.Cursor
        mine.begin()
        seen.clear()
        mine._raw.cursor_factory = lambda _connection: 1 / 0
        store.append(commit(note(0, text="a")))
        with store.snapshot(SCOPE) as snapshot:
            assert "a" == snapshot.get("note", ("t0", 0)).text
        mine._raw.cursor_factory = apsw.Cursor
        assert [] == seen
        mine.commit()


def test_factories_and_adapters_of_psycopg_stay_outside():
    """Row factories, loaders, dumpers and prepared statements are left alone."""
    host = PostgresHost(fresh_namespace(), KIT)

    class Shouting(TextLoader):
        def load(self, data):
            return super().load(data).upper()

    with closing(host.connect()) as mine:
        mine._raw.row_factory = dict_row
        mine._raw.prepare_threshold = 0
        mine._raw.adapters.register_loader("text", Shouting)
        before = mine._raw.adapters.get_loader(25, psycopg.pq.Format.TEXT)
        store = mine.join(KIT)
        mine.begin()
        store.append(commit(note(0, text="quiet")))
        with store.snapshot(SCOPE) as snapshot:
            assert "quiet" == snapshot.get("note", ("t0", 0)).text
        found = mine._raw.execute("SELECT 'loud'::text AS t").fetchone()
        assert {"t": "LOUD"} == found
        assert before is mine._raw.adapters.get_loader(25, psycopg.pq.Format.TEXT)
        prepared = mine._raw.execute(
            "SELECT count(*) AS n FROM pg_prepared_statements WHERE statement LIKE %s",
            ("%uaix_%",),
        )
        assert {"n": 0} == prepared.fetchone()
        mine.commit()


def test_a_pipeline_is_refused():
    """Inside a pipeline results come too late, so nothing is staged there."""
    host = PostgresHost(fresh_namespace(), KIT)
    with closing(host.connect()) as mine:
        store = mine.join(KIT)
        mine.begin()
        with mine._raw.pipeline():
            assert "host.pipeline" == code_of(
                lambda: store.append(commit(note(0))), CallerError
            )
        assert 1 == store.append(commit(note(0))).seq
        mine.rollback()


def test_a_transaction_that_only_reads_is_refused(tmp_path):
    """A read-only transaction or file is told, and the transaction stays usable."""
    host = PostgresHost(fresh_namespace(), KIT)
    with closing(host.connect()) as mine:
        store = mine.join(KIT)
        mine._raw.execute("BEGIN READ ONLY")
        assert "storage.readonly" == code_of(
            lambda: store.append(commit(note(0))), StorageError
        )
        assert [] == mine.words()
        mine.rollback()
    file = host_variants.database(tmp_path, KIT)
    uri = f"file:{file}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as raw:
        store = SqliteStore.join(raw, schema=KIT)
        raw.execute("BEGIN")
        assert "storage.readonly" == code_of(
            lambda: store.append(commit(note(0))), StorageError
        )
        assert raw.in_transaction
        store.close()


def test_a_failed_transaction_of_postgres_takes_no_stage():
    """After an error of the host's own nothing can be staged until it rolls back."""
    host = PostgresHost(fresh_namespace(), KIT)
    with closing(host.connect()) as mine:
        store = mine.join(KIT)
        mine.begin()
        with pytest.raises(psycopg.Error):
            mine._raw.execute("SELECT 1 / 0")
        assert "host.no-transaction" == code_of(
            lambda: store.append(commit(note(0))), NoTransactionError
        )
        mine.rollback()


# Two libraries


def test_a_second_library_on_one_file_is_refused(tmp_path):
    """What one SQLite library has open here, no store opens through another."""
    file = host_variants.database(tmp_path, KIT)
    with (
        closing(sqlite3.connect(file)) as raw,
        closing(apsw.Connection(str(file))) as a,
    ):
        SqliteStore.join(raw, schema=KIT)
        assert "host.second-library" == code_of(
            lambda: SqliteStore.join(a, schema=KIT), CallerError
        )
    with (
        closing(sqlite3.connect(file)) as raw,
        closing(apsw.Connection(str(file))) as a,
    ):
        other = SqliteStore.join(a, schema=KIT)
        assert "host.second-library" == code_of(
            lambda: SqliteStore.join(raw, schema=KIT), CallerError
        )
        other.close()
    path = tmp_path / "own.db"
    with (
        closing(SqliteStore.open(path, create=True, schema=KIT)),
        closing(sqlite3.connect(path)) as raw,
    ):
        assert "host.second-library" == code_of(
            lambda: SqliteStore.join(raw, schema=KIT), CallerError
        )


def test_memory_has_no_second_library():
    """Databases in memory are nobody else's, whatever library holds them."""
    for connect in (sqlite3.connect, apsw.Connection):
        with closing(connect(":memory:")) as raw:
            for text in SqliteStore.ddl(KIT):
                raw.execute(text)
            with closing(SqliteStore.join(raw, schema=KIT)) as store:
                raw.execute("BEGIN") if not raw.in_transaction else None
                assert 1 == store.append(commit(note(0))).seq
                raw.execute("COMMIT")


# Many writers


@pytest.mark.parametrize("host", ["apsw", "psycopg"], indirect=True)
def test_hosts_in_many_threads_lose_nothing(host):
    """Hosts that write at the same time make one chain, with the hosts' own rows."""
    errors = []

    def work(start):
        with closing(host.connect()) as connection:
            if isinstance(connection._raw, apsw.Connection):
                connection._raw.set_busy_timeout(30_000)
            store = connection.join(KIT)
            for number in range(15):
                try:
                    connection.begin()
                    store.append(commit(fact(start + number)))
                    connection.write(str(start + number))
                    connection.commit()
                except Exception as error:
                    errors.append(error)
                    raise

    threads = [threading.Thread(target=work, args=(100 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [] == errors
    with closing(host.connect()) as connection:
        store = connection.join(KIT)
        assert 60 == history_of(store)[0]
        assert verify_scope(store, SCOPE).is_sound
        facts = {str(row.size) for row in _facts(store)}
        assert facts == set(connection.words())


def _facts(store):
    with store.snapshot(SCOPE) as snapshot:
        return snapshot.scan("fact", "key", limit=1_000)


def test_the_tables_of_postgres_are_only_ours():
    """The statements for a host's database make nothing outside of their namespace."""
    name = fresh_namespace()
    before = execute("SELECT count(*) FROM pg_class")
    with psycopg.connect(server()) as raw:
        for text in PostgresStore.ddl(KIT, namespace=name):
            raw.execute(text)
    inside = execute(
        "SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n"
        " ON n.oid = c.relnamespace WHERE n.nspname IN (%s, 'pg_toast')",
        name,
    )
    assert execute("SELECT count(*) FROM pg_class")[0][0] - before[0][0] <= inside[0][0]
    execute(f'DROP SCHEMA "{name}" CASCADE')


# A session in the host's transaction


def session_over(store):
    return Session(
        store,
        scope=SCOPE,
        principal=Principal.parse("human:ada"),
        clock=SystemClock(),
        ids=SystemIds(),
        random=SystemRandom(),
    )


@pytest.mark.parametrize("kind", ["apsw", "psycopg"])
def test_a_package_is_installed_with_the_host_s_rows(kind, tmp_path):
    """A package and the host's row are there together, or neither is."""
    if kind == "apsw":
        host = SqliteHost(tmp_path / "host.db", SCHEMA)
    else:
        host = PostgresHost(fresh_namespace(), SCHEMA)
    files = new_package("persona", package_id="ada", created_at=0, issuer="tests")
    source = PackageSource("ada", files=files)
    with closing(host.connect()) as mine:
        packages = session_over(mine.join(SCHEMA)).packages
        with pytest.raises(NoTransactionError):
            packages.install(source, key="k")
        mine.begin()
        mine.write("a")
        packages.install(source, key="k")
        assert files == dict(packages.read("ada"))
        mine.rollback()
        assert ([], []) == (mine.words(), list(packages.list()))

        mine.begin()
        mine.write("a")
        first = packages.install(source, key="k")
        mine.commit()
        mine.begin()
        again = packages.install(source, key="k")
        mine.commit()

        assert (first.receipt, False) == (again.receipt, again.is_first)
        assert files == dict(packages.read("ada"))
        assert ["a"] == mine.words()
        assert verify_scope(mine.join(SCHEMA), SCOPE).is_sound


@pytest.mark.parametrize("kind", ["apsw", "psycopg"])
def test_an_answer_says_that_it_is_staged(kind, tmp_path):
    """What a host's rollback would take back says so; what is kept at once doesn't."""
    if kind == "apsw":
        host = SqliteHost(tmp_path / "host.db", SCHEMA)
        owned = SqliteStore.open(tmp_path / "own.db", create=True)
    else:
        host = PostgresHost(fresh_namespace(), SCHEMA)
        owned = PostgresStore.open(
            server(), create=True, namespace=fresh_namespace(), schema=SCHEMA
        )
    files = new_package("persona", package_id="ada", created_at=0, issuer="tests")
    source = PackageSource("ada", files=files)
    with closing(host.connect()) as mine, closing(owned):
        mine.begin()
        for store, is_staged in ((mine.join(SCHEMA), True), (owned, False)):
            packages = session_over(store).packages
            answers = [
                packages.install(source),
                packages.install(source),
                packages.update(source),
                packages.clone("ada"),
                packages.restore(source),
                packages.export("ada"),
            ]
            assert [is_staged] * 6 == [answer.is_staged for answer in answers]
            assert is_staged == answers[-1].as_dict()["is_staged"]
        mine.rollback()


@pytest.mark.parametrize(
    "host", ["apsw", "legacy", "psycopg", "alchemy"], indirect=True
)
def test_a_decision_inside_a_host_s_transaction_is_made_once(host):
    """Hosts that read, decide and write in one scope wait instead of trying again."""
    decisions, failures = [], []

    def work(me):
        try:
            with closing(host.connect()) as mine:
                if isinstance(getattr(mine, "_raw", None), apsw.Connection):
                    mine._raw.set_busy_timeout(30_000)
                for _ in range(5):
                    mine.begin()
                    store = mine.join(KIT)

                    def decide(snapshot):
                        time.sleep(0.002)
                        found = snapshot.get("latest", ("t0",))
                        number = 0 if found is None else found.number + 1
                        version = 0 if found is None else found.version
                        decisions.append((me, number))
                        return commit(
                            note(number), expects=[expect("latest", ("t0",), version)]
                        )

                    write(store, SCOPE, decide)
                    store.close()
                    mine.commit()
        except BaseException as error:  # noqa: BLE001 - told by the test
            failures.append(error)

    threads = [threading.Thread(target=work, args=(me,)) for me in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [] == failures
    assert list(range(15)) == sorted(number for _me, number in decisions)
