"""A process that is killed anywhere leaves the old state or the new one."""

from __future__ import annotations

import contextlib

import pytest
from tests.faults.forking import KILLED
from tests.faults.metering import Meter, Plan, meter_system
from tests.faults.package_works import PACKAGE_WORKS
from tests.faults.points import FEWEST, KILL_POINTS
from tests.faults.striking import killed, killed_again
from tests.faults.works import WORKS, Commits, Erasure


@pytest.mark.parametrize("work", [*WORKS, *PACKAGE_WORKS], ids=lambda work: work.name)
def test_a_kill_at_any_call_leaves_all_or_nothing(forker, tmp_path, work):
    """Before, within and after each disk call: acknowledged is there, rest whole."""
    seen = killed(forker, work, tmp_path)

    assert (FEWEST if isinstance(work, Commits) else 1) <= seen


@pytest.mark.parametrize(
    ("work", "share"),
    [
        (Commits("directory", 0), 3),
        (Commits("sqlite", 0), 3),
        (Erasure("directory", 0), 3),
        (Erasure("sqlite", 0), 3),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_second_kill_during_the_repair_changes_nothing(forker, tmp_path, work, share):
    """What a killed writer left can be repaired again after its repairer was killed."""
    assert share <= killed_again(forker, work, tmp_path, share)


def removes_nothing(_say, path, plan):
    """Remove a file that isn't there, under a plan, in a child."""
    meter = Meter(plan)
    meter_system(meter)
    meter.is_armed = True
    with contextlib.suppress(FileNotFoundError):
        path.unlink()


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_call_that_fails_is_struck_too(forker, tmp_path, when):
    """A kill before or after a call comes even when the call itself fails."""
    plan = Plan(0, when=when)

    assert KILLED == forker.run(removes_nothing, tmp_path / "absent", plan).code


def test_the_shares_of_a_short_run_are_all_of_it():
    """The kills of a short run are counted out."""
    shares = sum(work.share for work in (*WORKS, *PACKAGE_WORKS))

    assert KILL_POINTS == shares + 2 * 12
