"""Batches on a host's connection to PostgreSQL: few round trips, and never stuck."""

from __future__ import annotations

import sys
from contextlib import closing, contextmanager

import psycopg
import pytest
from psycopg.pq import PipelineStatus, TransactionStatus
from psycopg.rows import dict_row
from tests.backends import host_variants
from tests.backends.postgres_server import emptied, fresh_namespace
from tests.store.lives import LIFE, history_of, lived

from uaix_backends import open_store
from uaix_backends.postgres import hosts
from uaix_backends.postgres.testing import Host as PostgresHost
from uaix_conformance.examples import SCOPE, commit, fact, job, note
from uaix_conformance.schema import KIT, ROOMS
from uaix_core.schema.reducers import Changes
from uaix_core.schema.schema import Room, Schema
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import HostTransactionLostError, StorageError

_ROOMS = ("uaix_backends/postgres", "uaix_backends/tabular/writing")


class Bare:
    """A host on psycopg, which begins by a statement or leaves it to the driver."""

    def __init__(self, name, *, autocommit):
        self.name = name
        self.host = PostgresHost(name, KIT)
        self.autocommit = autocommit

    def connect(self):
        found = self.host.connect()
        found.raw = found._raw
        if not self.autocommit:
            found.raw.autocommit = False
            # The driver sends BEGIN with the first statement, which is the host's.
            found.begin = lambda: found.raw.execute("SELECT 1")
            found.rollback = found.raw.rollback
        return found


@pytest.fixture(params=["autocommit", "manual", "alchemy"])
def host(request, tmp_path):
    """A host whose transactions begin in one of the three ways."""
    if request.param == "alchemy":
        return host_variants.alchemy_postgres.host(tmp_path, KIT)
    return Bare(fresh_namespace(), autocommit=request.param == "autocommit")


@pytest.fixture
def bare():
    """A host on psycopg whose transactions begin by a statement."""
    return Bare(fresh_namespace(), autocommit=True)


@pytest.fixture
def mine(host):
    with closing(host.connect()) as connection:
        yield connection


def raw_of(connection):
    raw = getattr(connection, "raw", None)
    if raw is None:
        raw = connection.connection.connection.driver_connection
    return raw


def is_at_rest(connection):
    """Whether it is out of a pipeline, in a transaction that goes on."""
    raw = raw_of(connection)
    return (raw.pgconn.pipeline_status, raw.info.transaction_status) == (
        PipelineStatus.OFF,
        TransactionStatus.INTRANS,
    )


def numbers(store):
    with store.snapshot(SCOPE) as snapshot:
        return [row.number for row in snapshot.scan("note", "key", limit=1_000)]


@contextmanager
def failing(monkeypatch, count, text="SELECT 1 / 0"):
    """The statement that is sent after ``count`` others is this one instead."""
    left = iter(range(count))
    real = hosts._PlainCursor.execute

    def execute(self, statement, *values, **options):
        if next(left, None) is None:
            patched.undo()
            return real(self, text, prepare=False)
        return real(self, statement, *values, **options)

    with monkeypatch.context() as patched:
        patched.setattr(hosts._PlainCursor, "execute", execute)
        yield left


# Round trips


def trips(connection, path, call):
    with path.open("wb") as trace:
        connection.pgconn.trace(trace.fileno())
        call()
        connection.pgconn.untrace()
    # The server says that it is ready once in every round trip.
    return path.read_text().count("ReadyForQuery")


def test_a_stage_asks_no_more_often_than_a_commit(bare, tmp_path):
    """Staging asks the server as often as a store of one's own, however many rows."""
    with (
        closing(open_store(emptied(KIT), schema=KIT)) as own,
        closing(bare.connect()) as mine,
    ):
        store = mine.join(KIT)
        mine.begin()
        taken = []
        for number, rows in enumerate((1, 1, 50)):
            adds = [note(n, f"t{number}", title=f"{number}-{n}") for n in range(rows)]
            one = commit(*adds, puts=[job(number)])
            own.append(one) if not number else None
            if number:
                (owned,) = own._connections._idle
                taken += [
                    trips(owned, tmp_path / "own", lambda one=one: own.append(one)),
                    trips(mine.raw, tmp_path / "us", lambda one=one: store.append(one)),
                ]
            else:
                # The first of all also looks at the tables.
                store.append(one)
        mine.commit()
        assert 1 == len(set(taken))
        assert max(taken) <= 7
        assert history_of(own) == history_of(store)


def test_a_big_batch_leaves_nothing_prepared(bare):
    """Rows of hundreds are sent together without a statement that stays prepared."""
    with closing(bare.connect()) as mine:
        mine.raw.prepare_threshold = 0
        store = mine.join(KIT)
        mine.begin()
        store.append(commit(*(note(n, title=f"{n}") for n in range(400))))
        prepared = mine.raw.execute(
            "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %s",
            ("%uaix_%",),
        )
        assert (0,) == prepared.fetchone()
        mine.commit()
        assert list(range(400)) == numbers(store)


# Faults in the middle


