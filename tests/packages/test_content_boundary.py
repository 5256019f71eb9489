from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packages.package_maker import Maker, errors
from tests.packages.test_content_authority import FORMS, JOINTS, spelled

from uaix_core.packages.content.authority import DENIALS
from uaix_core.packages.content.boundary import (
    MOST_SHOWN,
    POWERS,
    holds_denial,
    power_of_item,
)

#: Written down once more here, so that a slip in the table is seen.
PHRASES = [
    "runtime execution",
    "runtime command",
    "hosted import",
    "automatic sync",
    "repository write",
    "tool grant",
    "tool grants",
    "model runtime package",
    "credential",
    "credentials",
    "certification",
    "endorsement",
    "safety proof",
    "SDK",
    "CLI",
    "hosted inference",
    "provider APIs",
    "telemetry",
    "shell execution",
    "command execution",
    "automatic export",
    "auto-export",
    "network access",
    "core-safety-policy override",
    "policy override",
    "website intake",
]
DENYING = [
    "no",
    "not",
    "never",
    "without",
    "outside",
    "denied",
    "excluded",
    "excluding",
    "forbidden",
    "forbids",
    "prohibited",
    "prohibits",
    "unsupported",
    "none",
    "nothing",
]


def grants(boundary) -> list[tuple[str | None, str | None]]:
    """The places and no-op names of the grants that are found in a boundary."""
    maker = Maker()
    maker.manifest["supportBoundary"] = boundary
    report = maker.lint()
    found = [f for f in report.findings if f.code == "boundary.grant"]

    assert (found == []) == report.is_accepted
    return [(f.path, f.trigger) for f in found]


@pytest.mark.parametrize("phrase", PHRASES)
def test_each_power_is_one(phrase):
    """Each phrase is a power in a key and in a list item, in any spelling."""
    words = phrase.replace("-", " ").split()
    for joint in ("_", "-", " ", "camel"):
        assert grants({spelled(words, joint): True})
        assert not grants({spelled(words, joint): False})
    for spelling in (phrase, phrase.upper(), f"with {phrase} for all", phrase.title()):
        assert grants({"current": [spelling]})
        assert not grants({"outside": [spelling]})
        assert power_of_item(f"no {spelling}") is None


@given(st.sampled_from(FORMS), JOINTS)
def test_words_of_authority_are_powers_in_keys_only(word, joint):
    """A word that claims authority is a power in a key and none in an item."""
    maker = Maker()
    maker.manifest["supportBoundary"] = {spelled(("may", word), joint): "x"}
    assert "boundary.grant" in errors(maker.lint())

    phrases = {phrase for _trigger, phrase in POWERS} | {"command", "commands"}
    if word not in phrases:
        assert power_of_item(f"talk about {word}") is None


@pytest.mark.parametrize(
    ("boundary", "expected"),
    [
        ({"runtimeExecution": "allowed"}, ["supportBoundary.runtimeExecution"]),
        ({"runtimeExecution": "is not allowed"}, ["supportBoundary.runtimeExecution"]),
        ({"a": {"b": [{"shell": True}]}}, ["supportBoundary.a.b[0].shell"]),
        ({"current": ["x", "runtime execution"]}, ["supportBoundary.current[1]"]),
        ({"current": ["now run-time execution"]}, ["supportBoundary.current[0]"]),
        ({"current": "runtime execution"}, ["supportBoundary.current"]),
        ({"current": ["network"]}, ["supportBoundary.current[0]"]),
        ({"RUNTIMEEXECUTION": True}, ["supportBoundary.RUNTIMEEXECUTION"]),
        ({"network": True}, ["supportBoundary.network"]),
        ({"isCertified": True}, ["supportBoundary.isCertified"]),
        ({"onImport": "x"}, ["supportBoundary.onImport"]),
        ({"toolGrants": [0, 1]}, ["supportBoundary.toolGrants"]),
        ({"toolGrants": [{"shell": False}, "x"]}, ["supportBoundary.toolGrants"]),
        ({"node": ["runtime execution"]}, ["supportBoundary.node[0]"]),
        (
            {"non_project_assistant": {"runtimeExecution": True}},
            ["supportBoundary.non_project_assistant.runtimeExecution"],
        ),
        (
            {"nonProjectAssistant": ["runtime execution"]},
            ["supportBoundary.nonProjectAssistant[0]"],
        ),
        (
            {"toolGrants": {"non-project-assistant": True}},
            ["supportBoundary.toolGrants"],
        ),
        ({"RUNall": True}, ["supportBoundary.RUNall"]),
    ],
)
def test_what_grants(boundary, expected):
    """A power that nothing denies is granted, and told by its place."""
    assert expected == [place for place, _trigger in grants(boundary)]


