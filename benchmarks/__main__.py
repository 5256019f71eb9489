"""Measure the library against the floor and print one table.

python -m benchmarks [NAME...] [--n 100000] [--json FILE] [--quick]
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchmarks import (
    archives,
    commits,
    guards,
    imports,
    packages,
    parity,
    reads,
    revisions,
    starts,
    stores,
)
from benchmarks.figures import Figure, heading, line
from benchmarks.plan import QUICK, USUAL, Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

GROUPS: dict[str, Callable[[Plan], Iterator[Figure]]] = {
    "floor": parity.parity,
    "archives": archives.archives,
    "install": packages.install,
    "export": packages.export,
    "start": starts.start,
    "revise": revisions.revise,
    "guard": guards.guard,
    "append": commits.append,
    "get": reads.get,
    "scan": reads.scan,
    "open": stores.opening,
    "rebuild": stores.rebuild,
    "disk": stores.disk,
    "whole": stores.whole,
    "import": imports.imports,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the named groups, all of them by default."""
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(GROUPS))
    parser.add_argument("--n", type=int, help=f"rows in a store, {USUAL:,} if not said")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write this")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK:,} rows, 3 turns")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in GROUPS]
    if unknown:
        parser.error(f"no such group: {', '.join(unknown)}")
    n = given.n if given.n is not None else QUICK if given.quick else USUAL
    if n < 100:
        parser.error("with fewer than 100 rows nothing is measured")
    figures: list[Figure] = []
    seconds: dict[str, float] = {}
    with TemporaryDirectory(prefix="benchmark-") as place:
        plan = Plan(Path(place), n, is_quick=given.quick)
        print(heading())
        for name in given.names or GROUPS:
            start = time.perf_counter()
            for figure in GROUPS[name](plan):
                figures.append(figure)
                print(line(figure), flush=True)
            seconds[name] = round(time.perf_counter() - start, 1)
    notes = _notes(given.names or list(GROUPS))
    print("", *notes, sep="\n")
    if given.json is not None:
        report = _report(plan, figures, seconds, notes)
        given.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return 0


def _notes(names: Sequence[str]) -> list[str]:
    """What the table can't say."""
    said = ["Ratios of one run; times themselves say little about another machine."]
    if "floor" in names:
        is_there = parity.REFERENCE.is_file()
        which = "also" if is_there else "not"
        said.append(f"The floor was {which} held against ../shared/design/floor.py.")
    if "import" in names:
        absent = ", ".join(imports.absent())
        said.append(f"`import uaix_core` leaves for later: {absent}.")
    return said


def _report(
    plan: Plan, figures: list[Figure], seconds: dict[str, float], notes: list[str]
) -> dict[str, Any]:
    return {
        "n": plan.n,
        "rounds": plan.rounds,
        "python": platform.python_version(),
        "seconds": seconds,
        "notes": notes,
        "figures": [figure.as_dict() for figure in figures],
    }


if __name__ == "__main__":
    sys.exit(main())
