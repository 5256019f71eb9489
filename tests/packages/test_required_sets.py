from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packages.package_maker import (
    DIMENSIONS,
    REQUIRED,
    UNIVERSAL,
    Maker,
    codes,
    errors,
)

from uaix_core.packages.required.explaining import explain
from uaix_core.packages.required.sets import (
    DEFAULT_RULESET,
    RULESETS,
    ruleset_named,
    startup_order,
)
from uaix_core.packages.rules.table import RULES
from uaix_core.values.errors import CallerError

RULES_3_138 = ruleset_named("3.138")
STYLES = [
    f".uai/personality/{stem}.uai"
    for stem in (
        "sense-of-winter",
        "sense-of-spring-fall",
        "super-fashion-style",
        "jewelry-choices",
    )
]
LTM = ".uai/long-term-memory.uai"


def test_the_default_ruleset():
    """Ruleset 3.138 is there and is the default."""
    assert "3.138" == DEFAULT_RULESET
    assert RULES_3_138 is RULESETS[DEFAULT_RULESET]
    assert set(REQUIRED) == RULES_3_138.scopes


@pytest.mark.parametrize("scope", REQUIRED)
def test_each_scope_requires_its_files(scope):
    """A scope requires the universal seven and its own files, and no others."""
    universal = {f".uai/{stem}.uai" for stem in UNIVERSAL}
    required = {row.path for row in RULES_3_138.required([scope])}

    assert universal | set(REQUIRED[scope]) == required - {".uai/readme.human"}


@pytest.mark.parametrize(
    ("scope", "path"),
    [
        (scope, path)
        for scope, paths in REQUIRED.items()
        for path in (*(f".uai/{stem}.uai" for stem in UNIVERSAL), *paths)
    ],
)
def test_each_required_file_is_missed(scope, path):
    """Leaving any one required file out is found, and refused where that is a must."""
    maker = Maker(scope)
    maker.manifest["entrypoints"] = []
    maker.drop(path)
    report = maker.lint()
    expected = "set.style" if path in STYLES else "set.missing"
    if path == ".uai/file-handoff.uai":
        expected = "set.file-handoff"

    assert expected in {f.code for f in report.findings if f.path == path}
    assert (expected == "set.file-handoff") == report.is_accepted


def test_one_briefing_of_two_is_enough():
    """AGENTS.md and readme.human can stand in for each other."""
    maker = Maker("project_handoff")
    maker.drop("AGENTS.md")

    assert {"set.missing"} == errors(maker.lint())
    maker.add(".uai/readme.human", scope="project_handoff")
    assert () == maker.lint().findings
    maker.add("AGENTS.md", scope="project_handoff", role="agents")
    assert () == maker.lint().findings


@pytest.mark.parametrize("count", range(5))
def test_style_files_need_the_sense_of_style(count):
    """Any style file without sense-of-style is an error, lenient or not."""
    for kept in combinations(STYLES, count):
        maker = Maker("advanced_persona_profile")
        maker.drop(".uai/personality/sense-of-style.uai")
        for path in set(STYLES) - set(kept):
            maker.drop(path)
        for lenient in (False, True):
            found = errors(maker.lint(lenient=lenient))
            assert (count > 0) == ("set.content-trigger" in found)
            assert "set.missing" in found


@pytest.mark.parametrize(
    ("scopes", "out"),
    [
        (("project_handoff",), True),
        (("project_handoff", "code_bearing"), True),
        (("project_handoff", "long_term_memory"), True),
        (("project_handoff", "non_project_assistant"), False),
        (("project_handoff", "persona_profile"), False),
        (("persona_profile",), False),
    ],
)
def test_persona_is_out_of_scope_for_a_pure_handoff(scopes, out):
    """persona.uai stands in a hand-off only when a persona scope is declared too."""
    maker = Maker(*scopes)
    if ".uai/persona.uai" not in maker.files:
        maker.add(".uai/persona.uai")

    assert out == ("set.out-of-scope" in errors(maker.lint()))


def test_seed_persona_with_one_dimension_is_refused():
    """An advanced persona with one dimension lacks the twenty-one others."""
    maker = Maker("advanced_persona_profile")
    for stem in DIMENSIONS[1:]:
        maker.drop(f".uai/personality/{stem}.uai")
    report = maker.lint()

    assert 21 == sum(f.code in ("set.missing", "set.style") for f in report.findings)
    assert not maker.lint(lenient=True).is_accepted


