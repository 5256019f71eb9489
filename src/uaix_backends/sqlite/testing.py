"""The harness of the SQLite backend, for the conformance kit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_backends.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from uaix_core.schema.schema import Schema


class Harness:
    """Opens stores of this backend in folders that the kit gives."""

    name = "sqlite"

    def open(self, path: Path, schema: Schema) -> SqliteStore:
        """The store in this folder, a new one when there is none."""
        path.mkdir(parents=True, exist_ok=True)
        return SqliteStore.open(path / "store.sqlite", create=True, schema=schema)

    def files(self, path: Path) -> Iterable[Path]:
        """Every file that lies in the folder."""
        return sorted(found for found in path.rglob("*") if found.is_file())


harness = Harness()
