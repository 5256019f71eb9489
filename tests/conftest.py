"""Hypothesis profiles, and the sample packages where they are at hand."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[1]

# A slow machine is no failure, so no example has a deadline; pytest has one per test.
hypothesis.settings.register_profile("dev", max_examples=50, deadline=None)
hypothesis.settings.register_profile(
    "ci", max_examples=100, deadline=None, derandomize=True, database=None
)
# What drew its examples on one version of Python draws the first of them on another.
hypothesis.settings.register_profile(
    "again", max_examples=30, deadline=None, derandomize=True, database=None
)
hypothesis.settings.register_profile("deep", max_examples=2_000, deadline=None)
hypothesis.settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev")
)


@pytest.fixture(scope="session")
def root() -> Path:
    """The top folder of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def sample_packages() -> Path:
    """The folder of sample packages with verdicts, which lies beside the checkout."""
    folder = ROOT.parent / "shared" / "data" / "packages"
    if not (folder / "index.jsonl").is_file():
        pytest.skip("no sample packages at ../shared/data/packages")
    return folder
