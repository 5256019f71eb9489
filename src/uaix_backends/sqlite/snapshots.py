"""The port's snapshot over the read transaction of one connection."""

from __future__ import annotations

from os import getpid
from typing import TYPE_CHECKING

import apsw

from uaix_backends.sqlite.driver import translated
from uaix_backends.tabular.damage import damaged_row
from uaix_core.schema.relations import BY_KEY
from uaix_core.store.reading import check_get, check_get_many, check_scan
from uaix_core.values.errors import ClosedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from uaix_backends.sqlite.reading import ScopeRows
    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.relations import Key
    from uaix_core.schema.rows import Row


class SqliteSnapshot:
    """The port's `Snapshot` over the read transaction of one connection."""

    __slots__ = ("_path", "_pid", "_rows")

    def __init__(self, rows: ScopeRows, path: str) -> None:
        self._rows: ScopeRows | None = rows
        self._path = path
        self._pid = getpid()

    def _live(self) -> ScopeRows:
        rows = self._rows
        if rows is None or getpid() != self._pid:
            raise self._refusal()
        return rows

    def _refusal(self) -> ClosedError:
        if self._rows is None:
            return ClosedError("the snapshot is closed", code="snapshot.closed")
        return ClosedError(
            "the snapshot was opened in another process", code="store.forked"
        )

    @property
    def position(self) -> int:
        """See `uaix_core.store.port.Snapshot.position`."""
        return self._live().mark.seq

    @property
    def head(self) -> str:
        """See `uaix_core.store.port.Snapshot.head`."""
        return self._live().mark.digest

    def get(self, relation: str, key: Key) -> Row | None:
        """See `uaix_core.store.port.Snapshot.get`."""
        rows = self._rows
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
                return table.one(found)
        check_get(rows.layout.schema, relation, key)
        return None

    def get_many(self, relation: str, keys: Sequence[Key]) -> Mapping[Key, Row]:
        """See `uaix_core.store.port.Snapshot.get_many`."""
        rows = self._live()
        declared = check_get_many(rows.layout.schema, relation, keys)
        table = rows.layout.tables[relation]
        try:
            found = rows.many(table, BY_KEY, len(declared.key), keys)
            return {declared.key_of(row): row for row in found}
        except apsw.Error as error:
            raise translated(error, self._path) from error

    def scan(  # noqa: PLR0913 - the port's signature
        self,
        relation: str,
        path: str,
        prefix: Key = (),
        *,
        after: Key | None = None,
        reverse: bool = False,
        limit: int,
    ) -> Sequence[Row]:
        """See `uaix_core.store.port.Snapshot.scan`."""
        rows = self._live()
        scan = check_scan(
            rows.layout.schema,
            relation,
            path,
            prefix,
            after=after,
            reverse=reverse,
            limit=limit,
        )
        try:
            return rows.scan(scan)
        except apsw.Error as error:
            raise translated(error, self._path) from error

    def commits(self, after: int = 0) -> Iterator[Recorded]:
        """See `uaix_core.store.port.Snapshot.commits`."""
        return self._commits(self._live().commits(max(after, 0)))

    def _commits(self, parts: Iterable[list[Recorded]]) -> Iterator[Recorded]:
        parts = iter(parts)
        while True:
            self._live()
            try:
                part = next(parts, None)
            except apsw.Error as error:
                raise translated(error, self._path) from error
            if part is None:
                return
            for recorded in part:
                yield recorded
                # Whoever closed the snapshot meanwhile gets no further commit.
                self._live()

    def close(self) -> None:
        """Refuse further reads."""
        self._rows = None


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
