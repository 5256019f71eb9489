from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packages.package_maker import (
    DIMENSIONS,
    MANIFEST,
    REQUIRED,
    Maker,
    codes,
    errors,
)

from uaix_core.packages.required.explaining import explain, explained
from uaix_core.packages.required.sets import (
    DEFAULT_RULESET,
    RULESETS,
    ruleset_named,
    startup_order,
)
from uaix_core.packages.rules.table import RULES
from uaix_core.values.errors import CallerError

UNIVERSAL = {
    "3.138": [
        "memory-maintenance",
        "identity",
        "world-context",
        "totem",
        "taboo",
        "talisman",
        "short-term-memory",
    ],
    "launch-5": ["identity", "world-context", "totem", "taboo", "short-term-memory"],
    "matm-2026-07": [
        "startup-packet",
        "memory-maintenance",
        "identity",
        "world-context",
        "totem",
        "taboo",
        "talisman",
        "progress",
    ],
}
#: What may be said of a package that holds all that is required.
QUIET = {"set.extra", "evidence.missing"}
NAMES = list(UNIVERSAL)
STM = ".uai/short-term-memory.uai"
LTM = ".uai/long-term-memory.uai"


def memory(*stems):
    return [f".uai/{stem}.uai" for stem in stems]


def matm(*scopes):
    """A package as the memory service of July 2026 asks for it."""
    maker = Maker(*scopes)
    maker.drop(STM)
    for path in memory("startup-packet", "progress"):
        if path not in maker.files:
            maker.add(path)
        entry = maker.entry(path)
        entry.update(requiredStatus="universal_required", scope="universal")
    if LTM in maker.files:
        maker.entry(LTM)["role"] = "long_term_pointer_ledger"
    return maker


def test_the_rulesets_by_name():
    """Three rulesets are known, each by its own name, and 3.138 is the default."""
    assert NAMES == list(RULESETS)
    assert NAMES == [ruleset.name for ruleset in RULESETS.values()]
    assert "3.138" == DEFAULT_RULESET


@pytest.mark.parametrize("name", NAMES)
def test_universal_files(name):
    """Each ruleset requires its own universal files of every package, in order."""
    required = [row.path for row in ruleset_named(name).required([])]

    assert memory(*UNIVERSAL[name]) == required


@pytest.mark.parametrize(
    ("name", "scope", "expected"),
    [
        (
            "launch-5",
            "code_bearing",
            memory("coding-standards", "next-recursive-prompt"),
        ),
        ("launch-5", "persona_profile", memory("persona")),
        ("launch-5", "long_term_memory", [LTM]),
        ("matm-2026-07", "matm_durable_memory", [LTM]),
        ("matm-2026-07", "long_term_memory", [LTM]),
        (
            "matm-2026-07",
            "project_handoff",
            [
                *memory("readme", "receiver-brief", "system-profile"),
                ".uai/exports/manifest.json",
                "AGENTS.md",
            ],
        ),
        (
            "matm-2026-07",
            "code_bearing",
            memory(
                "architecture",
                "coding-standards",
                "next-recursive-prompt",
                "test-plan",
            ),
        ),
    ],
)
def test_what_a_scope_requires_beside(name, scope, expected):
    """A scope requires the universal files of the ruleset and these."""
    rules = ruleset_named(name)
    beside = {row.path for row in rules.required([scope])} - {
        row.path for row in rules.required([])
    }

    assert {p.replace("readme.uai", "readme.human") for p in expected} == beside


@pytest.mark.parametrize("scope", REQUIRED)
def test_what_3_138_accepts_launch_5_accepts(scope):
    """A package that is complete for 3.138 is so for the smaller launch ruleset."""
    report = Maker(scope).lint(ruleset="launch-5")

    assert QUIET >= codes(report)
    assert "launch-5" == report.ruleset


@pytest.mark.parametrize("stem", ["memory-maintenance", "talisman"])
def test_launch_5_misses_less(stem):
    """Two universal files of today were not asked for at launch."""
    maker = Maker()
    maker.manifest["entrypoints"] = []
    maker.drop(f".uai/{stem}.uai")

    assert {"set.missing"} == errors(maker.lint())
    assert () == maker.lint(ruleset="launch-5").findings


@pytest.mark.parametrize("stem", UNIVERSAL["launch-5"])
def test_launch_5_misses_each_of_its_five(stem):
    """Leaving any of the five out is an error at launch as well."""
    maker = Maker()
    maker.drop(f".uai/{stem}.uai")

    assert {"set.missing"} == errors(maker.lint(ruleset="launch-5"))


@pytest.mark.parametrize("scope", REQUIRED)
def test_matm_accepts_what_it_asks_for(scope):
    """A package made for the memory service passes its ruleset without a finding."""
    report = matm(scope).lint(ruleset="matm-2026-07")

    assert QUIET >= codes(report)
    assert "matm-2026-07" == report.ruleset


def test_matm_and_3_138_exclude_each_other():
    """No package fits both: one requires short-term memory, the other refuses it."""
    maker = matm()
    assert {"set.missing", "required.status"} == errors(maker.lint())
    maker = Maker()
    found = {
        (finding.code, finding.path)
        for finding in maker.lint(ruleset="matm-2026-07").findings
        if finding.severity == "error"
    }
    assert {
        ("set.out-of-scope", STM),
        ("set.missing", ".uai/progress.uai"),
        ("set.missing", ".uai/startup-packet.uai"),
    } == found


