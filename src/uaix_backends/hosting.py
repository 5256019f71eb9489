"""What the joined stores of all databases share: whose connection it is they use.

A host hands in one connection of its own. Pools, engines, sessions and cursors are
refused, because they may lead to another connection at any call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from uaix_core.values.errors import CallerError, NoTransactionError

if TYPE_CHECKING:
    from collections.abc import Callable


class Joined(NamedTuple):
    """A driver's connection.

    ``says_open`` is whether who lent it says that a transaction is open; None when
    nobody but the driver is there to say it.
    """

    connection: Any
    says_open: Callable[[], bool] | None


def unwrapped(connection: Any) -> Joined:
    """The driver's connection behind a SQLAlchemy `Connection`; any other as it is."""
    kind = type(connection)
    if kind.__module__.partition(".")[0] != "sqlalchemy":
        return Joined(connection, None)
    lent: Any = getattr(connection, "connection", None)
    if not hasattr(lent, "driver_connection") or not hasattr(kind, "begin_nested"):
        raise refused(connection)
    return Joined(lent.driver_connection, connection.in_transaction)


def refused(connection: Any) -> CallerError:
    """The error for what is no single connection of a database that is known here."""
    return CallerError(
        f"a store can't join a {type(connection).__qualname__}",
        code="host.connection",
        hint="hand in one connection: of apsw, sqlite3 or psycopg, or a SQLAlchemy "
        "Connection (of a session: session.connection())",
    )


def no_transaction() -> NoTransactionError:
    """The error when the host has no transaction open in which anything can stay."""
    return NoTransactionError(
        "the host has no transaction open",
        hint="begin one first, for example by BEGIN IMMEDIATE",
    )
