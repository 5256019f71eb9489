"""Hosts on PostgreSQL: no read begins a transaction, and every wrong moment is told."""

# ruff: noqa: S608 - names of tables are those of the test

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest
import sqlalchemy
from psycopg.conninfo import make_conninfo
from psycopg.pq import TransactionStatus
from tests.backends.postgres_server import execute, fresh_namespace
from tests.backends.test_joined_hosts import codes, reads, verbs
from tests.store.lives import history_of

from uaix_backends.postgres import PostgresStore
from uaix_backends.postgres.testing import Host, server
from uaix_conformance.examples import SCOPE, commit, note
from uaix_conformance.schema import KIT, ROOMS
from uaix_core.schema.reducers import Changes
from uaix_core.schema.schema import Room, Schema
from uaix_core.values.errors import (
    CallerError,
    HostTransactionLostError,
    NoTransactionError,
    StoreOpenError,
    UaixError,
)


@pytest.fixture(scope="module")
def name():
    """A namespace with our tables and one of the host's."""
    name = fresh_namespace()
    Host(name, KIT)
    return name


@pytest.fixture
def raw(name):
    """A host's connection as psycopg makes it: the driver sends BEGIN."""
    with closing(psycopg.connect(server())) as connection:
        yield connection
    with psycopg.connect(server()) as connection:
        for table in ("uaix_scope", "uaix_commit", "uaix_note", "words"):
            connection.execute(f"TRUNCATE {name}.{table}")


@pytest.fixture
def engine():
    """An engine of SQLAlchemy over psycopg."""
    url = server().replace("postgresql://", "postgresql+psycopg://")
    made = sqlalchemy.create_engine(url)
    yield made
    made.dispose()


def joined(connection, name):
    return PostgresStore.join(connection, schema=KIT, namespace=name)


def listing(store):
    """Every verb of a store that reads."""
    return (
        lambda: store.snapshot(SCOPE).__enter__(),
        lambda: store.scopes(limit=1),
        lambda: store.due("job", until=1, limit=1),
    )


def status_of(connection):
    return connection.info.transaction_status


def refused(calls, kind):
    """The words of the one error with which all calls are refused."""
    found = []
    for call in calls:
        with pytest.raises(UaixError) as caught:
            call()
        assert kind is type(caught.value)
        found.append(str(caught.value))
    assert 1 == len(set(found))
    return found[0]


# At rest


def test_a_read_begins_no_transaction_of_psycopg(raw, name):
    """A read at rest is refused and begins nothing: the next block is kept."""
    store = joined(raw, name)
    assert "autocommit" in refused(listing(store), NoTransactionError)
    assert TransactionStatus.IDLE == status_of(raw)
    with raw.transaction():
        raw.execute(f"INSERT INTO {name}.words (word) VALUES ('a')")
        store.append(commit(note(0)))
        assert 1 == history_of(store)[0]
    with closing(psycopg.connect(server(), autocommit=True)) as other:
        found = other.execute(f"SELECT word FROM {name}.words")
        assert [("a",)] == found.fetchall()
        assert 1 == history_of(joined(other, name))[0]


def test_a_snapshot_outlives_no_transaction(raw, name):
    """What is read from it after the host's transaction ended begins no other."""
    store = joined(raw, name)
    raw.execute("SELECT 1")
    with store.snapshot(SCOPE) as snapshot:
        raw.commit()
        assert {"host.no-transaction"} == codes(reads(snapshot))
        assert TransactionStatus.IDLE == status_of(raw)


def test_a_read_begins_no_transaction_of_sqlalchemy(engine, name):
    """A read is refused before begin(), and takes part in what begin() has begun."""
    with engine.connect() as connection:
        store = joined(connection, name)
        driver = connection.connection.driver_connection
        refused(listing(store), NoTransactionError)
        assert not connection.in_transaction()
        assert TransactionStatus.IDLE == status_of(driver)
        with connection.begin():
            assert 0 == history_of(store)[0]
        assert TransactionStatus.IDLE == status_of(driver)


def test_a_read_needs_no_transaction_under_autocommit(raw, engine, name):
    """Where every statement stands for itself, reads do, and begin nothing."""
    raw.autocommit = True
    options = {"isolation_level": "AUTOCOMMIT"}
    with engine.connect().execution_options(**options) as connection:
        for each in (raw, connection):
            store = joined(each, name)
            assert 0 == history_of(store)[0]
            for call in listing(store):
                call()
        driver = connection.connection.driver_connection
        for each in (raw, driver):
            assert TransactionStatus.IDLE == status_of(each)


# Transactions that have failed or were ended


def test_a_transaction_in_error_is_told(raw, name):
    """In a failed transaction every verb says so, and after a rollback they work."""
    store = joined(raw, name)
    raw.execute("SELECT 1")
    with store.snapshot(SCOPE) as snapshot:
        raw.execute("SAVEPOINT mine")
        with pytest.raises(psycopg.Error):
            raw.execute("SELECT 1 / 0")
        calls = (*verbs(store), *reads(snapshot), lambda: store.hold(SCOPE))
        assert "in error" in refused(calls, NoTransactionError)
        assert TransactionStatus.INERROR == status_of(raw)
        raw.execute("ROLLBACK TO SAVEPOINT mine")
        assert 1 == store.append(commit(note(0))).seq
        assert 1 == snapshot.position
    raw.rollback()


