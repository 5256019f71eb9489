"""PostgreSQL connections: what is shown of an address, encodings, losses and waits."""

from __future__ import annotations

import logging
import threading
import traceback
from contextlib import ExitStack, closing

import psycopg
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from tests.backends.postgres_server import (
    database,
    emptied,
    execute,
    fresh_namespace,
    terminated,
)
from tests.store.lives import LIFE, history_of

from uaix_backends import open_store
from uaix_backends.addresses import shown_url
from uaix_backends.postgres import PostgresStore, connections, driver
from uaix_backends.postgres.shapes import checked_namespace
from uaix_backends.postgres.testing import server
from uaix_conformance.examples import SCOPE, fact, note
from uaix_conformance.schema import KIT
from uaix_core.schema.commits import Commit
from uaix_core.values.errors import BusyError, StorageError, StoreOpenError


@pytest.fixture
def fresh():
    """An empty store."""
    with closing(open_store(emptied(KIT), schema=KIT)) as found:
        yield found


def position(store):
    with store.snapshot(SCOPE) as snapshot:
        return snapshot.position


# What is shown of an address


def place_of(url):
    """How `open_store` names a store, or refuses to."""
    dsn, _, namespace = url.partition("#")
    try:
        return driver.place_of(dsn, checked_namespace(namespace))
    except StoreOpenError as error:
        return f"{error}{error.as_dict()}{error.__cause__}"


PARTS = st.text(st.sampled_from("ab1/?#@:[]%&=+ é"), max_size=6)


@given(PARTS, PARTS)
@example("1/", "@h:1/")
@example("1?", "@")
@example("/", "")
@example("#", "")
@example("a@b", "")
@example("@", "#")
def test_nothing_before_the_last_at_is_shown(before, after):
    """Whatever a password is made of, no message and no cause shows a part of it."""
    url = f"postgresql://me:{before}hunter2{after}@127.0.0.1:1/db#other"
    assert "hunter2" not in shown_url(url)
    assert "hunter2" not in place_of(url)


@given(st.text(st.sampled_from("ab1/?@:[]%&=+ é"), max_size=6), PARTS)
def test_no_option_is_shown(before, after):
    """A password that is given as an option isn't shown either."""
    after = after.replace("#", "")
    for url in (
        f"postgresql://127.0.0.1:1/db?password={before}hunter2{after}",
        f"postgresql://me@127.0.0.1:1/db?x=1&password={before}hunter2{after}#other",
    ):
        assert "hunter2" not in shown_url(url)
        assert "hunter2" not in place_of(url)


@pytest.mark.parametrize(
    ("shown", "url"),
    [
        ("postgresql://h:1/db#other", "postgresql://me:pw@h:1/db?sslmode=off#other"),
        ("postgresql://h/db", "postgresql://h/db"),
        ("postgres://h/db", "postgres://me@h/db"),
        ("POSTGRESQL://h/db", "POSTGRESQL://me:pw@h/db"),
        ("postgresql+psycopg://h/db", "postgresql+psycopg://me:pw@h/db"),
        ("dir:/a@b?c", "dir:/a@b?c"),
        ("sqlite:a://b@c", "sqlite:a://b@c"),
        ("memory:", "memory:"),
    ],
)
def test_what_is_no_secret_is_shown(shown, url):
    """Host, port, database and namespace are shown, and paths as they are."""
    assert shown == shown_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://h/\ud800",
        "postgresql://\ud800@h/db",
        "postgresql://h/db\0x",
        "postgresql://[",
        "postgresql://me:se/cret@h/db",
        "postgresql://h:port/db",
    ],
)
def test_what_no_server_can_have_is_refused(url):
    """A URL that libpq can't take is told as one, with how to write a password."""
    with pytest.raises(StoreOpenError) as caught:
        open_store(url)
    assert "store.url" == caught.value.code
    assert "%2F" in caught.value.hint
    assert "se/cret" not in f"{caught.value}{caught.value.__cause__}"


def test_an_unreachable_server_comes_with_a_hint():
    """Who can't reach the server is told what to look at first."""
    with pytest.raises(StorageError) as caught:
        open_store("postgresql://127.0.0.1:1/db?connect_timeout=2")
    assert "storage.connection" == caught.value.code
    assert "is it running?" in caught.value.hint
    assert "host" in caught.value.hint
    assert "port" in caught.value.hint


SECRET = "SeKrEt99"


def told(error):
    """All that an error and whatever it came from can show."""
    return "".join(traceback.format_exception(error, chain=False)) + "".join(
        told(other) for other in (error.__cause__, error.__context__) if other
    )


