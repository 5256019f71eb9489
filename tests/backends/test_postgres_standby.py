"""A PostgreSQL standby: what it shows, what it refuses, and what a failover keeps."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack, closing, contextmanager

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from tests.store.lives import LIFE, history_of, local_of

from uaix_backends import open_store
from uaix_backends.directory.testing import harness as directory
from uaix_backends.postgres import PostgresStore
from uaix_backends.postgres.examining import examine
from uaix_backends.postgres.throwaway import ThrowawayServer, binaries
from uaix_backends.system import SystemClock, SystemIds, SystemRandom
from uaix_conformance.examples import OTHER, SCOPE, commit, note
from uaix_conformance.schema import KIT
from uaix_core import PackageSource, Principal, Session, new_package
from uaix_core.store.copying import all_scopes, copy_whole
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import BusyError, StorageError, StoreOpenError
from uaix_core.values.ids import ScopeId

_PROGRAMS = binaries()
pytestmark = pytest.mark.skipif(
    _PROGRAMS is None or not (_PROGRAMS / "pg_basebackup").exists(),
    reason="no server here that comes with pg_basebackup",
)

_WRITERS = 3
_WAIT_S = 30.0


@contextmanager
def pair(**settings):
    """A primary and its standby, which has all of it from the start."""
    # Shared memory in files of their folders: a killed server leaves none elsewhere.
    settings["dynamic_shared_memory_type"] = "mmap"
    with ExitStack() as started:
        primary = ThrowawayServer(**settings)
        started.callback(primary.stop)
        standby = ThrowawayServer(primary=primary.dsn, **settings)
        started.callback(standby.stop)
        yield primary, standby


@contextmanager
def synchronous_pair():
    """As `pair`; a commit is acknowledged once the standby shows it."""
    with pair(synchronous_commit="remote_apply") as (primary, standby):
        # After the copy was made, so that the standby waits for none when promoted.
        asked(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
        asked(primary, "SELECT pg_reload_conf()")
        state = "SELECT sync_state FROM pg_stat_replication"
        until(lambda: [("sync",)] == asked(primary, state))
        yield primary, standby


def asked(server, text):
    """The results of one statement, in a transaction of its own."""
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        cursor = connection.execute(text)
        return cursor.fetchall() if cursor.description else []


def until(condition):
    """Wait until it is so."""
    deadline = time.monotonic() + _WAIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def address_of(*servers):
    """The URL that leads to whichever of these servers takes writes."""
    hosts = ",".join(
        "{host}:{port}".format_map(conninfo_to_dict(server.dsn)) for server in servers
    )
    return f"postgresql://postgres@{hosts}/postgres?target_session_attrs=read-write"


def code_of(call, kind=StorageError):
    with pytest.raises(kind) as caught:
        call()
    return caught.value.code


# Reading


@pytest.mark.parametrize("is_standby", [True, False])
@pytest.mark.parametrize("setting", ["on", "off"])
def test_what_a_server_is_gives_the_advice(is_standby, setting):
    """A standby, and each setting that isn't durable, is told with what to do."""
    row = ("18.1", is_standby, "repeatable read", setting, setting)
    found = examine(lambda _text: [row], "place")
    assert (is_standby, setting) == (found.facts["is_standby"], found.facts["fsync"])
    expected = ["postgres.standby"] if is_standby else []
    if setting == "off":
        expected += ["postgres.synchronous-commit", "postgres.fsync"]
    assert expected == [each.code for each in found.advice]
    assert found.is_sound


def test_a_standby_answers_as_its_primary_and_takes_no_write(tmp_path):
    """A standby shows what was acknowledged, to the last byte, and refuses writes."""
    with (
        synchronous_pair() as (primary, standby),
        closing(open_store(primary.dsn, create=True, schema=KIT)) as one,
        closing(open_store(standby.dsn, schema=KIT)) as shown,
    ):
        for each in LIFE:
            one.append(each)
            scope = each.scope
            assert history_of(one, scope) == history_of(shown, scope)
        for scope in (SCOPE, OTHER):
            assert local_of(one, scope) == local_of(shown, scope)
            assert verify_scope(shown, scope).is_sound
        assert one.due("job", until=9, limit=9) == shown.due("job", until=9, limit=9)
        assert list(one.scopes(limit=9)) == list(shown.scopes(limit=9))
        for source, name in ((one, "primary"), (shown, "standby")):
            with closing(directory.open(tmp_path / name, KIT)) as copied:
                for scope in all_scopes(source):
                    assert () == copy_whole(source, copied, scope).differences
        assert directory.projection(tmp_path / "primary") == directory.projection(
            tmp_path / "standby"
        )

        before = history_of(one), history_of(one, OTHER)
        for verb in (
            lambda: shown.append(commit(note(70))),
            lambda: shown.append(commit(note(70), scope=ScopeId("a", "shared", "b"))),
            lambda: shown.rebuild(SCOPE),
            lambda: open_store(f"{standby.dsn}#new", create=True, schema=KIT),
        ):
            assert "storage.readonly" == code_of(verb)
        assert "store.missing" == code_of(
            lambda: open_store(f"{standby.dsn}#new", schema=KIT), StoreOpenError
        )
        with psycopg.connect(standby.dsn) as raw:
            joined = PostgresStore.join(raw, schema=KIT)
            raw.execute("SELECT 1")
            assert "storage.readonly" == code_of(lambda: joined.append(commit(note(7))))
            assert before[0] == history_of(joined)
        for store in (one, shown):
            assert before == (history_of(store), history_of(store, OTHER))
        assert 2 == one.append(commit(note(70), scope=OTHER)).seq


# Failover


class Writer(threading.Thread):
    """Installs package after package, each under its key until it is acknowledged."""

    def __init__(self, store, name):
        super().__init__()
        self.scope = ScopeId("tests", "project", name)
        self.session = Session(
            store,
            scope=self.scope,
            principal=Principal.parse("human:ada"),
            clock=SystemClock(),
            ids=SystemIds(),
            random=SystemRandom(),
        )
        self.acknowledged = []
        self.codes = []
        self.is_done = threading.Event()

    def run(self):
        while not self.is_done.is_set():
            number = len(self.acknowledged)
            package = new_package(
                "persona", package_id=f"p{number}", created_at=0, issuer="tests"
            )
            source = PackageSource(f"p{number}", files=package)
            try:
                stored = self.session.packages.install(source, key=f"k{number}")
            except StorageError as error:
                self.codes.append(error.code)
                time.sleep(0.02)
            else:
                self.acknowledged.append(stored.is_first)

    def present(self):
        """The numbers of the packages that are there, each as often as it is."""
        return sorted(int(each.package_id[1:]) for each in self.session.packages.list())


@contextmanager
def writing(primary, standby):
    """Writers under load, which have each been acknowledged some packages."""
    url = address_of(primary, standby)
    with closing(open_store(url, create=True)) as store:
        writers = [Writer(store, f"w{number}") for number in range(_WRITERS)]
        for writer in writers:
            writer.start()
        try:
            until(lambda: all(len(writer.acknowledged) > 4 for writer in writers))
            yield store, writers
        finally:
            for writer in writers:
                writer.is_done.set()
            for writer in writers:
                writer.join()


def counts_of(writers):
    """How many packages each writer has been acknowledged."""
    return [len(writer.acknowledged) for writer in writers]


def go_on(writers, before):
    """Wait until each writer has been acknowledged some more than before."""
    pairs = list(zip(writers, before, strict=True))
    until(lambda: all(len(one.acknowledged) > count + 3 for one, count in pairs))


def promoted(standby, writers):
    """Promote the standby, and let all writers go on there; what they had before."""
    before = counts_of(writers)
    assert [(True,)] == asked(standby, "SELECT pg_promote()")
    go_on(writers, before)
    for writer in writers:
        writer.is_done.set()
        writer.join()
    return before


def test_nothing_acknowledged_is_lost_with_a_synchronous_standby():
    """Commits that a kill cuts off, and all that were acknowledged, are there once."""
    with (
        synchronous_pair() as (primary, standby),
        writing(primary, standby) as (store, writers),
    ):
        # Commits wait for the standby now, which receives them all the same.
        asked(standby, "SELECT pg_wal_replay_pause()")
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        until(lambda: [(_WRITERS,)] == asked(primary, waiting))
        ((written,),) = asked(primary, "SELECT pg_current_wal_flush_lsn()")
        received = f"SELECT pg_last_wal_receive_lsn() >= '{written}'"
        until(lambda: [(True,)] == asked(standby, received))
        assert [[]] * _WRITERS == [writer.codes for writer in writers]

        primary.kill()
        until(lambda: all(writer.codes for writer in writers))
        before = promoted(standby, writers)

        for writer, count in zip(writers, before, strict=True):
            assert "storage.outcome-unknown" == writer.codes[0]
            assert {"storage.connection"} >= set(writer.codes[1:])
            done = len(writer.acknowledged)
            assert list(range(done)) == writer.present()
            assert [count] == [n for n in range(done) if not writer.acknowledged[n]]
            assert verify_scope(store, writer.scope).is_sound
            with store.snapshot(writer.scope) as snapshot:
                assert done == snapshot.position


def test_a_standby_that_lags_is_a_whole_earlier_moment():
    """A standby that was cut off is a sound beginning, from which writers go on."""
    with (
        pair() as (primary, standby),
        writing(primary, standby) as (store, writers),
    ):
        asked(standby, "ALTER SYSTEM SET primary_conninfo = ''")
        asked(standby, "SELECT pg_reload_conf()")
        until(lambda: [] == asked(primary, "SELECT 1 FROM pg_stat_replication"))
        go_on(writers, counts_of(writers))
        primary.kill()
        until(lambda: all(writer.codes for writer in writers))
        before = promoted(standby, writers)

        for writer, count in zip(writers, before, strict=True):
            assert {"storage.outcome-unknown", "storage.connection"} >= set(
                writer.codes
            )
            there = writer.present()
            missing = sorted(set(range(len(writer.acknowledged))) - set(there))
            assert len(set(there)) == len(there)
            assert len(missing) > 1
            assert missing == list(range(count - len(missing), count))
            assert verify_scope(store, writer.scope).is_sound
            with store.snapshot(writer.scope) as snapshot:
                assert len(there) == snapshot.position


def test_without_its_standby_a_commit_waits_until_somebody_ends_the_wait():
    """A commit without its standby hangs and isn't shown; cancelling makes it done."""
    with (
        synchronous_pair() as (primary, standby),
        closing(open_store(primary.dsn, create=True, schema=KIT)) as one,
        closing(
            PostgresStore.open(primary.dsn, schema=KIT, busy_timeout_s=0.1)
        ) as other,
    ):
        one.append(LIFE[0])
        standby.stop()
        found = []
        hung = threading.Thread(target=lambda: found.append(one.append(LIFE[1]).seq))
        hung.start()
        waits = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        until(lambda: [(1,)] == asked(primary, f"SELECT 1 {waits}"))
        assert 1 == history_of(other)[0]
        assert "storage.busy" == code_of(lambda: other.append(LIFE[1]), BusyError)
        assert hung.is_alive()
        asked(primary, f"SELECT pg_cancel_backend(pid) {waits}")
        hung.join()
        assert ([2], 2) == (found, history_of(other)[0])
