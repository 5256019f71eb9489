"""What all stores that joined one connection of a host share.

One thread at a time is at work on it, and every open snapshot knows which changes of
its scope were made on this connection: any other is another writer's.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary, WeakSet

from uaix_core.values.errors import CallerError, StaleSnapshotError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from uaix_backends.postgres.driver import Connection
    from uaix_backends.postgres.reading import ScopeRows


class Sight:
    """The states of a scope that one snapshot may show.

    There is the one in which it was opened, and those that were staged after one of
    them on the same connection. A rollback leads back to one that was known before.
    """

    __slots__ = ("__weakref__", "_known", "_scope")

    def __init__(self, scope: Hashable) -> None:
        self._scope = scope
        self._known: set[Hashable] = set()

    def open(self, rows: ScopeRows) -> None:
        """Take the state in which the snapshot was opened."""
        self._known.add(state_of(rows))

    def check(self, rows: ScopeRows) -> None:
        """Refuse a state that another writer left.

        Raises:
            StaleSnapshotError: ``snapshot.moved``.

        """
        if state_of(rows) not in self._known:
            raise StaleSnapshotError(
                "another writer's commit came between the reads",
                code="snapshot.moved",
                path=rows.scope.text,
                hint="read again, or read in a transaction that sees one moment",
            )

    def follow(self, scope: Hashable, before: Hashable, after: Hashable) -> None:
        """Take a change that was staged on the snapshot's own connection."""
        if scope == self._scope and before in self._known:
            self._known.add(after)


def state_of(rows: ScopeRows) -> Hashable:
    """What changes with every change of a scope."""
    return (rows.work, rows.mark)


class Turn:
    """Whose turn on a connection it is, and the snapshots that are open on it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._sights: WeakSet[Sight] = WeakSet()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Have the connection for one call, with whatever that calls.

        Raises:
            CallerError: ``host.thread``; another thread has it, and it isn't touched.

        """
        if not self._lock.acquire(blocking=False):
            raise CallerError(
                "another thread is in the middle of a call on the connection",
                code="host.thread",
                hint="use a connection, and what joined it, in one thread at a time",
            )
        try:
            yield
        finally:
            self._lock.release()

    def sight(self, scope: Hashable) -> Sight:
        """What a new snapshot of a scope may show; to be opened."""
        sight = Sight(scope)
        self._sights.add(sight)
        return sight

    def staged(self, scope: Hashable, before: Hashable, after: Hashable) -> None:
        """Tell open snapshots of a change that was staged on this connection."""
        for sight in list(self._sights):
            sight.follow(scope, before, after)


_turns: Final[WeakKeyDictionary[Any, Turn]] = WeakKeyDictionary()
_making: Final = threading.Lock()


def turn_of(connection: Connection) -> Turn:
    """The one of a connection, however many stores have joined it."""
    with _making:
        found = _turns.get(connection)
        if found is None:
            found = _turns[connection] = Turn()
        return found
