"""Timing that a busy machine can't mislead much: in turns, and the least of several.

Whoever is compared runs in the same process and in turns, so that both meet the same
neighbours; of all rounds the shortest counts, because noise only ever adds.
"""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    #: One run; the number rises from run to run, so that each can be the first of its
    #: name.
    Run = Callable[[int], object]


@attrs.frozen
class Measure:
    """What was measured: a time or a size; for a time also the CPU's part of it."""

    value: float
    cpu: float | None = None


def in_turns(runs: Sequence[Run], *, rounds: int, times: int = 1) -> list[Measure]:
    """Milliseconds of one run of each, the least of all rounds.

    Args:
        runs: what to compare; each is called with the same numbers.
        rounds: how often each has its turn.
        times: runs in a turn, for those too short to be timed alone.

    """
    walls: list[list[float]] = [[] for _ in runs]
    cpus: list[list[float]] = [[] for _ in runs]
    for turn in range(rounds):
        numbers = range(turn * times, (turn + 1) * times)
        for place, run in enumerate(runs):
            # What others left must not be collected at this one's expense.
            gc.collect()
            wall, cpu = time.perf_counter(), time.process_time()
            for number in numbers:
                run(number)
            cpus[place].append(time.process_time() - cpu)
            walls[place].append(time.perf_counter() - wall)
    each = 1_000 / times
    return [
        Measure(min(wall) * each, min(cpu) * each)
        for wall, cpu in zip(walls, cpus, strict=True)
    ]
