"""The tables of a file: its migrations, those it has had and those that it lacks."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import apsw

from uaix_backends.sqlite.damage import all_of, one_of
from uaix_backends.sqlite.driver import translated
from uaix_backends.sqlite.layout import APPLICATION_NUMBER, FORMAT
from uaix_backends.sqlite.reading import ScopeRows
from uaix_backends.sqlite.shapes import OWN_DDL
from uaix_backends.tabular.damage import stored_scope
from uaix_backends.tabular.migrations import (
    check_transactional,
    has_views,
    other_schema,
)
from uaix_backends.tabular.writing import rebuild_views
from uaix_core.values.errors import OutcomeUnknownError, StoreOpenError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from uaix_backends.sqlite.connections import Connections
    from uaix_backends.sqlite.layout import Layout
    from uaix_backends.sqlite.staging import Statements
    from uaix_backends.tabular.migrations import Script, Standing

_FORMAT: Final = "SELECT +value FROM uaix_meta WHERE name = 'format'"
_LAST: Final = (
    "SELECT +version, +checksum FROM uaix_migration ORDER BY version DESC LIMIT 1"
)
_ROWS: Final = (
    "SELECT +version, +name, +checksum, +relations, +is_additive FROM uaix_migration "
    "ORDER BY version"
)
_MAIN: Final = "SELECT +sql FROM main.sqlite_master WHERE sql IS NOT NULL"
_HIDING: Final = (
    "SELECT 1 FROM sqlite_temp_master WHERE name LIKE 'uaix\\_%' ESCAPE '\\' "
    "AND type IN ('table', 'view')"
)
_DECLARED: Final = (
    "SELECT type, sql FROM sqlite_schema WHERE sql IS NOT NULL "
    "AND (tbl_name LIKE 'uaix\\_%' ESCAPE '\\' OR type IN ('trigger', 'view'))"
)


def make_tables(connections: Connections, layout: Layout) -> None:
    """Make the tables of a new store, with the marks of one."""
    with _told(connections.path), connections.writing() as connection:
        if connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
            # Another process was faster.
            return
        _run(connection, layout.scripts.all(), connections.path)
        connection.execute(f"PRAGMA application_id = {APPLICATION_NUMBER}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")


@contextmanager
def _told(path: str) -> Iterator[None]:
    """Say what can be done when tables are there or aren't, but whole: open again."""
    try:
        yield
    except OutcomeUnknownError as error:
        if isinstance(error.__cause__, apsw.FullError):
            raise translated(error.__cause__, path) from error
        error.hint = "open the store again"
        raise


def _run(connection: apsw.Connection, scripts: Iterable[Script], path: str) -> None:
    check_transactional(scripts, path)
    for script in scripts:
        for text in script.texts:
            connection.execute(text)


def look(connection: apsw.Connection, layout: Layout, path: str) -> Standing:
    """What of the migrations a file has had, which is noted in the layout.

    What the file says of itself is compared with its real tables, so that a trigger
    or a view that somebody planted is found before it runs.

    Raises:
        StoreOpenError: ``store.schema``, ``store.newer``.
        IntegrityError: ``store.migration``, ``storage.corrupt``.

    """
    try:
        standing = standing_of(connection, layout, path)
        _check_declared(connection, standing, path)
    except apsw.SQLError:
        raise other_schema(path) from None
    except UnicodeDecodeError:
        raise translated(apsw.CorruptError(), path) from None
    return standing


def standing_of(connection: Statements, layout: Layout, path: str) -> Standing:
    """What of the migrations a database has had, which is noted in the layout.

    Raises:
        StoreOpenError: ``store.schema``, ``store.newer``.
        IntegrityError: ``store.migration``, ``storage.row``.

    """
    found = one_of(connection.execute(_FORMAT), "meta")
    if found is None or found[0] != str(FORMAT):
        raise other_schema(path)
    rows = all_of(connection.execute(_ROWS), "migration")
    if not rows:
        raise other_schema(path)
    layout.standing = layout.scripts.standing(rows, path)
    return layout.standing


def _check_declared(connection: apsw.Connection, standing: Standing, path: str) -> None:
    """Refuse tables, indexes, triggers and views that no migration has made."""
    made = _made(standing)
    found = list(connection.execute(_DECLARED))
    texts = {text for _type, text in found}
    # A later version may have made further tables and indexes. Nothing runs by itself
    # through them, and no read of ours uses an index that it doesn't name.
    allowed = ("table", "index") if standing.later else ()
    strange = [text for kind, text in found if not (text in made or kind in allowed)]
    if strange or not made <= texts:
        raise _undeclared(path, "restore the file from a backup")


def _made(standing: Standing) -> set[str]:
    """What the migrations that a database has had have made."""
    return {
        text
        for script in standing.done
        for text in script.statements
        if text.startswith("CREATE")
    }


def _undeclared(path: str, hint: str) -> StoreOpenError:
    return StoreOpenError(
        "the tables of the store aren't those that it declares",
        code="store.schema",
        path=path,
        hint=hint,
    )


def standing_of_host(
    statements: Statements, layout: Layout, path: str
) -> Standing | None:
    """What of the migrations a host's database has had; None without the tables.

    They must be in its main file, whole, and hidden by nothing. What the host has made
    beside them, also on them, is its own.

    Raises:
        StoreOpenError: as `standing_of`.
        IntegrityError: as `standing_of`.

    """
    found = {text for (text,) in all_of(statements.execute(_MAIN), "schema")}
    if not found.intersection(OWN_DDL):
        return None
    check_seen(statements, path)
    standing = standing_of(statements, layout, path)
    if not _made(standing) <= found:
        raise _undeclared(
            path, "run each migration whole, in one transaction, on a new database"
        )
    return standing


def check_seen(statements: Statements, path: str) -> None:
    """Refuse a connection on which temporary tables hide those of the file.

    Raises:
        StoreOpenError: ``store.schema``.

    """
    if one_of(statements.execute(_HIDING), "schema"):
        raise _undeclared(path, "drop the temporary tables that hide them")


def check_standing(connection: Statements, layout: Layout, path: str) -> None:
    """Before a commit: refuse when another process has changed the tables since.

    Raises:
        StoreOpenError: ``store.newer``.
        IntegrityError: ``storage.row``, ``store.migration``.

    """
    found = one_of(connection.execute(_LAST), "migration")
    if found is None or tuple(found) != layout.standing.mark:
        standing_of(connection, layout, path)


def migrate(connections: Connections, layout: Layout) -> None:
    """Run the migrations that a file lacks, and fill the views that they add."""
    with _told(connections.path), connections.writing() as connection:
        missing = look(connection, layout, connections.path).missing
        # Another process may have been faster.
        _run(connection, missing, connections.path)
        standing_of(connection, layout, connections.path)
        if not has_views(layout.schema, missing):
            return
        found = connection.execute("SELECT scope FROM uaix_scope")
        for (text,) in all_of(found, "scope"):
            rebuild_views(ScopeRows(connection, layout, stored_scope(text)))
