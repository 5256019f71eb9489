"""The benchmarks run and report what they say they do; how fast is not judged here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

GROUPS = {
    "append",
    "archives",
    "disk",
    "export",
    "get",
    "import",
    "install",
    "open",
    "rebuild",
    "revise",
    "guard",
    "scan",
    "start",
    "whole",
}


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The report of a run of every group over tiny sizes."""
    path = tmp_path_factory.mktemp("benchmarks") / "report.json"
    done = run("benchmarks", "--quick", "--n", "100", "--json", str(path))
    assert 0 == done.returncode, done.stderr
    return {"printed": done.stdout, **json.loads(path.read_text(encoding="utf-8"))}


def test_every_group_reports_figures(report):
    """A run without names measures all groups and says how long each took."""
    measured = {figure["group"] for figure in report["figures"]} - {"floor"}

    assert GROUPS == measured
    assert GROUPS | {"floor"} == set(report["seconds"])
    assert 100 == report["n"]


def test_figures_have_one_shape(report):
    """Every figure has a unit, positive measures, and ratios where it has a floor."""
    for figure in report["figures"]:
        ours, floor = figure["ours"], figure["floor"]
        assert figure["unit"] in {"ms", "B", "/s"}
        assert ours["value"] > 0
        assert (floor is None) == (figure["ratio"] is None)
        if floor is not None:
            assert floor["value"] > 0
            assert figure["ratio"] == pytest.approx(ours["value"] / floor["value"])
        if figure["cpu_ratio"] is not None:
            assert figure["cpu_ratio"] > 0


def test_targets_have_verdicts(report):
    """A figure is judged when it has a target, and only then."""
    for figure in report["figures"]:
        expected = {"ok", "over"} if figure["target"] else {""}
        assert figure["verdict"] in expected


def test_the_table_shows_every_figure(report):
    """What the JSON holds is what was printed."""
    for figure in report["figures"]:
        assert f"{figure['group']}: {figure['what']}" in report["printed"]


def test_an_unknown_group_is_refused():
    """A name that is no group ends the run before anything is measured."""
    done = run("benchmarks", "nothing")

    assert 2 == done.returncode
    assert "no such group: nothing" in done.stderr


def test_one_operation_is_profiled():
    """The profile of an operation prints the functions that it spent its time in."""
    done = run("benchmarks.profile", "lint-31", "--top", "5")

    assert 0 == done.returncode, done.stderr
    assert "tottime" in done.stdout
