"""One throwaway PostgreSQL server for a run, and fresh stores on it."""

from __future__ import annotations

import itertools
import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg

from uaix_backends.postgres import PostgresStore
from uaix_backends.postgres.testing import server
from uaix_core.session.schema import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

    from uaix_core.schema.schema import Schema

_numbers = itertools.count()
#: Schema -> the namespace whose tables were made once, to be emptied for each test.
_made: dict[int, tuple[str, str]] = {}


def fresh_namespace() -> str:
    """A namespace that nobody has used."""
    return f"t_{os.getpid()}_{next(_numbers)}"


def execute(text: str, *values: Any) -> list[Any]:
    """Run one statement on the server, in a transaction of its own."""
    with psycopg.connect(server(), autocommit=True) as connection:
        cursor = connection.execute(text, values)
        return cursor.fetchall() if cursor.description else []


def emptied(schema: Schema = SCHEMA) -> str:
    """The URL of a store without any commit: made once, and emptied for each test."""
    namespace, empty = _made.get(id(schema), ("", ""))
    if not namespace:
        namespace = fresh_namespace()
        PostgresStore.open(
            server(), create=True, schema=schema, namespace=namespace
        ).close()
        found = execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s "
            "AND tablename NOT IN ('uaix_meta', 'uaix_migration')",
            namespace,
        )
        # Truncating makes the files of all tables anew; few of them hold any row.
        empty = "; ".join(
            f'DELETE FROM "{namespace}"."{name}"'  # noqa: S608 - names of ours
            for (name,) in found
        )
        _made[id(schema)] = namespace, empty
    execute(empty)
    return f"{server()}#{namespace}"


def terminated(connections: Iterable[psycopg.Connection[Any]]) -> None:
    """Have the server end connections, and wait until it has."""
    pids = [connection.info.backend_pid for connection in connections]
    execute("SELECT pg_terminate_backend(pid) FROM unnest(%s::int[]) AS pid", pids)
    while execute("SELECT 1 FROM pg_stat_activity WHERE pid = ANY(%s)", pids):
        time.sleep(0.01)


@contextmanager
def waiting(name: str, work: Callable[[], object]) -> Iterator[Future[Any]]:
    """Work in a thread, of which a connection of this name waits for a lock by now.

    The work is over when the block is.
    """
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        asked = (
            "SELECT 1 FROM pg_stat_activity "
            "WHERE application_name = %s AND wait_event_type = 'Lock'"
        )
        while not execute(asked, name):
            assert not future.done(), future.exception()
            time.sleep(0.01)
        yield future


@contextmanager
def database(encoding: str) -> Iterator[str]:
    """The address of a database in another encoding, which is gone afterwards."""
    name = fresh_namespace()
    execute(
        f"CREATE DATABASE {name} ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C' "
        "TEMPLATE template0"
    )
    yield psycopg.conninfo.make_conninfo(server(), dbname=name)
    execute(f"DROP DATABASE {name} WITH (FORCE)")
