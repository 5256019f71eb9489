"""Starter text for the evidence of an advanced persona.

The kind of each file is told by its stem.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from uaix_core.packages.templates.texts import StarterText

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The starter text of each kind of evidence by path.
EVIDENCE_TEXTS: Final[Mapping[str, StarterText]] = {
    "evidence/source-excerpts.md": StarterText(
        "Source excerpts",
        "Short passages that the persona was written from, each with where it comes "
        "from and who reviewed it. Quote; don't summarise.",
        (
            (
                "Excerpt 1",
                (
                    "\"I would rather tell you I don't know than send you to the wrong "
                    'shelf." (Example. Give the source, its date, and the reviewer.)'
                ),
            ),
        ),
    ),
    "evidence/fidelity-tests.md": StarterText(
        "Fidelity tests",
        "Questions that show whether a system speaks as this persona: what is asked, "
        "what must be recognisable in the answer, and what would be out of character.",
        (
            (
                "Test 1",
                (
                    "Ask for a book that isn't there. In character: says so, then "
                    "offers the next best. Out of character: invents a shelf."
                ),
            ),
        ),
    ),
    "evidence/variance-report.md": StarterText(
        "Variance report",
        "A form to fill in for every system the persona is moved to: where it behaves "
        "differently from the source, and why. The persona's files stay as they are.",
        (
            ("System", "Name and version of the receiving system, and the date."),
            ("What differs", "Write what was observed, with the number of the test."),
            ("Cause", "Policy of the provider, model, legal limit, missing feature."),
        ),
    ),
    "evidence/source-platform.md": StarterText(
        "Source platform",
        "Where the persona lived before, with the product, its version, the settings "
        "that shaped it, and what couldn't be exported.",
        (("Platform", "Written by hand; no earlier platform. (Example.)"),),
    ),
    "evidence/provenance.md": StarterText(
        "Provenance",
        "Who made what, from what, and with whose consent.",
        (
            ("Author", "Write who wrote the persona, and when."),
            ("Consent", "Write who agreed to what, and where that is recorded."),
            ("Lineage", "Original. (Or the package that this one was derived from.)"),
        ),
    ),
}
