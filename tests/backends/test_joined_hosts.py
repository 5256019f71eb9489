"""Hosts whose connection changes what is stored, is gone, or is somebody else's now."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing, contextmanager

import apsw
import psycopg
import pytest
import sqlalchemy
import sqlalchemy.orm
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.pool import QueuePool
from tests.backends import host_variants
from tests.backends.postgres_server import database, fresh_namespace
from tests.store.lives import LIFE, history_of, lived, local_of

from uaix_backends.postgres import PostgresStore
from uaix_backends.postgres.testing import Host as PostgresHost
from uaix_backends.postgres.testing import server
from uaix_backends.sqlite import SqliteStore
from uaix_backends.sqlite import hosts as hosts_of_sqlite
from uaix_backends.sqlite.layout import Layout
from uaix_backends.sqlite.reading import most_variables
from uaix_backends.sqlite.testing import Host as SqliteHost
from uaix_conformance.examples import OTHER, SCOPE, commit, entry, note
from uaix_conformance.schema import KIT, ROOMS
from uaix_core.schema.reducers import Changes
from uaix_core.schema.schema import Room, Schema
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import CallerError, HostTransactionLostError

KINDS = ("apsw", "legacy", "manual", "alchemy-sqlite", "psycopg", "alchemy")


def host_of(kind, path):
    if kind == "apsw":
        return SqliteHost(path / "host.sqlite", KIT)
    if kind == "psycopg":
        return PostgresHost(fresh_namespace(), KIT)
    name = {"alchemy-sqlite": "alchemy_sqlite", "alchemy": "alchemy_postgres"}
    return getattr(host_variants, name.get(kind, kind)).host(path, KIT)


@pytest.fixture
def host(request, tmp_path):
    """A host application of the kind that the test asks for."""
    return host_of(request.param, tmp_path)


@pytest.fixture
def mine(host):
    with closing(host.connect()) as connection:
        yield connection


def hosts(*kinds):
    return pytest.mark.parametrize("host", kinds or KINDS, indirect=True)


def code_of(call, kind=CallerError):
    with pytest.raises(kind) as caught:
        call()
    return caught.value.code


def verbs(store):
    """Every verb of a joined store that asks the database for something."""
    return (
        lambda: store.append(commit(note(0))),
        lambda: store.rebuild(SCOPE),
        lambda: store.snapshot(SCOPE).__enter__(),
        lambda: store.scopes(limit=1),
        lambda: store.due("job", until=1, limit=1),
    )


def reads(snapshot):
    """Every read of a snapshot."""
    return (
        lambda: snapshot.position,
        lambda: snapshot.head,
        lambda: snapshot.get("note", ("t0", 0)),
        lambda: snapshot.get_many("note", [("t0", 0)]),
        lambda: snapshot.scan("note", "key", limit=1),
        lambda: list(snapshot.commits()),
    )


def codes(calls):
    return {code_of(call) for call in calls}


@contextmanager
def connected(path, library, **options):
    """A connection of either library to a new database with our tables."""
    file = host_variants.database(path, KIT)
    connect = apsw.Connection if library is apsw else sqlite3.connect
    if library is sqlite3:
        options.setdefault("isolation_level", None)
    with closing(connect(str(file), **options)) as raw:
        yield raw


both = pytest.mark.parametrize("library", [apsw, sqlite3], ids=["apsw", "sqlite3"])


# Encodings


@both
@pytest.mark.parametrize("encoding", ["UTF-16le", "UTF-16be"])
def test_a_database_in_utf_16_is_refused(tmp_path, library, encoding):
    """UTF-16 sorts otherwise and changes texts, so such a database isn't joined."""
    file = tmp_path / "host.db"
    with closing(sqlite3.connect(file)) as made:
        made.execute(f"PRAGMA encoding = '{encoding}'")
        for text in SqliteStore.ddl(KIT):
            made.execute(text)
        made.commit()
    connect = apsw.Connection if library is apsw else sqlite3.connect
    with closing(connect(str(file))) as raw:
        assert "host.encoding" == code_of(lambda: SqliteStore.join(raw, schema=KIT))


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII", "EUC_JP"])
def test_a_client_in_another_encoding_is_refused(encoding):
    """Only in UTF8 each text comes back as it was; it is looked at on every call."""
    host = PostgresHost(fresh_namespace(), KIT)
    with closing(host.connect()) as mine:
        store = mine.join(KIT)
        mine.begin()
        store.append(commit(note(0, title="日本")))
        with store.snapshot(SCOPE) as snapshot:
            mine._raw.execute(f"SET LOCAL client_encoding = '{encoding}'")
            assert {"host.encoding"} == codes(reads(snapshot))
        assert {"host.encoding"} == codes(
            (*verbs(store), lambda: PostgresStore.join(mine._raw, schema=KIT))
        )
        mine.rollback()
        mine.begin()
        assert 1 == store.append(commit(note(0, title="日本"))).seq
        mine.rollback()


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_host_s_database_in_another_encoding_is_refused(encoding):
    """A database that doesn't keep UTF8 isn't joined, whatever its client speaks."""
    with (
        database(encoding) as dsn,
        psycopg.connect(dsn, client_encoding="utf8") as raw,
    ):
        assert "host.encoding" == code_of(lambda: PostgresStore.join(raw, schema=KIT))


