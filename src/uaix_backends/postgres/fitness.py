"""Whether a host's connection to PostgreSQL is of use now, and what is said if not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from psycopg.pq import PipelineStatus, TransactionStatus

from uaix_core.values.errors import (
    CallerError,
    HostTransactionLostError,
    NoTransactionError,
)

if TYPE_CHECKING:
    from uaix_backends.postgres.driver import Connection

#: States in which the server ends a connection whose transaction took too long.
ENDED: Final = ("25P03", "25P04")


def check_fit(connection: Connection, place: str) -> None:
    """Refuse a connection that changes what is stored, or is in the middle of a call.

    Raises:
        CallerError: ``host.encoding``, ``host.pipeline``, ``host.active``.

    """
    status = connection.info.parameter_status
    for side in ("client_encoding", "server_encoding"):
        if status(side) != "UTF8":
            raise CallerError(
                f"the {side} of the connection isn't UTF8",
                code="host.encoding",
                path=place,
                hint="connect with client_encoding=utf8 to a database in UTF8",
            )
    if connection.pgconn.pipeline_status != PipelineStatus.OFF:
        raise CallerError(
            "the connection is in a pipeline",
            code="host.pipeline",
            path=place,
            hint="leave it first: what is read there comes too late",
        )
    if connection.info.transaction_status == TransactionStatus.ACTIVE:
        raise CallerError(
            "the connection is in the middle of a COPY, a stream or another's call",
            code="host.active",
            path=place,
            hint="let that end first, or join another connection",
        )


def begins(connection: Connection) -> bool:
    """Whether the next statement begins a transaction by itself."""
    status = connection.info.transaction_status
    return status == TransactionStatus.IDLE and not connection.autocommit


def unusable(connection: Connection, place: str) -> NoTransactionError:
    """The error where nothing can be staged: no transaction is open, or it failed."""
    if connection.info.transaction_status == TransactionStatus.INERROR:
        return failed(place)
    return NoTransactionError(
        "the host has no transaction open",
        path=place,
        hint="begin one first: connection.transaction() of psycopg, begin() of "
        "SQLAlchemy, or a statement of your own",
    )


def at_rest(place: str) -> NoTransactionError:
    """The error where a read would begin a transaction that the host hasn't."""
    return NoTransactionError(
        "the host has no transaction open, and a read would begin one",
        path=place,
        hint="begin a transaction first, or set autocommit to read without one",
    )


def failed(place: str) -> NoTransactionError:
    """The error in a transaction that has failed."""
    return NoTransactionError(
        "the host's transaction is in error, so nothing can be done in it",
        path=place,
        hint="roll it back, or back to a savepoint of your own",
    )


def lost(place: str) -> HostTransactionLostError:
    """The error when the transaction ended while it was worked in."""
    return HostTransactionLostError(
        "the host's transaction ended while something was staged in it", path=place
    )


def timed_out(place: str) -> HostTransactionLostError:
    """The error when the server ended a transaction that was idle or took too long."""
    return HostTransactionLostError(
        "the server has ended the host's transaction, which took too long",
        path=place,
        hint="repeat the whole transaction on a new connection",
    )
