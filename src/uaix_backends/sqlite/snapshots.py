"""The port's snapshot over the read transaction of one connection."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from os import getpid
from typing import TYPE_CHECKING

import apsw

from uaix_backends.sqlite.driver import translated
from uaix_backends.tabular.damage import damaged_row
from uaix_backends.tabular.snapshots import TabularSnapshot
from uaix_core.store.reading import check_get

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from uaix_backends.sqlite.reading import ScopeRows
    from uaix_core.schema.relations import Key
    from uaix_core.schema.rows import Row


@contextmanager
def _reported(path: str) -> Iterator[None]:
    """Turn the errors of the driver into ours."""
    try:
        yield
    except apsw.Error as error:
        raise translated(error, path) from error


class SqliteSnapshot(TabularSnapshot):
    """The port's `Snapshot` over the read transaction of one connection."""

    __slots__ = ("_path",)

    def __init__(self, rows: ScopeRows, path: str) -> None:
        super().__init__(rows, partial(_reported, path))
        self._path = path

    def get(self, relation: str, key: Key) -> Row | None:
        """See `uaix_core.store.port.Snapshot.get`."""
        rows: ScopeRows | None = self._rows
        if rows is None or getpid() != self._pid:
            raise self._refusal()
        table = rows.layout.tables.get(relation)
        # A key under which a row stands is a proper one, so only others are checked;
        # but SQLite finds 1 also under True.
        if table is not None and tuple(map(type, key)) == table.key_types:
            try:
                found = rows.execute(table.get, (rows.number, *key)).fetchone()
            except apsw.Error as error:
                raise translated(error, self._path) from error
            except UnicodeDecodeError:
                raise damaged_row(table.relation, key) from None
            except (UnicodeEncodeError, OverflowError):
                # No such key can stand there.
                found = None
            if found is not None:
                row: Row = table.one(found)
                return row
        check_get(rows.layout.schema, relation, key)
        return None


class OpenSnapshot:
    """The context of one snapshot: a reader is lent for it and given back."""

    __slots__ = ("_done", "_lend", "_snapshot")

    def __init__(
        self,
        lend: Callable[[], tuple[apsw.Connection, SqliteSnapshot]],
        done: Callable[[apsw.Connection], None],
    ) -> None:
        self._lend = lend
        self._done = done
        self._snapshot: tuple[apsw.Connection, SqliteSnapshot] | None = None

    def __enter__(self) -> SqliteSnapshot:
        self._snapshot = self._lend()
        return self._snapshot[1]

    def __exit__(self, *_error: object) -> None:
        if self._snapshot is not None:
            reader, snapshot = self._snapshot
            self._snapshot = None
            snapshot.close()
            self._done(reader)
