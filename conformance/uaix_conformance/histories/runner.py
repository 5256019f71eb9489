"""The runner: four processes at work in two scopes, and a killer among them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from random import Random
from typing import IO, TYPE_CHECKING, Any, Final, cast

import attrs

from uaix_conformance.histories.log import logs_in, read_log
from uaix_conformance.histories.operations import (
    FAIL,
    INFO,
    OK,
    Ending,
    History,
    Operation,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SEATS: Final = 4

#: Seconds from one kill to the next.
_PAUSE: Final = (0.2, 1.0)
#: How many times longer than planned a run waits for what it should amount to.
_LONGER: Final = 6
#: A worker that was told to end and doesn't within so many seconds hangs.
_PATIENCE_S: Final = 60
#: So many of the last characters that workers said are told.
_SAID: Final = 2_000


@attrs.frozen
class Plan:
    """How long a run lasts: this time, and on until as much was done and killed.

    Whatever the counts, it ends after `_LONGER` times the time.
    """

    seconds: float
    operations: int = 0
    kills: int = 0

    @classmethod
    def of(cls, seconds: float) -> Plan:
        """A plan that asks for 100 operations and a kill a second from 20 s on."""
        if seconds < 20:
            return cls(seconds)
        return cls(seconds, int(100 * seconds), int(seconds))


@attrs.frozen
class Figures:
    """What a run amounted to."""

    seed: int
    seconds: float
    processes: int
    kills: int
    operations: int
    ok: int
    fail: int
    info: int
    commits: int

    def __str__(self) -> str:
        return (
            f"{self.operations:,} operations ({self.ok:,} ok, {self.fail:,} fail, "
            f"{self.info:,} info), {self.commits:,} commits, {self.processes} "
            f"processes, {self.kills} kills, {self.seconds:.1f} s, "
            f"{self.operations / self.seconds:.0f} operations/s, seed {self.seed}"
        )

    def as_dict(self) -> dict[str, Any]:
        """The figures as plain data."""
        return attrs.asdict(self)


@attrs.frozen
class Run:
    """A run that is over."""

    history: History
    figures: Figures


def run(backend: str, folder: Path, plan: Plan, seed: int) -> Run:
    """Let processes work on a new store and be killed, and look at what is left.

    Args:
        backend: the name under which a process of its own finds the harness.
        folder: an empty folder, for the store and the logs.
        plan: how long.
        seed: of all that is drawn; the moments of kills it can't repeat.

    """
    logs, path = folder / "logs", folder / "store"
    logs.mkdir()
    path.mkdir()
    crew = _Crew([backend, str(path), str(logs), str(seed)], logs)
    random, kills = Random(seed), 0
    try:
        crew.begin()
        began = time.monotonic()
        while not _is_over(plan, time.monotonic() - began, kills, logs):
            time.sleep(random.uniform(*_PAUSE))
            crew.kill(random.randrange(SEATS))
            kills += 1
        seconds = time.monotonic() - began
        crew.end()
    finally:
        crew.discard()
    ending = _ending(backend, path, logs)
    operations = _operations(logs)
    accidents = [*crew.accidents, *ending.get("accidents", ())]
    endings = {s: Ending.from_dict(e) for s, e in ending.get("endings", {}).items()}
    history = History(operations, endings, ending.get("files", ()), accidents)
    figures = _figures(history, seed, seconds, crew.count, kills)
    return Run(history, figures)


def _operations(logs: Path) -> list[Operation]:
    found = [operation for name in logs_in(logs) for operation in read_log(name)]
    return sorted(found, key=lambda operation: operation.began)


def _is_over(plan: Plan, seconds: float, kills: int, logs: Path) -> bool:
    if seconds < plan.seconds:
        return False
    enough = kills >= plan.kills and (
        not plan.operations or len(_operations(logs)) >= plan.operations
    )
    return enough or seconds >= _LONGER * plan.seconds


def _figures(
    history: History, seed: int, seconds: float, processes: int, kills: int
) -> Figures:
    outcomes = Counter(operation.outcome for operation in history.operations)
    ledgers = [ending.ledger or () for ending in history.endings.values()]
    return Figures(
        seed=seed,
        seconds=round(seconds, 3),
        processes=processes,
        kills=kills,
        operations=outcomes.total(),
        ok=outcomes[OK],
        fail=outcomes[FAIL],
        info=outcomes[INFO],
        commits=sum(map(len, ledgers)),
    )


def _environment() -> Mapping[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def _ending(backend: str, path: Path, logs: Path) -> dict[str, Any]:
    line = [sys.executable, "-m", "uaix_conformance.histories.ending", backend]
    try:
        done = subprocess.run(
            [*line, str(path), str(logs)],
            capture_output=True,
            text=True,
            check=False,
            env=_environment(),
            timeout=10 * _PATIENCE_S,
        )
    except subprocess.TimeoutExpired:
        return {"accidents": ["whoever looks at the store hangs"]}
    if done.returncode:
        return {"accidents": [f"nobody could look at the store: {done.stderr}"]}
    ending: dict[str, Any] = json.loads(done.stdout)
    return ending


class _Crew:
    """The workers: one in each seat, and one that is ready to take a free one."""

    def __init__(self, arguments: list[str], logs: Path) -> None:
        self._line = [sys.executable, "-m", "uaix_conformance.histories.worker"]
        self._line += arguments
        self._said = logs / "said.txt"
        self._seated: dict[int, subprocess.Popen[str]] = {}
        self._spare: subprocess.Popen[str] | None = None
        self._stack = ExitStack()
        self.count = 0
        self.accidents: list[str] = []

    def begin(self) -> None:
        """Take all seats at once."""
        ready = [self._hired() for _ in range(SEATS)]
        for seat, process in enumerate(ready):
            self._seat(seat, process)
        self._spare = self._hired()

    def _hired(self) -> subprocess.Popen[str]:
        with self._said.open("a", encoding="utf-8") as said:
            process = subprocess.Popen(
                self._line,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
                env=_environment(),
            )
        return self._stack.enter_context(process)

    def _seat(self, seat: int, process: subprocess.Popen[str]) -> None:
        # Whoever is seated is ready: it loaded the backend.
        if cast("IO[str]", process.stdout).readline() == "ready\n":
            stdin = cast("IO[str]", process.stdin)
            stdin.write(f"{self.count} {seat}\n")
            stdin.flush()
        self.count += 1
        self._seated[seat] = process

    def kill(self, seat: int) -> None:
        """Kill whoever sits there, and seat another at once."""
        process = self._seated.pop(seat)
        if process.poll() is not None:
            self._note_end()
        process.kill()
        process.wait()
        assert self._spare is not None
        self._seat(seat, self._spare)
        self._spare = self._hired()

    def _note_end(self) -> None:
        said = self._said.read_text(encoding="utf-8")[-_SAID:]
        self.accidents.append(f"a worker ended by itself: {said}")

    def end(self) -> None:
        """Tell all to end, and wait."""
        for process in self._seated.values():
            cast("IO[str]", process.stdin).close()
        deadline = time.monotonic() + _PATIENCE_S
        for process in self._seated.values():
            try:
                code = process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.accidents.append("a worker hangs")
            else:
                if code:
                    self._note_end()

    def discard(self) -> None:
        """Kill who is left and close all pipes."""
        left = [*self._seated.values(), *([self._spare] if self._spare else [])]
        for process in left:
            process.kill()
        self._stack.close()
