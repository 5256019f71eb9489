from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packages.package_maker import Maker, codes, errors
from tests.packages.rule_cases import top, totem

from uaix_core.packages.content.authority import (
    BEFORE_EVENTS,
    DENIALS,
    EVENTS,
    MOST_SHOWN,
    WORDS,
    claim_of,
    says_yes,
)
from uaix_core.packages.content.long_term import LEDGER_FIELDS
from uaix_core.packages.content.words import words_of


def words_in(text):
    """The words of a text, for lists that are read as prose."""
    return text.split()


#: Written down once more here, so that a slip in the table is seen.
LISTED = words_in(
    """
    exec execute command shell run hook script permission grant tool role token
    approve promote trust skip bypass quarantine install operation
    """
)
INFLECTED = words_in(
    """
    execs executes executed executing execution commands shells runs ran running
    hooks hooked scripts scripted scripting permissions grants granted granting
    tools tooling roles tokens approves approved approving approval promotes
    promoted promoting promotion trusts trusted trusting skips skipped skipping
    bypasses bypassed bypassing quarantines quarantined quarantining installs
    installed installing operations
    """
)
OTHERS = words_in(
    """
    tokenizer pruned from rung granite stool commander shellfish skipper rollout
    roleplay trustee runtime scripture prerun mood color created updated notes path
    summary author agenda permit basis contents identity onion postal prelude
    importance starter opening loader
    """
)

FORMS = [form for _trigger, word, rest in WORDS for form in (word, *rest.split())]
FILLERS = st.sampled_from(["", "my", "auto", "x", "note"])
JOINTS = st.sampled_from(["_", "-", ".", " ", "camel"])


def spelled(words, joint, *, shout=False):
    """The words as one key in this spelling."""
    kept = [word for word in words if word]
    if joint == "camel":
        return kept[0] + "".join(word.capitalize() for word in kept[1:])
    key = joint.join(kept)
    return key.upper() if shout else key


def test_the_listed_words_are_the_table():
    """The table holds the words of the rule and no others, each with inflections."""
    assert LISTED == [word for _trigger, word, _rest in WORDS]
    assert set(INFLECTED) <= set(FORMS)


@given(st.sampled_from(FORMS), FILLERS, FILLERS, JOINTS, st.booleans())
def test_any_inflection_in_any_spelling_claims(word, before, after, joint, shout):
    """A listed word claims authority wherever in a key it stands."""
    assert claim_of(spelled((before, word, after), joint, shout=shout)) is not None


@given(
    st.sampled_from(sorted(BEFORE_EVENTS)),
    st.sampled_from(sorted(EVENTS)),
    FILLERS,
    JOINTS,
)
def test_what_acts_on_an_event_claims(before, event, filler, joint):
    """pre, post, before, after or on directly before an event claims execution."""
    key = spelled((filler, before, event), joint)

    assert "runtime_execution_requested" == claim_of(key)
    assert claim_of(before + event) is not None
    if event != "install":
        assert claim_of(spelled((event, before), joint)) is None
        assert claim_of(spelled((before, "mood", event), joint)) is None


@given(st.lists(st.sampled_from(OTHERS), min_size=1, max_size=3), JOINTS)
def test_other_words_claim_nothing(words, joint):
    """Words that only look like a listed one are other words."""
    assert claim_of(spelled(words, joint)) is None


@pytest.mark.parametrize(
    "key",
    [
        "prunedFrom",
        "tokenizer",
        "\u0440\u0440\u0440",
        "",
        "123",
        "onion",
        "basedOn",
        "updatedOn",
    ],
)
def test_harmless_keys(key):
    """Keys that hold none of the words claim nothing."""
    assert claim_of(key) is None


@pytest.mark.parametrize(
    "key",
    [
        "\uff45\uff58\uff45\uff43",
        "e\u200bxec",
        "t\u043e\u043el",
        "TooL",
        "HTTPCommand",
        "tool1",
        "a.run.b",
        "x" * 100 + "_run",
    ],
)
def test_disguised_keys(key):
    """Look-alikes, invisible characters and odd case hide no word."""
    assert claim_of(key) is not None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, True),
        (False, False),
        (None, False),
        (0, False),
        (1, False),
        ([], False),
        ({}, False),
        ([0], True),
        ({"a": False}, True),
        ("", False),
        ("  ", False),
        ("*", True),
        ("allowed", True),
        ("nothing", True),
        ("No tools.", False),
        ("none", False),
        ("DENIED by policy", False),
        ("'outside' of this", False),
        ("is denied", True),
    ],
)
def test_what_says_yes(value, expected):
    """True, what isn't empty, and a text that doesn't begin with a denial say yes."""
    assert expected == says_yes(value)


@given(st.sampled_from(sorted(DENIALS)), st.text(alphabet=" ,.abc", max_size=6))
def test_denials_say_no(word, rest):
    """A text whose first word is a denial says no."""
    assert not says_yes(f"{word} {rest}")
    assert not says_yes(word.upper())


