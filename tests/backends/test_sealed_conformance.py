"""The contract holds for a scope that rests sealed: the kit says so.

This run has what is done in another way there, before a store in memory; `nox -s
nightly` has all of the kit before each backend.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_sealed_store_conforms(tmp_path: Path) -> None:
    """No clause about appending, replay, erasure, local rows or snapshots is broken."""
    paths = [str(ROOT), *filter(None, sys.path)]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "uaix_conformance",
            "tests.backends.sealed_harness:over_memory",
            "-p",
            "no:cacheprovider",
            "-k",
            "test_2 or test_3 or test_5 or test_6 or test_8 or test_9",
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert 0 == done.returncode, done.stdout + done.stderr
    assert "NOT DECIDED" in done.stdout
    assert "broken" not in done.stdout
