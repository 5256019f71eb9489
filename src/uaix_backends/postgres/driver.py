"""The driver: connections that keep no state of a session, and its errors as ours."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final

import psycopg
from psycopg import errors, postgres
from psycopg._adapters_map import AdaptersMap
from psycopg._typeinfo import TypesRegistry
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import tuple_row

from uaix_backends.addresses import shown_url
from uaix_core.values.errors import (
    BusyError,
    IntegrityError,
    StorageError,
    StoreOpenError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uaix_core.values.errors import UaixError

    Connection = psycopg.Connection[tuple[Any, ...]]

_ERRORS: Final[tuple[tuple[type[psycopg.Error], type[StorageError], str, str], ...]] = (
    (errors.LockNotAvailable, BusyError, "storage.busy", "another writer holds it"),
    (errors.DeadlockDetected, BusyError, "storage.busy", "writers wait in a circle"),
    (errors.SerializationFailure, BusyError, "storage.busy", "another was faster"),
    (errors.DiskFull, StorageError, "storage.full", "the server's disk is full"),
    (errors.OutOfMemory, StorageError, "storage.memory", "the server has no memory"),
    (
        errors.ReadOnlySqlTransaction,
        StorageError,
        "storage.readonly",
        "the server only reads: a standby, or set so",
    ),
    (
        errors.InsufficientPrivilege,
        StorageError,
        "storage.denied",
        "the role may not do this",
    ),
    (errors.UndefinedTable, IntegrityError, "storage.tables", "a table is missing"),
    (errors.UndefinedColumn, IntegrityError, "storage.tables", "a column is missing"),
    (errors.UndefinedFunction, IntegrityError, "storage.tables", "a type is another"),
    (errors.DatatypeMismatch, IntegrityError, "storage.tables", "a type is another"),
    (errors.InvalidSchemaName, IntegrityError, "storage.tables", "the schema is gone"),
    (errors.UniqueViolation, IntegrityError, "storage.rows", "rows contradict"),
    (errors.DataCorrupted, IntegrityError, "storage.corrupt", "data is corrupted"),
    (errors.IndexCorrupted, IntegrityError, "storage.corrupt", "an index is corrupted"),
    (errors.QueryCanceled, StorageError, "storage.interrupted", "cancelled"),
)


def translated(error: psycopg.Error, place: str) -> UaixError:
    """The library's error for one of the driver's; its message holds no content."""
    for kind, ours, code, message in _ERRORS:
        if isinstance(error, kind):
            return ours(message, code=code, path=place)
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return StorageError(
            "the server can't be reached",
            code="storage.connection",
            path=place,
            hint="is it running? check the host and the port",
        )
    state = error.sqlstate or type(error).__name__
    return StorageError(
        f"PostgreSQL reports {state}", code="storage.failed", path=place
    )


def _plain_adapters() -> AdaptersMap:
    """The driver's own loaders and dumpers, whatever the process has registered."""
    types = TypesRegistry()
    postgres.register_default_types(types)
    adapters = AdaptersMap(types=types)
    postgres.register_default_adapters(adapters)
    return adapters


PLAIN: Final = _plain_adapters()

#: Classes of states in which the server is going or gone, or was cut off.
_LOST: Final = ("08", "57P", "58", "XX")
#: Those of them that end the connection.
_GONE: Final = ("08", "57P")


#: What an English message about a connection has in it, and what that says.
_REASONS: Final = (
    (("resolve host",), "the server's host isn't known"),
    (("translate host name",), "the server's host isn't known"),
    (("Connection refused",), "the server can't be reached: nobody listens there"),
    (("timeout expired",), "the server can't be reached: it gave no answer in time"),
    (("password authentication failed",), "the server refused user or password"),
    (("no password supplied",), "the server asks for a password"),
    (("pg_hba.conf",), "the server doesn't let this user in from here"),
    (("role", "does not exist"), "the server knows no such user"),
    (("database", "does not exist"), "the server has no such database"),
    (("too many",), "the server has no connection left"),
    (("connection slots",), "the server has no connection left"),
    (("starting up",), "the server is starting"),
    (("shutting down",), "the server is going"),
)


def is_refusal(error: psycopg.Error) -> bool:
    """Whether the server answered that it did not do what it was asked to."""
    state = error.sqlstate
    return state is not None and not state.startswith(_LOST)


def is_loss(error: psycopg.Error) -> bool:
    """Whether the connection is gone, or the server is about to end it."""
    state = error.sqlstate
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) and (
        state is None or state.startswith(_GONE)
    )


def place_of(dsn: str, namespace: str) -> str:
    """How a store is named in messages: no user, no password, no option.

    Raises:
        StoreOpenError: ``store.url``.

    """
    parts: dict[str, Any] = {}
    try:
        parts = conninfo_to_dict(dsn)
        is_read = "\0" not in dsn and _is_ports(str(parts.get("port") or ""))
    except (psycopg.Error, ValueError):
        is_read = False
    if not is_read:
        # What libpq says of it may be a part of a password.
        raise StoreOpenError(
            "not the address of a PostgreSQL server",
            code="store.url",
            hint="postgresql://USER:PASSWORD@HOST:PORT/DATABASE#NAMESPACE; "
            "in a password / is written %2F, @ %40, # %23 and ? %3F",
        )
    if "://" in dsn.partition("=")[0]:
        return f"{shown_url(dsn)}#{namespace}"
    host = parts.get("host") or parts.get("hostaddr") or "local"
    port = f":{parts['port']}" if parts.get("port") else ""
    name = str(parts.get("dbname") or "")
    if "://" in name:
        # libpq takes an address there, too.
        return f"{shown_url(name)}#{namespace}"
    place = f"{host}{port}/{name}"
    return f"postgresql://{'' if '@' in place else place}#{namespace}"


def _is_ports(text: str) -> bool:
    """Whether these are ports; a password that isn't escaped gets in their place."""
    return not text.strip("0123456789,")


def connect(dsn: str, place: str) -> Connection:
    """A connection on which every transaction is begun by a statement of ours.

    No statement stays prepared and nothing is set for the session, so a pooler may
    give each transaction another session of the server. The encoding is asked for
    when the connection is made, whatever the environment says.
    """
    try:
        return psycopg.connect(
            dsn,
            client_encoding="utf8",
            autocommit=True,
            prepare_threshold=None,
            row_factory=tuple_row,
            cursor_factory=psycopg.Cursor,
            context=PLAIN,
        )
    except (psycopg.Error, UnicodeError) as error:
        why = _why(error)
    # The driver's error names host, user and database, and with an address that isn't
    # escaped any of them may be a part of a password: so it is neither cause nor
    # context.
    raise StorageError(
        why,
        code="storage.connection",
        path=place,
        hint="is it running? check the host and the port, then the user, the "
        "password and the database",
    )


def _why(error: Exception) -> str:
    """Why there is no connection, in words that quote nothing."""
    said = str(error)
    for words, why in _REASONS:
        if all(word in said for word in words):
            return why
    return "the server can't be reached"


def run(
    connection: Connection, text: str, values: Sequence[Any] | None = None
) -> psycopg.Cursor[tuple[Any, ...]]:
    """Run a statement whose text was put together, of quoted names and no values."""
    # The driver takes a text only as a literal, so that nobody writes values into it.
    return connection.execute(text.encode(), values)


def close_quietly(connection: Connection) -> None:
    """Close; what fails then has been reported or changes nothing."""
    with contextlib.suppress(psycopg.Error):
        connection.close()
