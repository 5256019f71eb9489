"""A store in plain memory. A commit becomes visible by one assignment."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from uaix_backends.ownership import Ownership
from uaix_core.schema.commits import Recorded
from uaix_core.session.schema import SCHEMA
from uaix_core.store.advance import advance, drive, known
from uaix_core.store.reading import check_due, check_limit
from uaix_core.store.tables import Tables
from uaix_core.store.views import TablesSnapshot, due_rows, rebuilt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from uaix_core.schema.commits import Commit
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.store.port import Capability, Snapshot
    from uaix_core.values.ids import ScopeId


class MemoryStore:
    """The port over immutable `Tables`, one per scope.

    Readers take no lock: they hold a state that never changes.
    """

    capabilities: frozenset[Capability] = frozenset()

    def __init__(self, schema: Schema = SCHEMA) -> None:
        self.schema = schema
        self._lock = threading.Lock()
        self._owner = Ownership()
        self._scopes: dict[str, Tables] = {}

    def append(self, commit: Commit | Recorded) -> Recorded:
        """See `uaix_core.store.port.Store.append`."""
        self._owner.check()
        scope = commit.commit.scope if isinstance(commit, Recorded) else commit.scope
        with self._lock:
            state = self._scopes.get(scope.text) or Tables(self.schema, scope)
            if isinstance(commit, Recorded) and known(
                commit, state.mark, state.digest_at
            ):
                return commit
            steps = advance(self.schema, commit, state.mark, state.work)
            change = drive(steps, state.answer)
            self._scopes[scope.text] = state.apply(change)
        return change.recorded

    @contextmanager
    def snapshot(self, scope: ScopeId) -> Iterator[Snapshot]:
        """See `uaix_core.store.port.Store.snapshot`."""
        self._owner.check()
        state = self._scopes.get(scope.text) or Tables(self.schema, scope)
        snapshot = TablesSnapshot(state)
        try:
            yield snapshot
        finally:
            snapshot.close()

    def due(
        self, relation: str, *, until: int, limit: int
    ) -> Sequence[tuple[ScopeId, Row]]:
        """See `uaix_core.store.port.Store.due`."""
        self._owner.check()
        declared, field = check_due(self.schema, relation, limit)
        return due_rows(list(self._scopes.values()), declared, field, until, limit)

    def scopes(self, *, after: ScopeId | None = None, limit: int) -> Sequence[ScopeId]:
        """See `uaix_core.store.port.Store.scopes`."""
        self._owner.check()
        check_limit(limit)
        start = after.text if after is not None else ""
        states = sorted(self._scopes.items())
        return [s.scope for text, s in states if text > start and s.mark.seq][:limit]

    def rebuild(self, scope: ScopeId) -> int:
        """See `uaix_core.store.port.Store.rebuild`."""
        self._owner.check()
        with self._lock:
            state = self._scopes.get(scope.text)
            if state is None:
                return 0
            self._scopes[scope.text] = rebuilt(state)
        return state.mark.seq

    def close(self) -> None:
        """Forget everything; closing twice is allowed."""
        self._owner.is_closed = True
        self._scopes = {}
