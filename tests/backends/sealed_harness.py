"""Harnesses that judge sealed scopes over our backends by the whole conformance kit.

The store behind has every relation of the kit's schema for its local rows, and no
reducer: in a sealed scope nothing is derived there.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Final

from uaix_backends.directory import testing as directory
from uaix_backends.memory import testing as memory
from uaix_backends.postgres import testing as postgres
from uaix_backends.sealed import SealedStore, Sealing
from uaix_backends.sqlite import testing as sqlite
from uaix_core.access.keys import KeyRing
from uaix_core.access.sealed_rows import SEALED_ROOM, SealedCopy, SealedPart, SealedWork
from uaix_core.access.sealing import ScopeCipher
from uaix_core.schema.schema import Room, Schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from uaix_core.schema.commits import Commit

KEYS = KeyRing("k1", {"k1": bytes(range(32))})

#: A long text may lie in several pages of a file; it opens while its beginning stands.
_BEGINNING: Final = 39

_behind: dict[Schema, Schema] = {}


def behind(schema: Schema) -> Schema:
    """What the store behind a sealed store of this schema holds."""
    if schema.wrapper is not None:
        return schema
    if schema not in _behind:
        shown = Room("shown", tuple(schema.relations.values()))
        _behind[schema] = Schema(shown, SEALED_ROOM)
    return _behind[schema]


def rests(sealed: bytes, content: bytes) -> bool:
    """Whether a sealed text lies in a file, as each backend would write it."""
    beginning = sealed[:_BEGINNING]
    written = (
        beginning,
        beginning.hex().encode(),
        base64.urlsafe_b64encode(beginning),
    )
    return any(form in content for form in written)


class Harness:
    """Seals every scope of a store, and remembers what it sealed."""

    name = "sealed"

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._sealed: dict[bytes, bytes] = {}
        self._path: Path | None = None

    def open(self, path: Path, schema: Schema) -> SealedStore:
        """The store in this folder, a new one when there is none."""
        if path != self._path:
            self._path, self._sealed = path, {}
        inner = self._inner.open(path, behind(schema))
        append = inner.append

        def remembering(commit: Commit) -> Any:
            self._remember(commit)
            return append(commit)

        inner.append = remembering
        return SealedStore(inner, Sealing(KEYS, lambda _: True), schema=schema)

    def files(self, path: Path) -> Iterable[Path]:
        """Those of the store behind."""
        found: Iterable[Path] = self._inner.files(path)
        return found

    def discard(self, path: Path) -> None:
        """Nobody will ask for this folder's data again."""
        if hasattr(self._inner, "discard"):
            self._inner.discard(path)

    def opened(self, content: bytes) -> Iterator[bytes]:
        """What was sealed and still lies in a file."""
        for sealed, text in self._sealed.items():
            if rests(sealed, content):
                yield text

    def _remember(self, commit: Commit) -> None:
        cipher = ScopeCipher(KEYS, commit.scope, random=None)  # type: ignore[arg-type]
        for row in (*commit.adds, *commit.puts):
            if isinstance(row, SealedPart):
                place = f"{row.number}/{row.part}/{row.generation}"
            elif isinstance(row, SealedCopy | SealedWork):
                kind = "work" if isinstance(row, SealedWork) else "copy"
                place = f"sealed_{kind}/{row.place}"
            else:
                continue
            sealed = row.sealed or b""
            self._sealed[sealed] = cipher.unsealed(row.key_id, sealed, place)


over_memory = Harness(memory.harness)
over_sqlite = Harness(sqlite.harness)
over_dir = Harness(directory.harness)
over_postgres = Harness(postgres.harness)
