"""Remembering what follows from bytes, by their digest.

What is remembered is for speed alone and follows from what it is named by, so it is
forgotten at any time. It holds no text that somebody may want to be gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

#: How many things are remembered; one more, and all of them are forgotten.
MAX_REMEMBERED: Final = 10_000

_V = TypeVar("_V")


class Remembered(Generic[_V]):
    """Values by name, made when they aren't known."""

    def __init__(self, most: int = MAX_REMEMBERED) -> None:
        self.most = most
        self._values: dict[Hashable, _V] = {}

    def get(self, name: Hashable, make: Callable[[], _V]) -> _V:
        """The value of this name, which nothing but the name decides."""
        found = self._values.get(name)
        if found is None:
            found = make()
            if len(self._values) >= self.most:
                self._values.clear()
            self._values[name] = found
        return found

    def forget(self) -> None:
        """Forget all values."""
        self._values.clear()

    def __len__(self) -> int:
        return len(self._values)
