"""The rulesets by name, as data: scopes, registered files, exclusions, places.

The judgements and the start-up order are the same for every ruleset, and every
report names the one it used.

Source: UAIX package format v0.1, "Required sets".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from uaix_core.packages.required import files as registered
from uaix_core.packages.required.releases import (
    CATCH_ALL_FILES,
    MATM_DURABLE_MEMORY,
    files_launch_5,
    files_matm_2026_07,
)
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from uaix_core.packages.required.files import RegisteredFile

MANIFEST_PATH: Final = ".uai/manifest.uaix.json"
DEFAULT_RULESET: Final = "3.138"


@attrs.frozen
class Exclusion:
    """Files that a declared scope puts out of scope, unless another one is declared.

    ``reason`` says why, in words that go after "out of scope:".
    """

    paths: frozenset[str]
    declared: str
    unless: frozenset[str]
    reason: str

    def applies_to(self, scopes: Collection[str]) -> bool:
        """Whether a package of these scopes must leave the paths out."""
        return self.declared in scopes and self.unless.isdisjoint(scopes)


@attrs.frozen
class Ruleset:
    """One named release of the required sets.

    ``files`` maps a path to its row, in start-up order. ``folders`` and ``places`` say
    where declared files beyond the required ones may stand.
    """

    name: str
    scopes: frozenset[str]
    files: Mapping[str, RegisteredFile]
    exclusions: tuple[Exclusion, ...]
    folders: tuple[str, ...] = (".uai/", "evidence/", "exports/", "docs/")
    places: frozenset[str] = frozenset(("AGENTS.md", "llms.txt", "llms-full.txt"))

    def required(self, scopes: Collection[str]) -> list[RegisteredFile]:
        """The files that these scopes require, in start-up order.

        ``universal`` counts as declared. Both of two files that can stand in for each
        other are listed (see `RegisteredFile.instead`).
        """
        wanted = {*scopes, registered.UNIVERSAL}
        return [row for row in self.files.values() if not wanted.isdisjoint(row.scopes)]

    def may_hold(self, path: str) -> bool:
        """Whether a declared file may stand at this place at all."""
        return path.startswith(self.folders) or path in self.places

    def startup_key(self, path: str) -> tuple[int, str]:
        """What to sort paths by to put them in start-up order."""
        row = self.files.get(path)
        position = registered.OTHER_SCOPE_FILES if row is None else row.position
        return position, path

    def exclusion_of(self, path: str, scopes: Collection[str]) -> Exclusion | None:
        """The exclusion that puts the path out of scope, if any.

        ``scopes`` are the declared ones with ``universal``.
        """
        for exclusion in self.exclusions:
            if path in exclusion.paths and exclusion.applies_to(scopes):
                return exclusion
        return None


_PERSONA_SCOPES: Final = frozenset(
    (registered.ASSISTANT, registered.PERSONA, registered.ADVANCED_PERSONA)
)
_SCOPES: Final = _PERSONA_SCOPES | {
    registered.UNIVERSAL,
    registered.PROJECT_HANDOFF,
    registered.CODE_BEARING,
    registered.LONG_TERM_MEMORY,
    registered.FILE_HANDOFF,
}
_NO_PERSONA: Final = Exclusion(
    paths=frozenset((registered.PERSONA_FILE,)),
    declared=registered.PROJECT_HANDOFF,
    unless=_PERSONA_SCOPES,
    reason="a hand-off that declares no persona scope carries no persona",
)
_NO_CATCH_ALL: Final = Exclusion(
    paths=CATCH_ALL_FILES,
    declared=registered.UNIVERSAL,
    unless=frozenset(),
    reason="this release keeps passing state as records and not as files",
)

RULESETS: Final[Mapping[str, Ruleset]] = {
    ruleset.name: ruleset
    for ruleset in (
        Ruleset(
            name="3.138",
            scopes=_SCOPES,
            files={row.path: row for row in registered.files_3_138()},
            exclusions=(_NO_PERSONA,),
        ),
        Ruleset(
            name="launch-5",
            scopes=_SCOPES,
            files=files_launch_5(),
            exclusions=(_NO_PERSONA,),
        ),
        Ruleset(
            name="matm-2026-07",
            scopes=_SCOPES | {MATM_DURABLE_MEMORY},
            files=files_matm_2026_07(),
            exclusions=(_NO_PERSONA, _NO_CATCH_ALL),
        ),
    )
}


def ruleset_named(name: str) -> Ruleset:
    """The ruleset of this name.

    Raises:
        CallerError: ``ruleset.unknown``.

    """
    ruleset = RULESETS.get(name)
    if ruleset is None:
        raise CallerError(
            "no such ruleset",
            code="ruleset.unknown",
            path="ruleset",
            hint="one of " + ", ".join(RULESETS),
        )
    return ruleset
