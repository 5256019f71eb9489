"""Group 16: many processes that are killed and begun again, judged by their history."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest

from uaix_conformance.histories.checker import CHECKS, check
from uaix_conformance.histories.runner import Plan, run
from uaix_core.store.port import Capability

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from uaix_conformance.harness import Harness
    from uaix_conformance.histories.evidence import Finding
    from uaix_conformance.histories.runner import Run

#: So many findings are shown: the first ones tell what the others follow from.
_SHOWN = 5
#: The history has the rest of a line.
_WIDTH = 300


class HistoryError(AssertionError):
    """A history that no sound store makes, with the clauses that it breaks."""

    def __init__(self, message: str, clauses: Iterable[str]) -> None:
        super().__init__(message)
        self.clauses = tuple(clauses)


@pytest.mark.clause("16.1", "16.2", "16.3", "16.4", "16.5", "16.6")
@pytest.mark.requires(Capability.DURABLE, Capability.SHARED)
@pytest.mark.drawn
def test_killed_processes_leave_a_sound_history(
    request: pytest.FixtureRequest, harness: Harness, tmp_path: Path
) -> None:
    """Four processes in two scopes, one killed every 0.2 to 1 s: nothing is amiss."""
    plan = Plan.of(request.config.getoption("uaix_seconds"))
    backend = request.node.callspec.params["harness"]
    done = run(backend, tmp_path, plan, seed=random.randrange(1 << 32))
    figures = {"text": str(done.figures), **done.figures.as_dict()}
    request.node.user_properties.append(("uaix-figures", figures))

    if found := check(done.history):
        raise HistoryError(_told(found, done, tmp_path), _broken(found))
    if done.figures.operations < plan.operations or done.figures.kills < plan.kills:
        raise HistoryError(f"too little was done: {done.figures}", ())


def _broken(found: Iterable[Finding]) -> list[str]:
    return sorted({CHECKS[finding.check].clause for finding in found})


def _shortened(text: str) -> str:
    return "\n".join(line[:_WIDTH] for line in text.splitlines())


def _told(found: Sequence[Finding], done: Run, folder: Path) -> str:
    file = folder / "history.json"
    file.write_text(json.dumps(done.history.as_dict()), encoding="utf-8")
    names = ", ".join(sorted({finding.check for finding in found}))
    return "\n".join(
        (
            f"{len(found)} findings ({names}) in {done.figures}",
            *(_shortened(str(finding)) for finding in found[:_SHOWN]),
            f"the history: {file}",
        )
    )
