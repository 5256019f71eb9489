"""How much is measured: all sizes follow from one number."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from pathlib import Path

#: The number of the targets, and that of a quick run.
USUAL, QUICK = 100_000, 5_000


@attrs.frozen
class Plan:
    """The sizes of one run.

    ``place`` is an empty folder for all that is made, ``n`` the number of rows or
    commits in a filled store.
    """

    place: Path
    n: int = USUAL
    is_quick: bool = False

    @property
    def rounds(self) -> int:
        """How often each has its turn."""
        return 3 if self.is_quick else 5

    @property
    def few(self) -> int:
        """Files of a small package."""
        return 31

    @property
    def repeats(self) -> int:
        """How often something is done in a turn with a small package."""
        return min(max(self.n // 100, 1), 10)

    @property
    def many(self) -> int:
        """Files of a large package."""
        return max(2 * self.few, min(self.n, 4_000))

    @property
    def entries(self) -> int:
        """Entries of an archive of many small files."""
        return max(self.few, min(self.n, 10_000))

    @property
    def large_bytes(self) -> int:
        """Bytes of an archive of a few large files."""
        return min(self.n, USUAL) * 1_000

    @property
    def notes(self) -> int:
        """Notes with words and vectors."""
        return min(self.n, 20_000)

    @property
    def durable(self) -> int:
        """Durable commits in a turn."""
        return min(self.n // 40, 30 if self.is_quick else 100)

    @property
    def batch(self) -> int:
        """Rows of a large commit."""
        return min(self.n, 1_000)

    @property
    def reads(self) -> int:
        """Reads of one row in a turn."""
        return min(self.n, 1_000)

    def folder(self) -> TemporaryDirectory[str]:
        """A folder that is gone after its ``with`` block."""
        return TemporaryDirectory(dir=self.place)
