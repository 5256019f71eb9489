"""The judge is judged: each fault is found and the right clause is named."""

from __future__ import annotations

import pytest
from toy import FAULTS


@pytest.fixture(scope="module")
def broken(run_kit):
    """One run over all broken toys, each before the module that must notice."""
    chosen = [f"({name} and {module})" for name, (_, module) in FAULTS.items()]
    words = f"({' or '.join(chosen)}) and not 20000 and not 256"
    return run_kit("-k", words, backends=[f"toy:{name}" for name in FAULTS])


@pytest.mark.parametrize("fault", FAULTS)
def test_the_fault_is_found(broken, fault):
    """The verdict is DOES NOT CONFORM and names the clause that the fault breaks."""
    clause, _ = FAULTS[fault]
    verdict = broken.verdicts[f"toy:{fault}"]

    assert not verdict["conforms"]
    assert verdict["verdict"].startswith("DOES NOT CONFORM to contract")
    assert "broken" == verdict["clauses"][clause]["standing"]
    assert verdict["clauses"][clause]["tests"]
    assert clause in verdict["verdict"].replace(",", "").split()


def test_a_broken_run_fails(broken):
    """The run itself ends with pytest's code for failed tests."""
    assert 1 == broken.code


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


@pytest.mark.parametrize(
    "fault",
    ["skips_expects", "begins_at_after", "lets_views_stand", "counts_work_from_rows"],
)
def test_the_machine_finds_faults_too(run_kit, fault):
    """Random lives meet what the plain examples meet."""
    run = run_kit("-k", "lives_as_the_model", backends=[f"toy:{fault}"])

    assert 1 == run.code
    assert "DOES NOT CONFORM" in run.output
