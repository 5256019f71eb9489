"""Migrations: what a store has had, what it lacks, and who may open it then."""

# ruff: noqa: S608 - names of tables are those of the test

from __future__ import annotations

import sqlite3
from contextlib import closing

import apsw
import attrs
import psycopg
import pytest
from tests.backends.postgres_server import execute, fresh_namespace
from tests.store.lives import LIFE, history_of, lived

from uaix_backends.postgres import PostgresStore
from uaix_backends.postgres.testing import server
from uaix_backends.sqlite import SqliteStore
from uaix_conformance.examples import SCOPE, commit, fact, note
from uaix_conformance.schema import KIT, ROOMS
from uaix_core.schema.migrations import Migration
from uaix_core.schema.schema import Schema
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import (
    ConflictError,
    IntegrityError,
    StorageError,
    StoreOpenError,
    UaixError,
)

FACTS = ("fact", "head")
FIRST = Migration(1, "notes", [n for n in KIT.relations if n not in FACTS])
SECOND = Migration(2, "facts", FACTS)
WITHOUT_FACTS = (ROOMS[0], *ROOMS[2:])
#: What an older version knows, and what a newer one does.
OLD = Schema(*WITHOUT_FACTS, migrations=[FIRST])
NEW = Schema(*ROOMS, migrations=[FIRST, SECOND])
HARD = Schema(*ROOMS, migrations=[FIRST, attrs.evolve(SECOND, is_additive=False)])


def with_index(**changes):
    """A newer schema whose third migration consists of statements."""
    texts = {
        "sqlite": ["CREATE INDEX extra ON uaix_note (title)"],
        "postgresql": ["CREATE INDEX extra ON {namespace}.uaix_note (noted_at)"],
    }
    third = Migration(3, "extra-index", statements=texts)
    return Schema(*ROOMS, migrations=[FIRST, SECOND, attrs.evolve(third, **changes)])


class Sqlite:
    """A file, and what is done with it by hand."""

    def __init__(self, folder):
        self._file = folder / "store.sqlite"

    def open(self, schema, *, create=True):
        return SqliteStore.open(self._file, create=create, schema=schema)

    def scripts(self, schema):
        return SqliteStore.migrations(schema)

    def run(self, texts):
        with closing(sqlite3.connect(self._file, isolation_level=None)) as raw:
            raw.execute("PRAGMA journal_mode = WAL")
            raw.execute("BEGIN IMMEDIATE")
            for text in texts:
                raw.execute(text)
            raw.execute("COMMIT")

    def join(self, schema):
        raw = apsw.Connection(str(self._file))
        try:
            SqliteStore.join(raw, schema=schema).close()
        finally:
            raw.close()

    def change(self, text):
        with closing(apsw.Connection(str(self._file))) as raw:
            raw.execute(text)

    def tables(self):
        with closing(apsw.Connection(str(self._file))) as raw:
            found = raw.execute(
                "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
            )
            return {*found, *raw.execute("SELECT 'row', * FROM uaix_migration")}


class Postgres:
    """A namespace, and what is done with it by hand."""

    def __init__(self, _folder):
        self._name = fresh_namespace()

    def open(self, schema, *, create=True):
        return PostgresStore.open(
            server(), create=create, schema=schema, namespace=self._name
        )

    def scripts(self, schema):
        return PostgresStore.migrations(schema, namespace=self._name)

    def run(self, texts):
        with psycopg.connect(server()) as raw:
            for text in texts:
                raw.execute(text)

    def join(self, schema):
        with psycopg.connect(server()) as raw:
            store = PostgresStore.join(raw, schema=schema, namespace=self._name)
            raw.execute("SELECT 1")
            store.append(commit(note(0)))
            raw.rollback()

    def change(self, text):
        execute(text.replace("uaix_", f"{self._name}.uaix_"))

    def tables(self):
        columns = execute(
            "SELECT table_name, column_name, data_type, is_nullable, collation_name"
            " FROM information_schema.columns WHERE table_schema = %s",
            self._name,
        )
        indexes = execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = %s",
            self._name,
        )
        rows = execute(f"SELECT 'row', * FROM {self._name}.uaix_migration")
        return {*columns, *indexes, *rows}


PLACES = {"sqlite": Sqlite, "postgres": Postgres}


@pytest.fixture(params=PLACES)
def place(request, tmp_path):
    """Where a store may be, on each database with tables."""
    return PLACES[request.param](tmp_path)


@pytest.fixture
def other(request, place, tmp_path):
    """Another place of the same kind."""
    (tmp_path / "other").mkdir()
    return type(place)(tmp_path / "other")


def code_of(call, kind=StoreOpenError):
    with pytest.raises(kind) as caught:
        call()
    return caught.value.code


