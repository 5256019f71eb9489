"""Migrations of a PostgreSQL store while others are at work in it."""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tests.backends.postgres_server import execute, fresh_namespace, waiting
from tests.backends.test_migrations import HARD, NEW, OLD

from uaix_backends.postgres import PostgresStore
from uaix_backends.postgres.testing import server
from uaix_conformance.examples import SCOPE, commit, note
from uaix_core.values.errors import StoreOpenError


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