@pytest.mark.parametrize(
    "stem", ["active-memory", "current-state", "project-state", "working-state"]
)
def test_matm_refuses_catch_all_names(stem):
    """Files that gather passing state are out of scope there, and free elsewhere."""
    maker = matm()
    maker.add(f".uai/{stem}.uai", role="memory")
    assert {"set.out-of-scope"} == errors(maker.lint(ruleset="matm-2026-07"))
    maker = Maker()
    maker.add(f".uai/{stem}.uai", role="memory")
    assert maker.lint().is_accepted


def test_the_services_own_scope():
    """Durable memory of the service is a scope there and unknown elsewhere."""
    maker = matm("long_term_memory")
    maker.manifest["declaredScopes"].append("matm-durable-memory")
    maker.manifest["profileId"] = "matm_durable_memory"

    assert maker.lint(ruleset="matm-2026-07").is_accepted
    assert "scope.unknown" in errors(maker.lint())


def test_start_up_with_progress():
    """Progress loads after the anchors and before the files of the scopes."""
    paths = memory(
        *UNIVERSAL["matm-2026-07"], "architecture", "persona", "long-term-memory"
    )

    assert paths == startup_order(reversed(paths), ruleset="matm-2026-07")


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_sound(name):
    """Every row stands under its path, in order, with known rules and scopes."""
    rules = ruleset_named(name)

    assert list(rules.files) == [row.path for row in rules.files.values()]
    assert list(rules.files) == sorted(rules.files, key=rules.startup_key)
    for row in rules.files.values():
        assert rules.scopes.issuperset(row.scopes)
        assert row.absent in RULES
        assert rules.may_hold(row.path)
        assert {row.instead, row.trigger} - {None} <= rules.files.keys()
        assert row.role == row.roles[0]


LINTED = [
    ".uai/totem.uai",
    ".uai/persona.uai",
    ".uai/talisman.uai",
    STM,
    ".uai/startup-packet.uai",
    ".uai/progress.uai",
    ".uai/file-handoff.uai",
    ".uai/notes/a.uai",
    ".uai/current-state.uai",
    *(f".uai/personality/{stem}.uai" for stem in DIMENSIONS[3:6]),
    "AGENTS.md",
    ".uai/readme.human",
    "docs/a.md",
    "src/a.py",
]


@given(
    st.sampled_from(NAMES),
    st.sampled_from(LINTED),
    st.lists(st.sampled_from(list(REQUIRED)), max_size=2, unique=True),
)
def test_an_explanation_is_what_lint_finds(name, path, scopes):
    """A package with the file has the finding that refuses it, one without the gap."""
    explanation = explained(path, scopes, ruleset=name)
    with_it, without = Maker(*scopes), Maker(*scopes)
    for maker in (with_it, without):
        maker.manifest["entrypoints"] = []
    if path not in with_it.files:
        with_it.add(path)
    else:
        without.drop(path)
    found = {
        (finding.code, finding.path)
        for maker in (with_it, without)
        for finding in maker.lint(ruleset=name).findings
        if finding.path == path and finding.code.startswith("set.")
    }
    other = ruleset_named(name).files.get(path)
    if other is not None and other.instead in without.files:
        found |= {(explanation.rule, path)}
    expected = {(explanation.rule, path)}
    if explanation.standing == "allowed":
        expected = set()
        found -= {("set.content-trigger", path)}
    if explanation.standing == "required":
        found -= {("set.content-trigger", path)}

    assert expected == found


@pytest.mark.parametrize(
    ("path", "scopes", "ruleset", "standing", "rule"),
    [
        (MANIFEST, (), "3.138", "required", "manifest.missing"),
        (".uai/totem.uai", (), "3.138", "required", "set.missing"),
        (".uai/talisman.uai", (), "launch-5", "allowed", None),
        (STM, (), "matm-2026-07", "out_of_scope", "set.out-of-scope"),
        (".uai/persona.uai", ("Project-Handoff",), "3.138", "out_of_scope", None),
        (".uai/file-handoff.uai", ("agent_file_handoff",), "3.138", "required", None),
        (".uai/persona.uai", (), "3.138", "allowed", None),
        (".uai/notes/a.uai", (), "3.138", "allowed", "set.extra"),
        ("src/a.py", (), "3.138", "refused", "set.unregistered"),
        ("../a", (), "3.138", "refused", "path.traversal"),
        ("a\\b", (), "3.138", "refused", "path.backslash"),
        ("", (), "3.138", "refused", "path.shape"),
    ],
)
def test_explanations_name_the_rule(path, scopes, ruleset, standing, rule):
    """An explanation gives the standing, the ruleset, and the rule in its words."""
    explanation = explained(path, scopes, ruleset=ruleset)

    assert (standing, ruleset) == (explanation.standing, explanation.ruleset)
    assert ruleset in explanation.text
    if rule is not None:
        assert rule == explanation.rule
    if explanation.rule is not None:
        assert explanation.rule in RULES
        assert explanation.rule in explanation.text
    assert explain(path, scopes, ruleset=ruleset) == explanation.as_dict()["text"]


def test_a_style_file_names_its_trigger():
    """What may stand only beside another file says so."""
    path = ".uai/personality/sense-of-winter.uai"

    for scopes in ((), ("advanced_persona_profile",)):
        assert "only beside .uai/personality/sense-of-style.uai" in explain(
            path, scopes
        )


def test_no_explanation_without_a_ruleset():
    """An unknown ruleset is the caller's error."""
    with pytest.raises(CallerError) as caught:
        explain("a", (), ruleset="none")

    assert "ruleset.unknown" == caught.value.code
