"""The log of a scope in process: one entry a commit, shared by all its states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from uaix_core.schema.commits import Mark
    from uaix_core.schema.relations import Ref


@attrs.frozen
class Logged:
    """One commit of the log: its place and the names of its rows."""

    mark: Mark
    adds: tuple[Ref, ...]
    erases: tuple[Ref, ...]


class StoredEntries:
    """Entries that are read when somebody first looks at one, and kept then."""

    __slots__ = ("_entries", "_read", "count", "data")

    def __init__(
        self,
        data: memoryview,
        count: int,
        read: Callable[[memoryview], list[Logged]],
    ) -> None:
        self.data = data
        self.count = count
        self._read = read
        self._entries: list[Logged] | None = None

    def entries(self) -> list[Logged]:
        """The entries."""
        found = self._entries
        if found is None:
            found = self._entries = self._read(self.data)
        return found


class Log:
    """Entries by their index, which is their seq less one.

    It only grows, but for entries beyond what a state counts: a failed write may have
    left them, and the next one takes their place.

    Args:
        parts: entries that stand elsewhere; all parts but the last are of one length.

    """

    __slots__ = ("_entries", "_stored", "parts")

    def __init__(self, parts: Sequence[StoredEntries] = ()) -> None:
        self.parts = tuple(parts)
        self._stored = sum(part.count for part in parts)
        self._entries: list[Logged] = []

    def entry(self, at: int) -> Logged:
        """The entry of an index."""
        if at >= self._stored:
            return self._entries[at - self._stored]
        part, within = divmod(at, self.parts[0].count)
        return self.parts[part].entries()[within]

    def put(self, at: int, entries: Sequence[Logged]) -> None:
        """Let these entries be all from an index on."""
        self._entries[at - self._stored :] = entries
