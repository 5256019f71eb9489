"""The tables of a namespace: its migrations, those it has had and those it lacks."""

# ruff: noqa: S608 - texts are made of quoted names; every value is bound

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uaix_backends.postgres.layout import FORMAT
from uaix_backends.postgres.reading import ScopeRows
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


def standing_of(statements: Statements, layout: Layout, place: str) -> Standing | None:
    """What of the migrations a database has had, noted in the layout; None without one.

    Raises:
        StoreOpenError: ``store.format``, ``store.schema``, ``store.newer``.
        IntegrityError: ``store.migration``.

    """
    names = layout.names
    tables = statements.execute(
        "SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = %s "
        "AND tablename IN ('uaix_meta', 'uaix_migration')",
        (names.namespace,),
    ).fetchone()
    if tables != (2,):
        return None
    with statements.batch():
        notes = statements.execute(f"SELECT name, value FROM {names.meta}")
        rows = statements.execute(
            "SELECT version, name, checksum, relations, is_additive "
            f"FROM {names.migration} ORDER BY version"
        )
    partitions = _partitions(dict(notes.fetchall()), place)
    scripts = layout.scripts(partitions)
    layout.standing = scripts.standing(rows.fetchall(), place)
    return layout.standing


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
        rebuild_views(ScopeRows.locked(statements, layout, scope, lambda: None))
