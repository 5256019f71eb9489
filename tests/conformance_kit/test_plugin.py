"""Options, report, listed failures, the yardstick, and what others pay."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import golden_histories
import pytest

from uaix_conformance import __main__ as script
from uaix_conformance import clauses, golden, harness
from uaix_conformance.schema import KIT
from uaix_conformance.verdict import read_xfails

ROOT = Path(__file__).resolve().parents[2]

#: A part of one module, which decides clause 3.1 and others.
EXPECTS = ("-k", "not threads and not of_many")


@pytest.fixture(scope="module")
def run_expects(run_kit):
    """The run of the kit over these examples."""
    return partial(run_kit, *EXPECTS, module="test_3_expect")


def test_the_clauses_are_those_of_the_contract():
    """Numbers, groups, capabilities and version are those of the contract's page."""
    page = (ROOT / "docs" / "contract.md").read_text(encoding="utf-8")
    marked = re.findall(r"^\*\*(\d+\.\d+)\*\* (?:`\[([A-Z]+)\]` )?", page, re.MULTILINE)
    titles = re.findall(r"^## (\d+) (.*)$", page, re.MULTILINE)

    assert [clause for clause, _ in marked] == list(clauses.CLAUSES)
    assert {c: mark for c, mark in marked if mark} == dict(clauses.BOUND)
    assert {int(group): title for group, title in titles} == dict(clauses.GROUPS)
    assert page.splitlines()[0].endswith(clauses.CONTRACT)


def test_an_unknown_backend_stops_the_run(run_kit):
    """A name that nothing bears is an error that says which there are."""
    for name in ("nothing", "toy:nothing", "nowhere:harness"):
        run = run_kit(backends=[name], module="test_1_schema")

        assert pytest.ExitCode.USAGE_ERROR == run.code
        assert name in run.output


def test_a_missing_yardstick_stops_the_run(run_kit, tmp_path, monkeypatch):
    """Without the directory backend the kit stops and says so."""
    (tmp_path / "no_yardstick.py").write_text(
        "import uaix_conformance.harness as h\nh.YARDSTICK = 'absent'\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    run = run_kit("-p", "no_yardstick", module="test_machine")

    assert pytest.ExitCode.USAGE_ERROR == run.code
    assert "the kit compares every store with the backend 'absent'" in run.output
    assert {} == run.verdicts


def test_the_table_names_every_group(run_expects):
    """Held, not decided and not declared stand in the table, the verdict below it."""
    run = run_expects()

    assert 0 == run.code
    for group, title in clauses.GROUPS.items():
        line = rf"^ *{group} {re.escape(title)}  +\S"
        assert re.search(line, run.output, re.MULTILINE)
    assert "toy:healthy: NOT DECIDED: " in run.output


def test_the_report_holds_the_verdict(run_expects):
    """The JSON report names backend, contract, capabilities, and each clause."""
    run = run_expects(backends=["toy:skips_expects", "toy:healthy"])
    broken, whole = run.verdicts.values()

    assert ["toy:skips_expects", "toy:healthy"] == list(run.verdicts)
    assert clauses.CONTRACT == broken["contract"]
    assert ["durable", "files"] == broken["capabilities"]
    assert list(clauses.CLAUSES) == list(broken["clauses"])
    assert "held" == whole["clauses"]["3.1"]["standing"]
    assert "not decided" == whole["clauses"]["1.1"]["standing"]
    assert "JOINS" == whole["clauses"]["15.1"]["capability"]
    assert not broken["conforms"]
    assert not whole["conforms"]
    assert json.dumps(run.verdicts)


def listed(tmp_path, text):
    """A file of known failures, as an option."""
    file = tmp_path / "xfails.txt"
    file.write_text(text, encoding="utf-8")
    return f"--uaix-xfails={file}"


def test_listed_failures_are_expected(run_expects, tmp_path):
    """They fail no run, and the verdict still says that the store doesn't conform."""
    option = listed(
        tmp_path,
        "# known\n\n3.9   unique paths come with the next release\n",
    )
    run = run_expects(option, backends=["toy:ignores_unique"])
    verdict = run.verdicts["toy:ignores_unique"]

    assert 0 == run.code, run.output
    assert not verdict["conforms"]
    assert verdict["verdict"].endswith("contract 26.1: broken as listed 3.9")
    reason = "unique paths come with the next release"
    assert reason == verdict["clauses"]["3.9"]["reason"]
    assert f"3.9 is listed as failing: {reason}" in run.output


def test_a_mended_failure_must_leave_the_list(run_expects, tmp_path):
    """A listed clause that held fails the run."""
    run = run_expects(listed(tmp_path, "3.4  was so once\n"))

    assert 1 == run.code
    assert "3.4 is listed as failing and held: take it off the list" in run.output
    verdict = run.verdicts["toy:healthy"]
    assert verdict["verdict"].endswith("broken 3.4")
    expected = {"standing": "broken", "reason": "was so once", "mended": True}
    assert expected == verdict["clauses"]["3.4"]
    assert "mended" not in verdict["clauses"]["3.3"]


def test_a_listed_clause_binds_the_store(run_kit, tmp_path):
    """A clause of a capability that isn't declared has no failure to list."""
    run = run_kit(listed(tmp_path, "15.1  later\n"), module="test_15_host")

    assert 1 == run.code
    assert "15.1 is listed and does not bind this store: take it off" in run.output
    clause = run.verdicts["toy:healthy"]["clauses"]["15.1"]
    assert "not declared" == clause["standing"]


def test_a_report_without_a_place_stops_the_run(run_expects, tmp_path):
    """A long run does not end with a report that can't be written."""
    run = run_expects(f"--uaix-report={tmp_path / 'absent' / 'report.json'}")

    assert pytest.ExitCode.USAGE_ERROR == run.code
    assert "there is no folder for" in run.output
    assert {} == run.verdicts


def test_a_listed_clause_excuses_no_random_example(run_kit, tmp_path):
    """A state machine that fails is a failure, whatever is listed."""
    option = listed(tmp_path, "3.1  we skip expects\n")
    backends = ["toy:skips_expects"]
    run = run_kit("-k", "lives_as", option, backends=backends, module="test_machine")

    assert 1 == run.code
    assert "broken" == run.verdicts["toy:skips_expects"]["clauses"]["3.1"]["standing"]


@pytest.mark.parametrize(
    "line", ["3.99  no such clause", "3.1", "3.1  \n", "3.1  a\n3.1  b", "why  3.1"]
)
def test_a_bad_list_is_refused(line):
    """A line names one clause of the contract and gives a reason."""
    with pytest.raises(ValueError):
        read_xfails(line)


def test_a_list_goes_with_one_backend(run_kit, tmp_path):
    """Two backends and one list, or a list that isn't there, stop the run."""
    option = listed(tmp_path, "3.1  why\n")
    backends = ["toy:healthy", "toy:skips_expects"]
    run = run_kit(option, backends=backends, module="test_1_schema")
    assert pytest.ExitCode.USAGE_ERROR == run.code
    run = run_kit("--uaix-xfails=absent.txt", module="test_1_schema")
    assert pytest.ExitCode.USAGE_ERROR == run.code


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "long"])
def test_no_time_to_work_is_wrong_usage(run_kit, seconds):
    """What is no number of seconds above 0 stops the run before anything is judged."""
    run = run_kit(f"--uaix-seconds={seconds}")

    assert pytest.ExitCode.USAGE_ERROR == run.code


