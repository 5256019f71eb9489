"""The pages about scenarios and threats say what there is."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.scenarios.test_kit import ITEMS
from tests.scenarios.test_scenarios import BACKENDS

from uaix_conformance.scenarios import playing
from uaix_conformance.scenarios.application import LibraryApplication
from uaix_conformance.scenarios.packages import EDITS

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = (ROOT / "docs" / "reference" / "scenarios.md").read_text(encoding="utf-8")
THREATS = (ROOT / "docs" / "explanation" / "threat-model.md").read_text(
    encoding="utf-8"
)

ITEM_ROW = re.compile(r"^\| (1[45]\.\d+) \| .+ \| (.+) \|$", re.MULTILINE)
VERB_ROW = re.compile(r"^\| (`.+?`) \|(.*?)\| .+ \|$", re.MULTILINE)
THREAT_ROW = re.compile(r"^\| \*\*(.+?)\*\*.* \| (.+) \| (.+) \|$", re.MULTILINE)
NODE = re.compile(r"`(tests/[\w/]+\.py)::([\w:]+)(?:\[(.+?)\])?`")


@cache
def named_in(path: str) -> frozenset[str]:
    """The tests of a file, and its state machines, as node ids name them."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    found = set()
    for node in tree.body:
        found.add(getattr(node, "name", ""))
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{x.name}" for x in node.body if hasattr(x, "name")}
    return frozenset(found)


def is_there(path: str, name: str, parameters: str) -> bool:
    """Whether a test is there and has these parameters, if they are of a scenario."""
    if not (ROOT / path).is_file() or name not in named_in(path):
        return False
    backend, _, scenario = parameters.partition("-")
    wanted = scenario if backend in BACKENDS else parameters
    return not parameters or wanted in playing.names()


def test_every_item_leads_to_its_scenarios():
    """The page maps each item to those scenarios that say they are for it."""
    rows = ITEM_ROW.findall(SCENARIOS)
    named = {item: set(re.findall(r"`([\w-]+)`", cell)) for item, cell in rows}
    texts = {name: playing.text_of(name)["items"] for name in playing.names()}

    assert ITEMS == [item for item, _ in rows]
    assert {x: {n for n in texts if x in texts[n]} for x in ITEMS} == named


def test_every_verb_is_described_with_its_arguments():
    """What a step may say is what the page describes, and the library does it all."""
    rows = VERB_ROW.findall(SCENARIOS.split("\n### Steps\n")[1])
    described = {
        verb: set(re.findall(r"`([\w-]+)`", arguments))
        for verbs, arguments in rows
        for verb in re.findall(r"`([\w.-]+)`", verbs)
    }
    missing = {
        (command["do"], argument)
        for name in playing.names()
        for step in playing.scenario(name).steps
        for command in step.get("together", (step,))
        for argument in command.keys() - playing.OF_A_STEP
        if argument not in described.get(command["do"], ())
    }

    assert set() == missing
    verbs = {v for name in playing.names() for v in playing.scenario(name).verbs}
    assert verbs == described.keys()
    for verb in verbs:
        method = f"_{verb}".replace("-", "_").replace(".", "_")
        assert hasattr(LibraryApplication, method), verb


def test_every_edit_is_described():
    """The edits of the page are those that there are."""
    section = SCENARIOS.split("\n### Packages\n")[1].split("\n#")[0]

    assert list(EDITS) == re.findall(r"^\| `(\w+)`", section, re.MULTILINE)


def test_every_threat_names_tests_that_there_are():
    """Each row has a mitigation and tests, and each test can be found."""
    rows = THREAT_ROW.findall(THREATS)
    listed = [line for line in THREATS.splitlines() if line.startswith("| **")]

    assert len(listed) == len(rows)
    for threat, mitigation, cell in rows:
        nodes = NODE.findall(cell)
        assert mitigation.endswith("."), threat
        assert cell == ", ".join(x.group() for x in NODE.finditer(cell)), threat
        assert [] == [node for node in nodes if not is_there(*node)], threat


def test_tests_that_there_are_not_are_noticed():
    """A node that names no file, no test or no scenario is found out."""
    path = "tests/scenarios/test_scenarios.py"

    assert is_there(path, "test_through_a_store", "sqlite-round-trip")
    assert not is_there(path, "test_through_a_store", "sqlite-square-trip")
    assert not is_there(path, "test_through_a_stone", "")
    assert not is_there("tests/nowhere.py", "test_through_a_store", "")
