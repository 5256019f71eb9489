"""Logical paths: which ones a package may hold, and what they are to each other."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from uaix_core.packages.findings import Findings
from uaix_core.packages.limits import DEFAULT_LIMITS, Limits
from uaix_core.packages.paths import (
    alias_key,
    judge_path,
    judge_paths,
    shown,
    wrapping_folder,
)
from uaix_core.packages.rules.archives import ARCHIVE_RULES
from uaix_core.values.errors import CallerError


def broken(path: str, limits: Limits = DEFAULT_LIMITS) -> set[str]:
    """The codes of the rules that one path breaks."""
    findings = Findings(ARCHIVE_RULES)
    is_fine = judge_path(path, limits, findings)
    assert is_fine == (len(findings) == 0)
    return {finding.code for finding in findings}


def together(*paths: str) -> set[str]:
    """The codes of the rules that paths break together."""
    findings = Findings(ARCHIVE_RULES)
    judge_paths(paths, findings)
    return {finding.code for finding in findings}


#: Per row: the code, a path that breaks the rule, a close one that breaks none.
CASES = [
    ("path.shape", "", "a"),
    ("path.shape", "a//b", "a/b"),
    ("path.shape", "a/", "a"),
    ("path.shape", "./a", ".a"),
    ("path.shape", "a/.", "a/.b"),
    ("path.traversal", "..", "..a"),
    ("path.traversal", "a/../b", "a/..b/c"),
    ("path.traversal", "a\\..\\b", "a/b"),
    ("path.traversal", ".. /a", ".a/a"),
    ("path.traversal", "c:..", "c"),
    ("path.absolute", "/a", "a"),
    ("path.unc", "//server/a", "server/a"),
    ("path.unc", "\\\\server\\a", "server/a"),
    ("path.drive", "c:a", "c/a"),
    ("path.drive", "Z:/a", "Z/a"),
    ("path.backslash", "a\\b", "a/b"),
    ("path.stream", "a/b:c", "a/b;c"),
    ("path.stream", "ab:$DATA", "ab$DATA"),
    *(("path.chars", f"a{character}", "a!") for character in '*?"<>|'),
    ("path.control", "a\0b", "a b"),
    ("path.control", "a\tb", "a b"),
    ("path.control", "a\x1b[1m", "a[1m"),
    ("path.control", "a\x7f", "a~"),
    ("path.control", "a\x85b", "a\xa0b"),
    ("path.unicode", "e\u0301te", "\xe9te"),
    ("path.unicode", "a\u202eb", "a\u05d0b"),
    ("path.unicode", "a\u200bb", "a\u2003b"),
    ("path.unicode", "a\u2028b", "a\u2014b"),
    ("path.unicode", "a\u00adb", "a-b"),
    ("path.unicode", "a\ufe0f", "a\u263a"),
    ("path.unicode", "\u3164", "\u3131"),
    ("path.unicode", "a\U000e0041", "a\U0001f600"),
    ("path.unicode", "a\ufffe", "a\ufffd"),
    ("path.unicode", "a\U0010ffff", "a\U0010fffd"),
    ("path.unicode", "a\ud800", "a\ue000"),
    ("path.unicode", "\u2025/a", "\u2026a"),
    ("path.unicode", "a\u2024", "a\u2024b"),
    ("path.unicode", "a\xa0", "\xa0a"),
    ("path.unicode", "a\uff0fb", "a\uff0db"),
    ("path.unicode", "\uff23\uff2f\uff2e", "\uff23\uff2f"),
    ("path.unicode", "\uff0egit", "\uff0egi"),
    ("path.trailing", "a.", "a.b"),
    ("path.trailing", "a /b", "a b/b"),
    ("path.trailing", "...", "...a"),
    *(
        ("path.device", name, f"{name[:2]}x{name[2:]}")
        for name in ("CON", "prn", "Aux", "nul", "CONIN$", "conout$")
    ),
    *(
        ("path.device", f"{port}{digit}.txt", f"{port}{digit}{digit}.txt")
        for port in ("com", "LPT")
        for digit in "0123456789\xb9\xb2\xb3"
    ),
    ("path.device", "a/CON/b", "a/ICON/b"),
    ("path.device", "con .tar.gz", "c on.tar.gz"),
    ("path.device", "x:con", "xcon"),
    ("path.reserved", ".git", ".gitignore"),
    ("path.reserved", "a/.HG/b", "a/.hgignore"),
    ("path.reserved", ".svn/a", "svn/a"),
    ("path.reserved", "GIT~1/a", "GIT~/a"),
    ("path.reserved", "svn~2", "svn~x"),
    ("path.reserved", ".g\u200cit", ".g\xefit"),
    ("path.reserved", ".git. ", ".git.x"),
    ("path.reserved", ".git::$INDEX_ALLOCATION", ".git-index"),
    ("path.limit", "a" * 256, "a" * 255),
    ("path.limit", "\xe9" * 128, "\xe9" * 127),
    ("path.limit", "/".join("a" * 33), "/".join("a" * 32)),
    ("path.limit", "/".join(["a" * 127] * 8) + "/b", "/".join(["a" * 127] * 8)),
    ("path.limit", "\xe9/" * 400, "\xe9/" * 20 + "a"),
    ("path.limit", "a" * 100_000, "a"),
]


@pytest.mark.parametrize(
    ("code", "refused", "accepted"),
    CASES,
    ids=[f"{code}-{number}" for number, (code, *_) in enumerate(CASES)],
)
def test_rule_refuses_its_path_and_not_the_neighbour(code, refused, accepted):
    """Each rule has a path that it refuses and a close one that breaks no rule."""
    assert code in broken(refused)
    assert broken(accepted) == set()


TOGETHER = [
    ("path.duplicate", ("a", "b", "a"), ("a", "b", "aa")),
    ("path.alias", ("a/B", "A/b"), ("a/b", "a/c")),
    ("path.alias", ("\xe9te", "e\u0301te"), ("\xe9te", "ete")),
    ("path.alias", ("stra\xdfe", "stra\u1e9ee"), ("stra\xdfe", "strase")),
    ("path.alias", ("a\u2060b", "ab"), ("a-b", "ab")),
    ("path.alias", ("\uff30lan", "plan"), ("\u0420lan", "plan")),
    ("path.alias", ("Docs/a", "docs/b"), ("docs/a", "docs/b")),
    ("path.conflict", ("a", "a/b"), ("a", "b/a")),
    ("path.conflict", ("a/b/c", "A/B"), ("a/b/c", "a/bc")),
    ("path.conflict", ("x/y/z", "x"), ("x/y/z", "y")),
]


@pytest.mark.parametrize(("code", "refused", "accepted"), TOGETHER)
def test_rule_of_several_paths(code, refused, accepted):
    """Duplicates, aliases and files that are folders too are found in any order."""
    assert code in together(*refused)
    assert code in together(*reversed(refused))
    assert together(*accepted) == set()


def test_every_rule_of_paths_has_a_case():
    """No row about paths is without a test; encoding is the reader's to test."""
    tested = {code for code, *_ in (*CASES, *TOGETHER)}
    rules = {code for code in ARCHIVE_RULES if code.startswith("path.")}
    assert rules - tested == {"path.encoding"}


