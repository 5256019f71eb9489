"""Running the kit in a process of its own."""

from __future__ import annotations

import contextlib
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


class Warm:
    """A process that has everything loaded but the kit, and forks one for each run."""

    def __init__(self) -> None:
        paths = [str(HERE), str(HERE.parents[1]), *filter(None, sys.path)]
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "warm.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )

    def run(self, folder: Path, arguments: list[str]) -> int:
        """Run pytest there with these arguments; the code it ends with."""
        asked = {
            "folder": str(folder),
            "arguments": arguments,
            "path": [str(HERE), str(HERE.parents[1]), *sys.path],
            "environment": dict(os.environ),
        }
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        """End it."""
        with self._process as process:
            process.stdin.close()


@pytest.fixture(scope="session")
def warm():
    """The process that is forked for each run."""
    with contextlib.closing(Warm()) as opened:
        yield opened


@pytest.fixture(scope="session")
def run_kit(tmp_path_factory, warm):
    """A function that runs the kit, or one of its modules, as pytest does."""

    def run(*arguments, backends=("toy:healthy",), module=None):
        folder = tmp_path_factory.mktemp("run")
        report = folder / "report.json"
        code = warm.run(
            folder,
            [
                "-p",
                "no:cacheprovider",
                "--pyargs",
                f"uaix_conformance.{module}" if module else "uaix_conformance",
                *(f"--uaix-backend={name}" for name in backends),
                f"--uaix-report={report}",
                "-p",
                "unshrunk",
                "--hypothesis-profile=unshrunk",
                *arguments,
            ],
        )
        found = json.loads(report.read_text())["backends"] if report.exists() else []
        verdicts = {verdict["backend"]: verdict for verdict in found}
        output = (folder / "output").read_text(encoding="utf-8")
        return Run(code, output, verdicts)

    return run
