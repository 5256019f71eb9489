"""Hosts on every library and mode satisfy the clauses of host transactions."""

from __future__ import annotations

import pytest

VARIANTS = ("legacy", "immediate", "manual", "alchemy_sqlite", "alchemy_postgres")


@pytest.fixture(scope="module")
def judged(run_kit):
    """One run of the group of host transactions over all variants."""
    names = [f"tests.backends.host_variants:{name}" for name in VARIANTS]
    return run_kit(backends=names, module="test_15_host")


@pytest.mark.parametrize("name", VARIANTS)
def test_a_host_of_each_kind_can_be_joined(judged, name):
    """Whatever lends the connection, every clause about host transactions holds."""
    clauses = judged.verdicts[f"tests.backends.host_variants:{name}"]["clauses"]
    standings = {
        number: found["standing"]
        for number, found in clauses.items()
        if number.startswith("15.")
    }
    assert {"held"} == set(standings.values()), judged.output
    assert 8 == len(standings)
