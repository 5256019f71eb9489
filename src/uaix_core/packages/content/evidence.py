"""The evidence behind an advanced persona: five kinds, told by the stem of a file.

Source: UAIX package format v0.1, "Required sets" and "Words on the wire" (role).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from uaix_core.packages.findings import Findings

EVIDENCE_FOLDER: Final = "evidence/"

#: The kinds of evidence and what each shows.
KINDS: Final = (
    ("source-excerpts", "reviewed passages that the persona was written from"),
    ("fidelity-tests", "questions that show whether it is this persona that speaks"),
    ("variance-report", "where a receiving system makes it behave differently"),
    ("source-platform", "where the persona lived before"),
    ("provenance", "who made what, from what, and with whose consent"),
)


def kinds_among(listed: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """The stems of the files that are evidence, by their folder or their role."""
    return {
        path.rpartition("/")[2].partition(".")[0].lower().replace("_", "-")
        for path, fields in listed.items()
        if path.startswith(EVIDENCE_FOLDER) or fields.get("role") == "evidence"
    }


def judge_evidence(listed: Mapping[str, Mapping[str, Any]], findings: Findings) -> None:
    """Warn about each kind of evidence that isn't listed."""
    there = kinds_among(listed)
    for kind, purpose in missing(there):
        message = f"no evidence of the kind {kind}: {purpose}"
        findings.add("evidence.missing", f"{EVIDENCE_FOLDER}{kind}.*", message)


def missing(there: Iterable[str]) -> list[tuple[str, str]]:
    """The kinds that aren't there, with what each shows."""
    known = set(there)
    return [row for row in KINDS if row[0] not in known]
