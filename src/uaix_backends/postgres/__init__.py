"""The PostgreSQL backend: real tables in a schema of their own, through psycopg."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uaix_backends.postgres.store import PostgresStore

__all__ = ["PostgresStore"]


def __getattr__(name: str) -> Any:
    """Load the store on first use, for its statements can be told without a driver."""
    if name == "PostgresStore":
        from uaix_backends.postgres.store import PostgresStore  # noqa: PLC0415

        return PostgresStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names."""
    return __all__
