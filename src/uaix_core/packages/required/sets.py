"""Closed required sets: what a package must hold for the scopes that it declares.

A ruleset is data: its scopes, its registered files, what its scopes put out of scope,
and the places where further files may stand. The judgements and the start-up order
are the same for every ruleset, and every report names the one it used.

Source: UAIX package format v0.1, "Required sets".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from uaix_core.packages.required import files as registered
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from uaix_core.packages.findings import Findings
    from uaix_core.packages.required.files import RegisteredFile

MANIFEST_PATH: Final = ".uai/manifest.uaix.json"
DEFAULT_RULESET: Final = "3.138"


@attrs.frozen
class Exclusion:
    """Files that a declared scope puts out of scope, unless another one is declared."""

    paths: frozenset[str]
    declared: str
    unless: frozenset[str]

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
    folders: tuple[str, ...]
    places: frozenset[str]

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
        """The exclusion that puts the path out of scope, if any."""
        for exclusion in self.exclusions:
            if path in exclusion.paths and exclusion.applies_to(scopes):
                return exclusion
        return None


_PERSONA_SCOPES: Final = frozenset(
    (registered.ASSISTANT, registered.PERSONA, registered.ADVANCED_PERSONA)
)
_FILES_3_138: Final = {row.path: row for row in registered.files_3_138()}

RULESETS: Final[Mapping[str, Ruleset]] = {
    ruleset.name: ruleset
    for ruleset in (
        Ruleset(
            name="3.138",
            scopes=frozenset(
                (
                    registered.UNIVERSAL,
                    registered.PROJECT_HANDOFF,
                    registered.CODE_BEARING,
                    *_PERSONA_SCOPES,
                    registered.LONG_TERM_MEMORY,
                    registered.FILE_HANDOFF,
                )
            ),
            files=_FILES_3_138,
            exclusions=(
                Exclusion(
                    paths=frozenset((registered.PERSONA_FILE,)),
                    declared=registered.PROJECT_HANDOFF,
                    unless=_PERSONA_SCOPES,
                ),
            ),
            folders=(".uai/", "evidence/", "exports/", "docs/"),
            places=frozenset(("AGENTS.md", "llms.txt", "llms-full.txt")),
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


def startup_order(
    paths: Iterable[str],
    *,
    triggered: Collection[str] = (),
    ruleset: str = DEFAULT_RULESET,
) -> list[str]:
    """The paths that load at start-up, in order.

    Those are the registered files among ``paths`` and the ones that the caller names
    as ``triggered``; everything else is kept but doesn't load.
    """
    rules = ruleset_named(ruleset)
    loaded = {path for path in paths if path in rules.files or path in triggered}
    return sorted(loaded, key=rules.startup_key)


def judge_required(
    present: Collection[str],
    scopes: Collection[str],
    ruleset: Ruleset,
    findings: Findings,
) -> None:
    """Judge the closure of the required sets, and files that don't belong.

    ``present`` are the declared paths without the manifest, ``scopes`` the declared
    ones in their canonical spelling.
    """
    for row in ruleset.required(scopes):
        if row.path not in present and row.instead not in present:
            findings.add(row.absent, row.path, _absence(row, scopes))
    further = 0
    for path in present:
        row_here = ruleset.files.get(path)
        if row_here is None:
            further += 1
        elif row_here.trigger is not None and row_here.trigger not in present:
            findings.add(
                "set.content-trigger",
                path,
                f"the file is there without {row_here.trigger}, which triggers it",
            )
        if ruleset.exclusion_of(path, scopes) is not None:
            findings.add("set.out-of-scope", path)
        elif not ruleset.may_hold(path):
            findings.add("set.unregistered", path)
    if further:
        findings.add(
            "set.extra",
            None,
            f"declared files beyond the required set: {further}; they are kept and "
            "don't load at start-up",
        )


def _absence(row: RegisteredFile, scopes: Collection[str]) -> str:
    wanted = [scope for scope in row.scopes if scope in scopes] or [row.scopes[0]]
    either = f", or else {row.instead}" if row.instead else ""
    return f"{row.path}{either} is required by {', '.join(wanted)}: {row.purpose}"


def explain(
    path: str, scopes: Collection[str], *, ruleset: str = DEFAULT_RULESET
) -> str:
    """Why a file at this path is required, allowed or refused, in a sentence.

    ``scopes`` are the declared scopes of the package in question.
    """
    rules = ruleset_named(ruleset)
    row = rules.files.get(path)
    if path == MANIFEST_PATH:
        return "Required in every package: the manifest, which lists all other files."
    if rules.exclusion_of(path, scopes) is not None:
        return f"Refused: {path} is out of scope for the declared scopes."
    if row is not None:
        declared = {*scopes, registered.UNIVERSAL}
        wanted = [scope for scope in row.scopes if scope in declared]
        if not wanted:
            return (
                f"Allowed: {row.label} ({row.purpose}) is required only by "
                f"{', '.join(row.scopes)}."
            )
        either = f" {row.instead} can stand in for it." if row.instead else ""
        return (
            f"Required by {', '.join(wanted)} as {row.status}: {row.label}, "
            f"{row.purpose}.{either}"
        )
    if rules.may_hold(path):
        return "Allowed when listed: kept, but it doesn't load at start-up."
    return (
        "Refused: no file may stand there. Further files go below "
        f"{', '.join(rules.folders)} or are {', '.join(sorted(rules.places))}."
    )
