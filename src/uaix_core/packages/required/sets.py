"""Closed required sets: what a package must hold for the scopes that it declares.

The sets themselves are data in `rulesets`; why a file is required, allowed or refused
is told by `explaining`.

Source: UAIX package format v0.1, "Required sets".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_core.packages.required.rulesets import (
    DEFAULT_RULESET,
    MANIFEST_PATH,
    RULESETS,
    Exclusion,
    Ruleset,
    ruleset_named,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from uaix_core.packages.findings import Findings
    from uaix_core.packages.required.files import RegisteredFile

__all__ = [
    "DEFAULT_RULESET",
    "MANIFEST_PATH",
    "RULESETS",
    "Exclusion",
    "Ruleset",
    "judge_required",
    "ruleset_named",
    "startup_order",
]


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
        exclusion = ruleset.exclusion_of(path, scopes)
        if exclusion is not None:
            findings.add("set.out-of-scope", path, f"out of scope: {exclusion.reason}")
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
