"""A package that was damaged anywhere is refused, or is the same package."""

from __future__ import annotations

import os
import random
import zipfile

import pytest
from tests.packages.package_maker import NOW, Maker

from uaix_core.packages.lint import lint
from uaix_core.packages.source import PackageSource

# 2,000 mutations in every run; `nox -s nightly` makes eleven times as many.
ROUNDS = int(os.environ.get("UAIX_MUTATION_ROUNDS", "1"))
SINGLE = 300 * ROUNDS
BLOCKS = 100 * ROUNDS
LONGEST_BLOCK = 64

SCOPES = (
    ((), zipfile.ZIP_STORED),
    (("persona_profile",), zipfile.ZIP_DEFLATED),
    (("project_handoff", "code_bearing"), zipfile.ZIP_STORED),
    (("long_term_memory",), zipfile.ZIP_DEFLATED),
    (("agent_file_handoff",), zipfile.ZIP_STORED),
)


def damaged(data: bytes, chance: random.Random, length: int) -> bytes:
    """The bytes with one block of them replaced, removed or doubled."""
    at = chance.randrange(len(data))
    block = data[at : at + length]
    new = chance.choice((chance.randbytes(len(block)), b"", block * 2))
    if length == 1:
        new = bytes([block[0] ^ 1 << chance.randrange(8)])
    return data[:at] + new + data[at + length :]


@pytest.mark.parametrize("number", range(len(SCOPES)))
def test_mutations_end_in_equal_bytes_or_a_refusal(number):
    """Lint of a damaged archive never raises, and what it accepts is unchanged."""
    scopes, method = SCOPES[number]
    maker = Maker(*scopes)
    data = maker.archive(method).archive
    assert lint(PackageSource(archive=data), now=NOW).is_accepted
    chance = random.Random(number)
    accepted = 0
    for turn in range(SINGLE + BLOCKS):
        length = 1 if turn < SINGLE else chance.randint(2, LONGEST_BLOCK)
        report = lint(PackageSource(archive=damaged(data, chance, length)), now=NOW)
        if report.is_accepted:
            accepted += 1
            package = report.package
            assert maker.files == {file.path: file.read() for file in package.files}
            assert maker.manifest_bytes() == package.manifest_bytes
        else:
            assert any(f.severity == "error" for f in report.findings)

    assert accepted < SINGLE


@pytest.mark.parametrize("number", range(len(SCOPES)))
def test_mutated_files_get_a_report(number):
    """Lint of a folder with one damaged file never raises, and knows its digest."""
    scopes, _method = SCOPES[number]
    files = dict(Maker(*scopes).folder().files)
    chance = random.Random(number)
    for _ in range(40):
        path = chance.choice(sorted(files))
        data = damaged(files[path], chance, chance.randint(1, LONGEST_BLOCK))
        report = lint(PackageSource(files={**files, path: data}), now=NOW)
        if data != files[path] and not path.endswith("manifest.uaix.json"):
            assert "hash.mismatch" in {f.code for f in report.findings}
