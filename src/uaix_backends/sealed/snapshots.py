"""A snapshot of a sealed scope: what was opened in memory, local rows from the store.

History and views are read in memory, WORK that is due where it rests, and all other
local rows are opened when somebody first asks for one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_backends.sealed.local_rows import sealed_as
from uaix_core.schema.relations import Keep, Ref, Relation
from uaix_core.store.advance import Ask, Found
from uaix_core.store.scanning import all_rows
from uaix_core.store.views import TablesSnapshot

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from uaix_backends.sealed.local_rows import LocalRows, Opened
    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.relations import Key
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot
    from uaix_core.store.tables import Tables


class SealedSnapshot:
    """The port's `Snapshot` over opened rows and the snapshot that they came from."""

    def __init__(
        self, tables: Tables, inner: Snapshot, local: Mapping[Keep, LocalRows]
    ) -> None:
        self.tables, self.inner = tables, inner
        self._local = local
        self._opened: dict[Keep, Opened] = {}
        self._shown = TablesSnapshot(tables)
        self._shown_local: dict[Keep, TablesSnapshot] = {}

    @property
    def position(self) -> int:
        """See `uaix_core.store.port.Snapshot.position`."""
        return self._shown.position

    @property
    def head(self) -> str:
        """See `uaix_core.store.port.Snapshot.head`."""
        return self._shown.head

    def get(self, relation: str, key: Key) -> Row | None:
        """See `uaix_core.store.port.Snapshot.get`."""
        return self._home(relation).get(relation, key)

    def get_many(self, relation: str, keys: Sequence[Key]) -> Mapping[Key, Row]:
        """See `uaix_core.store.port.Snapshot.get_many`."""
        return self._home(relation).get_many(relation, keys)

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
        return self._home(relation).scan(
            relation, path, prefix, after=after, reverse=reverse, limit=limit
        )

    def commits(self, after: int = 0) -> Iterator[Recorded]:
        """See `uaix_core.store.port.Snapshot.commits`."""
        return self._shown.commits(after)

    def opened(self, keep: Keep) -> Opened:
        """The local rows that are kept so, opened."""
        if keep not in self._opened:
            self._opened[keep] = self._local[keep].opened(self.inner)
        return self._opened[keep]

    def answer(self, ask: Ask) -> Found:
        """Answer the questions of `advance`."""
        rows = {}
        for ref in ask.rows:
            row = self._row(ref)
            if row is not None:
                rows[ref] = row
        finds = {}
        for find in ask.finds:
            relation = self.tables.schema.relation(find.relation)
            tables = self._tables(relation)
            if tables is None:
                found = all_rows(self.inner, relation, find.path, find.prefix)
                finds[find] = list(found)
            else:
                finds[find] = tables.find(find)
        return Found(rows, finds)

    def close(self) -> None:
        """Let go of the rows."""
        for shown in (self._shown, *self._shown_local.values()):
            shown.close()

    def _row(self, ref: Ref) -> Row | None:
        tables = self._tables(self.tables.schema.relation(ref.relation))
        return self.inner.get(*ref) if tables is None else tables.get(ref)

    def _tables(self, relation: Relation) -> Tables | None:
        """Where the rows of a relation are in memory; None for those that rest plain.

        Those that wrap others are shown nowhere.
        """
        if sealed_as(relation) is not None:
            return self.opened(relation.keep).tables
        is_plain = relation.keep is Keep.WORK and not relation.wraps
        return None if is_plain else self.tables

    def _home(self, name: str) -> Snapshot:
        """What answers for a relation."""
        relation = self.tables.schema.relation(name)
        tables = self._tables(relation)
        if tables is None:
            return self.inner
        if tables is self.tables:
            return self._shown
        if relation.keep not in self._shown_local:
            self._shown_local[relation.keep] = TablesSnapshot(tables)
        return self._shown_local[relation.keep]
