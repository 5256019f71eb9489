"""Fixtures of the file backends' tests; a `conftest` takes those it needs."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest
from tests.backends.ledger import COMMITS, opened
from tests.backends.ledger import states as expected_states
from tests.backends.pages import SMALL

from uaix_backends.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def states() -> list[Any]:
    """The states before the first commit of the ledger, after it, and so on."""
    return expected_states()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Where a directory store may be."""
    return tmp_path / "store"


@pytest.fixture
def full(root: Path) -> Path:
    """A closed directory store with the whole ledger."""
    with contextlib.closing(opened("directory", root)) as store:
        for commit in COMMITS:
            store.append(commit)
    return root


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a SQLite store may be."""
    return tmp_path / "store.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    """An open SQLite store of pages."""
    with contextlib.closing(SqliteStore.open(path, create=True, schema=SMALL)) as found:
        yield found
