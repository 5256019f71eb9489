"""What two other releases of the standard register, as differences from 3.138.

``launch-5`` is the standard as it first went public: five universal files, and two
for code. ``matm-2026-07`` is what a shared memory service required in July 2026:
eight universal files, the start-up packet and a progress record among them, and no
short-term memory as a file. What neither says anything about is as in 3.138.

A file that an older release didn't ask for is known all the same, so that a package
made for 3.138 can be judged by it without complaints about words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from uaix_core.packages.required import files as registered
from uaix_core.packages.required.files import RegisteredFile, files_3_138

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: The durable-memory configuration that only the memory service has.
MATM_DURABLE_MEMORY: Final = "matm_durable_memory"

SHORT_TERM_MEMORY: Final = ".uai/short-term-memory.uai"

#: Names that gather everything: a memory service keeps such state in its database.
CATCH_ALL_FILES: Final = frozenset(
    (
        SHORT_TERM_MEMORY,
        ".uai/active-memory.uai",
        ".uai/current-state.uai",
        ".uai/project-state.uai",
        ".uai/working-state.uai",
    )
)

_Changes = dict[str, dict[str, Any]]

#: The universal file whose place in the start-up order the progress record takes.
_PROGRESS_POSITION: Final = registered.FIRST + 7

_NOT_ASKED_FOR: Final = {"scopes": ()}

_LAUNCH_5: Final[_Changes] = {
    ".uai/memory-maintenance.uai": {**_NOT_ASKED_FOR, "also": ("profile_required",)},
    ".uai/talisman.uai": {**_NOT_ASKED_FOR, "also": ("profile_required",)},
    ".uai/architecture.uai": _NOT_ASKED_FOR,
    ".uai/test-plan.uai": _NOT_ASKED_FOR,
}

_MATM_2026_07: Final[_Changes] = {
    ".uai/startup-packet.uai": {
        "scopes": (registered.UNIVERSAL,),
        "status": "universal_required",
        "also": ("profile_required",),
    },
    SHORT_TERM_MEMORY: {
        **_NOT_ASKED_FOR,
        "status": "configuration_specific_required",
        "also": ("universal_required",),
    },
    ".uai/long-term-memory.uai": {
        "scopes": (registered.LONG_TERM_MEMORY, MATM_DURABLE_MEMORY),
        "role": "long_term_pointer_ledger",
        "reads": ("long_term_memory",),
    },
}

_MATM_FURTHER: Final = (
    RegisteredFile(
        ".uai/progress.uai",
        "progress",
        (registered.UNIVERSAL,),
        "Progress",
        "what is done, what remains, and what is in the way",
        _PROGRESS_POSITION,
        "universal_required",
    ),
)


def files_launch_5() -> Mapping[str, RegisteredFile]:
    """Every registered file of ruleset launch-5 by path, in start-up order."""
    return _differing(_LAUNCH_5)


def files_matm_2026_07() -> Mapping[str, RegisteredFile]:
    """Every registered file of ruleset matm-2026-07 by path, in start-up order."""
    return _differing(_MATM_2026_07, _MATM_FURTHER)


def _differing(
    changes: _Changes, further: Sequence[RegisteredFile] = ()
) -> Mapping[str, RegisteredFile]:
    rows = [attrs.evolve(row, **changes.get(row.path, {})) for row in files_3_138()]
    ordered = sorted((*rows, *further), key=lambda row: (row.position, row.path))
    return {row.path: row for row in ordered}
