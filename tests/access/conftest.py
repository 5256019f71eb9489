"""A settled tenant on every backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.access.places import Places, settled
from tests.session.conftest import BACKENDS
from tests.session.conftest import store as opened_store

from uaix_backends import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core import Store

store = opened_store


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Judge on every backend what asks for `places`, and in memory what for `quick`."""
    if "store" in metafunc.fixturenames:
        metafunc.parametrize("store", BACKENDS, indirect=True)


@pytest.fixture
def places(store: Store) -> Places:
    """Two personas in one project, each bound to its agent, on each backend."""
    return settled(store)


@pytest.fixture
def quick() -> Iterator[Places]:
    """The same in memory, for what no backend decides."""
    opened = open_store("memory:", create=True)
    yield settled(opened)
    opened.close()
