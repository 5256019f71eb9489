"""Timing that a busy machine can't mislead much: in turns, and the least of several.

Whoever is compared runs in the same process and in turns, so that both meet the same
neighbours; of all rounds the shortest counts, because noise only ever adds.
"""

from __future__ import annotations

import gc
import time
from statistics import median
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
            cpus[place].append((time.process_time() - cpu) / times)
            walls[place].append((time.perf_counter() - wall) / times)
    return _least(walls, cpus)


def run_by_run(runs: Sequence[Run], *, rounds: int, times: int) -> list[Measure]:
    """As `in_turns`, where turns change after each run and the median run counts.

    For work that waits for the disk: how long a wait takes changes from one moment to
    the next, and some waits are long.
    """
    walls: list[list[float]] = [[] for _ in runs]
    cpus: list[list[float]] = [[] for _ in runs]
    for turn in range(rounds):
        gc.collect()
        each: list[list[tuple[float, float]]] = [[] for _ in runs]
        for number in range(turn * times, (turn + 1) * times):
            for place, run in enumerate(runs):
                wall, cpu = time.perf_counter(), time.process_time()
                run(number)
                cpu = time.process_time() - cpu
                each[place].append((time.perf_counter() - wall, cpu))
        for place, pairs in enumerate(each):
            walls[place].append(median(wall for wall, _ in pairs))
            cpus[place].append(median(cpu for _, cpu in pairs))
    return _least(walls, cpus)


def _least(walls: list[list[float]], cpus: list[list[float]]) -> list[Measure]:
    return [
        Measure(min(wall) * 1_000, min(cpu) * 1_000)
        for wall, cpu in zip(walls, cpus, strict=True)
    ]
