"""Scenarios: over this store the library does what every application must do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from uaix_conformance.harness import site_of
from uaix_conformance.scenarios.application import LibraryApplication
from uaix_conformance.scenarios.playing import names, play, scenario
from uaix_core import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_conformance.harness import Harness
    from uaix_core.store.port import Store


@pytest.fixture(scope="module")
def of_all(
    harness: Harness, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    """One store for all scenarios: each has a tenant of its own."""
    with site_of(harness, tmp_path_factory.mktemp("scenarios")) as site:
        yield site.open(SCHEMA)


@pytest.mark.clause("17.1")
@pytest.mark.parametrize("name", names())
def test_a_scenario_ends_as_written(of_all: Store, name: str) -> None:
    """Every outcome, code, digest and receipt is the one in the file."""
    told = play(scenario(name), LibraryApplication(of_all))

    assert told.expected == told.found
