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
