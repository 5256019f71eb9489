"""Doing a work in children, each of which is struck at another point."""

from __future__ import annotations

import contextlib
import shutil
from typing import TYPE_CHECKING, Any, Final

from tests.faults.forking import KILLED, Ended, Forker
from tests.faults.metering import Meter, Plan, meter_system
from tests.faults.points import IS_ALL, SEED, chosen, spread
from tests.faults.sqlite_files import MeteredFiles
from tests.faults.works import Repair

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.faults.works import Say, Struck

#: Second kills after each first one when all first ones are taken.
SECONDS: Final = 3


def prepared(_say: Say, work: Struck, path: Path) -> None:
    """Prepare a work, in a child."""
    work.prepare(path)


def done(say: Say, work: Struck, path: Path, plan: Plan | None) -> list[str]:
    """Do a work under a plan, in a child; the kinds of the calls that were met."""
    meter = Meter(plan)
    meter_system(meter)
    files = MeteredFiles(meter)
    work.act(say, path, meter)
    meter.is_armed = False
    files.unregister()
    return meter.met


def kill_points(met: Sequence[str]) -> list[Plan]:
    """Before each call, within each write, and after the last call."""
    points = []
    for at, kind in enumerate(met):
        points.append(Plan(at))
        if kind == "write":
            points.append(Plan(at, when="within"))
    points.append(Plan(len(met) - 1, when="after"))
    return points


def copied(before: Path, path: Path) -> Path:
    """A fresh copy of what stood before, if anything did."""
    if before.exists():
        shutil.copytree(before, path)
    return path


def killed(forker: Forker, work: Struck, folder: Path) -> int:
    """Kill a work at its points and check what is left; the number of kills."""
    before = folder / "before"
    forker.run(prepared, work, before)
    whole = attempt(forker, work, copied(before, folder / "whole"), None)
    points = kill_points(whole.answer)
    taken = chosen(work.name, points, work.share)
    for plan in taken:
        path = copied(before, folder / "struck")
        ended = attempt(forker, work, path, plan)
        assert KILLED == ended.code
        shutil.rmtree(path)
    # One call further there is nothing left to kill.
    beyond = Plan(len(whole.answer))
    assert 0 == attempt(forker, work, copied(before, folder / "beyond"), beyond).code
    return len(taken)


def killed_again(forker: Forker, work: Struck, folder: Path, share: int) -> int:
    """Kill a work, and then the repair of what is left; the number of kills."""
    before = folder / "before"
    forker.run(prepared, work, before)
    whole = forker.run(done, work, copied(before, folder / "whole"), None)
    kills = 0
    for first in chosen(f"{work.name} once", kill_points(whole.answer), share):
        broken = copied(before, folder / "broken")
        repair = Repair(work, forker.run(done, work, broken, first).said)
        met = forker.run(done, repair, copied(broken, folder / "repaired"), None).answer
        seconds = kill_points(met) if met else []
        # Every pair would be some ten thousand.
        count = SECONDS if IS_ALL else 1
        after = f"{work.name} after {first.at} {first.when}"
        taken = spread(after, seconds, count)
        for second in taken:
            path = copied(broken, folder / "struck")
            assert KILLED == attempt(forker, repair, path, second).code
            shutil.rmtree(path)
        kills += 1 + len(taken)
        shutil.rmtree(folder / "repaired")
        shutil.rmtree(broken)
    return kills


def attempt(forker: Forker, work: Struck, path: Path, plan: Plan | None) -> Ended:
    """Do a work in a child and check what it left."""
    ended = forker.run(done, work, path, plan)
    with told(work, plan, ended.said):
        work.check(path, ended.said)
    return ended


@contextlib.contextmanager
def told(work: Struck, *what: Any) -> Iterator[None]:
    """A failure in the block says at which point, and under which seed."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"{work.name}, {what}, seed {SEED}")
        raise
