"""The warm process whose children the faults strike."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.backends.given_stores import (  # noqa: F401 - pytest finds them here
    full,
    path,
    root,
    states,
    store,
)
from tests.faults.forking import Forker

if TYPE_CHECKING:
    from collections.abc import Iterator


_ROOM = 1 << 28


@pytest.fixture(scope="session")
def forker() -> Iterator[Forker]:
    """Forks a child that has everything loaded."""
    with contextlib.closing(Forker()) as opened:
        yield opened


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder in memory where there is one: what is killed there needs no disk."""
    memory = Path("/dev/shm")  # noqa: S108 - a fresh folder in it
    if not memory.is_dir() or shutil.disk_usage(memory).free < _ROOM:
        yield request.getfixturevalue("tmp_path_factory").mktemp("faults")
        return
    with tempfile.TemporaryDirectory(prefix="uaix-faults-", dir=memory) as folder:
        yield Path(folder)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder and a file that must stay as they are."""
    place = tmp_path / "outside"
    place.mkdir()
    (place / "file").write_bytes(b"mine")
    return place
