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
    from collections.abc import Iterable, Iterator

    from uaix_core.packages.findings import Finding, Findings

_segments = re.compile(r"[.\[\]]").split

NOT_SHOWN: Final = "about a name that isn't shown"
HIDDEN_NAME: Final = "(a name not shown)"


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

    def guard(self, findings: Findings) -> None:
        """Note every secret that a finding would show and that wasn't found before.

        To be called when all other findings are there, before `safe`.
        """
        for finding in tuple(findings):
            path = finding.path
            if path is not None and path not in self._places:
                detector = _secret_in(path)
                if detector is not None:
                    self._places[path] = HIDDEN_NAME
                    self._note(detector, findings)
            detector = _sure_secret_in(finding.message)
            if detector is not None:
                self._note(detector, findings)

    def _note(self, detector: str, findings: Findings) -> None:
        message = f"a secret was found in a name: {detector}"
        findings.add("secret.found", HIDDEN_NAME, message)

    def safe(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """The findings without the names."""
        return map(self._safe, findings)

    def _safe(self, finding: Finding) -> Finding:
        path = finding.path
        if path is not None:
            if path in self._places:
                finding = attrs.evolve(finding, path=self._places[path])
            elif self.has_keys and any(map(_secret_in, _segments(path))):
                finding = attrs.evolve(finding, path=HIDDEN_KEY)
        is_strict = self.has_keys or bool(self._places)
        find = _secret_in if is_strict else _sure_secret_in
        if find(finding.message) is not None:
            finding = attrs.evolve(finding, message=NOT_SHOWN)
        return finding


@lru_cache(maxsize=1024)
def _secret_in(text: str) -> str | None:
    """The detector that finds a secret in a text."""
    return next((found.detector for found in secrets_in(text)), None)


@lru_cache(maxsize=1024)
def _sure_secret_in(text: str) -> str | None:
    """The same for what is more than random: findings may quote a digest."""
    found = (found.detector for found in secrets_in(text) if found.is_sure)
    return next(found, None)