@pytest.mark.parametrize(
    ("dsn", "why"),
    [
        (f"postgresql://u:p@{SECRET}@127.0.0.1:1/db", "isn't known"),
        (f"postgresql://u:p@.{SECRET}@127.0.0.1:1/db", "can't be reached"),
        (f"postgresql://u:p@{SECRET}@127.0.0.1/db", "isn't known"),
        (f"postgresql://u:1/{SECRET}@127.0.0.1:1/db", "server"),
        (f"postgresql://{SECRET}@127.0.0.1:1/db", "nobody listens"),
        (f"postgresql://127.0.0.1:1/db?user=u:{SECRET}@h", "nobody listens"),
        (f"postgresql://127.0.0.1:1/db?options={SECRET}@h", "nobody listens"),
        (f"postgresql://127.0.0.1:1/db?passfile={SECRET}", "nobody listens"),
        (f"host=p@{SECRET} port=1", "isn't known"),
        (f"host=127.0.0.1 port=1 user={SECRET}", "nobody listens"),
        (f"host=127.0.0.1 port=1 connect_timeout={SECRET}", "can't be reached"),
        (f"dbname=postgresql://u:p@{SECRET}@127.0.0.1:1/db", "server"),
        ({"user": SECRET}, "knows no such user"),
        ({"dbname": f"a@{SECRET}"}, "has no such database"),
        ({"options": f"-c{SECRET}=1"}, "server"),
    ],
)
def test_nothing_that_may_be_a_password_is_told(dsn, why):
    """Neither an error nor where it came from quotes the driver, and it says why."""
    if isinstance(dsn, dict):
        # Of the server that is there, but for these.
        dsn = make_conninfo(**{**conninfo_to_dict(server()), **dsn})
    with pytest.raises(StorageError) as caught:
        PostgresStore.open(dsn)
    assert "storage.connection" == caught.value.code
    assert SECRET not in f"{told(caught.value)}{caught.value.as_dict()}"
    assert caught.value.__context__ is None
    assert why in caught.value.message


# Encodings


@pytest.mark.parametrize("name", ["LATIN1", "SQL_ASCII", "EUC_JP"])
def test_texts_are_utf8_whatever_the_client_asks_for(monkeypatch, name):
    """The environment's and the address's encodings change nothing that is stored."""
    url = emptied(KIT)
    monkeypatch.setenv("PGCLIENTENCODING", name)
    monkeypatch.setenv("PGOPTIONS", f"-c client_encoding={name}")
    dsn, _, namespace = url.partition("#")
    dsn = psycopg.conninfo.make_conninfo(dsn, client_encoding=name)
    text = "日本 \U0001f600 é"
    with closing(PostgresStore.open(dsn, schema=KIT, namespace=namespace)) as one:
        one.append(Commit(SCOPE, 0, adds=[note(0, title=text)]))
        with one.snapshot(SCOPE) as snapshot:
            assert text == snapshot.get("note", ("t0", 0)).title


@pytest.mark.parametrize("name", ["LATIN1", "SQL_ASCII", "EUC_JP"])
def test_a_database_in_another_encoding_is_refused(name):
    """Only a database in UTF8 keeps each text; others are refused, and stay empty."""
    with database(name) as dsn:
        with pytest.raises(StoreOpenError) as caught:
            PostgresStore.open(dsn, create=True, schema=KIT)
        assert "store.encoding" == caught.value.code
        with psycopg.connect(dsn) as raw:
            found = raw.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'uaix'")
            assert [] == found.fetchall()


# Losses


@pytest.mark.parametrize(
    "verb",
    [
        lambda store: store.append(Commit(SCOPE, 1, adds=[fact(7)])),
        position,
        lambda store: store.scopes(limit=1),
        lambda store: store.due("job", until=1, limit=1),
        lambda store: store.rebuild(SCOPE),
    ],
)
def test_connections_that_were_cut_off_while_they_waited_are_replaced(
    fresh, caplog, verb
):
    """After a restart of the server no call fails, and nothing is logged."""
    fresh.append(LIFE[0])
    with ExitStack() as several:
        for _ in range(5):
            several.enter_context(fresh.snapshot(SCOPE))
    waiting = list(fresh._connections._idle)
    assert 5 == len(waiting)
    terminated(waiting)

    with caplog.at_level(logging.INFO, "psycopg"):
        verb(fresh)

    assert [] == caplog.records
    assert 1 == len(fresh._connections._idle)
    assert all(connection.closed for connection in waiting)


