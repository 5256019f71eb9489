"""Reading scenarios and playing them: JSON in, outcomes and receipts out.

An application is whatever takes a command as JSON and says how it ended as JSON. The
player puts the commands together, remembers the ids that came back, and writes down
next to each other what was expected and what was found.
"""

from __future__ import annotations

import json
from importlib.resources import files as resources
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from uaix_conformance.scenarios.packages import Made, make

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

FORMAT = "uaix.scenario.v1"

#: What a step says beside the arguments of its verb.
OF_A_STEP = frozenset(
    ("do", "together", "as", "token", "project", "save", "expect", "same", "other")
)
#: Where what a tenant is governed by is kept.
_AUTHORITY = "shared/authority"

Json = dict[str, Any]


class Application(Protocol):
    """What plays a scenario: a library, a service, a program at a shell."""

    def perform(self, command: Mapping[str, Any]) -> Json:
        """Carry out a command and say how it ended.

        The command has ``do`` (the verb), ``scope``, ``as`` (the principal) or
        ``token``, and the verb's arguments; a package among them is a `Made`. The
        answer has ``outcome`` (accepted or refused), ``code`` when it was refused,
        what the verb tells, and ``ids`` (names that differ from run to run).
        """
        ...

    def together(self, commands: Sequence[Mapping[str, Any]]) -> list[Json]:
        """Carry out commands of several writers at once, as far as it can."""
        ...

    def receipts(self, scope: str) -> Mapping[str, str]:
        """All receipts of a scope: id -> ``operation outcome``."""
        ...


@attrs.frozen
class Scenario:
    """One scenario: its packages, and its steps in order."""

    name: str
    title: str
    items: tuple[str, ...]
    packages: Mapping[str, Made]
    steps: tuple[Mapping[str, Any], ...]

    @property
    def verbs(self) -> frozenset[str]:
        """Every verb that it needs."""
        return frozenset(command["do"] for step in self.steps for command in _of(step))


@attrs.frozen
class Told:
    """What a play came to, step by step until the first one that differs."""

    expected: list[Json] = attrs.field(factory=list)
    found: list[Json] = attrs.field(factory=list)


def names() -> list[str]:
    """The scenarios of the kit."""
    found = (file.name for file in resources(__package__).iterdir())
    return sorted(name[:-5] for name in found if name.endswith(".json"))


def text_of(name: str) -> Json:
    """A scenario as it is written down."""
    place = resources(__package__) / f"{name}.json"
    written: Json = json.loads(place.read_text(encoding="utf-8"))
    return written


def scenario(name: str, written: Mapping[str, Any] | None = None) -> Scenario:
    """A scenario, ready to be played; ``written`` stands for its file."""
    text = text_of(name) if written is None else written
    if text["format"] != FORMAT:
        raise ValueError(f"{name} is no scenario of this kit")
    return Scenario(
        name=name,
        title=text["title"],
        items=tuple(text["items"]),
        packages={key: make(package) for key, package in text["packages"].items()},
        steps=tuple(text["steps"]),
    )


def play(scenario: Scenario, application: Application) -> Told:
    """Play a scenario in a tenant of its name, which nothing was written to yet."""
    playing = _Playing(scenario, application)
    for step in scenario.steps:
        playing.play(step)
        if playing.told.expected[-1] != playing.told.found[-1]:
            break
    return playing.told


def resolved(
    value: Any,
    packages: Mapping[str, Made],
    saved: Mapping[str, Mapping[str, Any]] | None = None,
) -> Any:
    """A part of a scenario with what its references stand for in their place.

    Digests of packages always, saved ids (``$NAME.ID``) where they are given.
    """
    match value:
        case {"files_of": str(name)}:
            return packages[name].digests
        case {"records_of": str(name)}:
            return packages[name].records
        case dict():
            return {key: resolved(one, packages, saved) for key, one in value.items()}
        case list():
            return [resolved(one, packages, saved) for one in value]
        case str() if saved is not None and value.startswith("$"):
            name, _, member = value[1:].partition(".")
            return saved[name][member]
        case _:
            return value


def _of(step: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    together: Sequence[Mapping[str, Any]] = step.get("together", (step,))
    return together


class _Playing:
    """A play under way: what was saved, and which receipts are known."""

    def __init__(self, scenario: Scenario, application: Application) -> None:
        self.told = Told()
        self._scenario = scenario
        self._application = application
        self._saved: dict[str, Json] = {}
        self._receipts: set[str] = set()
        governed = any(verb.startswith("authority.") for verb in scenario.verbs)
        self._beside = (f"{scenario.name}/{_AUTHORITY}",) if governed else ()

    def play(self, step: Mapping[str, Any]) -> None:
        """Play one step and write down what came of it."""
        commands = [self._command(one) for one in _of(step)]
        if "together" in step:
            ended = self._application.together(commands)
            found: Json = {"outcomes": _in_order(map(_without_ids, ended))}
        else:
            ended = [self._application.perform(commands[0])]
            found = _without_ids(ended[0])
        ids = ended[0]["ids"]
        expected = self._resolved(step["expect"])
        if "together" in step:
            expected["outcomes"] = _in_order(expected["outcomes"])
        if "same" in step:
            expected["same"] = self._resolved(step["same"])
            found["same"] = {name: ids.get(name) for name in step["same"]}
        if "other" in step:
            expected["other"] = dict.fromkeys(step["other"], True)
            than = self._resolved(step["other"])
            found["other"] = {name: ids.get(name) != than[name] for name in than}
        found["receipts"] = sorted(self._new_receipts(commands))
        self.told.expected.append({"receipts": [], **expected})
        self.told.found.append(found)
        if "save" in step:
            self._saved[step["save"]] = ids

    def _command(self, step: Mapping[str, Any]) -> Json:
        left_out = OF_A_STEP - {"token"}
        arguments = {k: v for k, v in step.items() if k not in left_out}
        if "package" in arguments:
            arguments["package"] = self._scenario.packages[arguments["package"]]
        project = step.get("project", "apollo")
        return {
            "do": step["do"],
            "scope": f"{self._scenario.name}/project/{project}",
            "as": step.get("as", "human:alice"),
            **self._resolved(arguments),
        }

    def _resolved(self, value: Any) -> Any:
        """A value with digests and saved ids in the place of their names."""
        return resolved(value, self._scenario.packages, self._saved)

    def _new_receipts(self, commands: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        scopes = {command["scope"] for command in commands}
        for scope in (*sorted(scopes), *self._beside):
            for receipt_id, text in self._application.receipts(scope).items():
                if receipt_id not in self._receipts:
                    self._receipts.add(receipt_id)
                    yield text


def _in_order(outcomes: Iterable[Json]) -> list[Json]:
    """Outcomes of which nobody knows which was first, in an order of their own."""
    return sorted(outcomes, key=lambda one: json.dumps(one, sort_keys=True))


def _without_ids(ended: Mapping[str, Any]) -> Json:
    return {name: value for name, value in ended.items() if name != "ids"}