def texts_of(scripts):
    return [text for script in scripts for text in script.texts]


# One after the other


def test_a_store_that_grew_is_one_that_was_made_so(place, other):
    """Migrations 1 to k and then the rest give the tables of all at once."""
    for schema in (OLD, NEW, with_index()):
        place.open(schema).close()
    other.open(with_index()).close()
    made = {str(each) for each in other.tables()}

    name, twin = getattr(place, "_name", ""), getattr(other, "_name", "")
    grown = {str(each) for each in place.tables()}
    if name:
        # The namespace is a part of the statements, and so of their checksums.
        made = {each for each in made if not each.startswith("('row'")}
        grown = {each for each in grown if not each.startswith("('row'")}
        made = {each.replace(twin, name) for each in made}
    assert made == grown


def test_a_hosts_tool_makes_the_same_tables(place, other):
    """What is exported, run by hand, is what an owned store has, row by row."""
    mine, theirs = place.scripts(NEW), other.scripts(NEW)
    place.run(texts_of(mine))
    other.open(NEW).close()

    twin = getattr(other, "_name", "")
    name = getattr(place, "_name", "")
    renamed = {
        tuple(str(v).replace(twin, name) if twin else v for v in each)
        for each in other.tables()
        if each[0] != "row"
    }
    found = {
        tuple(str(v) if twin else v for v in each)
        for each in place.tables()
        if each[0] != "row"
    }
    assert renamed == found
    assert [(s.version, s.name) for s in theirs] == [(s.version, s.name) for s in mine]
    place.join(NEW)


def test_nothing_is_run_twice(place):
    """Opening again changes nothing, and a step that is run again leaves nothing."""
    place.open(NEW).close()
    before = place.tables()
    place.open(NEW).close()
    assert before == place.tables()

    for script in place.scripts(NEW):
        with pytest.raises((sqlite3.Error, psycopg.Error)):
            place.run(script.texts)
    assert before == place.tables()


def test_a_step_that_fails_leaves_nothing(place):
    """A statement that fails takes back those before it, and the store stays whole."""
    with closing(place.open(OLD)) as store:
        store.append(commit(note(0)))
    before = place.tables()
    bad = {
        dialect: ["CREATE TABLE uaix_fact (a int)", "CREATE INDEX x ON uaix_lost (y)"]
        for dialect in ("sqlite", "postgresql")
    }
    failing = attrs.evolve(SECOND, statements=bad)
    with pytest.raises(UaixError):
        place.open(Schema(*ROOMS, migrations=[FIRST, failing]))

    assert before == place.tables()
    with closing(place.open(OLD, create=False)) as store:
        assert verify_scope(store, SCOPE).is_sound


def test_views_of_a_new_relation_are_filled(place):
    """A migration that adds a view shows in it what the history already says."""
    small = Schema(
        *(attrs.evolve(room) for room in ROOMS[:2]),
        ROOMS[3],
        migrations=[
            Migration(1, "most", [n for n in KIT.relations if n != "rank"]),
        ],
    )
    ranks = Migration(2, "ranks", ["rank"], is_additive=False)
    large = Schema(*ROOMS, migrations=[small.migrations[0], ranks])
    with closing(place.open(small)) as store:
        for one in LIFE:
            store.append(one)
    with closing(place.open(large)) as store:
        assert history_of(lived("memory", None)) == history_of(store)


# An older version


def test_an_older_version_works_beside_additive_steps(place):
    """It reads and writes what it knows, and the newer one sees all of both."""
    with closing(place.open(NEW)) as newer, closing(place.open(OLD)) as older:
        newer.append(commit(note(0)))
        older.append(commit(note(1)))
        newer.append(commit(fact(1)))
        assert 4 == older.append(commit(note(2))).seq
        with pytest.raises(ConflictError):
            older.append(commit(note(2)))
        with older.snapshot(SCOPE) as snapshot:
            assert 4 == snapshot.position
            assert 3 == len(snapshot.scan("note", "key", limit=9))
        assert verify_scope(newer, SCOPE).is_sound
        with newer.snapshot(SCOPE) as snapshot:
            assert 4 == sum(1 for _ in snapshot.commits())
            assert [1] == [row.size for row in snapshot.scan("head", "key", limit=9)]


def test_an_older_version_tells_what_it_cannot_read(place):
    """A commit with rows of a later relation is told as one, and not as damage."""
    place.open(NEW).close()
    with closing(place.open(OLD)) as older:
        older.append(commit(note(0)))
        assert verify_scope(older, SCOPE).is_sound
        with closing(place.open(NEW)) as newer:
            newer.append(commit(fact(1)))
        for call in (lambda: verify_scope(older, SCOPE), lambda: older.rebuild(SCOPE)):
            assert "store.newer" == code_of(call)
        # Nothing came of the attempt to compute the views anew.
        with older.snapshot(SCOPE) as snapshot:
            assert 1 == len(snapshot.scan("tally", "key", limit=9))


