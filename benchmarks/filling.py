"""Stores full of rows, made once a run; how long that takes is not measured.

    python -m benchmarks.filling FOLDER COMMITS

makes a directory store without waiting for the disk: in a process of its own, because
it takes the waiting away from all of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from benchmarks.plan import Plan
    from uaix_core import ScopeId

_BATCH = 1_000


@attrs.frozen
class Filled:
    """A folder with a store, and the scope that holds its rows."""

    folder: Path
    scope: ScopeId


def many_rows(plan: Plan) -> Filled:
    """A SQLite store of ``plan.n`` revisions, a thousand in a commit."""
    from benchmarks import data, product  # noqa: PLC0415 - see the end of the module

    filled = Filled(plan.place / "rows", product.scope_of("rows"))
    if not filled.folder.exists():
        filled.folder.mkdir()
        contents = data.texts(plan.n)
        with product.opened_to_fill("sqlite", filled.folder) as store:
            for number, start in enumerate(range(0, plan.n, _BATCH)):
                part = contents[start : start + _BATCH]
                store.append(product.commit(filled.scope, number, part))
    return filled


def many_commits(plan: Plan) -> Filled:
    """A directory store of ``plan.n`` commits of one revision each."""
    from benchmarks import product  # noqa: PLC0415 - see the end of the module

    filled = Filled(plan.place / "commits", product.scope_of("commits"))
    if not filled.folder.exists():
        filled.folder.mkdir()
        command = ["-m", "benchmarks.filling", str(filled.folder), str(plan.n)]
        subprocess.run(  # noqa: S603 - ourselves
            [sys.executable, *command],
            cwd=Path(__file__).parents[1],
            check=True,
        )
    return filled


def _fill(folder: Path, commits: int) -> None:
    from benchmarks import data, product  # noqa: PLC0415 - see the end of the module

    scope = product.scope_of("commits")
    with product.opened("dir", folder) as store:
        for number, content in enumerate(data.texts(commits)):
            store.append(product.commit(scope, number, [content]))


if __name__ == "__main__":
    # Before the library is imported, so that it finds nothing to wait for.
    os.fsync = lambda fd: None  # noqa: ARG005 - the signature of what it stands for
    os.fdatasync = os.fsync
    _fill(Path(sys.argv[1]), int(sys.argv[2]))