@pytest.mark.parametrize(
    "setting", ["idle_in_transaction_session_timeout", "transaction_timeout"]
)
@pytest.mark.parametrize("verb", [0, 1, 2, 3], ids=["append", "rebuild", "read", "due"])
def test_a_transaction_that_took_too_long_is_lost(raw, name, setting, verb):
    """When the server has ended it by a timeout, the next verb tells it is lost."""
    if setting == "transaction_timeout" and raw.info.server_version < 170_000:
        pytest.skip("from PostgreSQL 17 on")
    store = joined(raw, name)
    raw.execute("SELECT 1")
    store.hold(SCOPE)
    raw.execute(f"SET {setting} = 50")
    time.sleep(0.3)
    call = verbs(store)[verb]
    assert "host.transaction-lost" in refused((call,), HostTransactionLostError)
    assert raw.closed


# Connections in the middle of something


def test_a_connection_in_a_copy_is_told(raw, name):
    """Inside the host's COPY no verb waits or disturbs it, and it goes on."""
    store = joined(raw, name)
    raw.execute("SELECT 1")
    with store.snapshot(SCOPE) as snapshot:
        with raw.cursor().copy(f"COPY {name}.words (word) FROM STDIN") as copy:
            calls = (*verbs(store), *reads(snapshot), lambda: joined(raw, name))
            assert "host.active" in refused(calls, CallerError)
            copy.write_row(("a",))
        assert 0 == snapshot.position
    raw.commit()
    assert [("a",)] == raw.execute(f"SELECT word FROM {name}.words").fetchall()


def test_a_connection_in_a_stream_is_told(raw, name):
    """Inside the host's stream no verb waits or disturbs it, and it goes on."""
    store = joined(raw, name)
    rows = raw.cursor().stream("SELECT n FROM generate_series(1, 3) AS n")
    assert (1,) == next(rows)
    assert "host.active" in refused(verbs(store), CallerError)
    assert [(2,), (3,)] == list(rows)
    assert 1 == store.append(commit(note(0))).seq
    raw.rollback()


# Several threads


def waiting_reducer(started, go):
    """A schema whose reducer waits inside a stage."""

    def reduce_slowly(_recorded, _erased):
        started.set()
        assert go.wait(60)
        return Changes()
        yield

    return Schema(*ROOMS, Room("slow", (), reduce_slowly))


def test_a_call_in_progress_keeps_other_threads_out(raw, name):
    """While one thread is in a call the connection isn't touched by another's."""
    started, go = threading.Event(), threading.Event()
    slow = waiting_reducer(started, go)
    store = PostgresStore.join(raw, schema=slow, namespace=name)
    beside = joined(raw, name)
    with raw.transaction(), ThreadPoolExecutor(1) as pool:
        raw.execute("SELECT 1")
        with beside.snapshot(SCOPE) as snapshot:
            stage = pool.submit(store.append, commit(note(0)))
            assert started.wait(60)
            calls = (*verbs(store), *verbs(beside), *reads(snapshot))
            words = refused((*calls, lambda: joined(raw, name)), CallerError)
            go.set()
            assert 1 == stage.result().seq
            assert "host.thread" in words
            assert 1 == snapshot.position
    raw.execute("SELECT 1")
    assert 1 == history_of(beside)[0]


def test_threads_on_one_connection_lose_nothing(raw, name):
    """Each call of many threads is whole or refused, and the connection goes on."""
    store, kept, told = joined(raw, name), [], set()

    def work(start):
        for number in range(start, start + 30):
            try:
                store.append(commit(note(number)))
            except CallerError as error:
                told.add(error.code)
            else:
                kept.append(number)

    with raw.transaction():
        raw.execute("SELECT 1")
        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(work, 100 * n) for n in range(4)]:
                done.result()
    assert told <= {"host.thread"}
    assert kept
    raw.execute("SELECT 1")
    assert len(kept) == history_of(store)[0]
    with store.snapshot(SCOPE) as snapshot:
        found = snapshot.scan("note", "key", limit=1_000)
    assert sorted(kept) == [row.number for row in found]


# The search path


@pytest.fixture
def evil():
    """A schema in which no text equals another."""
    evil = fresh_namespace()
    execute(f"CREATE SCHEMA {evil}")
    execute(
        f"CREATE FUNCTION {evil}.never(text, text) RETURNS boolean "
        "LANGUAGE sql IMMUTABLE AS 'SELECT false'"
    )
    execute(
        f"CREATE OPERATOR {evil}.= "
        f"(FUNCTION = {evil}.never, LEFTARG = text, RIGHTARG = text)"
    )
    return evil


def test_operators_before_postgresql_s_own_are_refused(raw, name, evil):
    """Where another schema goes before pg_catalog nothing is read or written."""
    path = f"{evil}, pg_catalog"
    raw.execute(f"SET search_path = {path}")
    for number in range(len(verbs(None))):
        call = verbs(joined(raw, name))[number]
        assert "store.search-path" in refused((call,), StoreOpenError)
    dsn = make_conninfo(server(), options=f"-c search_path={path.replace(' ', '')}")
    for create in (False, True):
        call = lambda create=create: PostgresStore.open(  # noqa: E731
            dsn, create=create, schema=KIT, namespace=name
        )
        assert "store.search-path" in refused((call,), StoreOpenError)


@pytest.mark.parametrize(
    "path", ["''", "pg_catalog, {evil}", "{evil}", "pg_temp, pg_catalog, {evil}"]
)
def test_every_other_search_path_will_do(raw, name, evil, path):
    """With PostgreSQL's own operators before all others a search path changes none."""
    raw.execute(f"SET search_path = {path.format(evil=evil)}")
    raw.execute("CREATE TEMPORARY TABLE mine (n int)")
    store = joined(raw, name)
    store.append(commit(note(0, text="a")))
    assert 1 == history_of(store)[0]
    with store.snapshot(SCOPE) as snapshot:
        assert "a" == snapshot.get("note", ("t0", 0)).text
    raw.rollback()
