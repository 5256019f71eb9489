"""Sessions with frozen sources over every backend."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from tests.backends.postgres_server import emptied, fresh_namespace

from uaix_backends import open_store
from uaix_backends.postgres.testing import Host as PostgresHost
from uaix_backends.sqlite.testing import Host as SqliteHost
from uaix_core import Principal, ScopeId, Session
from uaix_core.session.schema import SCHEMA
from uaix_core.values.ids import uuid7
from uaix_core.values.instants import parse_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from uaix_core import Store

NOW = parse_instant("2026-06-01T12:00:00Z")


@attrs.define
class FrozenClock:
    """A clock that stands until a test moves it."""

    at: int = NOW

    def now(self) -> int:
        """The instant it was set to."""
        return self.at


@attrs.define
class Counter:
    """Ids and random bytes that count, so that every run is the same."""

    count: int = 0

    def new(self) -> str:
        """The next id."""
        self.count += 1
        return uuid7(self.count, b"\0" * 10)

    def bytes(self, count: int) -> bytes:
        """The next ``count`` bytes."""
        self.count += 1
        return (self.count.to_bytes(8, "big") * (count // 8 + 1))[:count]


BACKENDS = ("memory", "dir", "sqlite", "postgres")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers", "every_backend: a law about what is kept, or how it is read again"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Judge what a session decides in memory, and what it keeps on every backend.

    Those that are marked write and read in every way that any test here does;
    ``UAIX_BACKENDS=all`` judges everything everywhere.
    """
    if "store" in metafunc.fixturenames:
        is_kept = metafunc.definition.get_closest_marker("every_backend") is not None
        is_all = is_kept or os.environ.get("UAIX_BACKENDS") == "all"
        names = BACKENDS if is_all else BACKENDS[:1]
        metafunc.parametrize("store", names, indirect=True)


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A store of each backend."""
    if request.param == "postgres":
        url = emptied()
    else:
        path = "" if request.param == "memory" else str(tmp_path / "store")
        url = f"{request.param}:{path}"
    opened = open_store(url, create=True)
    yield opened
    opened.close()


@pytest.fixture(params=["sqlite", "postgres"])
def mine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """A connection of a host application whose database has the product's tables."""
    if request.param == "sqlite":
        host = SqliteHost(tmp_path / "host.sqlite", SCHEMA)
    else:
        host = PostgresHost(fresh_namespace(), SCHEMA)
    with closing(host.connect()) as connection:
        yield connection


@pytest.fixture
def clock() -> FrozenClock:
    """The clock of all sessions of a test."""
    return FrozenClock()


@pytest.fixture
def session_of(store: Store, clock: FrozenClock) -> Callable[[str], Session]:
    """Makes a session of the store in the named scope."""
    counter = Counter()

    def make(scope: str = "acme/project/apollo") -> Session:
        return Session(
            store,
            scope=ScopeId.parse(scope),
            principal=Principal.parse("human:alice"),
            clock=clock,
            ids=counter,
            random=counter,
        )

    return make


@pytest.fixture
def session(session_of: Callable[[str], Session]) -> Session:
    """One session."""
    return session_of("acme/project/apollo")
