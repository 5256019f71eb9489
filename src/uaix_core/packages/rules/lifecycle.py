"""Rules about what a package may do to what is stored already.

Source: UAIX package format v0.1, protected anchors and
the persona preservation rule; "Install, restore, clone, update".
"""

from __future__ import annotations

from typing import Final

from uaix_core.packages.findings import Rule

LIFECYCLE_RULES: Final[dict[str, Rule]] = {
    rule.code: rule
    for rule in (
        Rule(
            code="anchor.mutation",
            family="anchor_mutation",
            severity="error",
            meaning="a protected anchor changes without an authorisation",
            trigger="authority_boundary_conflict",
            hint="an authorisation names the path and the operation",
        ),
        Rule(
            code="persona.mutation",
            family="anchor_mutation",
            severity="error",
            meaning="a file of the persona changes without an authorisation",
            trigger="authority_boundary_conflict",
            hint="an authorisation names the path and the operation",
        ),
        Rule(
            code="package.same-persona",
            family="identity",
            severity="info",
            meaning="another package of the scope has a persona of this name",
        ),
    )
}
