"""The port's snapshot over one read transaction."""

from __future__ import annotations

from os import getpid
from typing import TYPE_CHECKING

import psycopg

from uaix_backends.postgres.driver import translated
from uaix_core.schema.relations import BY_KEY
from uaix_core.store.reading import check_get, check_get_many, check_scan
from uaix_core.values.errors import ClosedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from uaix_backends.postgres.reading import ScopeRows
    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.relations import Key
    from uaix_core.schema.rows import Row


class PostgresSnapshot:
    """The port's `Snapshot` over the read transaction of one connection."""

    __slots__ = ("_pid", "_place", "_rows")

    def __init__(self, rows: ScopeRows, place: str) -> None:
        self._rows: ScopeRows | None = rows
        self._place = place
        self._pid = getpid()

    def _live(self) -> ScopeRows:
        rows = self._rows
        if rows is None:
            raise ClosedError("the snapshot is closed", code="snapshot.closed")
        if getpid() != self._pid:
            raise ClosedError(
                "the snapshot was opened in another process", code="store.forked"
            )
        return rows

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
        rows = self._live()
        check_get(rows.layout.schema, relation, key)
        if rows.number is None:
            return None
        try:
            return rows.get(rows.layout.tables[relation], tuple(key))
        except psycopg.Error as error:
            raise translated(error, self._place) from error

    def get_many(self, relation: str, keys: Sequence[Key]) -> Mapping[Key, Row]:
        """See `uaix_core.store.port.Snapshot.get_many`."""
        rows = self._live()
        declared = check_get_many(rows.layout.schema, relation, keys)
        table = rows.layout.tables[relation]
        wanted = list(dict.fromkeys(tuple(key) for key in keys))
        try:
            found = rows.many(table, BY_KEY, len(declared.key), wanted)
        except psycopg.Error as error:
            raise translated(error, self._place) from error
        return {declared.key_of(row): row for row in found}

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
        if rows.number is None:
            return []
        try:
            return rows.scan(scan)
        except psycopg.Error as error:
            raise translated(error, self._place) from error

    def commits(self, after: int = 0) -> Iterator[Recorded]:
        """See `uaix_core.store.port.Snapshot.commits`."""
        return self._commits(self._live().commits(max(after, 0)))

    def _commits(self, parts: Iterable[list[Recorded]]) -> Iterator[Recorded]:
        parts = iter(parts)
        while True:
            # Whoever goes on after the snapshot was closed is told so.
            self._live()
            try:
                part = next(parts, None)
            except psycopg.Error as error:
                raise translated(error, self._place) from error
            if part is None:
                return
            for recorded in part:
                self._live()
                yield recorded

    def close(self) -> None:
        """Refuse further reads."""
        self._rows = None
