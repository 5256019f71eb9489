"""A process of its own that writes: ``python -m uaix_conformance.writer``.

It opens a store of a named backend, says so, waits for a line on its standard input,
and then appends commits until it has made as many as it was asked for or is killed.
After each append it prints the seq that it was given.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import IO, cast

from uaix_conformance.examples import commit, fact, job, note
from uaix_conformance.harness import load, site_of

#: How many facts stand in each commit: enough that half a commit would be noticed.
FACTS = 5


def _say(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def write(name: str, path: Path, writer: int, count: int) -> None:
    """Append ``count`` commits and print the seq of each."""
    with site_of(load(name), path) as site:
        store = site.open()
        _say("ready")
        sys.stdin.readline()
        for turn in range(count):
            seq = store.append(
                commit(
                    *(fact(turn, f"w{writer}.{n}") for n in range(FACTS)),
                    note(turn, f"w{writer}", text=f"{writer} {turn}"),
                    at=turn,
                    puts=[job(writer, due_at=turn)],
                )
            ).seq
            _say(seq)


def start(name: str, path: Path, writer: int, count: int) -> subprocess.Popen[str]:
    """Start a writer and wait until it has opened its store."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "uaix_conformance.writer",
            name,
            str(path),
            str(writer),
            str(count),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    ready = said(process).readline()
    assert ready == "ready\n", "the writer could not open the store"
    return process


def go(process: subprocess.Popen[str]) -> None:
    """Let a started writer write."""
    told = cast("IO[str]", process.stdin)
    told.write("go\n")
    told.flush()


def said(process: subprocess.Popen[str]) -> IO[str]:
    """What a writer prints."""
    return cast("IO[str]", process.stdout)


if __name__ == "__main__":
    _, name_, path_, writer_, count_ = sys.argv
    write(name_, Path(path_), int(writer_), int(count_))