def test_whichever_statement_fails_nothing_stays(mine, monkeypatch):
    """A failing statement takes its stage along, and the host's transaction goes on."""
    store = mine.join(KIT)
    mine.begin()
    mine.write("a")
    store.append(LIFE[0])
    reached = 0
    for count in range(1, 100):
        before = history_of(store)
        with failing(monkeypatch, count) as left:
            try:
                store.append(commit(note(7), fact(7), puts=[job(7)]))
            except StorageError as error:
                assert "storage.failed" == error.code  # noqa: PT017 - or none is raised
                assert next(left, None) is None
                reached += 1
            else:
                break
        assert is_at_rest(mine)
        assert before == history_of(store)
        assert ["a"] == mine.words()
    assert reached > 8
    assert 2 == history_of(store)[0]
    mine.write("b")
    mine.commit()

    with host_variants.looking(mine):
        assert ["a", "b"] == mine.words()
        assert [1, 7] == numbers(store)
        assert verify_scope(store, SCOPE).is_sound


def test_a_failing_savepoint_stages_nothing(bare, monkeypatch):
    """When already the savepoint fails the host is told, and can only roll back."""
    with closing(bare.connect()) as mine:
        store = mine.join(KIT)
        mine.begin()
        with failing(monkeypatch, 0), pytest.raises(StorageError):
            store.append(LIFE[0])
        assert PipelineStatus.OFF == mine.raw.pgconn.pipeline_status
        mine.rollback()
        assert 0 == history_of(store)[0]


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_a_server_that_goes_meanwhile_loses_the_transaction(
    bare, monkeypatch, caplog, count
):
    """When the connection is cut off in a batch, that is told and nothing is kept."""
    text = "SELECT pg_terminate_backend(pg_backend_pid())"
    with closing(bare.connect()) as mine:
        store = mine.join(KIT)
        mine.begin()
        mine.write("a")
        with (
            failing(monkeypatch, count, text),
            pytest.raises(HostTransactionLostError),
        ):
            store.append(LIFE[0])
        assert mine.raw.closed
    assert [] == caplog.records
    with closing(bare.connect()) as other:
        assert [] == other.words()
        assert 0 == history_of(other.join(KIT))[0]


def test_a_transaction_that_was_exchanged_is_lost(bare):
    """When the host's transaction ends and another begins meanwhile, none is kept."""

    def exchange(_recorded, _erased):
        mine.commit()
        mine.begin()
        return Changes()
        yield

    with closing(bare.connect()) as mine:
        store = mine.join(Schema(*ROOMS, Room("bad", (), exchange)))
        mine.begin()
        mine.write("a")
        with pytest.raises(HostTransactionLostError):
            store.append(LIFE[0])
        assert PipelineStatus.OFF == mine.raw.pgconn.pipeline_status
        mine.commit()
        assert ["a"] == mine.words()
        assert 0 == history_of(mine.join(KIT))[0]


# Interrupts


def interrupted(call, step, rooms=_ROOMS):
    """Whether an interrupt at the n-th line of the backend came before the end."""
    steps = iter(range(step))

    def trace(frame, event, _argument):
        name = frame.f_code.co_filename
        if not any(room in name for room in rooms):
            return None
        if event == "line" and next(steps, None) is None:
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


def test_an_interrupt_anywhere_leaves_all_or_nothing(bare):
    """Wherever an interrupt strikes, a stage is whole or absent; the host goes on."""
    with closing(bare.connect()) as mine:
        store = mine.join(KIT)
        mine.begin()
        store.append(LIFE[0])
        step, seen = 0, [1]
        while interrupted(
            lambda step=step: store.append(commit(note(10 + step, title=f"{step}"))),
            step,
        ):
            assert is_at_rest(mine)
            found = numbers(store)
            assert found in (seen, [*seen, 10 + step])
            seen = found
            step += 1
        assert step > 100
        mine.commit()
        assert verify_scope(store, SCOPE).is_sound


def test_a_pipeline_that_can_not_be_left_takes_the_connection_along(bare, monkeypatch):
    """An interrupt between sending and reading a batch mixes up no answers."""
    with closing(bare.connect()) as mine:
        store = mine.join(KIT)
        mine.begin()
        mine.write("a")
        store.append(LIFE[0])

        def interrupt(_self):
            raise KeyboardInterrupt

        monkeypatch.setattr(psycopg.Pipeline, "_exit_gen", interrupt)
        with pytest.raises(HostTransactionLostError):
            store.append(LIFE[1])
        monkeypatch.undo()
        assert mine.raw.closed
    with closing(bare.connect()) as other:
        assert ([], 0) == (other.words(), history_of(other.join(KIT))[0])


# What is the host's


def test_cursors_of_the_host_go_on(bare, monkeypatch):
    """A cursor that the host has open reads on after a stage, also a failed one."""
    with closing(bare.connect()) as mine:
        store = mine.join(KIT)
        mine.begin()
        mine.raw.row_factory = dict_row
        with mine.raw.cursor("theirs") as cursor:
            cursor.execute("SELECT n FROM generate_series(1, 9) AS n")
            assert {"n": 1} == cursor.fetchone()
            store.append(LIFE[0])
            assert {"n": 2} == cursor.fetchone()
            with failing(monkeypatch, 6), pytest.raises(StorageError):
                store.append(LIFE[1])
            assert [{"n": 3}, {"n": 4}] == cursor.fetchmany(2)
            store.append(LIFE[1])
        mine.commit()
        assert 2 == history_of(store)[0]


def test_a_life_in_batches_equals_memory_s(mine):
    """What is staged in batches and rebuilt in batches is what memory has."""
    store = mine.join(KIT)
    mine.begin()
    for each in LIFE:
        store.append(each)
        assert is_at_rest(mine)
    assert history_of(store)[0] == store.rebuild(SCOPE)
    assert is_at_rest(mine)
    mine.commit()
    with host_variants.looking(mine):
        assert history_of(lived("memory", None)) == history_of(store)
