"""How long the library takes to import, and what it leaves for its first use."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from benchmarks.figures import TARGETS, Figure
from benchmarks.timing import Measure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.plan import Plan

#: What nobody should wait for who has not yet called anything.
HEAVY = (
    "apsw",
    "attrs",
    "cattrs",
    "cryptography",
    "numpy",
    "rfc8785",
    "snowballstemmer",
    "sqlite_vec",
    "zstandard",
)
_TIMED = (
    "import time; start = time.perf_counter(), time.process_time()\n{}\n"
    "print(time.perf_counter() - start[0], time.process_time() - start[1])"
)
_LISTED = f"import sys\n{{}}\nprint(*[m for m in {HEAVY} if m not in sys.modules])"
_IMPORTS = {
    "import uaix_core": "import uaix_core",
    "and use of a session's classes": "from uaix_core import ScopeId, Session",
    "and all public names": "from uaix_core import *",
}


def imports(plan: Plan) -> Iterator[Figure]:
    """Fresh processes in turns, the least of fifteen."""
    rounds = min(3 * plan.rounds, max(plan.n // 200, 1))
    statements = ["import attrs", *_IMPORTS.values()]
    found: list[list[Measure]] = [[] for _ in statements]
    for _ in range(rounds):
        for place, statement in enumerate(statements):
            wall, cpu = _run(_TIMED.format(statement)).split()
            found[place].append(Measure(float(wall) * 1_000, float(cpu) * 1_000))
    floor, *measures = (
        Measure(min(m.value for m in each), min(m.cpu or 0.0 for m in each))
        for each in found
    )
    for what, measure in zip(_IMPORTS, measures, strict=True):
        # Whoever wants the rooms pays for them.
        target = None if "*" in _IMPORTS[what] else TARGETS["import"]
        yield Figure("import", what, measure, floor, target)


def absent(statement: str = "import uaix_core") -> list[str]:
    """Which of the heavy modules a statement does not load."""
    return _run(_LISTED.format(statement)).split()


def _run(code: str) -> str:
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout
