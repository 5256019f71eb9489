"""Reads of a host's connection between which another writer commits are never mixed."""

from __future__ import annotations

from contextlib import ExitStack, closing, contextmanager, suppress

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tests.authority.granting import SCOPE as APOLLO
from tests.authority.granting import document, granting, session_over
from tests.backends.postgres_server import execute, fresh_namespace, waiting
from tests.backends.test_joined_batches import failing

from uaix_backends.postgres import PostgresStore, hosts
from uaix_backends.postgres.testing import Host, server
from uaix_conformance.comparison import contents
from uaix_conformance.examples import OTHER, SCOPE, commit, fact, job, note
from uaix_conformance.schema import KIT
from uaix_core import PackageSource, new_package
from uaix_core.packages.policy import AcceptancePolicy
from uaix_core.schema.relations import Ref
from uaix_core.session.schema import SCHEMA
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import BusyError, StaleSnapshotError, StorageError


class Place:
    """A namespace, a host's connection to it, and another writer in it."""

    def __init__(self, schema, **options):
        self.name = fresh_namespace()
        self.schema = schema
        Host(self.name, schema)
        self.raw = psycopg.connect(server())
        self.other = PostgresStore.open(
            server(), schema=schema, namespace=self.name, **options
        )

    def join(self):
        return PostgresStore.join(self.raw, schema=self.schema, namespace=self.name)

    def close(self):
        self.raw.close()
        self.other.close()


@pytest.fixture
def place():
    """A place with two notes."""
    with closing(Place(KIT, busy_timeout_s=0.2)) as made:
        made.other.append(commit(note(0), note(1), puts=[job(0)]))
        yield made


@contextmanager
def intruding(monkeypatch, intrude):
    """Call something before each statement of ours; with how many came before it."""
    real = hosts._PlainCursor.execute
    count = 0

    def execute(self, *values, **options):
        nonlocal count
        count += 1
        intrude(count - 1)
        return real(self, *values, **options)

    with monkeypatch.context() as patched:
        patched.setattr(hosts._PlainCursor, "execute", execute)
        yield lambda: count


def changing(place, turn):
    """A commit of another writer that changes rows of each kind."""
    place.other.append(
        commit(
            note(2 + turn),
            fact(turn, f"s{turn}"),
            puts=[job(0, due_at=turn)],
            erases=[Ref("note", ("t0", 1 + turn))],
        )
    )


def moved(call):
    """Whether reading was refused because another writer's commit came between."""
    told = None
    try:
        call()
    except StaleSnapshotError as error:
        told = error
    if told is not None:
        assert "snapshot.moved" == told.code
        assert "another writer's commit came between the reads" == told.message
        assert told.hint.startswith("read again, or read in a transaction")
    return told is not None


# Another writer between two reads


@pytest.mark.parametrize("begin", ["READ COMMITTED", "REPEATABLE READ", "autocommit"])
def test_what_is_read_was_there_at_one_moment(place, monkeypatch, begin):
    """Wherever another's commit comes, a snapshot shows before or after, or neither."""
    store = place.join()
    place.raw.autocommit = begin == "autocommit"
    outcomes = []
    for turn in range(200):
        before = contents(place.other, SCOPE)
        if begin != "autocommit":
            place.raw.execute(f"SET TRANSACTION ISOLATION LEVEL {begin}")
            # The first statement that reads decides which moment is seen.
            place.raw.execute("SELECT 1")
        found = []

        def intrude(count, turn=turn):
            if count == turn:
                changing(place, turn)

        with intruding(monkeypatch, intrude) as taken:
            is_moved = moved(lambda found=found: found.append(contents(store, SCOPE)))
        place.raw.rollback()
        if taken() <= turn:
            break
        after = contents(place.other, SCOPE)
        assert before != after
        assert is_moved or found[0] in (before, after)
        outcomes.append(is_moved)
    assert turn > 10
    assert (begin != "REPEATABLE READ") == any(outcomes)
    assert verify_scope(place.other, SCOPE).is_sound


@pytest.mark.parametrize(
    "made",
    [commit(note(7)), commit(puts=[job(0, due_at=1)])],
    ids=["history", "work"],
)
def test_a_snapshot_that_moved_stays_refused(place, made):
    """A commit of another writer, also of local rows alone, ends what is read of it."""
    store = place.join()
    with place.raw.transaction():
        with store.snapshot(SCOPE) as snapshot, store.snapshot(OTHER) as beside:
            each = snapshot.commits()
            place.other.append(made)
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
        with store.snapshot(SCOPE) as snapshot:
            assert snapshot.get("note", ("t0", 0)) is not None


# What the host's own connection staged


def test_a_snapshot_moves_along_with_its_own_connection(place):
    """What any store staged on it shows in a snapshot, and goes with a rollback."""
    one, other = place.join(), place.join()
    with place.raw.transaction(), one.snapshot(OTHER) as snapshot:
        assert 0 == snapshot.position
        one.append(commit(note(0), scope=OTHER))
        assert 1 == snapshot.position
        place.raw.execute("SAVEPOINT mine")
        other.append(commit(note(1), puts=[job(1)], scope=OTHER))
        assert 2 == len(snapshot.scan("note", "key", limit=9))
        place.raw.execute("ROLLBACK TO SAVEPOINT mine")
        assert [1] == [each.seq for each in snapshot.commits()]
        one.append(commit(puts=[job(2)], scope=OTHER))
        assert [2] == [row.number for row in snapshot.scan("job", "key", limit=9)]
        one.rebuild(OTHER)
        assert 1 == snapshot.position


