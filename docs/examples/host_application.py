"""A small host application: its rows and the library's are one transaction.

A message arrives once, or again after a crash. For each one the host keeps a receipt,
installs the package that it brings, notes which checkpoint its own page shows, and
leaves a line in its outbox for others. All of it is there, or none.

    python docs/examples/host_application.py sqlite FILE
    python docs/examples/host_application.py postgresql DSN
"""

from __future__ import annotations

import sys
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from uaix_backends.system import SystemClock, SystemIds, SystemRandom
from uaix_core import PackageSource, Principal, ScopeId, Session, new_package

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLES = (
    "CREATE TABLE ingress (message_id TEXT PRIMARY KEY, receipt TEXT NOT NULL)",
    "CREATE TABLE page (package_id TEXT PRIMARY KEY, checkpoint_id TEXT NOT NULL)",
    "CREATE TABLE outbox (message_id TEXT PRIMARY KEY, line TEXT NOT NULL)",
)
SCOPE = ScopeId.parse("acme/project/apollo")


class SqliteHost:
    """The host on sqlite3."""

    mark = "?"

    def __init__(self, file: str) -> None:
        import sqlite3

        self._connection = sqlite3.connect(file, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")

    def migrate(self) -> None:
        """Make the tables, in one transaction of the host's migration tool."""
        from uaix_backends.sqlite import SqliteStore

        with self.transaction():
            for statement in (*TABLES, *SqliteStore.ddl()):
                self.execute(statement)

    def store(self) -> Any:
        """A store that works inside this connection's transactions."""
        from uaix_backends.sqlite import SqliteStore

        return SqliteStore.join(self._connection)

    def execute(self, text: str, *values: object) -> list[tuple[Any, ...]]:
        """Run one statement of the host's own."""
        return self._connection.execute(text, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit at the end, or roll back."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class PostgresHost:
    """The host on psycopg; all tables lie in a database schema of their own."""

    mark = "%s"

    def __init__(self, dsn: str, namespace: str = "host_application") -> None:
        import psycopg

        self._namespace = namespace
        self._connection = psycopg.connect(dsn, autocommit=True)
        self._connection.execute(f"CREATE SCHEMA IF NOT EXISTS {namespace}")
        self._connection.execute(f"SET search_path = {namespace}")

    def migrate(self) -> None:
        """Make the tables, in one transaction of the host's migration tool."""
        from uaix_backends.postgres import PostgresStore

        ours = PostgresStore.ddl(namespace=self._namespace)
        with self.transaction():
            for statement in (*TABLES, *ours):
                self.execute(statement)

    def store(self) -> Any:
        """A store that works inside this connection's transactions."""
        from uaix_backends.postgres import PostgresStore

        return PostgresStore.join(self._connection, namespace=self._namespace)

    def execute(self, text: str, *values: object) -> list[tuple[Any, ...]]:
        """Run one statement of the host's own."""
        cursor = self._connection.execute(text, values or None)
        return cursor.fetchall() if cursor.description else []

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit at the end, or roll back."""
        with self._connection.transaction():
            yield

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class Application:
    """What the host does with a message."""

    def __init__(self, host: Any) -> None:
        self.host = host
        self._store = host.store()
        self._session = Session(
            self._store,
            scope=SCOPE,
            principal=Principal.parse("system:intake"),
            clock=SystemClock(),
            ids=SystemIds(),
            random=SystemRandom(),
        )

    def receive(
        self, message_id: str, files: dict[str, bytes], last: str | None = None
    ) -> str:
        """Take a message in: everything about it is kept, or nothing.

        Args:
            message_id: names the message; a repeated one changes nothing.
            files: the package that it brings.
            last: one more statement, to see what happens when it fails.

        """
        host, mark = self.host, self.host.mark
        with host.transaction():
            known = host.execute(
                f"SELECT receipt FROM ingress WHERE message_id = {mark}", message_id
            )
            if known:
                return known[0][0]
            source = PackageSource(message_id, files=files)
            installed = self._session.packages.install(source, key=message_id)
            host.execute(
                f"INSERT INTO ingress VALUES ({mark}, {mark})",
                message_id,
                installed.receipt,
            )
            host.execute(
                f"INSERT INTO page VALUES ({mark}, {mark})",
                installed.package_id,
                installed.checkpoint_id,
            )
            host.execute(
                f"INSERT INTO outbox VALUES ({mark}, {mark})",
                message_id,
                f"installed {installed.package_id}",
            )
            if last is not None:
                host.execute(last)
        return installed.receipt

    def counts(self) -> dict[str, int]:
        """How many rows each table has, the library's chain among them."""
        found = {
            name: self.host.execute(f"SELECT count(*) FROM {name}")[0][0]
            for name in ("ingress", "page", "outbox")
        }
        with self._store.snapshot(SCOPE) as snapshot:
            found["commits"] = snapshot.position
            found["packages"] = len(snapshot.scan("package", "key", limit=10))
            found["receipts"] = len(snapshot.scan("receipt", "key", limit=10))
        return found

    def close(self) -> None:
        """Let go of the store, then of the connection."""
        self._store.close()
        self.host.close()


def persona(package_id: str) -> dict[str, bytes]:
    """A small package, as a message brings it."""
    return new_package("persona", package_id=package_id, created_at=0, issuer="example")


def main(kind: str, place: str) -> None:
    """Take one message in, twice."""
    host = SqliteHost(place) if kind == "sqlite" else PostgresHost(place)
    host.migrate()
    with closing(Application(host)) as application:
        first = application.receive("message-1", persona("ada"))
        again = application.receive("message-1", persona("ada"))
        print(first == again, application.counts())


if __name__ == "__main__":
    main(*sys.argv[1:])
