"""The last law: every store's commits, replayed, give the same files (14.11)."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from uaix_conformance.comparison import commits
from uaix_conformance.harness import Site

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from uaix_conformance.harness import Yardstick
    from uaix_core.schema.commits import Commit
    from uaix_core.store.port import Store
    from uaix_core.values.ids import ScopeId


class Measure:
    """Two directory stores: one replayed into, one written to directly."""

    def __init__(self, yardstick: Yardstick) -> None:
        self._yardstick = yardstick
        self._folder = TemporaryDirectory(prefix="uaix-")
        folder = Path(self._folder.name)
        self._paths = [folder / "direct", folder / "replayed"]
        for path in self._paths:
            path.mkdir()
        self._sites = [Site(yardstick, path) for path in self._paths]

    def direct(self, submitted: Iterable[Commit]) -> Store:
        """A directory store that was given the commits themselves."""
        store = self._sites[0].open()
        for commit in submitted:
            store.append(commit)
        return store

    def replay(self, source: Store, scopes: Sequence[ScopeId]) -> Store:
        """A directory store that was given what the source recorded."""
        store = self._sites[1].open()
        for scope in scopes:
            for recorded in commits(source, scope):
                store.append(recorded)
        return store

    def compare(self) -> None:
        """Both stores projected the same bytes."""
        for site in self._sites:
            site.close()
        direct, replayed = map(self._yardstick.projection, self._paths)
        assert sorted(direct) == sorted(replayed)
        for name in direct:
            assert direct[name] == replayed[name], name

    def close(self) -> None:
        """Remove both."""
        for site in self._sites:
            site.close()
        self._folder.cleanup()
