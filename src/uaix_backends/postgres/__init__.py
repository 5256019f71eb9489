"""The PostgreSQL backend: real tables in a schema of their own, through psycopg."""

from uaix_backends.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
