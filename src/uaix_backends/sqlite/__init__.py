"""The SQLite backend: real tables in one file, through apsw."""

from uaix_backends.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