# Adapters, factories and limits of SQLite's libraries


@contextmanager
def adapted(**adapters):
    """Adapters of the process, by the name of a type."""
    kinds = {"str": str, "int": int, "bool": bool, "bytes": bytes, "none": type(None)}
    for name, adapter in adapters.items():
        sqlite3.register_adapter(kinds[name], adapter)
    try:
        yield
    finally:
        for name in adapters:
            del sqlite3.adapters[kinds[name], sqlite3.PrepareProtocol]


def test_adapters_see_no_value_of_ours(tmp_path):
    """With adapters for all types a whole life is stored as it is without one."""
    seen = []

    def shout(value):
        seen.append(value)
        return f"adapted {value}"

    with connected(tmp_path, sqlite3) as raw:
        with adapted(str=shout, int=shout, bool=shout, bytes=shout):
            with closing(SqliteStore.join(raw, schema=KIT)) as store:
                raw.execute("BEGIN")
                for each in LIFE:
                    store.append(each)
                store.append(commit(note(70, data=b"\0\xff", pinned=True)))
                raw.execute("ROLLBACK")
                raw.execute("BEGIN")
                for each in LIFE:
                    store.append(each)
                raw.execute("COMMIT")
            assert [] == seen
            assert ("adapted 1",) == raw.execute("SELECT ?", (1,)).fetchone()
        with closing(SqliteStore.join(raw, schema=KIT)) as store:
            memory = lived("memory", None)
            for scope in (SCOPE, OTHER):
                assert history_of(memory, scope) == history_of(store, scope)
                assert local_of(memory, scope) == local_of(store, scope)
                assert verify_scope(store, scope).is_sound


@given(st.text(), st.binary(), st.integers(-(2**63), 2**63 - 1), st.booleans())
def test_what_passes_an_adapter_is_the_same(text, data, number, truth):
    """Every value is bound past adapters as it would be bound without them."""
    from uaix_backends.sqlite.binding import past_adapters  # noqa: PLC0415

    text = text.encode("utf-8", "ignore").decode()
    values = (text, data, number, truth) * 2
    asked = "SELECT ?, ?, ?, ?, typeof(?), typeof(?), typeof(?), typeof(?)"
    with closing(sqlite3.connect(":memory:")) as raw:
        plain = raw.execute(asked, values).fetchone()
        with adapted(str=repr, int=repr, bool=repr, bytes=repr):
            assert plain == raw.execute(asked, past_adapters(values)).fetchone()


def test_an_adapter_for_none_is_refused(tmp_path):
    """None can't be bound past an adapter, so nothing is written while there is one."""
    with (
        connected(tmp_path, sqlite3) as raw,
        closing(SqliteStore.join(raw, schema=KIT)) as store,
        store.snapshot(SCOPE) as snapshot,
    ):
        raw.execute("BEGIN")
        with adapted(none=lambda _: "null"):
            assert {"host.adapters"} == codes(
                (
                    *verbs(store),
                    *reads(snapshot),
                    lambda: SqliteStore.join(raw, schema=KIT),
                )
            )
        assert 1 == store.append(commit(note(0))).seq
        raw.execute("ROLLBACK")


