"""Harnesses whose hosts use other libraries and modes than the backends' own ones."""

# ruff: noqa: S608 - names of tables are those of the test

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import sqlalchemy
from sqlalchemy.pool import NullPool

from uaix_backends.postgres.store import PostgresStore
from uaix_backends.postgres.testing import Harness as PostgresHarness
from uaix_backends.postgres.testing import Host as PostgresHost
from uaix_backends.postgres.testing import namespace, server
from uaix_backends.sqlite.store import SqliteStore
from uaix_backends.sqlite.testing import Harness as SqliteHarness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@contextmanager
def looking(connection: Any) -> Iterator[Any]:
    """A host's transaction to read in: the one that is open, or one of its own."""
    if connection.in_transaction():
        yield connection
        return
    connection.begin()
    try:
        yield connection
    finally:
        connection.rollback()


def database(path: Path, schema: Any) -> Path:
    """A database of sqlite3's own with our tables and one of the host's."""
    file = path / "host.sqlite"
    made = sqlite3.connect(file)
    made.execute("PRAGMA journal_mode = wal")
    made.execute("CREATE TABLE words (word TEXT)")
    for text in SqliteStore.ddl(schema):
        made.execute(text)
    made.commit()
    made.close()
    return file


class StdlibConnection:
    """A connection of sqlite3 that begins and ends its transactions by statements."""

    def __init__(self, raw: sqlite3.Connection) -> None:
        self.raw = raw

    def join(self, schema: Any) -> Any:
        return SqliteStore.join(self.raw, schema=schema)

    def begin(self) -> None:
        self.raw.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        self.raw.execute("COMMIT")

    def rollback(self) -> None:
        self.raw.execute("ROLLBACK")

    def in_transaction(self) -> bool:
        return self.raw.in_transaction

    def write(self, word: str) -> None:
        self.raw.execute("INSERT INTO words VALUES (?)", (word,))

    def words(self) -> list[str]:
        found = self.raw.execute("SELECT word FROM words ORDER BY rowid")
        return [word for (word,) in found]

    def settings(self) -> dict[str, Any]:
        names = ("journal_mode", "synchronous", "foreign_keys", "secure_delete")
        return {
            **{n: self.raw.execute(f"PRAGMA {n}").fetchone() for n in names},
            "isolation_level": self.raw.isolation_level,
            "row_factory": self.raw.row_factory,
            "text_factory": self.raw.text_factory,
        }

    def close(self) -> None:
        self.raw.close()


class Variant:
    """The harness of a backend with another host."""

    def __init__(
        self, name: str, backend: Any, host: Callable[[Path, Any], Callable[[], Any]]
    ) -> None:
        self.name = name
        self._backend = backend
        self._host = host

    def open(self, path: Path, schema: Any) -> Any:
        return self._backend.open(path, schema)

    def files(self, path: Path) -> Any:
        return self._backend.files(path)

    def host(self, path: Path, schema: Any) -> Any:
        connect = self._host(path, schema)

        class Host:
            def connect(self) -> Any:
                return connect()

        return Host()


def stdlib(name: str, **options: Any) -> Variant:
    """Hosts on sqlite3 with these options of `sqlite3.connect`."""

    def host(path: Path, schema: Any) -> Callable[[], Any]:
        file = database(path, schema)
        return lambda: StdlibConnection(sqlite3.connect(file, **options))

    return Variant(name, SqliteHarness(), host)


class AlchemyConnection:
    """A SQLAlchemy Connection; its transactions are SQLAlchemy's."""

    def __init__(self, engine: sqlalchemy.Engine, join: Any, table: str) -> None:
        self.engine = engine
        self.connection = engine.connect()
        self._join = join
        self._table = table
        self._open: Any = None

    def join(self, schema: Any) -> Any:
        return self._join(self.connection, schema)

    def begin(self) -> None:
        self._open = self.connection.begin()

    def commit(self) -> None:
        self._open.commit()

    def rollback(self) -> None:
        self._open.rollback()

    def in_transaction(self) -> bool:
        return self.connection.in_transaction()

    def _execute(self, text: str, **values: Any) -> Any:
        return self.connection.execute(sqlalchemy.text(text), values)

    def write(self, word: str) -> None:
        self._execute(f"INSERT INTO {self._table} (word) VALUES (:word)", word=word)

    def words(self) -> list[str]:
        was_open = self.connection.in_transaction()
        found = [word for (word,) in self._execute(f"SELECT word FROM {self._table}")]
        if not was_open:
            self.connection.rollback()
        return found

    def settings(self) -> dict[str, Any]:
        raw = self.connection.connection.driver_connection
        return {
            name: getattr(raw, name, None)
            for name in ("isolation_level", "row_factory", "text_factory", "autocommit")
        }

    def close(self) -> None:
        self.connection.close()
        self.engine.dispose()


def sqlite_engine(file: Path) -> sqlalchemy.Engine:
    """An engine over sqlite3 whose transactions are real ones, as its manual says."""
    engine = sqlalchemy.create_engine(f"sqlite:///{file}", poolclass=NullPool)

    @sqlalchemy.event.listens_for(engine, "connect")
    def _connect(raw: Any, _record: Any) -> None:
        raw.isolation_level = None

    @sqlalchemy.event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine


def _alchemy_sqlite(path: Path, schema: Any) -> Callable[[], Any]:
    file = database(path, schema)

    def join(connection: Any, schema: Any) -> Any:
        return SqliteStore.join(connection, schema=schema)

    return lambda: AlchemyConnection(sqlite_engine(file), join, "words")


def _alchemy_postgres(path: Path, schema: Any) -> Callable[[], Any]:
    name = namespace(path)
    PostgresHost(name, schema)
    url = server().replace("postgresql://", "postgresql+psycopg://")

    def join(connection: Any, schema: Any) -> Any:
        return PostgresStore.join(connection, schema=schema, namespace=name)

    def connect() -> Any:
        engine = sqlalchemy.create_engine(url, poolclass=NullPool)
        return AlchemyConnection(engine, join, f"{name}.words")

    return connect


legacy = stdlib("legacy")
immediate = stdlib("immediate", isolation_level="IMMEDIATE")
manual = stdlib("manual", isolation_level=None)
alchemy_sqlite = Variant("alchemy-sqlite", SqliteHarness(), _alchemy_sqlite)
alchemy_postgres = Variant("alchemy-postgres", PostgresHarness(), _alchemy_postgres)
