"""The tables of a namespace: its migrations, those it has had and those it lacks."""

# ruff: noqa: S608 - texts are made of quoted names; every value is bound

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from uaix_backends.postgres.layout import FORMAT
from uaix_backends.postgres.reading import ScopeRows, unrecorded
from uaix_backends.postgres.shapes import checked_partitions
from uaix_backends.postgres.statements import Statements
from uaix_backends.tabular.damage import stored_scope
from uaix_backends.tabular.migrations import check_transactional, has_views
from uaix_backends.tabular.writing import rebuild_views
from uaix_core.values.errors import StoreOpenError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from uaix_backends.postgres.driver import Connection
    from uaix_backends.postgres.layout import Layout
    from uaix_backends.tabular.migrations import Script, Standing


#: The search path, and which of a store's own tables are there. The path may lead to
#: another schema's operators, so those here are named in full.
_TABLES: Final = (
    "SELECT pg_catalog.to_json(pg_catalog.current_schemas(true))::text, "
    "(SELECT pg_catalog.json_agg(tablename)::text FROM pg_catalog.pg_tables "
    "WHERE schemaname OPERATOR(pg_catalog.=) %s AND tablename OPERATOR(pg_catalog.=) "
    "ANY (ARRAY['uaix_meta', 'uaix_migration', 'uaix_scope', 'uaix_commit']))"
)


def standing_of(statements: Statements, layout: Layout, place: str) -> Standing | None:
    """What of the migrations a database has had, noted in the layout; None without one.

    Raises:
        StoreOpenError: ``store.format``, ``store.schema``, ``store.newer``,
            ``store.search-path``.
        IntegrityError: ``store.migration``.

    """
    names = layout.names
    ((path, tables),) = statements.execute(_TABLES, (names.namespace,)).fetchall()
    _check_path(json.loads(path), place)
    if tables is None:
        return None
    if not {"uaix_meta", "uaix_migration"} <= set(json.loads(tables)):
        raise unrecorded(place, has_tables=False)
    with statements.batch():
        notes = statements.execute(f"SELECT name, value FROM {names.meta}")
        rows = statements.execute(
            "SELECT version, name, checksum, relations, is_additive "
            f"FROM {names.migration} ORDER BY version"
        )
    partitions = _partitions(dict(notes.fetchall()), place)
    applied = rows.fetchall()
    if not applied:
        raise unrecorded(place)
    layout.standing = layout.scripts(partitions).standing(applied, place)
    return layout.standing


def _check_path(path: Sequence[str], place: str) -> None:
    """Refuse a search path in which another schema's operators go before PostgreSQL's.

    Temporary schemas hold none.
    """
    first = next(name for name in path if not name.startswith("pg_temp_"))
    if first != "pg_catalog":
        raise StoreOpenError(
            "another schema goes before pg_catalog in the search_path",
            code="store.search-path",
            path=place,
            hint="leave pg_catalog out of the search_path, or name it first",
        )


def _partitions(notes: Mapping[str, Any], place: str) -> int:
    """Into how many parts the tables of a store of this format are cut."""
    if notes.get("format") != str(FORMAT):
        raise StoreOpenError(
            "a store of another format version",
            code="store.format",
            path=place,
            hint=f"this version reads format {FORMAT}",
        )
    try:
        return checked_partitions(int(notes.get("partitions", "0")))
    except (TypeError, ValueError):
        raise StoreOpenError(
            "the store doesn't say how its tables are cut",
            code="store.schema",
            path=place,
        ) from None


def migrate(
    connection: Connection, layout: Layout, missing: Sequence[Script], place: str
) -> None:
    """Run migrations in the open transaction, and fill the views that they add.

    Raises:
        StoreOpenError: ``store.migration``.

    """
    check_transactional(missing, place)
    with Statements(connection).batch():
        statements = Statements(connection)
        for script in missing:
            for text in script.texts:
                statements.execute(text)
    standing_of(Statements(connection), layout, place)
    if not has_views(layout.schema, missing):
        return
    found = Statements(connection).execute(f"SELECT scope FROM {layout.names.scope}")
    for (text,) in found.fetchall():
        scope = stored_scope(text)
        statements = Statements(connection)
        rebuild_views(ScopeRows.locked(statements, layout, scope))