def test_a_text_factory_is_found_at_every_read(tmp_path):
    """A factory that is set while a snapshot is open is refused at its next read."""
    with (
        connected(tmp_path, sqlite3) as raw,
        closing(SqliteStore.join(raw, schema=KIT)) as store,
    ):
        raw.execute("BEGIN")
        store.append(commit(note(0)))
        with store.snapshot(SCOPE) as snapshot:
            each = snapshot.commits()
            raw.text_factory = bytes
            assert {"host.text-factory"} == codes(
                (*verbs(store), *reads(snapshot), lambda: next(each))
            )
            raw.text_factory = str
            assert 1 == snapshot.position
        raw.execute("ROLLBACK")


def limited(raw, library, most):
    if library is apsw:
        raw.limit(apsw.SQLITE_LIMIT_VARIABLE_NUMBER, most)
    else:
        raw.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, most)


@both
def test_too_few_variables_are_told_as_such(tmp_path, library):
    """One variable less than needed is refused at every call; so many are enough."""
    needed = most_variables(Layout(KIT))
    with (
        connected(tmp_path, library) as raw,
        closing(SqliteStore.join(raw, schema=KIT)) as store,
    ):
        raw.execute("BEGIN")
        limited(raw, library, needed - 1)
        assert {"host.variables"} == codes(
            (*verbs(store), lambda: SqliteStore.join(raw, schema=KIT))
        )
        limited(raw, library, needed)
        entries = [entry(f"{n:04}") for n in range(600)]
        notes = [note(n, title=f"{n}") for n in range(600)]
        store.append(commit(*notes, puts=entries))
        with store.snapshot(SCOPE) as snapshot:
            for relation in KIT.relations.values():
                keys = [
                    relation.key_of(row)
                    for row in (*notes, *entries)
                    if KIT.of(row) is relation
                ]
                assert len(keys) == len(snapshot.get_many(relation.name, keys))
        raw.execute("ROLLBACK")


# Connections that are closed, or in another thread


@hosts()
def test_a_closed_connection_is_told(host):
    """On a closed connection nothing is joined, staged or read, and that is said."""
    mine = host.connect()
    store = mine.join(KIT)
    mine.begin()
    with store.snapshot(SCOPE) as snapshot:
        mine.close()
        assert {"host.closed"} == codes(
            (*verbs(store), *reads(snapshot), lambda: mine.join(KIT))
        )
    store.close()


@both
def test_a_connection_that_closes_between_a_check_and_its_use_is_told(
    tmp_path, library
):
    """What is closed by another thread meanwhile is told as closed, not as a result."""
    with connected(tmp_path, library) as raw:
        host = hosts_of_sqlite.host_of(raw)
    with pytest.raises(CallerError) as caught, host.reported():
        host.execute("SELECT 1")
    assert "host.closed" == caught.value.code


def test_two_threads_at_once_are_told(tmp_path):
    """When apsw sees two threads in one connection, that is said."""
    with connected(tmp_path, apsw) as raw:
        host = hosts_of_sqlite.host_of(raw)
        with pytest.raises(CallerError) as caught, host.reported():
            raise apsw.ThreadingViolationError
    assert "host.thread" == caught.value.code


def closing_reducer(end):
    def reduce_badly(_recorded, _erased):
        end()
        return Changes()
        yield

    return Schema(*ROOMS, Room("bad", (), reduce_badly))


@hosts("apsw", "manual", "psycopg")
def test_a_connection_that_closes_meanwhile_has_lost_the_transaction(host):
    """When the host closes its connection inside a stage, the transaction is lost."""
    mine = host.connect()
    store = mine.join(closing_reducer(mine.close))
    mine.begin()
    assert "host.transaction-lost" == code_of(
        lambda: store.append(commit(note(0))), HostTransactionLostError
    )
    store.close()
    with closing(host.connect()) as other:
        assert 0 == history_of(other.join(KIT))[0]


def test_another_thread_is_told(tmp_path):
    """What belongs to one thread isn't used in another, and stays as it was."""
    found = []
    with (
        connected(tmp_path, sqlite3) as raw,
        closing(SqliteStore.join(raw, schema=KIT)) as store,
        store.snapshot(SCOPE) as snapshot,
    ):
        raw.execute("BEGIN")

        def work():
            join = lambda: SqliteStore.join(raw, schema=KIT)  # noqa: E731
            found.append(codes((*verbs(store), *reads(snapshot), join)))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert [{"host.thread"}] == found
        assert 1 == store.append(commit(note(0))).seq
        raw.execute("ROLLBACK")


