"""The histories are red when a guard is missing: real processes, real kills."""

from __future__ import annotations

import os

import pytest
from unguarded import GUARDS

from uaix_conformance.histories.checker import check
from uaix_conformance.histories.runner import Plan, run

#: One stands for all; `nox -s nightly` takes out each.
CHOSEN = (
    sorted(GUARDS) if os.environ.get("UAIX_GUARDS") == "all" else ["directory_expects"]
)

#: Seconds of one run after the other, less than a minute in all.
ROUNDS = (1, 2, 4, 8, 16, 24)


@pytest.mark.parametrize("name", CHOSEN)
def test_a_missing_guard_is_noticed(name, tmp_path):
    """Within a minute of work some check names what the missing guard let through."""
    names = set()
    for turn, seconds in enumerate(ROUNDS):
        folder = tmp_path / str(turn)
        folder.mkdir()
        done = run(f"unguarded:{name}", folder, Plan(seconds), seed=turn)
        names |= {finding.check for finding in check(done.history)}
        if names & GUARDS[name].noticed_by:
            break

    assert names & GUARDS[name].noticed_by, names


def test_the_verdict_names_what_a_missing_guard_breaks(run_kit):
    """Judged as a backend, it is told the clause and what was done to find out."""
    run = run_kit(
        "--uaix-seconds=2",
        backends=["unguarded:sqlite_scope"],
        module="test_16_processes",
    )
    verdict = run.verdicts["unguarded:sqlite_scope"]

    assert 1 == run.code
    assert "broken" == verdict["clauses"]["16.5"]["standing"]
    assert "not decided" == verdict["clauses"]["16.3"]["standing"]
    assert "scope: " in run.output
    (figures,) = verdict["figures"]
    assert figures["text"] in run.output
    assert figures["kills"] >= 1
    assert figures["operations"] == sum(
        figures[kind] for kind in ("ok", "fail", "info")
    )