def test_a_stage_that_failed_moves_nothing(place, monkeypatch):
    """A snapshot goes on after an append of its own connection that was refused."""
    store = place.join()
    with place.raw.transaction(), store.snapshot(SCOPE) as snapshot:
        with failing(monkeypatch, 8), pytest.raises(StorageError):
            store.append(commit(note(7)))
        assert 1 == snapshot.position
        assert 2 == len(snapshot.scan("note", "key", limit=9))


def test_what_is_staged_excuses_no_other_writer(place):
    """A commit that came before what was staged is still another writer's."""
    store = place.join()
    with place.raw.transaction(), store.snapshot(SCOPE) as snapshot:
        place.other.append(commit(note(7)))
        store.append(commit(note(8)))
        assert moved(lambda: snapshot.position)


# Verbs that write


def test_verbs_that_write_read_what_nobody_changes(monkeypatch):
    """Who decides and writes holds the scope first, whoever tries to come between."""
    files = new_package("persona", package_id="ada", created_at=0, issuer="tests")
    source = PackageSource("ada", files=files)
    one = document(1)
    outcomes = []
    with closing(Place(SCHEMA, busy_timeout_s=0.001)) as place:
        busy = session_over(place.other)
        session = session_over(place.join())

        def intrude(_count):
            with suppress(BusyError):
                busy.packages.set_policy(AcceptancePolicy())
                outcomes.append(True)

        for write in (
            lambda: session.packages.install(source),
            lambda: session.packages.update(source),
            lambda: session.packages.clone("ada", package_id="eva"),
            lambda: session.packages.restore(source),
            lambda: session.packages.set_policy(AcceptancePolicy()),
            lambda: session.registrations.register(one, granting(one)),
        ):
            with place.raw.transaction():
                place.raw.execute("SELECT 1")
                with intruding(monkeypatch, intrude):
                    write()
        assert len(outcomes) >= 6
        assert verify_scope(place.other, APOLLO).is_sound


# Scopes that are held


def scopes_of(place):
    return execute(f"SELECT scope, seq FROM {place.name}.uaix_scope ORDER BY scope")  # noqa: S608 - ours


def test_a_scope_that_is_only_held_leaves_no_row(place):
    """Who holds a new scope and writes nothing has nothing staged there."""
    store = place.join()
    with place.raw.transaction():
        store.hold(OTHER)
        store.hold(SCOPE)
    assert [(SCOPE.text, 1)] == scopes_of(place)
    with place.raw.transaction():
        store.hold(OTHER)
        assert 1 == store.append(commit(note(0), scope=OTHER)).seq
    assert [(SCOPE.text, 1), (OTHER.text, 1)] == scopes_of(place)


@pytest.mark.parametrize("is_made", [False, True], ids=["held", "staged"])
def test_a_new_scope_that_is_held_is_kept_from_others(place, is_made):
    """Whoever comes to a scope without any commit waits for who holds it."""
    store, name = place.join(), place.name
    late = psycopg.connect(make_conninfo(server(), application_name=name))
    beside = PostgresStore.join(late, schema=KIT, namespace=name)
    with closing(late):
        late.execute("SELECT 1")
        with place.raw.transaction():
            store.hold(OTHER)
            with pytest.raises(BusyError):
                place.other.append(commit(note(5), scope=OTHER))
            with place.raw.transaction():
                store.append(commit(note(0), scope=OTHER))
                if not is_made:
                    raise psycopg.Rollback
            stack = ExitStack()
            waiter = stack.enter_context(waiting(name, lambda: beside.hold(OTHER)))
        stack.close()
        assert waiter.result() is None
        with beside.snapshot(OTHER) as snapshot:
            assert is_made == snapshot.position
        assert 1 + is_made == beside.append(commit(note(1), scope=OTHER)).seq
        late.commit()
    with place.other.snapshot(OTHER) as snapshot:
        assert 1 + is_made == len(snapshot.scan("note", "key", limit=9))


def test_a_new_scope_is_held_under_a_stricter_level(place):
    """At REPEATABLE READ another's commit to a held scope is told at the append."""
    store = place.join()
    place.raw.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    place.raw.execute("SELECT 1")
    place.other.append(commit(note(0), scope=OTHER))
    store.hold(OTHER)
    with pytest.raises(StaleSnapshotError) as caught:
        store.append(commit(note(1), scope=OTHER))
    assert "host.stale-snapshot" == caught.value.code
    place.raw.rollback()


def test_the_first_writers_of_a_scope_need_no_lock_to_be_one_chain(place):
    """Where advisory locks keep nobody out, the key of the scope's row decides."""
    store = place.join()
    for each in (store, place.other):
        each._layout.reserve = "SELECT %s"
    with place.raw.transaction():
        store.hold(OTHER)
        assert 1 == place.other.append(commit(note(0), scope=OTHER)).seq
        assert 2 == store.append(commit(note(1), scope=OTHER)).seq
    late = psycopg.connect(make_conninfo(server(), application_name=place.name))
    beside = PostgresStore.join(late, schema=KIT, namespace=place.name)
    beside._layout.reserve = "SELECT %s"
    third = commit(note(0), scope=APOLLO)
    with closing(late), late.transaction(), place.raw.transaction():
        late.execute("SELECT 1")
        assert 1 == beside.append(third).seq
        with pytest.raises(BusyError):
            place.other.append(commit(note(1), scope=APOLLO))
    assert 2 == place.other.append(commit(note(1), scope=APOLLO)).seq
    for scope in (OTHER, APOLLO):
        assert verify_scope(place.other, scope).is_sound
