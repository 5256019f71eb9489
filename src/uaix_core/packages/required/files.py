"""The files that ruleset 3.138 registers, as rows.

Source: UAIX package format v0.1, the required sets of release 3.138. Each row says
whose file it is, what it is for, and where it stands in the start-up order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

UNIVERSAL: Final = "universal"
PROJECT_HANDOFF: Final = "project_handoff"
CODE_BEARING: Final = "code_bearing"
ASSISTANT: Final = "non_project_assistant"
PERSONA: Final = "persona_profile"
ADVANCED_PERSONA: Final = "advanced_persona_profile"
LONG_TERM_MEMORY: Final = "long_term_memory"
FILE_HANDOFF: Final = "agent_file_handoff"

#: Where the groups of the start-up order begin.
FIRST: Final = 0
OTHER_SCOPE_FILES: Final = 100
PERSONA_FILES: Final = 200
LAST: Final = 300

PERSONA_FILE: Final = ".uai/persona.uai"
STYLE_INDEX: Final = ".uai/personality/sense-of-style.uai"


@attrs.frozen
class RegisteredFile:
    """One registered file.

    ``scopes`` are those that require it, ``status`` its registered requiredStatus and
    ``also`` the others it may carry; ``role`` is its role word and ``reads`` are others
    that are read. A row without scopes is known and required by nothing. ``position``
    orders start-up (ties go by path).
    ``instead`` names the other file that does the same duty, ``trigger`` the file
    without which this one must not stand, and ``absent`` the rule for its absence.
    """

    path: str
    role: str
    scopes: tuple[str, ...]
    label: str
    purpose: str
    position: int = OTHER_SCOPE_FILES
    status: str = "profile_required"
    also: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    instead: str | None = None
    trigger: str | None = None
    absent: str = "set.missing"

    @property
    def statuses(self) -> tuple[str, ...]:
        """Every requiredStatus that the file may carry, the registered one first."""
        return (self.status, *self.also)

    @property
    def roles(self) -> tuple[str, ...]:
        """Every role word that is read for the file, the registered one first."""
        return (self.role, *self.reads)


def _role(stem: str) -> str:
    return stem.replace("-", "_")


_UNIVERSAL_ROWS: Final = (
    (
        "memory-maintenance",
        "Memory maintenance",
        "how memory is kept, reviewed, retired",
    ),
    ("identity", "Package identity", "what this package is and who answers for it"),
    ("world-context", "World context", "the surroundings that the memory assumes"),
    ("totem", "Totem", "what is to be held to: an active anchor"),
    ("taboo", "Taboo", "what is not to be done: an active anchor"),
    ("talisman", "Talisman", "what guards the two others: an active anchor"),
    ("short-term-memory", "Short-term memory", "the current state of the work"),
)


def universal_files() -> Iterator[RegisteredFile]:
    """The seven files of every package, in start-up order."""
    for position, (stem, label, purpose) in enumerate(_UNIVERSAL_ROWS, FIRST + 1):
        yield RegisteredFile(
            f".uai/{stem}.uai",
            _role(stem),
            (UNIVERSAL,),
            label,
            purpose,
            position,
            "universal_required",
        )


_SCOPE_FILES: Final = (
    RegisteredFile(
        ".uai/startup-packet.uai",
        "startup_packet",
        (PROJECT_HANDOFF,),
        "Start-up packet",
        "where a receiver begins and in which order it reads",
        FIRST,
    ),
    RegisteredFile(
        ".uai/system-profile.uai",
        "system_profile",
        (PROJECT_HANDOFF,),
        "System profile",
        "what the project runs on",
    ),
    RegisteredFile(
        ".uai/receiver-brief.uai",
        "receiver_brief",
        (PROJECT_HANDOFF,),
        "Receiver brief",
        "what the receiver takes over",
    ),
    RegisteredFile(
        ".uai/exports/manifest.json",
        "manifest",
        (PROJECT_HANDOFF,),
        "Export manifest",
        "the read order of the hand-off as data",
    ),
    RegisteredFile(
        "AGENTS.md",
        "instructions",
        (PROJECT_HANDOFF,),
        "Agent instructions",
        "the briefing that a receiver reads first",
        reads=("agents",),
        instead=".uai/readme.human",
    ),
    RegisteredFile(
        ".uai/readme.human",
        "instructions",
        (PROJECT_HANDOFF,),
        "Human briefing",
        "the briefing that a receiver reads first",
        reads=("agents",),
        instead="AGENTS.md",
    ),
    RegisteredFile(
        ".uai/coding-standards.uai",
        "coding_standards",
        (CODE_BEARING,),
        "Coding standards",
        "how code is written here",
    ),
    RegisteredFile(
        ".uai/architecture.uai",
        "architecture",
        (CODE_BEARING,),
        "Architecture",
        "source roots and how the parts fit",
    ),
    RegisteredFile(
        ".uai/test-plan.uai",
        "test_plan",
        (CODE_BEARING,),
        "Test plan",
        "what is tested and how it is run",
    ),
    RegisteredFile(
        ".uai/next-recursive-prompt.uai",
        "next_recursive_prompt",
        (CODE_BEARING,),
        "Next prompt",
        "the work that comes next",
    ),
    RegisteredFile(
        ".uai/file-handoff.uai",
        "file_handoff",
        (FILE_HANDOFF,),
        "File hand-off",
        "what happens to files that are handed in",
        also=("configuration_specific_required",),
        absent="set.file-handoff",
    ),
    RegisteredFile(
        PERSONA_FILE,
        "persona",
        (ASSISTANT, PERSONA, ADVANCED_PERSONA),
        "Persona",
        "the compact entry to who the persona is",
        PERSONA_FILES,
    ),
    RegisteredFile(
        ".uai/long-term-memory.uai",
        "long_term_memory",
        (LONG_TERM_MEMORY,),
        "Long-term memory",
        "pointers to durable memory, no bodies",
        LAST,
        also=("configuration_specific_required",),
    ),
)

#: The 22 dimensions of an advanced persona, in their closed order.
DIMENSIONS: Final = (
    ("identity", "Identity"),
    ("religion-worldview", "Religion and worldview"),
    ("political-leaning", "Political leaning"),
    ("sense-of-style", "Sense of style"),
    ("sense-of-winter", "Sense of winter"),
    ("sense-of-spring-fall", "Sense of spring and fall"),
    ("super-fashion-style", "Super fashion and style"),
    ("jewelry-choices", "Jewelry choices"),
    ("physical-appearance", "Physical appearance"),
    ("birth-age-generation", "Birth, age, generation"),
    ("romantic-orientation", "Romantic orientation"),
    ("voice", "Voice"),
    ("values", "Values"),
    ("temperament", "Temperament"),
    ("reasoning-style", "Reasoning style"),
    ("emotional-patterns", "Emotional patterns"),
    ("relationship-style", "Relationship style"),
    ("behavioral-patterns", "Behavioral patterns"),
    ("boundaries", "Boundaries"),
    ("examples-dialogue", "Example dialogue"),
    ("adaptation-rules", "Adaptation rules"),
    ("preservation-rules", "Preservation rules"),
)

#: The dimensions that the sense of style triggers.
STYLE_DIMENSIONS: Final = (
    "sense-of-winter",
    "sense-of-spring-fall",
    "super-fashion-style",
    "jewelry-choices",
)


def personality_files() -> Iterator[RegisteredFile]:
    """The 22 dimensions in order; the four style files name their trigger."""
    for position, (stem, label) in enumerate(DIMENSIONS, PERSONA_FILES + 1):
        is_style = stem in STYLE_DIMENSIONS
        yield RegisteredFile(
            f".uai/personality/{stem}.uai",
            _role(stem),
            (ADVANCED_PERSONA,),
            label,
            f"dimension {position - PERSONA_FILES} of {len(DIMENSIONS)} of the persona",
            position,
            also=("content_triggered_required",) if is_style else (),
            trigger=STYLE_INDEX if is_style else None,
            absent="set.style" if is_style else "set.missing",
        )


def files_3_138() -> Iterable[RegisteredFile]:
    """Every registered file of ruleset 3.138 in start-up order."""
    rows = (*universal_files(), *_SCOPE_FILES, *personality_files())
    return sorted(rows, key=lambda row: (row.position, row.path))
