"""The harness of the memory backend, for the conformance kit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_backends.memory.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from uaix_core.schema.schema import Schema


class Harness:
    """Opens stores of this backend; each is its own, since nothing outlives it."""

    name = "memory"

    def open(self, path: Path, schema: Schema) -> MemoryStore:  # noqa: ARG002 - memory has no place
        """An empty store."""
        return MemoryStore(schema)

    def files(self, path: Path) -> Iterable[Path]:  # noqa: ARG002 - as above
        """No file holds anything."""
        return ()


harness = Harness()
