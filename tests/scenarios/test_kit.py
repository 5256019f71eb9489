"""The scenarios themselves: complete, well-formed, and able to fail."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import attrs
import pytest

from uaix_backends import open_store, read_package
from uaix_conformance.scenarios import playing
from uaix_conformance.scenarios.__main__ import write_out
from uaix_conformance.scenarios.application import LibraryApplication
from uaix_conformance.scenarios.packages import make
from uaix_core import PackageSource, lint
from uaix_core.values.instants import parse_instant

IDS = ("same", "other")
ITEMS = [f"14.{n}" for n in range(1, 17)] + [f"15.{n}" for n in range(1, 19)]


@attrs.define
class Recorder:
    """An application that keeps what another one answers, each receipt once."""

    inner: LibraryApplication
    answers: list[Any] = attrs.field(factory=list)
    known: set[str] = attrs.field(factory=set)

    def perform(self, command):
        self.answers.append(self.inner.perform(command))
        return self.answers[-1]

    def together(self, commands):
        self.answers.append(self.inner.together(commands))
        return self.answers[-1]

    def receipts(self, scope):
        found = self.inner.receipts(scope)
        self.answers.append({k: v for k, v in found.items() if k not in self.known})
        self.known |= found.keys()
        return self.answers[-1]


@attrs.define
class Replayer:
    """An application that gives answers which were kept, one after the other."""

    answers: list[Any]
    given: int = 0

    def _next(self, _):
        self.given += 1
        return self.answers[self.given - 1]

    perform = together = receipts = _next


@cache
def recorded(name: str) -> list[Any]:
    """What the library answers in a scenario, over a store in memory."""
    store = open_store("memory:", create=True)
    recorder = Recorder(LibraryApplication(store))
    playing.play(playing.scenario(name), recorder)
    store.close()
    return recorder.answers


def bent(value: Any):
    """Each value in which one part is another, or one more is there."""
    match value:
        case dict():
            for key, part in value.items():
                if key != "ids":
                    for other in bent(part):
                        yield {**value, key: other}
            yield {**value, "more": "x"}
        case list():
            for place, part in enumerate(value):
                for other in bent(part):
                    yield [*value[:place], other, *value[place + 1 :]]
            yield [*value, "more"]
        case bool():
            yield not value
        case int():
            yield value + 1
        case _:
            yield f"{value}?"


def lies(answer: Any):
    """The answers of which one part is another than in this one."""
    if isinstance(answer, dict):
        yield from bent(answer)
        return
    for place, one in enumerate(answer):
        for other in bent(one):
            yield [*answer[:place], other, *answer[place + 1 :]]


@pytest.mark.parametrize("name", playing.names())
def test_no_part_of_an_answer_may_differ(name):
    """Whatever one fact or receipt an application tells otherwise, the play fails."""
    scenario, answers = playing.scenario(name), recorded(name)
    unseen = []
    whole = playing.play(scenario, Replayer(answers))
    for place, answer in enumerate(answers):
        for other in lies(answer):
            lying = [*answers[:place], other, *answers[place + 1 :]]
            told = playing.play(scenario, Replayer(lying))
            if told.expected == told.found:
                unseen.append(other)

    assert whole.expected == whole.found
    assert [] == unseen


def with_ids(name: str) -> list[tuple[str, str, str]]:
    """Where scenarios compare ids: its name, same or other, and which id."""
    steps = playing.text_of(name)["steps"]
    return [(name, how, str(n)) for n, s in enumerate(steps) for how in IDS if how in s]


@pytest.mark.parametrize(
    ("name", "how", "number"),
    [place for name in playing.names() for place in with_ids(name)],
)
def test_no_id_may_be_another_than_is_said(name, how, number):
    """An id that must be the one from before, or another one, fails the play if not."""
    scenario, answers = playing.scenario(name), recorded(name)
    ended = [n for n, x in enumerate(answers) if isinstance(x, list) or "outcome" in x]
    step, place = scenario.steps[int(number)], ended[int(number)]
    for key, said in step[how].items():
        wrong = "another" if how == "same" else said
        if wrong.startswith("$"):
            saved, _, member = said[1:].partition(".")
            savers = [n for n, x in enumerate(scenario.steps) if x.get("save") == saved]
            wrong = answers[ended[savers[0]]]["ids"][member]
        ids = {**answers[place]["ids"], key: wrong}
        lying = [*answers]
        lying[place] = {**answers[place], "ids": ids}

        told = playing.play(scenario, Replayer(lying))

        assert told.expected != told.found


def test_every_item_has_a_scenario():
    """Each item that asks for a scenario is that of one at least."""
    named = [x for name in playing.names() for x in playing.text_of(name)["items"]]

    assert set(ITEMS) == set(named)


@pytest.mark.parametrize("base", ["persona", "advanced"])
def test_bases_are_valid(base):
    """What scenarios bend passes its checks without a warning."""
    now = parse_instant("2026-06-01T12:00:00Z")
    report = lint(PackageSource(files=make({"base": base}).files), now=now)

    assert [] == [f.code for f in report.findings if f.severity != "info"]


@pytest.mark.parametrize("edit", [{"rewrite": "x"}, {"": "x"}])
def test_an_unknown_edit_is_refused(edit):
    """A scenario that asks for an edit which there isn't is no scenario."""
    with pytest.raises(ValueError, match="no such edit"):
        make({"base": "persona", "edits": [edit]})


@pytest.mark.parametrize("name", playing.names())
def test_a_scenario_has_the_documented_form(name):
    """Its members, and those of each step, are the ones that the reference names."""
    text = playing.text_of(name)

    assert ["format", "title", "items", "packages", "steps"] == list(text)
    for step in text["steps"]:
        assert ("do" in step) != ("together" in step)
        assert step["expect"]
    assert not text["title"].isupper()


def test_scenarios_are_written_out_whole(tmp_path):
    """Outside of the kit a scenario needs nothing but what lies in its folder."""
    write_out(tmp_path)

    for name in playing.names():
        text = (tmp_path / name / "scenario.json").read_text(encoding="utf-8")
        assert "files_of" not in text
        assert "records_of" not in text
        packages = playing.scenario(name).packages
        for key, where in json.loads(text)["packages"].items():
            source = read_package(tmp_path / name / where["archive"])
            assert packages[key].archive() == source.archive
            if where["folder"]:
                folder = read_package(tmp_path / name / where["folder"])
                assert packages[key].files == folder.files
