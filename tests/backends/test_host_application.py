"""A host application whose rows and ours are one transaction, on both databases."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.backends.postgres_server import fresh_namespace

from uaix_backends.postgres.testing import server
from uaix_core.store.verifying import verify_scope

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "host_application.py"
ONE = {"ingress": 1, "page": 1, "outbox": 1, "commits": 1, "packages": 1, "receipts": 1}
FAILING = "INSERT INTO no_such_table VALUES (1)"
NONE = dict.fromkeys(ONE, 0)


@pytest.fixture(scope="module")
def example():
    """The example as a module."""
    spec = importlib.util.spec_from_file_location("host_application", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=["sqlite", "postgresql"])
def start(request, tmp_path, example):
    """Start the application anew on the same database, as after a restart."""
    namespace = fresh_namespace()

    def host():
        if request.param == "sqlite":
            return example.SqliteHost(str(tmp_path / "host.db"))
        return example.PostgresHost(server(), namespace)

    with closing(host()) as first:
        first.migrate()
    return lambda: closing(example.Application(host()))


def test_after_the_commit_each_table_has_one_row(start, example):
    """What one message leaves is one row in each table, and a sound chain."""
    with start() as application:
        application.receive("m-1", example.persona("ada"))
        assert ONE == application.counts()
        assert verify_scope(application._store, example.SCOPE).is_sound


def test_after_a_failing_last_statement_there_is_none(start, example):
    """When the host's last statement fails nothing is there, in no table."""
    with start() as application:
        for _ in range(2):
            with pytest.raises(Exception, match="no_such_table"):
                application.receive("m-1", example.persona("ada"), FAILING)
            assert NONE == application.counts()
        application.receive("m-1", example.persona("ada"))
        assert ONE == application.counts()


def test_restart_and_replay_add_nothing(start, example):
    """The same message after a restart gives the first receipt and writes nothing."""
    with start() as application:
        first = application.receive("m-1", example.persona("ada"))
    for _ in range(2):
        with start() as application:
            assert first == application.receive("m-1", example.persona("ada"))
            assert ONE == application.counts()


def test_a_refused_package_leaves_no_row_of_the_host_s(start, example):
    """What the library refuses takes the host's transaction back with it."""
    broken = {**example.persona("ada"), ".uai/identity.uai": b"changed"}
    with start() as application:
        with pytest.raises(Exception, match="refused"):
            application.receive("m-1", broken)
        assert NONE == application.counts()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_the_example_runs(kind, tmp_path):
    """As a program it takes a message in once, and says so."""
    place = str(tmp_path / "host.db") if kind == "sqlite" else server()
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), kind, place],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ,
    )
    assert (0, "") == (done.returncode, done.stderr)
    assert f"True {ONE}\n" == done.stdout
