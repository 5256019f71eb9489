"""Migrations of a PostgreSQL store while others are at work in it."""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tests.backends.postgres_server import execute, fresh_namespace, waiting
from tests.backends.test_migrations import HARD, NEW, OLD
from tests.store.lives import LIFE, history_of, lived

from uaix_backends.postgres import PostgresStore
from uaix_backends.postgres.testing import server
from uaix_conformance.examples import SCOPE, commit, note
from uaix_conformance.schema import KIT, ROOMS
from uaix_core.schema.migrations import Migration
from uaix_core.schema.schema import Schema
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import IntegrityError, StoreOpenError, UaixError


@pytest.fixture
def name():
    """A namespace with the tables of the older version."""
    name = fresh_namespace()
    opened(name, OLD).close()
    return name


def opened(name, schema, dsn=""):
    return PostgresStore.open(
        dsn or server(), create=True, schema=schema, namespace=name, busy_timeout_s=60
    )


def named(name):
    """The server's address for connections that are known by a name."""
    return make_conninfo(server(), application_name=name)


# Writers that wait


class Owned:
    """A writer that keeps its store by itself."""

    def __init__(self, name):
        self._store = opened(name, OLD, named(name))

    def append(self, made):
        return self._store.append(made)

    def close(self):
        self._store.close()


class Joined:
    """A writer inside the transactions of a host."""

    def __init__(self, name):
        self._raw = psycopg.connect(named(name))
        self._store = PostgresStore.join(self._raw, schema=OLD, namespace=name)
        self.append(None)

    def append(self, made):
        with self._raw.transaction():
            # It has looked at the tables before it waits.
            return self._store.append(made) if made else self._store.hold(SCOPE)

    def close(self):
        self._raw.close()


@pytest.mark.parametrize("kind", [Owned, Joined])
@pytest.mark.parametrize("is_new", [False, True], ids=["known scope", "new scope"])
@pytest.mark.parametrize(("schema", "is_kept"), [(HARD, False), (NEW, True)])
def test_who_waited_for_a_migration_sees_it(name, kind, is_new, schema, is_kept):
    """A step that isn't additive keeps out who waited for the scope all the while."""
    if not is_new:
        with closing(opened(name, OLD)) as store:
            store.append(commit(note(0)))
    with closing(kind(name)) as older:
        with psycopg.connect(server()) as raw:
            newer = PostgresStore.join(raw, schema=OLD, namespace=name)
            raw.execute("SELECT 1")
            newer.append(commit(note(1)))
            with waiting(name, lambda: older.append(commit(note(2)))) as waiter:
                for text in PostgresStore.migrations(schema, namespace=name)[1].texts:
                    raw.execute(text)
                raw.commit()
        if is_kept:
            assert waiter.result().seq > 1
        else:
            assert isinstance(waiter.exception(), StoreOpenError)
            assert "store.newer" == waiter.exception().code
    kept = execute(f'SELECT max(seq) FROM "{name}".uaix_scope')  # noqa: S608 - ours
    assert [(2 - is_new + is_kept,)] == kept


# What a joined store finds


def without_tables(name):
    execute(f'DROP SCHEMA "{name}" CASCADE')


def with_facts_first(name):
    """The step that isn't additive, run by whoever knows it."""
    opened(name, HARD).close()


def changed(text):
    return lambda name: execute(text.format(name=name))


FOUND = {
    "no tables": (without_tables, OLD, "store.missing"),
    "a step not run": (lambda _: None, NEW, "store.migration"),
    "a strict step": (with_facts_first, OLD, "store.newer"),
    "other statements": (
        changed("UPDATE {name}.uaix_migration SET checksum = 'x'"),
        OLD,
        "store.migration",
    ),
    "another format": (
        changed("UPDATE {name}.uaix_meta SET value = '9' WHERE name = 'format'"),
        OLD,
        "store.format",
    ),
    "no migration": (
        changed("DELETE FROM {name}.uaix_migration"),
        OLD,
        "store.migration",
    ),
    "no table of migrations": (
        changed("DROP TABLE {name}.uaix_migration"),
        OLD,
        "store.migration",
    ),
    "no table of notes": (
        changed("DROP TABLE {name}.uaix_meta"),
        OLD,
        "store.migration",
    ),
}

VERBS = {
    "append": lambda store: store.append(commit(note(0))),
    "hold": lambda store: store.hold(SCOPE),
    "rebuild": lambda store: store.rebuild(SCOPE),
    "snapshot": lambda store: store.snapshot(SCOPE).__enter__(),
    "scopes": lambda store: store.scopes(limit=1),
    "due": lambda store: store.due("job", until=1, limit=1),
}


def code_of(call):
    with pytest.raises(UaixError) as caught:
        call()
    return caught.value.code


@pytest.mark.parametrize("found", FOUND)
def test_the_first_use_of_any_kind_looks_at_the_tables(name, found):
    """Whatever is asked first, tables that aren't those of the store are told."""
    change, schema, code = FOUND[found]
    change(name)
    with closing(psycopg.connect(server())) as raw:
        raw.execute("SELECT 1")
        for verb in VERBS.values():
            store = PostgresStore.join(raw, schema=schema, namespace=name)
            assert code == code_of(lambda verb=verb, store=store: verb(store))
            # And the host's transaction goes on.
            raw.execute("SELECT 1")


