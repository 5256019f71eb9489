"""The harness of the SQLite backend, for the conformance kit."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import apsw

from uaix_backends.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from uaix_backends.sqlite.joined import JoinedSqliteStore
    from uaix_core.schema.schema import Schema


class Harness:
    """Opens stores of this backend in folders that the kit gives."""

    name = "sqlite"

    def open(self, path: Path, schema: Schema) -> SqliteStore:
        """The store in this folder, a new one when there is none."""
        path.mkdir(parents=True, exist_ok=True)
        return SqliteStore.open(path / "store.sqlite", create=True, schema=schema)

    def files(self, path: Path) -> Iterable[Path]:
        """Every file that lies in the folder."""
        return sorted(found for found in path.rglob("*") if found.is_file())

    def host(self, path: Path, schema: Schema) -> Host:
        """A host application with a database in this folder."""
        return Host(path / "host.sqlite", schema)


class Host:
    """A host application on apsw: its database has our tables and one of its own."""

    def __init__(self, path: Path, schema: Schema) -> None:
        self._path = str(path)
        with closing(apsw.Connection(self._path)) as made:
            made.pragma("journal_mode", "wal")
            made.execute("CREATE TABLE words (word TEXT)")
            for text in SqliteStore.ddl(schema):
                made.execute(text)

    def connect(self) -> HostConnection:
        """A new connection to the host's database."""
        return HostConnection(apsw.Connection(self._path))


class HostConnection:
    """One connection: the host begins and ends transactions, the store joins them."""

    def __init__(self, raw: apsw.Connection) -> None:
        self._raw = raw

    def join(self, schema: Schema) -> JoinedSqliteStore:
        """A store that works inside this connection's transactions."""
        return SqliteStore.join(self._raw, schema=schema)

    def begin(self) -> None:
        """Open a transaction."""
        self._raw.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Commit it."""
        self._raw.execute("COMMIT")

    def rollback(self) -> None:
        """Roll it back."""
        self._raw.execute("ROLLBACK")

    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._raw.in_transaction

    def write(self, word: str) -> None:
        """Put one row into the host's own table, in the open transaction."""
        self._raw.execute("INSERT INTO words VALUES (?)", (word,))

    def words(self) -> list[str]:
        """The host's rows that this connection sees, in the order of writing."""
        found = self._raw.execute("SELECT word FROM words ORDER BY rowid")
        return [word for (word,) in found]

    def settings(self) -> Mapping[str, Any]:
        """Whatever of the connection a store might change."""
        names = ("journal_mode", "synchronous", "foreign_keys", "secure_delete")
        return {
            **{name: self._raw.pragma(name) for name in names},
            "row_trace": self._raw.row_trace,
            "exec_trace": self._raw.exec_trace,
        }

    def close(self) -> None:
        """Close the connection."""
        self._raw.close()


harness = Harness()
