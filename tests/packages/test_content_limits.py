"""However much a package holds, what is found of it is bounded and complete."""

from __future__ import annotations

import pytest
from tests.packages.archive_maker import Item, make
from tests.packages.content_cases import secret
from tests.packages.package_maker import MANIFEST, NOW, Maker, errors
from tests.packages.test_content_secrets import LETTERS

from uaix_core.packages.content.texts import MOST_JOINED
from uaix_core.packages.findings import MOST_FINDINGS, Findings
from uaix_core.packages.lint import lint
from uaix_core.packages.rules.table import RULES
from uaix_core.packages.source import PackageSource

SECRET = secret()


@pytest.mark.parametrize("count", [MOST_JOINED - 1, MOST_JOINED + 1, 3 * MOST_JOINED])
def test_long_lists_are_judged_to_their_end(count):
    """The last of very many short texts is judged like the first, and so is a key."""
    maker = Maker()
    texts = [f"word-{number}" for number in range(count)]
    maker.manifest["mood"] = [*texts, SECRET, "/home/anna"]
    report = maker.lint()
    places = {finding.code: finding.path for finding in report.findings}

    assert f"mood[{count}]" == places["secret.found"]
    assert f"mood[{count + 1}]" == places["path.local-absolute"]

    maker.manifest["mood"] = dict.fromkeys([*texts, LETTERS], 1)
    assert "secret.found" in errors(maker.lint())


def test_many_local_paths_are_counted():
    """Of very many local paths some are shown, and how many more there are."""
    maker = Maker()
    maker.manifest["mood"] = [f"/home/{number}" for number in range(20_000)]
    report = maker.lint()
    found = [f for f in report.findings if f.code == "path.local-absolute"]

    assert MOST_FINDINGS + 1 == len(found)
    assert any(f"{20_000 - MOST_FINDINGS}" in f.message for f in found if not f.path)
    assert not report.is_accepted


def test_findings_of_one_code_are_bounded():
    """Repeats count once, other codes are unhurt, and a lenient severity stays."""
    findings = Findings(RULES, lenient=True)
    for number in range(MOST_FINDINGS + 7):
        findings.add("zip.extra-unknown", f"a{number}")
        findings.add("zip.extra-unknown", "a0")
    assert not findings.has_error
    findings.add("zip.crc", "b")
    plain = list(findings)

    assert MOST_FINDINGS + 2 == len(findings) == len(plain)
    assert findings.has_error
    assert (None, "warning", True) == (
        plain[-1].path,
        plain[-1].severity,
        "7" in plain[-1].message,
    )
    assert findings.is_full("zip.extra-unknown")
    assert not findings.is_full("zip.crc")


def test_the_manifest_is_never_among_the_rest():
    """What is found at one chosen path is told behind any number of others."""
    findings = Findings(RULES, always="m")
    for number in range(MOST_FINDINGS + 1):
        findings.add("path.duplicate", f"a{number}")
    findings.add("path.duplicate", "m")

    assert "m" in {finding.path for finding in findings}
    assert MOST_FINDINGS + 2 == len(findings)


def test_a_doubled_manifest_is_found_behind_other_doubles():
    """A manifest that is there twice is told however many other files are."""
    files = {path.encode(): data for path, data in Maker().folder().files.items()}
    doubles = [Item(b".uai/a%d.uai" % n, b"x") for n in range(MOST_FINDINGS + 5)]
    items = [Item(path, data) for path, data in files.items()]
    twice = [*doubles, *doubles, *items, Item(MANIFEST.encode(), b"{}")]
    report = lint(PackageSource(archive=make(*twice)), now=NOW)

    assert "manifest.duplicate" in errors(report)
