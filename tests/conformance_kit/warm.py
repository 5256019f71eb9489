"""Forks a process for each run of pytest that it is asked for, line by line.

Starting an interpreter and loading what the kit stands on takes longer than most runs.
The kit itself is loaded by each: pytest rewrites its assertions.
"""

import atexit
import importlib
import json
import os
import sys

import pytest

LOADED = (
    "hypothesis.stateful",
    "psycopg",
    "sqlalchemy",
    "uaix_backends.directory.testing",
    "uaix_backends.memory.testing",
    "uaix_backends.postgres.testing",
    "uaix_backends.sqlite.testing",
    "uaix_core.store.advance",
    "xdist.plugin",
)


def run(asked: dict) -> int:
    """Run pytest as if the process were a fresh one."""
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    sys.path[:] = asked["path"]
    output = os.open("output", os.O_WRONLY | os.O_CREAT, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, descriptor in ((0, nothing), (1, output), (2, output)):
        os.dup2(descriptor, number)
    return int(pytest.main(asked["arguments"]))


def main() -> None:
    """Serve until nobody asks any more."""
    for name in LOADED:
        importlib.import_module(name)
    while line := sys.stdin.readline():
        pid = os.fork()
        if not pid:
            code = 70
            try:
                code = run(json.loads(line))
                atexit._run_exitfuncs()
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(code)
        _, status = os.waitpid(pid, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
