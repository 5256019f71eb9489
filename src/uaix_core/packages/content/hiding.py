"""Names that hold a secret, and findings that don't show them.

A file whose name is a secret can break other rules as well; those are told by its
place in the package.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import attrs

from uaix_core.packages.content.texts import secrets_in
from uaix_core.packages.content.words import HIDDEN_KEY
from uaix_core.packages.paths import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from uaix_core.packages.findings import Finding

_segments = re.compile(r"[.\[\]]").split

NOT_SHOWN: Final = "about a name that isn't shown"


class HiddenNames:
    """The paths and keys of one package that no finding may show.

    ``has_keys`` says that some key of the manifest holds a secret.
    """

    def __init__(self) -> None:
        self._places: dict[str, str] = {}
        self.has_keys = False

    def add_path(self, path: str, place: str) -> None:
        """Show a place instead of a path, and of any folder on the way to it."""
        folder = path
        while folder:
            self._places.setdefault(shown(folder), place)
            folder = folder.rpartition("/")[0]

    def shown(self, path: str) -> str:
        """What to show for a path."""
        return self._places.get(shown(path), path)

    def safe(self, findings: Iterable[Finding]) -> Iterable[Finding]:
        """The findings without the names."""
        if not self._places and not self.has_keys:
            return findings
        return map(self._safe, findings)

    def _safe(self, finding: Finding) -> Finding:
        path = finding.path
        if path is not None:
            if path in self._places:
                finding = attrs.evolve(finding, path=self._places[path])
            elif self.has_keys and any(map(_gives_away, _segments(path))):
                finding = attrs.evolve(finding, path=HIDDEN_KEY)
        if _gives_away(finding.message):
            finding = attrs.evolve(finding, message=NOT_SHOWN)
        return finding


@lru_cache(maxsize=256)
def _gives_away(message: str) -> bool:
    return any(True for _found in secrets_in(message))
