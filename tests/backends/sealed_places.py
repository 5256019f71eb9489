"""Places where sealed scopes rest, over each backend that keeps anything."""

from __future__ import annotations

import base64
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from tests.backends.postgres_server import emptied, execute
from tests.backends.sealed_harness import KEYS, behind

from uaix_backends import Sealing, open_store
from uaix_backends.sealed import SealedStore
from uaix_conformance.schema import KIT
from uaix_core.access.keys import KeyRing
from uaix_core.session.schema import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from uaix_core import Store
    from uaix_core.schema.commits import Commit
    from uaix_core.schema.schema import Schema

OTHER_KEY = bytes(range(1, 33))
#: Both keys, the new one active; and the new one alone.
BOTH = KeyRing("k2", {**KEYS.keys, "k2": OTHER_KEY})
NEW = KeyRing("k2", {"k2": OTHER_KEY})


def everywhere(_scope: object) -> bool:
    """Seal whatever scope there is."""
    return True


class Place:
    """Where one store rests, opened again and again, with and without keys."""

    def __init__(self, kind: str, path: Path, schema: Schema = KIT) -> None:
        self.schema = schema
        self._behind = behind(schema)
        self.kind, self.path = kind, path
        path.mkdir()
        self.url = f"{kind}:{path / 'store'}"
        if kind == "postgres":
            self.url = emptied(self._behind)
        self._stack = ExitStack()

    def raw(self) -> Store:
        """The store without any key."""
        store = open_store(self.url, create=True, schema=self._behind)
        self._stack.callback(store.close)
        return store

    def open(self, keys: KeyRing = KEYS, scopes: Any = everywhere) -> SealedStore:
        """The store with keys."""
        return SealedStore(self.raw(), Sealing(keys, scopes), schema=self.schema)

    def close(self) -> None:
        """Close whatever is open."""
        self._stack.close()

    def at_rest(self) -> list[bytes]:
        """All bytes that rest, once nothing is open."""
        self.close()
        if self.kind != "postgres":
            files = (file for file in self.path.rglob("*") if file.is_file())
            return [bytes(file) + file.read_bytes() for file in files]
        namespace = self.url.partition("#")[2]
        query = "SELECT tablename FROM pg_tables WHERE schemaname = %s"
        texts = [
            str(execute(f'SELECT t::text FROM "{namespace}"."{name}" t'))  # noqa: S608 - names of ours
            for (name,) in execute(query, namespace)
        ]
        return [text.encode() for text in texts]


def product_place(kind: str, path: Path) -> Place:
    """A place of the library's own schema."""
    return Place(kind, path, SCHEMA)


def forms(text: bytes) -> Iterator[bytes]:
    """The ways in which a text may rest."""
    yield text
    yield text.hex().encode()
    yield text.decode().encode("utf-16-le")
    yield text.decode().encode("utf-16-be")
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for offset in range(3):
            whole = encode(b"\0" * offset + text)
            # The first and last characters also depend on what stands beside.
            yield whole[(0, 2, 3)[offset] :].rstrip(b"=")[:-1]


def shown(place: Place, *texts: str) -> list[str]:
    """Which of these texts rest at a place, in whatever form."""
    rest = place.at_rest()
    assert rest, "nothing rests there"
    return [
        text
        for text in texts
        if any(form in content for form in forms(text.encode()) for content in rest)
    ]


class Meddling:
    """A store in which something happens right before an append, or after it."""

    def __init__(self, inner: Store) -> None:
        self._inner = inner
        #: What happens, first to last, once each.
        self.deeds: list[Callable[[Commit], None]] = []
        self.afterwards: list[Callable[[], object]] = []

    def append(self, commit: Commit) -> Any:
        """Let the next deed happen, append, and let the next one happen."""
        if self.deeds:
            self.deeds.pop(0)(commit)
        recorded = self._inner.append(commit)
        if self.afterwards:
            self.afterwards.pop(0)()
        return recorded

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
