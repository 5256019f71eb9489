"""Who may use an open store: the process that opened it, until it is closed."""

from __future__ import annotations

import os

from uaix_core.values.errors import ClosedError


class Ownership:
    """Remembers the opening process; refuses a forked child and a closed store.

    A file lock or a database connection carried over a fork is shared with the parent
    without either knowing, which is a known way to corrupt a file.
    """

    def __init__(self) -> None:
        self._pid = os.getpid()
        self.is_closed = False

    @property
    def is_foreign(self) -> bool:
        """Whether this is another process than the one that opened the store."""
        return os.getpid() != self._pid

    def check(self) -> None:
        """Refuse use after close (``store.closed``) or fork (``store.forked``)."""
        if self.is_closed:
            raise ClosedError("the store is closed")
        if self.is_foreign:
            raise ClosedError(
                "the store was opened in another process",
                code="store.forked",
                hint="open it again in this process",
            )
