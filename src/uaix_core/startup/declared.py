"""What the manifest of a package declares, judged anew at every start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from uaix_core.packages.findings import Findings
from uaix_core.packages.limits import HIGHEST_LIMITS
from uaix_core.packages.manifest.codec import from_wire
from uaix_core.packages.manifest.judging import judge_manifest
from uaix_core.packages.required.sets import MANIFEST_PATH, ruleset_named
from uaix_core.packages.rules.table import RULES
from uaix_core.startup import checks
from uaix_core.startup.checks import StartupCheck
from uaix_core.values.instants import FOREVER
from uaix_core.values.strict_json import StrictJsonError, parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.packages.manifest.values import FileEntry, Manifest

#: The fields of a manifest that name whose package it is.
AGENT_FIELDS: Final = ("agentId", "npcId")

#: Rules whose finding is a check of its own, however severe it is; any other finding
#: is one of the manifest when it is an error.
_CHECKS: Final[Mapping[str, str]] = {
    "set.missing": checks.MISSING,
    "set.style": checks.TRIGGER,
    "set.content-trigger": checks.TRIGGER,
    "set.out-of-scope": checks.SCOPE,
    "scope.undeclared": checks.SCOPE,
    "entrypoint.absent": checks.REFERENCE,
    "entrypoint.order": checks.ORDER,
}


@attrs.frozen
class Declared:
    """What a manifest declares, as far as it could be read.

    ``agents`` are the texts that name whose it is, ``entries`` the listed files by
    path, ``records`` the record of each path. ``failed`` are the checks that fail by
    the manifest alone.
    """

    agents: tuple[Any, ...] = ()
    scopes: frozenset[str] = frozenset()
    entries: Mapping[str, FileEntry] = attrs.field(factory=dict)
    records: Mapping[str, str] = attrs.field(factory=dict)
    failed: tuple[StartupCheck, ...] = ()


def declared(manifest: bytes, ruleset: str, package_id: str) -> Declared:
    """What the stored manifest of a package declares."""
    findings = Findings(RULES, lenient=True)
    try:
        wire = parse(manifest, max_depth=HIGHEST_LIMITS.json_depth)
    except StrictJsonError:
        wire = None
    if not isinstance(wire, dict):
        return Declared(failed=(StartupCheck(checks.MANIFEST, MANIFEST_PATH),))
    judge_manifest(
        wire,
        ruleset=ruleset_named(ruleset),
        limits=HIGHEST_LIMITS,
        # A date is evidence; whether it lay ahead was judged when the package came.
        now=FOREVER,
        findings=findings,
    )
    failed = tuple(_failed(findings))
    if any(check.code == checks.MANIFEST for check in failed):
        return Declared(failed=failed)
    made = from_wire(wire, ruleset=ruleset)
    if made.package_id != package_id:
        failed = (*failed, StartupCheck(checks.MANIFEST, MANIFEST_PATH))
    return _declared(made, failed)


def _failed(findings: Findings) -> list[StartupCheck]:
    found = []
    for finding in findings:
        code = _CHECKS.get(finding.code)
        if code is not None:
            found.append(StartupCheck(code, finding.path or MANIFEST_PATH))
        elif finding.severity == "error":
            found.append(StartupCheck(checks.MANIFEST, MANIFEST_PATH))
    return found


def _declared(made: Manifest, failed: tuple[StartupCheck, ...]) -> Declared:
    entries = {e.path: e for e in made.files if e.path != MANIFEST_PATH}
    return Declared(
        agents=tuple(made.extra[n] for n in AGENT_FIELDS if n in made.extra),
        scopes=made.scopes,
        entries=entries,
        records={path: made.stable_id(entry) for path, entry in entries.items()},
        failed=failed,
    )
