"""The connections of hosts: whether each is still open, and which thread uses it.

Both are facts of a connection, whatever stores have joined it, and however often.
"""

from __future__ import annotations

import gc
import sqlite3
import threading
import weakref
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import apsw

from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def is_open(connection: Any) -> bool:
    """Whether a connection is open; any thread may ask."""
    try:
        connection.in_transaction  # noqa: B018 - a closed one raises
    except (sqlite3.ProgrammingError, apsw.ConnectionClosedError):
        return False
    except apsw.ThreadingViolationError:
        # Only one that is open is in use.
        return True
    return True


def is_living(connection: Any) -> Callable[[], bool]:
    """A function that says whether a connection is open, and doesn't keep it so.

    CPython has no weak references to connections of sqlite3. Each has a cache of
    statements, which nobody else holds, and which goes when it is closed or dropped.
    Where there is no such cache the connection counts as open for ever.
    """
    if not is_open(connection):
        return lambda: False
    with suppress(TypeError):
        known = weakref.ref(connection)
        return lambda: (found := known()) is not None and is_open(found)
    for part in gc.get_referents(connection):
        if getattr(part, "__wrapped__", None) is connection:
            with suppress(TypeError):
                cache = weakref.ref(part)
                return lambda: cache() is not None
    return lambda: True


class Life:
    """What all stores that joined one connection share."""

    def __init__(self, connection: Any) -> None:
        #: Whether the connection is open.
        self.lasts = is_living(connection)
        self._used = threading.RLock()

    @contextmanager
    def used(self) -> Iterator[None]:
        """For one thread alone; a thread may do so again inside.

        Raises:
            CallerError: ``host.thread`` when another thread uses the connection.

        """
        is_mine = False
        try:
            is_mine = self._used.acquire(blocking=False)
            if not is_mine:
                raise in_use()
            yield
        finally:
            if is_mine:
                self._used.release()


_lock = threading.RLock()
#: By the id of the connection, which another one has only once this is closed.
_lives: dict[int, Life] = {}


def life_of(connection: Any) -> Life:
    """The one life of an open connection."""
    with _lock:
        found = _lives.get(id(connection))
        if found is not None and found.lasts():
            return found
        for number, life in list(_lives.items()):
            if not life.lasts():
                _lives.pop(number, None)
        life = _lives[id(connection)] = Life(connection)
        return life


def in_use() -> CallerError:
    """The error when two threads use a connection at once."""
    return CallerError(
        "another thread uses the connection",
        code="host.thread",
        hint="use it, and what joined it, in one thread at a time",
    )
