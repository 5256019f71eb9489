"""Why a file is required, allowed, out of scope or refused, in words.

Each answer names the rule that says so, as the lint would, and comes from the same
rows.

Source: UAIX package format v0.1, "Required sets" and "Paths".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import attrs

from uaix_core.packages.findings import Findings
from uaix_core.packages.limits import DEFAULT_LIMITS
from uaix_core.packages.manifest.words import fold
from uaix_core.packages.paths import judge_path, shown
from uaix_core.packages.required import files as registered
from uaix_core.packages.required.rulesets import (
    DEFAULT_RULESET,
    MANIFEST_PATH,
    ruleset_named,
)
from uaix_core.packages.rules.archives import ARCHIVE_RULES

if TYPE_CHECKING:
    from collections.abc import Collection

    from uaix_core.packages.required.files import RegisteredFile
    from uaix_core.packages.required.rulesets import Ruleset

Standing = Literal["required", "allowed", "out_of_scope", "refused"]

_ABSENT_WORDS: Final = {
    "set.missing": "Without it the package is refused",
    "set.style": "Without it the package is refused, read leniently it is warned about",
    "set.file-handoff": "Without it the package is warned about",
}


@attrs.frozen
class Explanation:
    """What a package of some scopes makes of a path.

    ``rule`` is the lint code that says so, or None where no rule looks at the file;
    ``text`` says why, in a sentence or two, with the rule named.
    """

    path: str
    standing: Standing
    rule: str | None
    ruleset: str
    text: str

    def as_dict(self) -> dict[str, str | None]:
        """The explanation as plain data, for JSON."""
        return attrs.asdict(self)


def explain(
    path: str, scopes: Collection[str], *, ruleset: str = DEFAULT_RULESET
) -> str:
    """Why a file at this path is required, allowed, out of scope or refused.

    ``scopes`` are the declared scopes of the package in question, in any spelling;
    ``universal`` counts as declared.

    Raises:
        CallerError: ``ruleset.unknown``.

    """
    return explained(path, scopes, ruleset=ruleset).text


def explained(
    path: str, scopes: Collection[str], *, ruleset: str = DEFAULT_RULESET
) -> Explanation:
    """As `explain`, with the standing and the rule apart from the words.

    Raises:
        CallerError: ``ruleset.unknown``.

    """
    rules = ruleset_named(ruleset)
    declared = {*map(fold, scopes), registered.UNIVERSAL}
    standing, rule, text = _judged(path, declared, rules)
    named = f"rule {rule}, " if rule else ""
    whole = f"{text} ({named}ruleset {rules.name})."
    return Explanation(path, standing, rule, rules.name, whole)


def _judged(
    path: str, declared: Collection[str], rules: Ruleset
) -> tuple[Standing, str | None, str]:
    broken = Findings(ARCHIVE_RULES)
    judge_path(path, DEFAULT_LIMITS, broken)
    for finding in broken:
        text = f"Refused: {shown(path)} is no usable path: {finding.message}"
        return "refused", finding.code, text
    if path == MANIFEST_PATH:
        text = "Required in every package: the manifest, which lists all other files"
        return "required", "manifest.missing", text
    exclusion = rules.exclusion_of(path, declared)
    if exclusion is not None:
        text = f"Refused: {path} is out of scope: {exclusion.reason}"
        return "out_of_scope", "set.out-of-scope", text
    row = rules.files.get(path)
    if row is not None:
        return _registered(row, declared)
    if rules.may_hold(path):
        text = "Allowed when listed: kept, but not loaded at start-up"
        return "allowed", "set.extra", text
    text = (
        "Refused: no file may stand there. Further files go below "
        f"{', '.join(rules.folders)} or are {', '.join(sorted(rules.places))}"
    )
    return "refused", "set.unregistered", text


def _registered(
    row: RegisteredFile, declared: Collection[str]
) -> tuple[Standing, str | None, str]:
    wanted = [scope for scope in row.scopes if scope in declared]
    if not wanted:
        by = f"only by {', '.join(row.scopes)}" if row.scopes else "by no scope"
        rule, condition = None, ""
        if row.trigger is not None:
            rule = "set.content-trigger"
            condition = f". It may stand only beside {row.trigger}"
        text = f"Allowed: {row.label}, {row.purpose}, is required {by}{condition}"
        return "allowed", rule, text
    either = f" {row.instead} can stand in for it." if row.instead else ""
    trigger = f" It may stand only beside {row.trigger}." if row.trigger else ""
    text = (
        f"Required by {', '.join(wanted)} as {row.status}: {row.label}, {row.purpose}."
        f"{either}{trigger} {_ABSENT_WORDS[row.absent]}"
    )
    return "required", row.absent, text