@pytest.mark.parametrize(
    ("edit", "place"),
    [
        (top(exec="x"), "exec"),
        (top(mood={"deep": [{"shell": True}]}), "mood.deep[0].shell"),
        (totem(hooks=["x"]), "files[3].hooks"),
        (totem(source={"tool": "x"}), "files[3].source.tool"),
        (totem(notes={"a": {"skipReview": True}}), "files[3].notes.a.skipReview"),
        (
            lambda m: m.manifest["integrity"].update(trusted=True),
            "integrity.trusted",
        ),
        (
            lambda m: m.manifest["integrity"].update(
                signatures=[{"keyId": "a", "approvedBy": "b"}]
            ),
            "integrity.signatures[0].approvedBy",
        ),
        (
            top(entrypoints=[{"path": ".uai/totem.uai", "order": 1, "run": "x"}]),
            "entrypoints[0].run",
        ),
        (top(longTermMemory={"trustLabels": {"tools": "x"}}), None),
        (top(issuer={"exec": "x"}), "issuer.exec"),
        (
            lambda m: m.manifest["files"].append([{"exec": "x"}]),
            "files[7][0].exec",
        ),
        (top(entrypoints={"a": {"exec": "x"}}), "entrypoints.exec"),
        (top(k9Token="x"), "(a key not shown)"),
    ],
)
def test_extra_keys_are_judged_at_any_depth(edit, place):
    """A claim is found in any object of the manifest, and told by its place."""
    maker = Maker()
    edit(maker)
    report = maker.lint()
    found = [f.path for f in report.findings if f.code == "authority.claim"]

    assert not report.is_accepted
    assert [place or "longTermMemory.trustLabels.tools"] == found


@pytest.mark.parametrize(
    "edit",
    [
        lambda _maker: None,
        top(longTermMemory=dict.fromkeys(LEDGER_FIELDS, "x")),
        top(entrypoints={"run": ".uai/totem.uai"}),
        top(tools=[], exec=0, approved="no", hooks=None),
        totem(stableId="x", role="totem"),
        top(basedOn="a" * 64),
    ],
)
def test_fields_of_the_format_claim_nothing(edit):
    """Names that the format gives, and empty or denied ones, are no claims."""
    maker = Maker()
    edit(maker)

    assert "authority.claim" not in codes(maker.lint())


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        (top(operations=[{"op": "replace", "path": ".uai/taboo.uai"}]), True),
        (top(mutations={".uai/totem.uai": "x"}), True),
        (top(mutations=["./.UAI/Talisman.uai"]), True),
        (top(mutations=["\\.uai\\totem.uai"]), True),
        (top(mutations=[{"target": "totem"}]), True),
        (totem(mutations=["replace"]), True),
        (totem(mutations=[]), False),
        (top(mutations=["docs/totem.uai", ".uai/notes/taboo.uai"]), False),
        (top(mutations=["about the totem"]), False),
        (top(mutations=[".uai/totem.uai:replace"]), True),
        (top(mutations=["replace .uai/totem.uai"]), True),
        (top(mutations=["please do now replace .uai/totem.uai"]), True),
        (top(mutations=[".uai/./totem.uai"]), True),
        (top(mutations=[".uai//totem.uai"]), True),
        (top(mutations=["never .uai/totem.uai"]), False),
        (top(x={"target": ".uai/totem.uai", "mutation": "replace"}), True),
        (top(x={"targets": [".uai/totem.uai"], "mutation": "replace"}), True),
        (top(x={"target": ".uai/totem.uai", "mutation": "none"}), False),
        (top(x={"target": ".uai/notes/a.uai", "mutation": "replace"}), False),
        (top(supportBoundary={"mutations": [".uai/totem.uai:replace"]}), True),
        (
            top(
                supportBoundary={
                    "x": {"target": ".uai/totem.uai", "mutation": "replace"}
                }
            ),
            True,
        ),
        (top(supportBoundary={"outside": {"mutations": [".uai/totem.uai"]}}), False),
        (top(changes=[".uai/totem.uai"]), False),
    ],
)
def test_operations_on_anchors(edit, found):
    """Operations or mutations on an anchor path is a mutation of the anchor."""
    maker = Maker()
    edit(maker)

    assert found == ("anchor.mutation" in errors(maker.lint()))


@pytest.mark.parametrize(
    "key",
    words_in(
        """
        RUNall RUNcmd SHELLcmd mayRUNall approvers promoters executer executers
        runnable installable skippable grantor grantee
        """
    ),
)
def test_capitals_before_small_letters_and_rarer_forms(key):
    """A word in capitals is one whatever follows, and so is each inflection."""
    assert claim_of(key) is not None


@pytest.mark.parametrize(
    "text", ["\u0434\u0430, no", "1 no", "yes, no", "0: no", "\u662f no"]
)
def test_the_first_word_in_any_script_decides(text):
    """What stands before a denial, be it a number or another script, says yes."""
    assert says_yes(text)
    assert not says_yes(f"no, {text}")
    assert not says_yes(f" ({min(DENIALS).upper()}) {text}")


def test_triggers_fit_what_is_claimed():
    """Execution has its own no-op name; every other claim is a conflict."""
    maker = Maker()
    maker.manifest.update(exec="x", tools="x")
    triggers = {
        f.path: f.trigger for f in maker.lint().findings if f.code == "authority.claim"
    }

    assert {
        "exec": "runtime_execution_requested",
        "tools": "authority_boundary_conflict",
    } == triggers


def test_many_claims_are_counted():
    """Beyond a number of claims only their count is told."""
    maker = Maker()
    maker.manifest["x"] = [{"run": "x"} for _ in range(MOST_SHOWN + 5)]
    found = [f for f in maker.lint().findings if f.code == "authority.claim"]

    assert MOST_SHOWN + 1 == len(found)
    assert any("5" in f.message for f in found if f.path is None)


@given(st.text())
def test_words_are_lower_case_letters(text):
    """Splitting gives words of the letters a to z and nothing else."""
    for word in words_of(text):
        assert word.isascii()
        assert word.islower()
        assert word.isalpha()
