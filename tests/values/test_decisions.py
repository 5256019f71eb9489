"""Laws of decisions: they name things, and can hold no text."""

from __future__ import annotations

import json

import attrs
import pytest

from uaix_core import CallerError, Decision, Principal, ScopeId

SCOPE = ScopeId.parse("acme/project/apollo")
ACTOR = Principal.parse("human:alice")


def decision(**fields):
    return Decision(
        **{
            "kind": "registry.register",
            "reason": "registration.granted",
            "scope": SCOPE,
            "actor": ACTOR,
            **fields,
        }
    )


def test_a_decision_is_plain_data():
    """A decision can be written as JSON; equal ones are equal and hash alike."""
    made = decision(receipt="r", details={"b": 2, "a": "x"})
    again = decision(receipt="r", details={"a": "x", "b": 2})

    assert (made, hash(made)) == (again, hash(again))
    assert {
        "kind": "registry.register",
        "reason": "registration.granted",
        "scope": "acme/project/apollo",
        "actor": "human:alice",
        "is_denied": False,
        "receipt": "r",
        "details": {"a": "x", "b": 2},
    } == json.loads(json.dumps(made.as_dict()))


def test_a_decision_never_changes():
    """No field of a decision can be set anew."""
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        decision().is_denied = True


@pytest.mark.parametrize(
    "details",
    [
        {"a": "two words"},
        {"a": ""},
        {"a": None},
        {"a": True},
        {"a": 1.5},
        {"a": ["x"]},
        {"a b": "x"},
        {"a": "x" * 129},
        {"a": "sha256:" + "0" * 64},
    ],
)
def test_details_hold_no_text(details):
    """A detail is an id, a digest in hex or a number; everything else is refused."""
    with pytest.raises(CallerError) as caught:
        decision(details=details)
    assert ("decision.detail", "details") == (caught.value.code, caught.value.path)


@pytest.mark.parametrize("field", ["kind", "reason", "receipt"])
@pytest.mark.parametrize("word", ["", "a sentence", 1, "a" * 129])
def test_words_of_a_decision_are_stable(field, word):
    """Kind, reason and receipt are words and no sentences."""
    with pytest.raises(CallerError) as caught:
        decision(**{field: word})
    assert ("decision.word", field) == (caught.value.code, caught.value.path)
    assert "a" * 128 == getattr(decision(**{field: "a" * 128}), field)


def test_an_error_has_no_decisions_of_its_own():
    """What was no refused decision carries none."""
    assert () == CallerError("x").decisions
