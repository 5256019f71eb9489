"""Where the power goes, what was acknowledged stays, and nothing is there in part."""

from __future__ import annotations

import contextlib
import random
import shutil

import pytest
from tests.backends.ledger import (
    COMMITS,
    check_file,
    holding,
    opened,
    state_at,
    state_of,
    states,
)
from tests.faults.histories import erased_texts, history
from tests.faults.points import IS_ALL, SEED, chosen, spread
from tests.faults.power import PowerCutError, PoweredDisk, PoweredFiles

#: What different disks may leave after one and the same cut.
DISKS = 3
#: Histories that chance makes, and cuts of each in a short run.
HISTORIES = 200 if IS_ALL else 4
CUTS = 5


def lived(say, path, commits, synchronous, cut_at):
    """Append commits until the power goes, in a child; how many changes that were."""
    disk = PoweredDisk(path, cut_at)
    files = PoweredFiles(disk)
    with contextlib.suppress(PowerCutError):
        store = opened("sqlite", path, synchronous=synchronous)
        for number, commit in enumerate(commits, 1):
            store.append(commit)
            if disk.is_cut:
                break
            say((number, store.has_pending_erasures))
            if number % 3 == 0:
                store.close()
                store = opened("sqlite", path, synchronous=synchronous)
    for number in range(DISKS):
        disk.leave(path / f"left {number}", random.Random(f"{SEED} {cut_at} {number}"))
    files.unregister()
    return disk.changes


def check_left(path, commits, said, synchronous):
    """What holds of each disk after a cut."""
    done, is_pending = said[-1] if said else (0, False)
    expected = states(commits)
    for number in range(DISKS):
        left = path / f"left {number}"
        state = state_at("sqlite", left)
        check_file(left)
        if synchronous == "FULL":
            assert state in expected[done : done + 2]
            for text in erased_texts(commits[: 0 if is_pending else done]):
                assert [] == holding(left, text)
        else:
            assert state in expected[: done + 2]
        at = expected.index(state)
        with contextlib.closing(opened("sqlite", left)) as store:
            for commit in commits[at:]:
                store.append(commit)
            assert expected[-1] == state_of(store)


def check_cuts(forker, folder, name, commits, synchronous, *, share):
    """Cut the power at a share of the changes of a history."""
    whole = folder / "whole"
    arguments = (commits, synchronous)
    total = forker.run(lived, whole, *arguments, None).answer
    cuts = range(total)
    # Every cut of every history that chance makes would take hours.
    take = chosen if name == "ledger" else spread
    for cut_at in take(f"{name} {synchronous}", cuts, share):
        path = folder / f"{name} {cut_at}"
        ended = forker.run(lived, path, *arguments, cut_at)
        try:
            check_left(path, commits, ended.said, synchronous)
        except BaseException as error:
            error.add_note(f"{name}, cut at {cut_at}, {ended.said}, seed {SEED}")
            raise


@pytest.mark.parametrize("synchronous", ["FULL", "NORMAL"])
def test_a_power_cut_takes_nothing_acknowledged(forker, tmp_path, synchronous):
    """At FULL every acknowledged commit stays; at NORMAL some last ones may go."""
    check_cuts(forker, tmp_path, "ledger", COMMITS, synchronous, share=16)


@pytest.mark.parametrize("synchronous", ["FULL", "NORMAL"])
def test_a_power_cut_in_any_history(forker, tmp_path, synchronous):
    """The same holds of histories that chance makes, large bodies and erasures too."""
    for number in range(HISTORIES):
        name = f"history {number}"
        commits = history(f"{SEED} {name}")
        folder = tmp_path / name
        folder.mkdir()
        check_cuts(forker, folder, name, commits, synchronous, share=CUTS)
        shutil.rmtree(folder)