@pytest.mark.parametrize(
    "boundary",
    [
        {},
        {"current": ["local import into quarantine", "review by a human"]},
        {"outside": ["runtime execution", {"tools": "*"}]},
        {"outside": {"runtimeExecution": True, "deep": ["hosted import"]}},
        {"notGranted": ["runtime execution"], "forbiddenPowers": ["telemetry"]},
        {"runtimeExecution": False, "tools": [], "network": None, "hooks": ""},
        {"tools": {"shell": False, "web": False}, "commands": ["none"]},
        {"runtimeExecution": "never", "credentials": "No credentials are kept."},
        {"current": ["works without network access", "never runtime execution"]},
        {"summary": "Hosted import is somebody else's business."},
        {"current": ["a network of readers", "the provider's manual"]},
        {"current": ["read by certified librarians"], "certified": False},
        {"noRuntimeExecution": True},
        {"outOfScope": ["runtime execution", {"cli": True}]},
        {"out_of_scope": ["tool grants"], "out-of-the-scope": {"sdk": True}},
        {"deny": ["credentials"], "denies": ["SDK"], "denials": {"telemetry": True}},
        {"non_project_assistant": {"noRuntimeExecution": True}},
    ],
)
def test_what_grants_nothing(boundary):
    """Naming a power in order to deny it, and talk beside the lists, grant nothing."""
    assert [] == grants(boundary)


@given(
    st.sampled_from(PHRASES),
    st.sampled_from(DENYING),
    st.sampled_from(sorted(DENIALS)),
    st.sampled_from(["_", "-", " ", "camel"]),
)
def test_denied_powers_never_refuse(phrase, word, denial, joint):
    """A power with a denying word, in a list that denies, or that says no is none."""
    words = phrase.replace("-", " ").split()
    boundary = {
        spelled((word, *words), joint): True,
        spelled(("powers", word), joint): [phrase, {spelled(words, joint): True}],
        spelled(words, joint): f"{denial} here",
        "current": [f"{word} {phrase}", f"{phrase} {word}"],
        "flags": {spelled(words, joint): False},
    }
    maker = Maker()
    maker.manifest["supportBoundary"] = boundary

    assert set() == errors(maker.lint())


@pytest.mark.parametrize("word", ["now", "note", "node", "normal", "noisy", "notice"])
def test_words_that_only_begin_like_a_denial(word):
    """A word that merely begins with the letters n and o denies nothing."""
    assert not holds_denial(word)
    assert grants({"current": [f"{word}: runtime execution"]})


@pytest.mark.parametrize("boundary", [None, [], "runtime execution", 7, True])
def test_other_types_are_the_shapes_business(boundary):
    """What is no object is refused for its type and not read as a grant."""
    maker = Maker()
    maker.manifest["supportBoundary"] = boundary

    assert {"manifest.type"} == errors(maker.lint())


def test_triggers_fit_the_power():
    """Execution, credentials, certification and network have no-op names of theirs."""
    found = grants(
        {
            "a": ["runtime execution"],
            "b": ["certification"],
            "c": ["credentials"],
            "d": ["network access"],
            "e": ["hosted import"],
        }
    )

    assert [
        "runtime_execution_requested",
        "certification_claim_requested",
        "credential_validation_requested",
        "private_network_probe_requested",
        "authority_boundary_conflict",
    ] == [trigger for _place, trigger in sorted(found)]


def test_many_grants_are_counted():
    """Beyond a number of grants only their count is told."""
    found = grants({"current": ["runtime execution"] * (MOST_SHOWN + 3)})

    assert MOST_SHOWN + 1 == len(found)
