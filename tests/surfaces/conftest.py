"""Running the command line, in this process and in one of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any, NamedTuple

import pytest
from tests.surfaces.tenancy import settled

from uaix_backends import write_package
from uaix_core.packages.templates.new import new_package
from uaix_surfaces.cli import main

SCOPE = "acme/personal/main"
CREATED_AT = 1_767_323_045_000_000


class Ran(NamedTuple):
    """How a call ended, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The JSON objects on the standard output, one of each line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def line(self) -> dict[str, Any]:
        """The one JSON object on the standard output."""
        (line,) = self.lines
        return line


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Call the program in this process; the current folder is a fresh one."""
    monkeypatch.chdir(tmp_path)

    def call(*args) -> Ran:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(arg) for arg in args])
        return Ran(ended.value.code, *capsys.readouterr())

    return call


@pytest.fixture
def start(tmp_path):
    """Start the program as a process; the current folder is a fresh one."""

    def call(*args, env=None, **options):
        kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
        return subprocess.Popen(
            [sys.executable, "-m", "uaix_surfaces", *map(str, args)],
            cwd=tmp_path,
            env={**kept, **(env or {})},
            **{
                "stdin": subprocess.DEVNULL,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                **options,
            },
        )

    return call


@pytest.fixture
def persona() -> dict[str, bytes]:
    """The files of a valid package."""
    return new_package(
        "persona", package_id="ada", created_at=CREATED_AT, issuer="tests"
    )


@pytest.fixture
def archive(tmp_path, persona):
    """A valid package as an archive."""
    path = tmp_path / "ada.uaix"
    write_package(path, persona)
    return path


@pytest.fixture
def folder(tmp_path, persona):
    """A valid package as a folder."""
    path = tmp_path / "ada"
    write_package(path, persona)
    return path


@pytest.fixture
def refused(tmp_path, persona):
    """An archive with a body that its manifest doesn't know, and that is marked."""
    path = tmp_path / "refused.uaix"
    body = persona[".uai/identity.uai"]
    write_package(path, {**persona, ".uai/identity.uai": b"MARKED-BODY\n" + body})
    return path


@pytest.fixture(params=["sqlite:store.db", "dir:store"])
def at(request):
    """The options that name a store and a scope, for each kind of lasting store."""
    return ("--store", request.param, "--scope", SCOPE)


@pytest.fixture
def keys(run, monkeypatch):
    """A key ring that the environment names."""
    assert 0 == run("authority", "keys", "new", "host.keys", "--id", "k1").code
    monkeypatch.setenv("UAIX_KEYS", "host.keys")
    return "host.keys"


@pytest.fixture(params=["sqlite", "dir"])
def place(request, keys, tmp_path):
    """The options of a store that holds a persona, for each kind of lasting store."""
    del keys
    return settled(request.param, tmp_path)


@pytest.fixture
def here(keys, tmp_path):
    """The same in one kind of store, for what no store decides."""
    del keys
    return settled("sqlite", tmp_path)
