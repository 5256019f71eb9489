"""Running the kit in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import attrs
import pytest

HERE = Path(__file__).resolve().parent

# The toy is imported by name, here and in the processes that run the kit.
sys.path.insert(0, str(HERE))


@attrs.frozen
class Run:
    """How a run of the kit ended."""

    code: int
    output: str
    verdicts: dict


@pytest.fixture(scope="session")
def run_kit(tmp_path_factory):
    """A function that runs the kit with these pytest arguments."""

    def run(*arguments, backends=("toy:healthy",)):
        folder = tmp_path_factory.mktemp("run")
        report = folder / "report.json"
        paths = [str(HERE), str(HERE.parents[1]), *filter(None, sys.path)]
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-p",
                "no:cacheprovider",
                "--pyargs",
                "uaix_conformance",
                *(f"--uaix-backend={name}" for name in backends),
                f"--uaix-report={report}",
                "-p",
                "unshrunk",
                "--hypothesis-profile=unshrunk",
                *arguments,
            ],
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(paths),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        found = json.loads(report.read_text())["backends"] if report.exists() else []
        verdicts = {verdict["backend"]: verdict for verdict in found}
        return Run(done.returncode, done.stdout + done.stderr, verdicts)

    return run
