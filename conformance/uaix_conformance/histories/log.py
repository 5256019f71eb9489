"""Logs: what a process wrote down before and after each operation.

One file per process, of two JSON lines per operation, each made durable before the
process goes on. A process that is killed leaves an operation without its second line,
or half a line.
"""

from __future__ import annotations

import json
import os
import re
import time
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from uaix_conformance.histories.operations import INFO, Operation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_NAME = re.compile(r"([0-9]+)-([0-9]+)\.jsonl")


class LogName(NamedTuple):
    """Whose log a file is: each seat is taken by one process after the other."""

    process: int
    seat: int
    path: Path


def logs_in(folder: Path) -> list[LogName]:
    """The logs of a folder, in the order in which their processes began."""
    found = [(_NAME.fullmatch(path.name), path) for path in folder.iterdir()]
    names = [LogName(int(m[1]), int(m[2]), path) for m, path in found if m is not None]
    return sorted(names)


class Log:
    """The log of this process."""

    def __init__(self, folder: Path, process: int, seat: int) -> None:
        self.process = process
        path = folder / f"{process}-{seat}.jsonl"
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)

    def begin(self, name: str, scope: str, given: Any) -> None:
        """Say what is about to be done."""
        began = time.monotonic_ns()
        self._write({"began": began, "name": name, "scope": scope, "given": given})

    def end(self, outcome: str, came: Mapping[str, Any]) -> None:
        """Say how it ended."""
        ended = time.monotonic_ns()
        self._write({"ended": ended, "outcome": outcome, "came": came})

    def _write(self, line: Mapping[str, Any]) -> None:
        text = json.dumps(line, separators=(",", ":"))
        os.write(self._file, f"{text}\n".encode())
        os.fsync(self._file)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def read_log(name: LogName) -> Iterator[Operation]:
    """The operations of a log; one that never ended is of unknown outcome."""
    *lines, _half = name.path.read_text(encoding="utf-8").split("\n")
    begun: dict[str, Any] | None = None
    for line in map(json.loads, lines):
        if "began" in line:
            begun = line
        elif begun is not None:
            ending = line["ended"], line["outcome"], line["came"]
            yield _operation(name.process, begun, *ending)
            begun = None
    if begun is not None:
        yield _operation(name.process, begun, None, INFO, {})


def _operation(
    process: int,
    begun: Mapping[str, Any],
    ended: int | None,
    outcome: str,
    came: Mapping[str, Any],
) -> Operation:
    name, scope, began = begun["name"], begun["scope"], begun["began"]
    return Operation(process, name, scope, began, ended, outcome, begun["given"], came)
