"""One throwaway PostgreSQL server for a run, and fresh stores on it."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, Any

import psycopg

from uaix_backends.postgres import PostgresStore
from uaix_backends.postgres.testing import server
from uaix_core.session.schema import SCHEMA

if TYPE_CHECKING:
    from uaix_core.schema.schema import Schema

_numbers = itertools.count()
#: Schema -> the namespace whose tables were made once, to be emptied for each test.
_made: dict[int, str] = {}


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
    namespace = _made.get(id(schema))
    if namespace is None:
        namespace = _made[id(schema)] = fresh_namespace()
        PostgresStore.open(
            server(), create=True, schema=schema, namespace=namespace
        ).close()
    found = execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = %s "
        "AND tablename <> 'uaix_meta'",
        namespace,
    )
    tables = ", ".join(f'"{namespace}"."{name}"' for (name,) in found)
    execute(f"TRUNCATE {tables}")
    return f"{server()}#{namespace}"
