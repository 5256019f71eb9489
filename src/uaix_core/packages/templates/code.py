"""Starter text for a package that carries code.

The example is the one of the project hand-off. Between them the four files name
source roots, commands, test surfaces, support limits and the work that comes next.

Source: UAIX package format v0.1, code-bearing packages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from uaix_core.packages.templates.texts import StarterText, by_path, memory_text

if TYPE_CHECKING:
    from collections.abc import Mapping

_TEXTS: Final = (
    memory_text(
        "coding-standards",
        "Coding standards",
        "How code is written here, and what a reviewer would send back. Leave out what "
        "a formatter does by itself.",
        ("Language", "Python 3.12, typed; no dependency beyond the standard library."),
        (
            "Commands",
            (
                "- Set up: python -m venv .venv, then pip install -e .\n"
                "- Run: python -m shelf_labels catalogue.csv\n"
                "- Check: ruff check src tests"
            ),
        ),
        ("Names", "A thing has one name, in code, on labels and in talk."),
        (
            "Errors",
            "Say which line of the catalogue is wrong, and go on with the next.",
        ),
        ("Changes", "Small ones, each with its test, reviewed by one other person."),
    ),
    memory_text(
        "architecture",
        "Architecture",
        "Where the code lives and how its parts fit together. A newcomer should find "
        "the right file for a change from this page alone.",
        (
            "Source roots",
            (
                "- src/shelf_labels: the program\n"
                "- tests: its tests\n"
                "- layouts: one file for each kind of label"
            ),
        ),
        (
            "Parts",
            (
                "reading turns the catalogue into titles; setting puts a title on a "
                "label; printing makes the page. None of them knows the one after it."
            ),
        ),
        ("Decided", "Layouts are data, so that a new label needs no new code."),
        (
            "Support limits",
            (
                "One printer, Latin script, catalogues up to 50,000 lines. Nothing "
                "else is promised."
            ),
        ),
    ),
    memory_text(
        "test-plan",
        "Test plan",
        "What is tested, how to run it, and what nobody tests. A hand-over without "
        "this page is a hand-over of hopes.",
        (
            "Test surfaces",
            (
                "- Reading: broken lines, odd quotes, empty files\n"
                "- Setting: long titles, narrow labels\n"
                "- Whole: one catalogue of 40 lines against a page that staff approved"
            ),
        ),
        ("Commands", "- All: pytest tests\n- Quick: pytest tests/reading"),
        ("Not tested", "The printer itself. Print one sheet by hand before a release."),
        ("Green means", "Every test passed twice in a row, the second time offline."),
    ),
    memory_text(
        "next-recursive-prompt",
        "Next prompt",
        "The work that comes next, written so that the next worker can begin without "
        "asking, and how that worker leaves this page for the one after.",
        (
            "Next work",
            (
                "Break long titles between words. Begin with the failing test "
                "tests/setting/test_long_titles.py."
            ),
        ),
        ("Done when", "That test passes and no approved page has changed."),
        ("Limits", "Don't change the layouts; ask if a title can't fit at all."),
        ("Then", "Rewrite this page with the step after, and take out what is done."),
    ),
)

#: The starter text of each code-bearing file by path.
CODE_TEXTS: Final[Mapping[str, StarterText]] = by_path(_TEXTS)
