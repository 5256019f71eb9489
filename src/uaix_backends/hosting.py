"""What the joined stores of all databases share: whose connection it is they use.

A host hands in one connection of its own. Pools, engines, sessions and cursors are
refused, because they may lead to another connection at any call.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from uaix_core.values.errors import CallerError, NoTransactionError

#: What a SQLAlchemy `Connection` says of itself when there is none behind it.
_GONE: Final = ("closed", "invalidated")


class Joined(NamedTuple):
    """A driver's connection, and the SQLAlchemy `Connection` that lent it, if any."""

    connection: Any
    lender: Any = None

    def check(self) -> None:
        """Refuse a connection that its lender has taken back.

        Its pool may have lent it to somebody else by then.

        Raises:
            CallerError: ``host.closed``, ``host.connection``.

        """
        lender = self.lender
        if lender is None:
            return
        if lender.closed or lender.invalidated:
            raise closed()
        if lender.connection.driver_connection is not self.connection:
            raise CallerError(
                "the SQLAlchemy Connection leads to another connection than before",
                code="host.connection",
                hint="join it anew",
            )

    def says_open(self) -> bool:
        """Whether a transaction is open, as far as the lender knows."""
        return self.lender is None or bool(self.lender.in_transaction())


def unwrapped(connection: Any) -> Joined:
    """The driver's connection behind a SQLAlchemy `Connection`; any other as it is."""
    kind = type(connection)
    if kind.__module__.partition(".")[0] != "sqlalchemy":
        return Joined(connection)
    if any(getattr(connection, name, False) is True for name in _GONE):
        raise closed()
    lent: Any = getattr(connection, "connection", None)
    if not hasattr(lent, "driver_connection") or not hasattr(kind, "begin_nested"):
        raise refused(connection)
    return Joined(lent.driver_connection, connection)


def refused(connection: Any) -> CallerError:
    """The error for what is no single connection of a database that is known here."""
    return CallerError(
        f"a store can't join a {type(connection).__qualname__}",
        code="host.connection",
        hint="hand in one connection: of apsw, sqlite3 or psycopg, or a SQLAlchemy "
        "Connection (of a session: session.connection())",
    )


def closed() -> CallerError:
    """The error when the host's connection is closed, or was given back to its pool."""
    return CallerError(
        "the host's connection is closed",
        code="host.closed",
        hint="join the connection that is open now",
    )


def no_transaction() -> NoTransactionError:
    """The error when the host has no transaction open in which anything can stay."""
    return NoTransactionError(
        "the host has no transaction open",
        hint="begin one first, for example by BEGIN IMMEDIATE",
    )