def test_advanced_profile_without_its_scope_still_needs_its_files():
    """ProfileId alone makes a package an advanced persona, and the two must agree."""
    maker = Maker("persona_profile")
    maker.manifest["profileId"] = "advanced_persona_profile"

    assert {"profile.mismatch", "set.missing", "set.style"} == errors(maker.lint())


@pytest.mark.parametrize("row", RULES_3_138.files.values(), ids=lambda row: row.path)
def test_registered_status(row):
    """A registered file carries its registered status, or one it may carry as well."""
    scope = row.scopes[-1]
    for status in (
        "universal_required",
        "profile_required",
        "content_triggered_required",
        "configuration_specific_required",
    ):
        maker = Maker(scope)
        if row.path not in maker.files:
            maker.add(row.path, scope=scope)
        maker.entry(row.path)["requiredStatus"] = status
        assert (status in row.statuses) == (
            "required.status" not in codes(maker.lint())
        )


def test_registered_statuses_are_the_decided_ones():
    """Seven files are universal, the rest profile-required, six with one more word."""
    rows = RULES_3_138.files
    universal = [p for p, row in rows.items() if row.status == "universal_required"]
    more = {p: row.also for p, row in rows.items() if row.also}

    assert [f".uai/{stem}.uai" for stem in UNIVERSAL] == universal
    assert {
        **dict.fromkeys(STYLES, ("content_triggered_required",)),
        ".uai/file-handoff.uai": ("configuration_specific_required",),
        LTM: ("configuration_specific_required",),
    } == more
    assert {row.absent for row in rows.values()} <= RULES.keys()


def test_startup_order_is_the_decided_one():
    """Start-up goes from the packet over universal and scope files to the memory."""
    scope_files = [
        ".uai/architecture.uai",
        ".uai/coding-standards.uai",
        ".uai/exports/manifest.json",
        ".uai/file-handoff.uai",
        ".uai/next-recursive-prompt.uai",
        ".uai/readme.human",
        ".uai/receiver-brief.uai",
        ".uai/system-profile.uai",
        ".uai/test-plan.uai",
        "AGENTS.md",
    ]
    expected = [
        ".uai/startup-packet.uai",
        *(f".uai/{stem}.uai" for stem in UNIVERSAL),
        *scope_files,
        ".uai/persona.uai",
        *(f".uai/personality/{stem}.uai" for stem in DIMENSIONS),
        LTM,
    ]

    assert expected == startup_order(reversed(expected))
    assert expected == list(RULES_3_138.files)


def test_only_registered_and_triggered_files_load():
    """Further files stay out of start-up unless they are named as triggered."""
    paths = [LTM, ".uai/notes/b.uai", "docs/x.md", ".uai/totem.uai", ".uai/a.uai"]

    assert [".uai/totem.uai", LTM] == startup_order(paths)
    assert [".uai/totem.uai", ".uai/notes/b.uai", LTM] == startup_order(
        paths, triggered=[".uai/notes/b.uai"]
    )


@given(st.permutations(sorted(RULES_3_138.files)), st.integers(0, 10))
def test_startup_order_is_one_for_any_input_order(paths, count):
    """The order depends on the paths alone, and a part keeps the order of the whole."""
    whole = startup_order(paths)
    part = startup_order(paths[:count])

    assert part == [path for path in whole if path in part]


@pytest.mark.parametrize(
    ("path", "scopes", "words"),
    [
        (".uai/totem.uai", (), "Required by universal as universal_required"),
        (".uai/persona.uai", ("persona_profile",), "Required by persona_profile"),
        (".uai/persona.uai", ("project_handoff",), "Refused: .uai/persona.uai is out"),
        (".uai/persona.uai", (), "Allowed: Persona"),
        ("AGENTS.md", ("project_handoff",), ".uai/readme.human can stand in"),
        (".uai/manifest.uaix.json", (), "Required in every package"),
        ("docs/a.md", (), "Allowed when listed"),
        ("src/a.py", (), "Refused: no file may stand there"),
    ],
)
def test_explain_says_why(path, scopes, words):
    """Any path is explained as required, allowed or refused."""
    assert words in explain(path, scopes)


def test_unknown_ruleset():
    """An unknown ruleset is the caller's error, with those that are known."""
    with pytest.raises(CallerError) as caught:
        startup_order([], ruleset="3")

    assert "ruleset.unknown" == caught.value.code
    assert "3.138" in caught.value.hint