@pytest.mark.parametrize("verb", VERBS)
def test_any_verb_can_be_the_first(name, verb):
    """Over tables as they must be, each verb is answered when it is asked first."""
    with closing(opened(name, NEW)) as store:
        store.append(commit(note(7)))
    with closing(psycopg.connect(server())) as raw:
        raw.execute("SELECT 1")
        VERBS[verb](PostgresStore.join(raw, schema=NEW, namespace=name))
        raw.commit()
    with closing(opened(name, NEW)) as store:
        assert verify_scope(store, SCOPE).is_sound


def test_a_strict_step_keeps_later_reads_out(name):
    """A store that has looked already sees a step that isn't additive at its reads."""
    with closing(psycopg.connect(server(), autocommit=True)) as raw:
        store = PostgresStore.join(raw, schema=OLD, namespace=name)
        with store.snapshot(SCOPE) as snapshot:
            assert 0 == snapshot.position
            with_facts_first(name)
            assert "store.newer" == code_of(lambda: snapshot.position)
        for verb in ("snapshot", "scopes", "due"):
            assert "store.newer" == code_of(lambda verb=verb: VERBS[verb](store))


def test_tables_that_were_rolled_back_are_looked_at_anew():
    """Who joined before the tables were made, or unmade, sees what is there now."""
    name = fresh_namespace()
    with closing(psycopg.connect(server())) as raw:
        store = PostgresStore.join(raw, schema=OLD, namespace=name)
        for _ in range(2):
            for text in PostgresStore.ddl(OLD, namespace=name):
                raw.execute(text)
            assert 1 == store.append(commit(note(0))).seq
            raw.rollback()
            raw.execute("SELECT 1")
            with pytest.raises(UaixError):
                store.append(commit(note(0)))
            assert "store.missing" == code_of(lambda: store.append(commit(note(0))))
            raw.rollback()


@pytest.mark.parametrize(
    ("room", "is_view"), [(ROOMS[2], True), (ROOMS[3], False)], ids=["views", "work"]
)
def test_a_step_that_adds_views_says_that_they_are_empty(room, is_view):
    """Who has to run it is told to rebuild after it, and then the views are whole."""
    name, added = fresh_namespace(), [each.name for each in room.relations]
    first = Migration(1, "most", [n for n in KIT.relations if n not in added])
    rooms = [each for each in ROOMS if each is not room]
    small = Schema(*rooms, migrations=[first])
    second = Migration(2, "more", added, is_additive=is_view)
    large = Schema(*ROOMS, migrations=[first, second])
    with closing(opened(name, small)) as store:
        for one in LIFE if is_view else (commit(note(0)),):
            store.append(one)
    with closing(psycopg.connect(server())) as raw:
        raw.execute("SELECT 1")
        store = PostgresStore.join(raw, schema=large, namespace=name)
        with pytest.raises(StoreOpenError, match="migration 2") as caught:
            store.hold(SCOPE)
        assert is_view == ("rebuild() each scope" in caught.value.hint)
        for text in PostgresStore.migrations(large, namespace=name)[1].texts:
            raw.execute(text)
        for scope in store.scopes(limit=9):
            store.rebuild(scope)
        assert verify_scope(store, SCOPE).is_sound
        if is_view:
            assert history_of(lived("memory", None)) == history_of(store)
        raw.commit()


# What an owned store finds


@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize(
    "found",
    [each for each in FOUND if each[:2] in ("no", "an") and each != "no tables"],
)
def test_a_store_whose_notes_are_gone_is_told_as_one(name, found, create):
    """Without the rows or tables that say what was run, nothing is run, and it says."""
    change, schema, code = FOUND[found]
    change(name)
    with pytest.raises(UaixError) as caught:
        PostgresStore.open(server(), create=create, schema=schema, namespace=name)
    assert code == caught.value.code
    # What it advises can be done.
    is_noted = "last statement" in caught.value.hint
    assert (found == "no migration") == is_noted


def test_what_was_run_can_be_noted_again(name):
    """The last statements of the migrations mend a store that lost its notes."""
    with closing(opened(name, NEW)) as store:
        store.append(commit(note(0)))
        execute(f'DELETE FROM "{name}".uaix_migration')  # noqa: S608 - ours
        with pytest.raises(IntegrityError, match="last statement") as caught:
            opened(name, NEW)
        assert "store.migration" == caught.value.code
        for script in PostgresStore.migrations(NEW, namespace=name):
            execute(script.texts[-1])
        assert 2 == store.append(commit(note(1))).seq
    opened(name, NEW).close()


def test_an_open_store_whose_notes_go_is_told(name):
    """A writer sees that the notes of a step that isn't additive are gone."""
    with closing(opened(name, HARD)) as store:
        execute(f'DELETE FROM "{name}".uaix_migration')  # noqa: S608 - ours
        assert "store.migration" == code_of(lambda: store.append(commit(note(0))))
