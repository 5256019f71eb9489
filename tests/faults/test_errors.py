"""A medium that fails at any call costs no commit, no answer and no descriptor."""

from __future__ import annotations

import shutil

import pytest
from tests.faults.enduring import (
    EnduringCommits,
    EnduringCreation,
    EnduringErasure,
    EnduringExport,
    EnduringInstall,
    endured,
)
from tests.faults.metering import CONTENT, LOOKS, OPENS, Plan
from tests.faults.points import chosen
from tests.faults.striking import copied, prepared, told

#: How a medium fails: once or for good, with what, and within which calls.
WAYS = {
    "one error": Plan(0, "EIO"),
    "errors from then on": Plan(0, "EIO", is_sticky=True),
    "full once": Plan(0, "ENOSPC", "within"),
    "full from then on": Plan(0, "ENOSPC", "within", is_sticky=True),
    "done and yet an error": Plan(0, "EIO", "after", kinds=CONTENT),
    "one unreadable piece": Plan(0, "EIO", kinds=LOOKS),
    "unreadable from then on": Plan(0, "EIO", is_sticky=True, kinds=LOOKS),
    "no descriptor left": Plan(0, "EMFILE", is_sticky=True, kinds=OPENS),
}
#: Errors of each work in a short run.
SHARE = 8

WORKS = (
    EnduringCommits("directory", SHARE),
    EnduringCommits("sqlite", SHARE),
    EnduringErasure("directory", SHARE),
    EnduringErasure("sqlite", SHARE),
    EnduringCreation("directory", SHARE),
    EnduringCreation("sqlite", SHARE),
    EnduringInstall("directory", 3),
    EnduringInstall("sqlite", 3),
    EnduringExport("files", SHARE, "out.uaix"),
    EnduringExport("files", SHARE, "out.uaix", has_old=True),
    EnduringExport("files", SHARE, "out"),
)


def plans(forker, work, before, folder):
    """Every call of a work in every way."""
    counted = {}
    for name, way in WAYS.items():
        if way.kinds not in counted:
            path = copied(before, folder / f"counted {name}")
            nowhere = way._replace(at=10**9)
            counted[way.kinds] = forker.run(endured, work, path, nowhere).answer[0]
        for at in range(len(counted[way.kinds])):
            yield name, way._replace(at=at)


@pytest.mark.parametrize("work", WORKS, ids=lambda work: work.name)
def test_an_error_at_any_call_is_told_and_survived(forker, tmp_path, work):
    """The error is ours, nothing is left in part, no sync is repeated, work goes on."""
    before = tmp_path / "before"
    forker.run(prepared, work, before)
    points = list(plans(forker, work, before, tmp_path))
    for way, plan in chosen(work.name, points, work.share):
        path = copied(before, tmp_path / "struck")
        with told(work, way, plan):
            _, second_syncs = struck(forker, work, path, plan)
            # SQLite itself does so when it takes back the making of a file.
            if not isinstance(work, EnduringCreation):
                assert 0 == second_syncs
        shutil.rmtree(path)


def struck(forker, work, path, plan):
    """Do a work under errors and check what it left."""
    ended = forker.run(endured, work, path, plan)
    work.check(path, ended.said)
    return ended.answer
