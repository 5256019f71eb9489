"""The harness of the PostgreSQL backend, for the conformance kit.

The server is the one that `UAIX_PG_DSN` names, or one that is started for the process
and thrown away at its end; processes that it starts find it by the same name.
"""

from __future__ import annotations

import atexit
import hashlib
import itertools
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg

from uaix_backends.postgres.driver import run
from uaix_backends.postgres.store import PostgresStore
from uaix_backends.postgres.throwaway import ThrowawayServer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from uaix_backends.postgres.joined import JoinedPostgresStore
    from uaix_core.schema.schema import Schema

DSN = "UAIX_PG_DSN"


def server() -> str:
    """The address of the server for tests; it is started when there is none."""
    if DSN not in os.environ:
        started = ThrowawayServer()
        pid = os.getpid()

        def stop() -> None:
            # A forked child has no server of its own.
            if os.getpid() == pid:
                started.stop()

        atexit.register(stop)
        os.environ[DSN] = started.dsn
    return os.environ[DSN]


def namespace(path: Path) -> str:
    """The database schema that stands for a folder."""
    return "t_" + hashlib.sha256(str(path).encode()).hexdigest()[:20]


class Harness:
    """Opens stores in a database schema that stands for the folder of the kit."""

    name = "postgres"

    def __init__(self) -> None:
        self._spares = Spares()

    def open(self, path: Path, schema: Schema) -> PostgresStore:
        """The store of this folder, a new one when there is none."""
        name = namespace(path)
        self._spares.take(name, schema)
        return PostgresStore.open(server(), create=True, schema=schema, namespace=name)

    def discard(self, path: Path) -> None:
        """Keep the tables for another folder."""
        self._spares.give(namespace(path))

    def files(self, path: Path) -> Iterable[Path]:  # noqa: ARG002 - the server has them
        """No file: a server's files are its own."""
        return ()

    def host(self, path: Path, schema: Schema) -> Host:
        """A host application with tables in a database schema of its own."""
        return Host(namespace(path), schema)


class Spares:
    """Database schemas that were emptied: making tables takes longest of all.

    They are of one process; a name that others use as well is theirs too.
    """

    def __init__(self) -> None:
        self._pid = os.getpid()
        #: Name -> the schemas of those who opened it.
        self._used: dict[str, list[Schema]] = {}
        self._spare: list[tuple[str, Schema]] = []
        self._numbers = itertools.count()

    def take(self, name: str, schema: Schema) -> None:
        """Let tables stand under a name that is new, when there are some to spare."""
        is_new = name not in self._used
        used = self._used.setdefault(name, [])
        if not any(known is schema for known in used):
            used.append(schema)
        if not is_new or self._pid != os.getpid():
            return
        for number, (spare, made_for) in enumerate(self._spare):
            if made_for is schema:
                del self._spare[number]
                # Another process may have made the tables already.
                with suppress(psycopg.errors.DuplicateSchema):
                    _rename(spare, name, schema)
                return

    def give(self, name: str) -> None:
        """Empty the tables and keep them, when all who opened them have one schema."""
        schemas = self._used.pop(name, [])
        if len(schemas) != 1 or self._pid != os.getpid():
            return
        spare = f"spare_{self._pid}_{next(self._numbers)}"
        # A process that was killed may still be in the midst of a transaction there.
        with suppress(psycopg.errors.LockNotAvailable):
            _empty(name, spare)
            self._spare.append((spare, schemas[0]))


def _rename(spare: str, name: str, schema: Schema) -> None:
    with psycopg.connect(server()) as connection:
        run(connection, f"ALTER SCHEMA {spare} RENAME TO {name}")
        # What was run to make the tables names the namespace.
        for script in PostgresStore.migrations(schema, namespace=name):
            run(
                connection,
                f"UPDATE {name}.uaix_migration SET checksum = %s WHERE version = %s",  # noqa: S608 - ours
                (script.checksum, script.version),
            )


def _empty(name: str, spare: str) -> None:
    with psycopg.connect(server()) as connection:
        run(connection, "SET LOCAL lock_timeout = '5s'")
        found = run(
            connection,
            "SELECT tablename FROM pg_tables WHERE schemaname = %s "
            "AND tablename NOT IN ('uaix_meta', 'uaix_migration')",
            (name,),
        )
        tables = [f'{name}."{table}"' for (table,) in found]
        run(connection, f"LOCK TABLE {', '.join(tables)}")
        run(connection, "; ".join(f"DELETE FROM {table}" for table in tables))  # noqa: S608 - ours
        run(connection, f"ALTER SCHEMA {name} RENAME TO {spare}")


class Host:
    """A host application: its database has our tables and one of its own."""

    def __init__(self, name: str, schema: Schema) -> None:
        self._name = name
        with psycopg.connect(server()) as made:
            for text in PostgresStore.ddl(schema, namespace=name):
                run(made, text)
            run(
                made,
                f"CREATE TABLE {name}.words (number int GENERATED ALWAYS AS IDENTITY, "
                "word text)",
            )

    def connect(self) -> HostConnection:
        """A new connection to the host's database."""
        return HostConnection(psycopg.connect(server(), autocommit=True), self._name)


class HostConnection:
    """One connection: the host begins and ends transactions, the store joins them."""

    def __init__(self, raw: psycopg.Connection, name: str) -> None:
        self._raw = raw
        self._name = name

    def join(self, schema: Schema) -> JoinedPostgresStore:
        """A store that works inside this connection's transactions."""
        return PostgresStore.join(self._raw, schema=schema, namespace=self._name)

    def begin(self) -> None:
        """Open a transaction."""
        self._raw.execute("BEGIN")

    def commit(self) -> None:
        """Commit it."""
        self._raw.execute("COMMIT")

    def rollback(self) -> None:
        """Roll it back."""
        self._raw.execute("ROLLBACK")

    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE

    def write(self, word: str) -> None:
        """Put one row into the host's own table, in the open transaction."""
        run(
            self._raw,
            f"INSERT INTO {self._name}.words (word) VALUES (%s)",  # noqa: S608 - ours
            (word,),
        )

    def words(self) -> list[str]:
        """The host's rows that this connection sees, in the order of writing."""
        found = run(
            self._raw,
            f"SELECT word FROM {self._name}.words ORDER BY number",  # noqa: S608 - ours
        )
        return [word for (word,) in found]

    def settings(self) -> Mapping[str, Any]:
        """Whatever of the connection a store might change."""
        shown = self._raw.execute("SELECT name, setting FROM pg_settings")
        prepared = self._raw.execute("SELECT count(*) FROM pg_prepared_statements")
        return {
            **dict(shown.fetchall()),
            "prepared": prepared.fetchone(),
            "autocommit": self._raw.autocommit,
            "row_factory": self._raw.row_factory,
            "cursor_factory": self._raw.cursor_factory,
        }

    def close(self) -> None:
        """Close the connection."""
        self._raw.close()


harness = Harness()
