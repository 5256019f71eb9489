"""Opening a store: finding its tables, making them, adding relations."""

# ruff: noqa: S608 - texts are made of quoted names; every value is bound

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from uaix_backends.postgres.driver import run
from uaix_backends.postgres.reading import ScopeRows
from uaix_backends.postgres.shapes import checked_partitions
from uaix_backends.postgres.statements import Statements
from uaix_backends.tabular.damage import stored_scope
from uaix_backends.tabular.writing import rebuild_views
from uaix_core.values.errors import StoreOpenError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from uaix_backends.postgres.connections import Connections
    from uaix_backends.postgres.driver import Connection
    from uaix_backends.postgres.layout import Layout

#: The format of the tables; another one is another kind of store.
FORMAT: Final = 1
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

    def look(connection: Connection) -> Mapping[str, str] | None:
        _check_server(connection, connections.place)
        connections.begin_reading(connection)
        return _stored(connection, layout)

    with connections.writing(look) as (connection, found):
        if found is not None and not _missing(found, layout, connections.place):
            return
        if found is None and not create:
            raise StoreOpenError(
                "there is no store",
                code="store.missing",
                path=connections.place,
                hint="check the address, or pass create=True for a new store",
            )
        connection.rollback()
        connections.begin(connection)
        # It goes with the transaction, and so suits a pooler.
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MAKING,))
        # Another process may have been faster.
        stored = _stored(connection, layout)
        if stored is None:
            _make(connection, layout, partitions)
        else:
            missing = _missing(stored, layout, connections.place)
            _grow(connection, layout, missing, _partitions(stored, connections.place))
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


def _stored(connection: Connection, layout: Layout) -> Mapping[str, str] | None:
    """What the store notes of itself, None when there is none."""
    found = connection.execute(
        "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = %s AND tablename = %s",
        (layout.names.namespace, "uaix_meta"),
    ).fetchone()
    if found is None:
        return None
    rows = run(connection, f"SELECT name, value FROM {layout.names.meta}")
    return dict(rows.fetchall())


def _missing(stored: Mapping[str, str], layout: Layout, place: str) -> list[str]:
    """The relations that the stored schema lacks; refuse every other difference."""
    if stored.get("format") != str(FORMAT):
        raise StoreOpenError(
            "a store of another format version",
            code="store.format",
            path=place,
            hint=f"this version reads format {FORMAT}",
        )
    try:
        relations = json.loads(stored["relations"])
        differs = any(layout.digests.get(n) != d for n, d in relations.items())
    except (KeyError, ValueError, AttributeError, TypeError, RecursionError):
        relations, differs = {}, True
    if differs:
        raise StoreOpenError(
            "the store was made with another schema",
            code="store.schema",
            path=place,
            hint="open it with the version and schema that it was made with",
        )
    return [name for name in layout.tables if name not in relations]


def _partitions(stored: Mapping[str, str], place: str) -> int:
    """Into how many parts the tables of a store are cut."""
    try:
        return checked_partitions(int(stored.get("partitions", "0")))
    except (TypeError, ValueError):
        raise StoreOpenError(
            "the store doesn't say how its tables are cut",
            code="store.schema",
            path=place,
        ) from None


def _make(connection: Connection, layout: Layout, partitions: int) -> None:
    with Statements(connection).batch():
        for text in all_ddl(layout, partitions):
            run(connection, text)


def all_ddl(layout: Layout, partitions: int) -> list[str]:
    """The statements that make all tables, and note what they are for."""
    return [
        f"CREATE SCHEMA IF NOT EXISTS {layout.names.schema}",
        *layout.names.ddl(partitions),
        *_ddl(layout, list(layout.tables), partitions),
    ]


def _ddl(layout: Layout, relations: Sequence[str], partitions: int) -> list[str]:
    """The statements that make the tables of these relations and note the schema."""
    notes = {
        "format": str(FORMAT),
        "partitions": str(partitions),
        "schema": layout.fingerprint,
        "relations": json.dumps(layout.digests, sort_keys=True),
    }
    return [
        *layout.ddl(relations, partitions),
        *(
            # Digests and numbers: nothing in them is quoted.
            f"INSERT INTO {layout.names.meta} (name, value) "
            f"VALUES ('{name}', '{value}') "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value"
            for name, value in notes.items()
        ),
    ]


def _grow(
    connection: Connection, layout: Layout, missing: Sequence[str], partitions: int
) -> None:
    """Add the relations that the stored schema lacks, and fill the views anew."""
    if not missing:
        return
    with Statements(connection).batch():
        for text in _ddl(layout, missing, partitions):
            run(connection, text)
    found = run(connection, f"SELECT scope FROM {layout.names.scope}")
    for (text,) in found.fetchall():
        scope = stored_scope(text)
        statements = Statements(connection)
        rebuild_views(ScopeRows.locked(statements, layout, scope, lambda: None))
