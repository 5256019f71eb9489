"""Every scenario ends as it is written, through stores and through files."""

from __future__ import annotations

import pytest
from tests.scenarios.shell import shell_in

from uaix_conformance.harness import load, site_of
from uaix_conformance.scenarios.application import LibraryApplication
from uaix_conformance.scenarios.playing import names, play, scenario
from uaix_core import SCHEMA

BACKENDS = ("memory", "directory", "sqlite", "postgres")


@pytest.fixture(scope="module", params=BACKENDS)
def store(request, tmp_path_factory):
    """One store of each backend for all scenarios, each of which has its own tenant."""
    path = tmp_path_factory.mktemp(request.param)
    with site_of(load(request.param), path) as site:
        yield site.open(SCHEMA)


@pytest.mark.parametrize("name", names())
def test_through_a_store(store, name):
    """The library over a store does what the scenario says, whatever keeps it."""
    told = play(scenario(name), LibraryApplication(store))

    assert told.expected == told.found


@pytest.mark.parametrize("name", names())
def test_through_files(tmp_path, name):
    """Files and the command line come to the very same as every store."""
    with shell_in(tmp_path) as shell:
        told = play(scenario(name), shell)

    assert told.expected == told.found
