"""Opening a store: finding its tables, and bringing them to what they must be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from uaix_backends.postgres.migrating import migrate, standing_of
from uaix_backends.postgres.statements import Statements
from uaix_core.values.errors import StoreOpenError

if TYPE_CHECKING:
    from uaix_backends.postgres.connections import Connections
    from uaix_backends.postgres.driver import Connection
    from uaix_backends.postgres.layout import Layout
    from uaix_backends.tabular.migrations import Standing

#: The oldest server whose statements these are.
_OLDEST: Final = 140_000
#: Names the lock under which tables are made, in the space of advisory locks.
_MAKING: Final = 0x75616978


def prepare(
    connections: Connections, layout: Layout, *, create: bool, partitions: int
) -> None:
    """Bring a database to where commits can begin.

    Raises:
        StoreOpenError: ``store.missing``, ``store.format``, ``store.schema``,
            ``store.server``, ``store.encoding``.

    """
    place = connections.place

    def look(connection: Connection) -> Standing | None:
        _check_server(connection, place)
        connections.begin_reading(connection)
        return standing_of(Statements(connection), layout, place)

    with connections.writing(look) as (connection, found):
        if found is not None and not found.missing:
            return
        if found is None and not create:
            raise StoreOpenError(
                "there is no store",
                code="store.missing",
                path=place,
                hint="check the address, or pass create=True for a new store",
            )
        connection.rollback()
        connections.begin(connection)
        # It goes with the transaction, and so suits a pooler.
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MAKING,))
        # Another process may have been faster.
        standing = standing_of(Statements(connection), layout, place)
        missing = (
            layout.scripts(partitions).all() if standing is None else standing.missing
        )
        migrate(connection, layout, missing, place)
        with connections.committing():
            connections.commit(connection)


def _check_server(connection: Connection, place: str) -> None:
    """Refuse a server that can't keep a store."""
    if connection.info.server_version < _OLDEST:
        raise StoreOpenError(
            "the server is too old",
            code="store.server",
            path=place,
            hint="PostgreSQL 14 or later",
        )
    if connection.info.parameter_status("server_encoding") != "UTF8":
        raise StoreOpenError(
            "the database keeps texts in another encoding than UTF8",
            code="store.encoding",
            path=place,
            hint="CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0",
        )
