"""The harness of the directory backend, for the conformance kit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_backends.directory.root import SCOPES
from uaix_backends.directory.scope_files import SEGMENT
from uaix_backends.directory.store import DirectoryStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from uaix_core.schema.schema import Schema


class Harness:
    """Opens stores of this backend; they are also the yardstick of all others."""

    name = "directory"

    def open(self, path: Path, schema: Schema) -> DirectoryStore:
        """The store in this folder, made when the folder is empty or missing."""
        return DirectoryStore.open(path, create=True, schema=schema)

    def files(self, path: Path) -> Iterable[Path]:
        """Every file under the folder."""
        return sorted(file for file in path.rglob("*") if not file.is_dir())

    def projection(self, path: Path) -> Mapping[str, bytes]:
        """The segments by their names within the folder."""
        segments = sorted((path / SCOPES).glob(f"*/{SEGMENT}"))
        return {
            segment.relative_to(path).as_posix(): segment.read_bytes()
            for segment in segments
        }


harness = Harness()
