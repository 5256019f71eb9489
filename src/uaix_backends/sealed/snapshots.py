"""A snapshot of a sealed scope: what was opened in memory, local rows from the store.

History and views are read in memory, WORK where it rests, and CACHE rows, which may
hold content, are opened when somebody first asks for one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_core.schema.relations import Keep, Ref, Relation
from uaix_core.store.advance import Ask, Found
from uaix_core.store.scanning import all_rows
from uaix_core.store.views import TablesSnapshot

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from uaix_backends.sealed.copies import Copies, Opened
    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.relations import Key
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot
    from uaix_core.store.tables import Tables


class SealedSnapshot:
    """The port's `Snapshot` over opened rows and the snapshot that they came from."""

    def __init__(self, tables: Tables, inner: Snapshot, copies: Copies) -> None:
        self.tables, self.inner = tables, inner
        self._copies = copies
        self._opened: Opened | None = None
        self._shown = TablesSnapshot(tables)
        self._shown_copies: TablesSnapshot | None = None

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

    def copies(self) -> Opened:
        """The CACHE rows of the scope, opened."""
        if self._opened is None:
            self._opened = self._copies.opened(self.inner)
        return self._opened

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
            if self._is_work(relation):
                found = all_rows(self.inner, relation, find.path, find.prefix)
                finds[find] = list(found)
            else:
                finds[find] = self._tables(relation).find(find)
        return Found(rows, finds)

    def close(self) -> None:
        """Let go of the rows."""
        self._shown.close()
        if self._shown_copies is not None:
            self._shown_copies.close()

    def _row(self, ref: Ref) -> Row | None:
        relation = self.tables.schema.relation(ref.relation)
        if self._is_work(relation):
            return self.inner.get(*ref)
        return self._tables(relation).get(ref)

    def _is_work(self, relation: Relation) -> bool:
        return relation.keep is Keep.WORK and not relation.wraps

    def _tables(self, relation: Relation) -> Tables:
        is_copy = relation.keep is Keep.CACHE and not relation.wraps
        return self.copies().tables if is_copy else self.tables

    def _home(self, name: str) -> Snapshot:
        """Where the rows of a relation are read; those that wrap others are nowhere."""
        relation = self.tables.schema.relation(name)
        shown = self._shown
        # A closed snapshot refuses local rows as well.
        shown.position  # noqa: B018 - raises
        if self._is_work(relation):
            return self.inner
        if relation.keep is Keep.CACHE and not relation.wraps:
            if self._shown_copies is None:
                self._shown_copies = TablesSnapshot(self.copies().tables)
            return self._shown_copies
        return shown