def test_processes_share_one_verdict(run_expects):
    """With several test processes the verdict is whole and printed once."""
    run = run_expects("-n", "2", backends=["toy:skips_expects"])

    assert 1 == run.code
    assert 1 == run.output.count("toy:skips_expects: DOES NOT CONFORM")
    assert ["durable", "files"] == run.verdicts["toy:skips_expects"]["capabilities"]


def test_plain_pytest_users_pay_nothing(tmp_path):
    """Another project's tests run as ever: own fixtures, no import, no table."""
    (tmp_path / "test_own.py").write_text(
        "import sys, pytest\n"
        "@pytest.fixture\n"
        "def harness():\n    return 'mine'\n"
        "def test_own(harness):\n"
        "    assert harness == 'mine'\n"
        "    loaded = {m for m in sys.modules if m.startswith('uaix_')}\n"
        "    assert loaded <= {'uaix_conformance', 'uaix_conformance.plugin'}\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--strict-markers"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert 0 == done.returncode, done.stdout
    assert "1 passed" in done.stdout
    assert "storage contract" not in done.stdout


def test_the_script_hands_over_to_pytest():
    """Names come first; everything from the first option on is pytest's."""
    line = script.command(["mine", "my.module:harness", "-k", "conflict", "--pdb"])

    assert [sys.executable, "-m", "pytest", "--pyargs", "uaix_conformance"] == line[:5]
    assert [
        "--uaix-backend=mine",
        "--uaix-backend=my.module:harness",
        "-k",
        "conflict",
        "--pdb",
    ] == line[5:]


def test_the_script_asks_for_a_name():
    """Without arguments it says how it is used and ends with 2."""
    done = subprocess.run(
        [sys.executable, "-m", "uaix_conformance"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert 2 == done.returncode
    assert done.stdout.startswith("usage: uaix-conformance NAME...")


def test_golden_histories_are_as_checked_in():
    """Written again by the oracle, each file is the same, and none is left over."""
    assert sorted(f"{name}.json" for name in golden_histories.HISTORIES) == (
        golden.names()
    )
    for name in golden_histories.HISTORIES:
        file = golden_histories.FOLDER / f"{name}.json"
        assert golden_histories.text_of(name) == file.read_text(encoding="utf-8"), name


#: What our own backends promise.
CAPABILITIES = {
    "memory": set(),
    "directory": {"durable", "files", "shared"},
    "sqlite": {"durable", "files", "joins", "shared"},
    "postgres": {"durable", "joins", "shared"},
}


def test_our_backends_are_installed():
    """The entry points name our backends, each with a row in the table."""
    assert set(CAPABILITIES) <= set(harness.installed())


@pytest.mark.parametrize("name", CAPABILITIES)
def test_our_backends_promise_what_they_promised(name, tmp_path):
    """A backend that gains or loses a capability changes this table too."""
    found = harness.load(name)
    with harness.site_of(found, tmp_path) as site:
        declared = {capability.value for capability in site.open(KIT).capabilities}

    assert name == found.name
    assert CAPABILITIES[name] == declared


def test_a_backend_without_its_driver_is_not_there(monkeypatch):
    """Of the installed backends those whose extra is missing are left out."""

    class Entry:
        def __init__(self, name, extras, error=None):
            self.name, self.extras, self._error = name, extras, error

        def load(self):
            if self._error is not None:
                raise self._error
            return self

    entries = [
        Entry("plain", []),
        Entry("there", ["some"]),
        Entry("missing", ["some"], ImportError("no driver")),
        Entry("broken", [], ImportError("a defect")),
    ]
    monkeypatch.setattr(harness, "entry_points", lambda **_: entries)

    assert ["broken", "plain", "there"] == harness.installed()