# SQLAlchemy's pools


def pooled(kind, path):
    """An engine with a pool of one connection, and how a store joins it."""
    if kind == "sqlite":
        url = f"sqlite:///{host_variants.database(path, KIT)}"
        options = {"connect_args": {"isolation_level": None}}
        join = SqliteStore.join
    else:
        name = fresh_namespace()
        PostgresHost(name, KIT)
        url = server().replace("postgresql://", "postgresql+psycopg://")
        options = {}

        def join(connection, schema):
            return PostgresStore.join(connection, schema=schema, namespace=name)

    engine = sqlalchemy.create_engine(
        url, poolclass=QueuePool, pool_size=1, max_overflow=0, **options
    )
    return engine, lambda connection: join(connection, schema=KIT)


pools = pytest.mark.parametrize("kind", ["sqlite", "postgres"])


def begun(connection):
    transaction = connection.begin()
    connection.exec_driver_sql("BEGIN IMMEDIATE") if (
        connection.dialect.name == "sqlite"
    ) else connection.exec_driver_sql("SELECT 1")
    return transaction


@pools
def test_a_connection_that_went_back_to_its_pool_is_let_alone(kind, tmp_path):
    """Who has it from the pool then finds nothing of a store joined before in it."""
    engine, join = pooled(kind, tmp_path)
    with engine.connect() as lent:
        store = join(lent)
        begun(lent)
        opened = store.snapshot(SCOPE)
        snapshot = opened.__enter__()
    with engine.connect() as other:
        transaction = begun(other)
        assert {"host.closed"} == codes((*verbs(store), *reads(snapshot)))
        assert 0 == history_of(join(other))[0]
        transaction.rollback()
    store.close()
    engine.dispose()


def replaced(connection):
    """Have another connection behind it, as after a loss and a rollback."""
    connection.invalidate()
    connection.get_transaction().rollback()
    return connection.connection


@pools
@pytest.mark.parametrize(
    ("lose", "code"),
    [
        (lambda lent: lent.invalidate(), "host.closed"),
        (lambda lent: lent.connection.invalidate(), "host.connection"),
        (replaced, "host.connection"),
        (lambda lent: lent.detach(), "host.connection"),
    ],
    ids=["invalidated", "invalidated below", "replaced", "detached"],
)
def test_a_connection_that_its_pool_has_lost_is_let_alone(kind, lose, code, tmp_path):
    """A Connection whose pool took back or replaced what is behind it is refused."""
    engine, join = pooled(kind, tmp_path)
    with engine.connect() as lent:
        store = join(lent)
        begun(lent)
        with store.snapshot(SCOPE) as snapshot:
            lose(lent)
            assert {code} == codes((*verbs(store), *reads(snapshot)))
        store.close()
    engine.dispose()


@pools
def test_a_session_that_ended_takes_its_connection_along(kind, tmp_path):
    """After a session's commit the store that joined its connection is of no use."""
    engine, join = pooled(kind, tmp_path)
    with sqlalchemy.orm.Session(engine) as session:
        connection = session.connection()
        if kind == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.exec_driver_sql("SELECT 1")
        store = join(connection)
        store.append(commit(note(0)))
        session.commit()
        assert {"host.closed"} == codes(verbs(store))
        assert "host.closed" == code_of(lambda: join(connection))
        again = join(session.connection())
        assert 1 == history_of(again)[0]
        again.close()
    store.close()
    engine.dispose()


# Claims on a file


def test_a_new_file_in_an_old_one_s_place_is_not_claimed(tmp_path):
    """A file made anew, with the number that a removed one had, is open to all."""
    held = []
    for _ in range(20):
        file = host_variants.database(tmp_path, KIT)
        raw = sqlite3.connect(file)
        held.append(SqliteStore.join(raw, schema=KIT))
        raw.close()
        file.unlink()
        SqliteStore.open(tmp_path / "own.db", create=True, schema=KIT).close()
        (tmp_path / "own.db").unlink()
    for store in held:
        store.close()