def test_an_older_version_opens_no_store_beyond_it(place):
    """A step that isn't additive keeps it out, named by its number."""
    with closing(place.open(OLD)) as older:
        older.append(commit(note(0)))
        place.open(HARD).close()
        for call in (
            lambda: place.open(OLD),
            lambda: place.join(OLD),
            lambda: older.append(commit(note(1))),
        ):
            with pytest.raises(StoreOpenError, match="migration 2") as caught:
                call()
            assert "store.newer" == caught.value.code
        with older.snapshot(SCOPE) as snapshot:
            assert 1 == snapshot.position


# Whatever isn't as it was published


@pytest.mark.parametrize(
    ("change", "code", "kind"),
    [
        ("SET checksum = 'x' WHERE version = 1", "store.migration", IntegrityError),
        ("SET checksum = '' WHERE version = 2", "store.migration", IntegrityError),
        ("SET name = 'notes' WHERE version = 2", "store.migration", IntegrityError),
        ("SET version = 3 WHERE version = 2", "store.migration", IntegrityError),
        ("SET version = 0 WHERE version = 1", "store.migration", IntegrityError),
        ("SET version = -1 WHERE version = 2", "store.migration", IntegrityError),
        ("SET relations = '{}' WHERE version = 2", "store.schema", StoreOpenError),
        ("SET relations = '[]' WHERE version = 2", "store.schema", StoreOpenError),
        ("SET relations = 'x' WHERE version = 1", "store.schema", StoreOpenError),
    ],
)
def test_other_rows_than_those_published_are_told(place, change, code, kind):
    """A changed text, name or number of a migration keeps a store closed to all."""
    place.open(NEW).close()
    place.change(f"UPDATE uaix_migration {change}")
    for call in (lambda: place.open(NEW), lambda: place.join(NEW)):
        assert code == code_of(call, kind)


def test_changed_statements_are_told(place):
    """Who has run other statements under the name of a migration isn't believed."""
    place.open(with_index()).close()
    texts = {name: ["CREATE INDEX more ON x (y)"] for name in ("sqlite", "postgresql")}
    edited = with_index(statements=texts)
    for call in (lambda: place.open(edited), lambda: place.join(edited)):
        assert "store.migration" == code_of(call, IntegrityError)


def test_a_later_row_excuses_nothing_that_is_planted(tmp_path):
    """Triggers and views are refused beside later steps too."""
    for text in (
        "CREATE TRIGGER t AFTER INSERT ON uaix_note BEGIN DELETE FROM uaix_fact; END",
        "CREATE VIEW v AS SELECT * FROM uaix_note",
        "CREATE TRIGGER t AFTER INSERT ON uaix_fact BEGIN DELETE FROM uaix_note; END",
    ):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        place = Sqlite(folder)
        place.open(NEW).close()
        place.open(OLD).close()
        place.change(text)
        assert "store.schema" == code_of(lambda: place.open(OLD))  # noqa: B023 - called at once


# Whose move it is


def test_a_host_runs_what_its_database_lacks(place):
    """A joined store runs nothing: it names the step that the host has to run."""
    place.run(texts_of(place.scripts(OLD)))
    before = place.tables()
    with pytest.raises(StoreOpenError, match="migration 2") as caught:
        place.join(NEW)
    assert "store.migration" == caught.value.code
    assert before == place.tables()

    place.run(place.scripts(NEW)[1].texts)
    place.join(NEW)


def test_what_needs_no_transaction_is_run_by_hand(place):
    """Such a step keeps an owned store closed until whoever keeps it has run it."""
    place.open(NEW).close()
    schema = with_index(is_transactional=False)
    assert "store.migration" == code_of(lambda: place.open(schema))
    place.open(NEW).close()

    place.run(place.scripts(schema)[2].texts)
    place.open(schema, create=False).close()
    place.open(NEW).close()


def test_a_checksum_is_of_the_exact_statements(place):
    """Every statement counts, in its order, and nothing else does."""
    (first, second) = place.scripts(NEW)
    assert first.checksum == attrs.evolve(first, name="other").checksum
    assert first.checksum != second.checksum
    turned = attrs.evolve(first, statements=first.statements[::-1])
    assert first.checksum != turned.checksum
    assert first.record not in first.statements
    assert first.as_dict()["statements"] == [*first.statements, first.record]


def test_tables_without_migrations_are_no_store(place):
    """A database from which the rows of the migrations are gone isn't opened."""
    place.open(NEW).close()
    place.change("DELETE FROM uaix_migration")
    with pytest.raises((StoreOpenError, StorageError)):
        place.open(NEW)
