"""The judge is judged: each fault is found and the right clause is named."""

from __future__ import annotations

from functools import cache

import pytest
from toy import FAULTS


@pytest.fixture(scope="module")
def broken(run_kit):
    """A function that brings the toys broken alike before the module that notices."""

    @cache
    def run(module):
        names = [
            f"toy:{name}" for name, (_, notices) in FAULTS.items() if notices == module
        ]
        return run_kit("-k", "not 20000 and not 256", backends=names, module=module)

    return run


@pytest.mark.parametrize("fault", FAULTS)
def test_the_fault_is_found(broken, fault):
    """The run fails, and the verdict names the clause that the fault breaks."""
    clause, module = FAULTS[fault]
    run = broken(module)
    verdict = run.verdicts[f"toy:{fault}"]

    assert 1 == run.code
    assert not verdict["conforms"]
    assert verdict["verdict"].startswith("DOES NOT CONFORM to contract")
    assert "broken" == verdict["clauses"][clause]["standing"]
    assert verdict["clauses"][clause]["tests"]
    assert clause in verdict["verdict"].replace(",", "").split()


@pytest.fixture(scope="module")
def healthy(run_kit):
    """The whole kit over the healthy toy."""
    return run_kit()


def test_a_healthy_store_conforms(healthy):
    """Every clause that binds it was decided and held."""
    verdict = healthy.verdicts["toy:healthy"]

    assert 0 == healthy.code, healthy.output
    assert "CONFORMS to contract 26.1 (durable, files)" == verdict["verdict"]
    standings = {c: found["standing"] for c, found in verdict["clauses"].items()}
    assert {"held", "not declared"} == set(standings.values())
    unbound = {"14.4", "14.5"} | {c for c in standings if c.startswith(("15.", "16."))}
    assert unbound == {c for c, standing in standings.items() if standing != "held"}


def test_the_machine_finds_faults_too(run_kit):
    """Random lives meet what the plain examples meet."""
    faults = "skips_expects", "begins_at_after", "lets_views_stand"
    backends = [f"toy:{fault}" for fault in (*faults, "counts_work_from_rows")]
    run = run_kit("-k", "lives_as", backends=backends, module="test_machine")

    assert 1 == run.code
    for backend in backends:
        assert f"{backend}: DOES NOT CONFORM" in run.output
