"""The port's snapshot over the tables of one scope."""

from __future__ import annotations

from os import getpid
from typing import TYPE_CHECKING, Any

from uaix_core.schema.relations import BY_KEY
from uaix_core.store.reading import check_get, check_get_many, check_scan
from uaix_core.values.errors import ClosedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.relations import Key
    from uaix_core.schema.rows import Row


class TabularSnapshot:
    """The port's `Snapshot` over the read transaction of one connection.

    Args:
        rows: the scope as that transaction shows it.
        reported: turns the errors of the driver into ours.

    """

    __slots__ = ("_pid", "_reported", "_rows")

    def __init__(
        self, rows: Any, reported: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self._rows = rows
        self._reported = reported
        self._pid = getpid()

    def _live(self) -> Any:
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
        position: int = self._live().mark.seq
        return position

    @property
    def head(self) -> str:
        """See `uaix_core.store.port.Snapshot.head`."""
        head: str = self._live().mark.digest
        return head

    def get(self, relation: str, key: Key) -> Row | None:
        """See `uaix_core.store.port.Snapshot.get`."""
        rows = self._live()
        declared = check_get(rows.layout.schema, relation, key)
        table = rows.layout.tables[relation]
        with self._reported():
            found = rows.many(table, BY_KEY, len(declared.key), [tuple(key)])
        return found[0] if found else None

    def get_many(self, relation: str, keys: Sequence[Key]) -> Mapping[Key, Row]:
        """See `uaix_core.store.port.Snapshot.get_many`."""
        rows = self._live()
        declared = check_get_many(rows.layout.schema, relation, keys)
        table = rows.layout.tables[relation]
        with self._reported():
            found = rows.many(table, BY_KEY, len(declared.key), keys)
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
        with self._reported():
            found: list[Row] = rows.scan(scan)
        return found

    def commits(self, after: int = 0) -> Iterator[Recorded]:
        """See `uaix_core.store.port.Snapshot.commits`."""
        return self._commits(self._live().commits(max(after, 0)))

    def _commits(self, parts: Iterator[list[Recorded]]) -> Iterator[Recorded]:
        while True:
            # Whoever goes on after the snapshot was closed is told so.
            self._live()
            with self._reported():
                part = next(parts, None)
            if part is None:
                return
            for recorded in part:
                yield recorded
                # And gets no further commit.
                self._live()

    def close(self) -> None:
        """Refuse further reads."""
        self._rows = None