def test_a_repeated_beginning_commits_once(fresh):
    """A commit on a connection that was cut off while it waited is there once."""
    for number in range(3):
        fresh.append(Commit(SCOPE, number, adds=[fact(number)]))
        terminated(fresh._connections._idle)
    assert 3 == history_of(fresh)[0]


def test_a_loss_in_the_middle_is_told_once(fresh, caplog):
    """Who is cut off while it reads is told, and those that wait are dropped."""
    fresh.append(LIFE[0])
    with ExitStack() as several, caplog.at_level(logging.INFO, "psycopg"):
        shown = [several.enter_context(fresh.snapshot(SCOPE)) for _ in range(3)]
        lost = several.pop_all()
        for _ in range(3):
            several.enter_context(fresh.snapshot(SCOPE))
        several.close()
        assert 3 == len(fresh._connections._idle)
        with lost:
            terminated(one._rows.statements.connection for one in shown)
            for one in shown:
                with pytest.raises(StorageError) as caught:
                    one.get("note", ("t0", 1))
                assert "storage.connection" == caught.value.code
        assert [] == fresh._connections._idle
        assert 1 == position(fresh)
    assert [] == caplog.records


def test_a_server_that_is_gone_is_told_at_once(fresh, monkeypatch):
    """When the second connection fails as well, that is told and not tried again."""
    fresh.append(LIFE[0])
    asked = []

    def refuse(dsn, place):
        asked.append(dsn)
        raise StorageError("gone", code="storage.connection", path=place)

    monkeypatch.setattr(connections, "connect", refuse)
    terminated(fresh._connections._idle)
    with pytest.raises(StorageError) as caught:
        position(fresh)
    assert ("storage.connection", 1) == (caught.value.code, len(asked))


def test_what_was_refused_is_not_asked_again(fresh, monkeypatch):
    """An answer of the server's own, as that it is busy, is no loss."""
    fresh.append(LIFE[0])
    asked = []
    real = connections.Connections.begin

    def begin(self, connection):
        asked.append(connection)
        real(self, connection)
        raise psycopg.errors.LockNotAvailable

    monkeypatch.setattr(connections.Connections, "begin", begin)
    with pytest.raises(BusyError):
        fresh.append(Commit(SCOPE, 1, adds=[fact(7)]))
    assert 1 == len(asked)


# Waits


def test_reads_wait_no_longer_than_the_timeout():
    """Under another's exclusive lock each verb, and opening, says that it is busy."""
    namespace = fresh_namespace()

    def opened(**options):
        return PostgresStore.open(
            server(), schema=KIT, namespace=namespace, busy_timeout_s=0.1, **options
        )

    with closing(opened(create=True)) as one, psycopg.connect(server()) as holder:
        one.append(LIFE[0])
        for table in ("uaix_meta", "uaix_scope", "uaix_job", "uaix_commit"):
            holder.execute(f"LOCK TABLE {namespace}.{table}")
        for verb in (
            lambda: position(one),
            lambda: one.scopes(limit=1),
            lambda: one.due("job", until=1, limit=1),
            lambda: one.rebuild(SCOPE),
            opened,
        ):
            with pytest.raises(BusyError):
                verb()
        holder.rollback()
        assert 1 == position(one)
    execute(f'DROP SCHEMA "{namespace}" CASCADE')


def test_a_snapshot_begins_in_one_round_trip(fresh, tmp_path):
    """Beginning a snapshot, its timeout and its position ask the server once."""
    fresh.append(LIFE[0])
    (connection,) = fresh._connections._idle
    with (tmp_path / "trace").open("wb") as trace:
        connection.pgconn.trace(trace.fileno())
        with fresh.snapshot(SCOPE) as snapshot:
            assert 1 == snapshot.position
            connection.pgconn.untrace()
    assert 1 == (tmp_path / "trace").read_text().count("ReadyForQuery")


def test_threads_that_lose_their_connections_go_on(fresh):
    """Threads whose waiting connections are cut off again and again lose nothing."""
    errors = []

    def work(start):
        try:
            for number in range(10):
                fresh.append(Commit(SCOPE, number, adds=[fact(start + number)]))
        except StorageError as error:
            errors.append(error)

    for round_ in range(3):
        threads = [
            threading.Thread(target=work, args=(1_000 * round_ + 100 * n,))
            for n in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        terminated(fresh._connections._idle)
    assert [] == errors
    assert 90 == history_of(fresh)[0]
