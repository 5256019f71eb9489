"""Which modules are mutated, and who judges their mutants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from generator import mutants

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from generator import Mutant

# The judges, each by its arguments of pytest.
KIT: Sequence[str] = ("--pyargs", "uaix_conformance", "--uaix-backend=memory")
SCHEMAS: Sequence[str] = ("tests/schema",)
SESSIONS: Sequence[str] = ("tests/session", "-k", "memory or test_views")
ADVANCES: Sequence[str] = ("tests/store/test_advance.py",)
STATES: Sequence[str] = ("tests/store/test_tables.py",)
LOGS: Sequence[str] = ("tests/store/test_log.py",)
BLOCKS: Sequence[str] = ("tests/store/test_sorted_rows.py",)
SAYINGS: Sequence[str] = ("tests/gate/test_said.py",)
ARGUMENTS: Sequence[str] = ("tests/values/test_arguments.py",)
#: No backend decides what these rooms decide.
_ON_ONE = ("-k", "not (dir or sqlite or postgres)")
REVIEWS: Sequence[str] = ("tests/session/test_reviews.py", *_ON_ONE)
OUTBOXES: Sequence[str] = ("tests/session/test_outbox.py", *_ON_ONE)
EDITS: Sequence[str] = ("tests/session/test_edits.py", *_ON_ONE)
STARTS: Sequence[str] = (
    "tests/session/test_starts.py",
    "tests/session/test_consents.py",
    *_ON_ONE,
)
TIERS: Sequence[str] = (
    "tests/session/test_tiers.py",
    "tests/session/test_proposals.py",
    "tests/session/test_tier_life.py",
    "tests/session/test_tier_erasure.py",
    *_ON_ONE,
)

#: Module below ``src`` -> its judges, asked in this order until one kills the mutant.
#: What a caller of the port can see is the kit's to judge alone.
TARGETS: Mapping[str, Sequence[Sequence[str]]] = {
    "uaix_backends/memory/store.py": (KIT,),
    # Which rows it names, and how often, is seen by authors of backends.
    "uaix_core/store/advance.py": (KIT, ADVANCES),
    "uaix_core/store/seal.py": (KIT,),
    "uaix_core/store/reading.py": (KIT,),
    "uaix_core/store/views.py": (KIT,),
    # The codes of its errors are no matter of the contract.
    "uaix_core/schema/checks.py": (KIT, SCHEMAS),
    "uaix_core/schema/reduction.py": (KIT,),
    "uaix_core/schema/reducers.py": (KIT,),
    "uaix_core/schema/commits.py": (KIT,),
    # How rooms declare what they keep is seen by authors of rooms, not by stores.
    "uaix_core/schema/relations.py": (SCHEMAS, KIT, SESSIONS),
    "uaix_core/schema/schema.py": (SCHEMAS, KIT),
    "uaix_core/schema/codec.py": (SCHEMAS, KIT),
    # The kit has reducers of its own; these are the product's.
    "uaix_core/history/reducer.py": (SESSIONS,),
    "uaix_core/authority/reducer.py": (SESSIONS,),
    "uaix_core/packages/reducer.py": (SESSIONS,),
    "uaix_core/packages/acceptance.py": (SESSIONS,),
    "uaix_core/packages/file_views.py": (SESSIONS,),
    # What people decide, what agents are given, and what is kept beside a persona.
    "uaix_core/gate/said.py": (SAYINGS,),
    "uaix_core/values/arguments.py": (ARGUMENTS,),
    "uaix_core/packages/reviewing.py": (REVIEWS,),
    "uaix_core/packages/outbox.py": (OUTBOXES,),
    "uaix_core/packages/edits.py": (EDITS,),
    "uaix_core/packages/edit_reading.py": (EDITS,),
    **dict.fromkeys(
        (
            f"uaix_core/startup/{name}.py"
            for name in (
                "assembling",
                "checks",
                "consents",
                "declared",
                "judging",
                "reading",
                "references",
                "watermarks",
            )
        ),
        (STARTS,),
    ),
    "uaix_core/tiers/reducer.py": (TIERS, SESSIONS),
    **dict.fromkeys(
        (
            f"uaix_core/tiers/{name}.py"
            for name in (
                "agents",
                "deciding",
                "drafts",
                "erasing",
                "noting",
                "proposing",
                "reading",
                "recording",
                "texts",
            )
        ),
        (TIERS,),
    ),
    # What a cache keeps of a state, and makes a state of again, is none of the port's.
    "uaix_core/store/tables.py": (STATES, KIT),
    # These hold whatever is put into them; its size is beyond the kit's examples.
    "uaix_core/store/log.py": (LOGS,),
    "uaix_core/store/sorted_rows.py": (BLOCKS,),
}

#: Modules of which only some functions are judged here, being reducers.
PARTS: Mapping[str, str] = {
    "uaix_core/packages/acceptance.py": "reduce_acceptance",
}


def mutants_of(file: str, source: str) -> list[Mutant]:
    """The mutants of a target."""
    part = PARTS.get(file)
    found = mutants(source, file)
    return [one for one in found if part is None or one.function == part]
