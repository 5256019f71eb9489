"""The system's clock, ids and random bytes, for sessions outside of tests."""

from __future__ import annotations

import os
import threading
import time

from uaix_core.values.ids import uuid7


class SystemClock:
    """The computer's clock, in UTC."""

    def now(self) -> int:
        """The present in microseconds since 1970."""
        return time.time_ns() // 1_000


class SystemRandom:
    """The operating system's random bytes."""

    def bytes(self, count: int) -> bytes:
        """``count`` bytes that nobody can predict."""
        return os.urandom(count)


class SystemIds:
    """UUIDv7s that rise within a process, also when the clock stands or steps back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0
        self._tail = 0

    def new(self) -> str:
        """A fresh UUIDv7."""
        with self._lock:
            now = time.time_ns() // 1_000_000
            if now > self._last:
                self._last = now
                # The top bit is left free, so that counting up can't overflow.
                self._tail = int.from_bytes(os.urandom(10), "big") >> 1
            else:
                self._tail += 1 + int.from_bytes(os.urandom(4), "big")
            return uuid7(self._last, self._tail.to_bytes(10, "big"))