@given(st.from_regex(r"[A-Za-z0-9._ ~$/-]{1,40}", fullmatch=True))
@example("con")
@example("com1 /x")
@example("a.git")
@example("nul.")
def test_fast_way_gives_what_the_full_judgement_gives(path):
    """A plain path is judged as it would be with a limit that bars the fast way."""
    slow = Limits(segment_bytes=len(path) - 1 or 1)
    assert broken(path) == broken(path, slow) - {"path.limit"}


@given(st.text(max_size=60))
def test_any_text_is_judged(path):
    """Whatever the text is, it is judged without an exception and shown safely."""
    broken(path)
    together(path, path.swapcase(), "a/" + path)
    assert all(character.isprintable() for character in shown(path))


@given(st.text(max_size=30))
def test_accepted_paths_stay_themselves_on_every_file_system(path):
    """A path that breaks no rule is NFC, UTF-8, and nowhere read as another."""
    if not broken(path):
        assert unicodedata.normalize("NFC", path) == path
        assert path.encode("utf-8").decode("utf-8") == path
        assert all(
            segment == segment.strip("\0") == segment.rstrip(". ")
            for segment in path.split("/")
        )


@given(st.text(alphabet="aA\xdf\u1e9e\u0130\u0131\u017fK\u212a\u0345\u200d\uff21\xad"))
def test_alias_key_is_stable(path):
    """The key of a key is the key."""
    assert alias_key(alias_key(path)) == alias_key(path)


def test_shown_hides_nothing():
    """Invisible characters are written out, backslashes doubled, long paths cut."""
    assert shown("a/b") == "a/b"
    assert shown("a\\\u202eb\u3164") == "a\\\\\\u{202e}b\\u{3164}"
    assert shown("\n") == "\\u{a}"
    assert len(shown("a" * 5000)) < 300


def test_wrapping_folder_is_the_one_around_a_package():
    """Only a single folder that holds .uai/ counts as one around the package."""
    assert wrapping_folder(["p/.uai/a", "p/b"]) == "p"
    assert wrapping_folder(["p/.uai/a", "b"]) is None
    assert wrapping_folder(["p/.uai/a", "q/b"]) is None
    assert wrapping_folder([".uai/a", ".uai/b"]) is None
    assert wrapping_folder(["p/a", "p/b"]) is None
    assert wrapping_folder([]) is None


@pytest.mark.parametrize("wrong", [0, -1, 64 * 4 + 1, 1.5, True, None])
def test_limit_has_a_ceiling(wrong):
    """A limit can be set from one to four times its default, nothing else."""
    assert Limits(path_depth=128).path_depth == 128
    assert Limits(path_depth=1).path_depth == 1
    with pytest.raises(CallerError) as caught:
        Limits(path_depth=wrong)
    assert caught.value.code == "limit.ceiling"
    assert caught.value.path == "path_depth"


def test_default_limits_are_those_of_the_format():
    """The defaults are the numbers of the design, in bytes."""
    assert DEFAULT_LIMITS == Limits(
        archive_bytes=67_108_864,
        entries=4_096,
        entry_bytes=16_777_216,
        total_bytes=134_217_728,
        ratio=200,
        ratio_floor_bytes=1_048_576,
        manifest_bytes=4_194_304,
        json_depth=32,
        segment_bytes=255,
        path_bytes=1_024,
        path_depth=32,
        extra_bytes=1_024,
    )
