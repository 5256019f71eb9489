"""Snapshots and rebuilds over `Tables`, for backends that keep rows in process."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from uaix_core.schema.relations import Key, Ref, Relation
from uaix_core.store.advance import drive, replay_views
from uaix_core.store.reading import check_get, check_get_many, check_scan
from uaix_core.values.errors import ClosedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.rows import Row
    from uaix_core.store.tables import Tables
    from uaix_core.values.ids import ScopeId


class TablesSnapshot:
    """The port's `Snapshot` over one immutable state."""

    def __init__(self, state: Tables) -> None:
        self._state: Tables | None = state

    @property
    def _open(self) -> Tables:
        if self._state is None:
            raise ClosedError("the snapshot is closed", code="snapshot.closed")
        return self._state

    @property
    def position(self) -> int:
        """See `uaix_core.store.port.Snapshot.position`."""
        return self._open.mark.seq

    @property
    def head(self) -> str:
        """See `uaix_core.store.port.Snapshot.head`."""
        return self._open.mark.digest

    def get(self, relation: str, key: Key) -> Row | None:
        """See `uaix_core.store.port.Snapshot.get`."""
        state = self._open
        check_get(state.schema, relation, key)
        return state.get(Ref(relation, tuple(key)))

    def get_many(self, relation: str, keys: Sequence[Key]) -> Mapping[Key, Row]:
        """See `uaix_core.store.port.Snapshot.get_many`."""
        state = self._open
        check_get_many(state.schema, relation, keys)
        found = ((tuple(key), state.get(Ref(relation, tuple(key)))) for key in keys)
        return {key: row for key, row in found if row is not None}

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
        state = self._open
        scan = check_scan(
            state.schema,
            relation,
            path,
            prefix,
            after=after,
            reverse=reverse,
            limit=limit,
        )
        return state.scan(scan)

    def commits(self, after: int = 0) -> Iterator[Recorded]:
        """See `uaix_core.store.port.Snapshot.commits`."""
        for recorded in self._open.commits(after):
            yield recorded
            # Whoever closed the snapshot meanwhile gets no further commit.
            self._open  # noqa: B018 - raises when closed

    def close(self) -> None:
        """Let go of the state."""
        self._state = None


def rebuilt(state: Tables) -> Tables:
    """The state with all views dropped and replayed from the surviving history."""
    new = state.without_views()
    for recorded in state.commits():
        puts, drops = drive(replay_views(state.schema, recorded), new.answer)
        new = new.with_rows(puts, drops)
    return new


def due_rows(
    states: Sequence[Tables], relation: Relation, field: str, until: int, limit: int
) -> list[tuple[ScopeId, Row]]:
    """The due rows of many scopes in the order (due instant, scope text, key)."""
    found = [
        (getattr(row, field), state.scope.text, state.scope, row)
        for state in states
        for row in state.all(relation.name)
        if getattr(row, field) <= until
    ]
    # The rows of a scope come in the order of their keys, and sorting keeps it.
    found.sort(key=itemgetter(0, 1))
    return [(scope, row) for *_order, scope, row in found[:limit]]
