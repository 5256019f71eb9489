"""Starter text for handing a project over, and for handing files over.

The example project is invented: a small program that prints labels for shelves.
Headings are the words by which the content of these files is looked for.

Source: UAIX package format v0.1, the project and the file hand-off.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from uaix_core.packages.templates.texts import StarterText, by_path, memory_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EXPORT_MANIFEST: Final = ".uai/exports/manifest.json"

_PROJECT: Final = (
    memory_text(
        "startup-packet",
        "Start-up packet",
        "Where a receiver begins. What this is, in which order to read, and one first "
        "step that can't do harm. Replace the example, a program that prints labels "
        "for shelves.",
        ("Project", "Shelf labels. It reads the catalogue and prints labels."),
        (
            "Required read order",
            (
                "1. This page\n"
                "2. .uai/memory-maintenance.uai, then the other six universal files\n"
                "3. Everything else in the order of the manifest's entrypoints"
            ),
        ),
        ("First safe action", "Read the receiver brief and say back what is asked."),
        ("Stop when", "A file is missing, or two files disagree about the same thing."),
    ),
    memory_text(
        "system-profile",
        "System profile",
        "What the project runs on, so that nobody has to guess. Names and versions, "
        "never addresses of machines, keys or passwords.",
        ("Runs on", "A desktop computer with Python 3.12 and a label printer."),
        ("Depends on", "The library's catalogue as a CSV file, exported every night."),
        ("Data", "About 12,000 titles. No data of visitors."),
        (
            "Not here",
            "Where the credentials are kept and who gives them out: write it.",
        ),
    ),
    memory_text(
        "receiver-brief",
        "Receiver brief",
        "What the receiver takes over, what is open, and what it mustn't touch. Write "
        "it for somebody who was never in the room.",
        ("You take over", "The layout of the labels and the reading of the catalogue."),
        ("Done so far", "Labels for the travel section print in the larger type."),
        ("Open", "Titles longer than two lines are cut in the middle of a word."),
        ("Leave alone", "The catalogue itself, which belongs to another team."),
        ("Ask", "Write who answers questions, and how to reach them."),
        ("Accepted when", "The receiver names the next step and the team agrees."),
    ),
)

_AGENTS: Final = StarterText(
    "Instructions for agents",
    "The page that a tool reads first when it opens this project. Keep it to what is "
    "always true, and let the files below .uai/ say the rest.",
    (
        ("Begin", "Read .uai/startup-packet.uai and follow its read order."),
        (
            "Working here",
            (
                "Make one change at a time, with a test that fails without it. "
                "Commands stand in .uai/coding-standards.uai and .uai/test-plan.uai."
            ),
        ),
        (
            "Ask first",
            (
                "Before anything leaves this project, and before .uai/totem.uai, "
                ".uai/taboo.uai or .uai/talisman.uai would change."
            ),
        ),
    ),
)

_FILE_HANDOFF: Final = memory_text(
    "file-handoff",
    "File hand-off",
    "What happens to files that are handed in, from where they arrive to how each is "
    "settled, and what stays as proof. Replace the examples.",
    ("Active-intake bucket declaration", "inbox/. Nothing else is looked at."),
    (
        "Disposition rules",
        (
            "Every file is taken in, refused with a reason, kept in durable memory, or "
            "left active with a reason. It gets exactly one of these."
        ),
    ),
    (
        "Redaction rules",
        "Names of visitors are taken out before a file is read by anybody else.",
    ),
    ("Evidence retention path", "evidence/intake/, kept until the next yearly review."),
    (
        "Checksum ledger or receipt route",
        "evidence/intake/ledger.md, one line a file with SHA-256, date and outcome.",
    ),
    (
        "Source-site removal rule",
        (
            "Once a file is in durable memory and its receipt was checked, it leaves "
            "the inbox."
        ),
    ),
    (
        "Final-report fields",
        (
            "Files seen, outcome of each, what was redacted, what is still open, and "
            "who checked it."
        ),
    ),
)

#: The starter text of each file of a project hand-off by path.
HANDOFF_TEXTS: Final[Mapping[str, StarterText]] = {
    **by_path(_PROJECT),
    "AGENTS.md": _AGENTS,
}

#: The starter text of a file hand-off by path.
FILE_HANDOFF_TEXTS: Final[Mapping[str, StarterText]] = by_path((_FILE_HANDOFF,))


def export_manifest(scopes: Sequence[str], read_order: Sequence[str]) -> bytes:
    """The read order of a hand-off as data: what `EXPORT_MANIFEST` holds.

    ``read_order`` are the paths that load at start-up, in order.
    """
    wire = {
        "schemaVersion": "1",
        "packageProfile": list(scopes),
        "activeReadOrder": [path for path in read_order if path != EXPORT_MANIFEST],
        "durableEvidence": [],
        "valuesRedacted": True,
    }
    return (json.dumps(wire, ensure_ascii=False, indent=2) + "\n").encode("utf-8")
