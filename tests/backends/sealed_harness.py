"""A harness that judges sealed scopes over SQLite by the whole conformance kit.

The store behind has every relation of the kit's schema for its local rows, and no
reducer: in a sealed scope nothing is derived there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from uaix_backends.sealed import SealedStore, Sealing
from uaix_backends.sqlite import testing
from uaix_core.access.keys import KeyRing
from uaix_core.access.sealed_rows import SEALED_ROOM, SealedCopy, SealedPart
from uaix_core.access.sealing import ScopeCipher
from uaix_core.schema.schema import Room, Schema

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from uaix_core.schema.commits import Commit

KEYS = KeyRing("k1", {"k1": bytes(range(32))})

#: A long text may lie in several pages of a file; it opens while its beginning stands.
_BEGINNING: Final = 40


def behind(schema: Schema) -> Schema:
    """What the store behind a sealed store of this schema holds."""
    if schema.envelope is not None:
        return schema
    return Schema(Room("shown", tuple(schema.relations.values())), SEALED_ROOM)


class Harness(testing.Harness):
    """Seals every scope of a SQLite store, and remembers what it sealed."""

    name = "sealed"

    def __init__(self) -> None:
        self._sealed: dict[bytes, bytes] = {}
        self._path: Path | None = None

    def open(self, path: Path, schema: Schema) -> SealedStore:  # type: ignore[override]
        """The store in this folder, a new one when there is none."""
        if path != self._path:
            self._path, self._sealed = path, {}
        inner: Any = super().open(path, behind(schema))
        append = inner.append

        def remembering(commit: Commit) -> Any:
            self._remember(commit)
            return append(commit)

        inner.append = remembering
        return SealedStore(inner, Sealing(KEYS, lambda _: True), schema=schema)

    def opened(self, content: bytes) -> Iterator[bytes]:
        """What was sealed and still lies in a file."""
        for sealed, text in self._sealed.items():
            if sealed[:_BEGINNING] in content:
                yield text

    def _remember(self, commit: Commit) -> None:
        cipher = ScopeCipher(KEYS, commit.scope, testing)  # type: ignore[arg-type]
        for row in (*commit.adds, *commit.puts):
            if isinstance(row, SealedPart):
                place = f"{row.number}/{row.part}/{row.generation}"
            elif isinstance(row, SealedCopy):
                place = f"copy/{row.place}"
            else:
                continue
            sealed = row.sealed or b""
            self._sealed[sealed] = cipher.unsealed(row.key_id, sealed, place)


harness = Harness()
