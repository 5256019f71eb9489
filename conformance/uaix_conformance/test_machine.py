"""The state machine as tests: against the model, and against the yardstick."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from uaix_conformance import strategies as draw
from uaix_conformance.machine import StoreMachine

if TYPE_CHECKING:
    from collections.abc import Callable

    from uaix_conformance.harness import Site, Yardstick


def _run(share: float, **given: Any) -> None:
    """Run the machine with a share of the examples of the profile in force."""
    machine = type("Life", (StoreMachine,), given)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=draw.examples_of(share),
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.clause("2.1", "2.2", "3.1", "3.7", "4.2", "4.3", "6.1", "7.7", "8.3")
@pytest.mark.clause("9.1", "10.1", "10.5", "13.3")
@pytest.mark.drawn
def test_a_store_lives_as_the_model_does(new_site: Callable[[], Site]) -> None:
    """After any sequence of commits every verb answers as the model does."""
    _run(0.4, new_site=staticmethod(new_site), yardstick=None)


@pytest.mark.clause("5.7", "14.11")
@pytest.mark.drawn
def test_any_life_replays_into_the_yardstick(
    new_site: Callable[[], Site], yardstick: Yardstick
) -> None:
    """What any sequence of commits left replays into the same files."""
    _run(0.15, new_site=staticmethod(new_site), yardstick=yardstick)
