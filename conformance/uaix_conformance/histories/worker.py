"""A process of its own: ``python -m uaix_conformance.histories.worker``.

It gets ready, waits for a line with the number of its process and its seat, opens the
store, finishes what earlier processes of that seat left unfinished, and then does one
operation after the other until its standard input is closed or it is killed.
"""

from __future__ import annotations

import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from uaix_conformance.harness import load, site_of
from uaix_conformance.histories.client import Client
from uaix_conformance.histories.log import Log, LogName, logs_in, read_log
from uaix_conformance.histories.operations import INFO, OK
from uaix_core.values.errors import BusyError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from uaix_conformance.harness import Site
    from uaix_core.store.port import Store


def open_logged(site: Site, log: Log) -> Store:
    """Open the store and say so in the log.

    Raises:
        Exception: whatever opening raised.

    """
    log.begin("open", "", None)
    while True:
        try:
            store = site.open()
        except BusyError:
            continue
        except Exception as error:
            log.end(INFO, {"error": f"{type(error).__name__}: {error}"})
            raise
        log.end(OK, {})
        return store


def unfinished(names: Iterable[LogName]) -> Iterator[tuple[str, Any]]:
    """Scope and lists of what was begun under an idempotency key and never was ok."""
    begun: dict[int, tuple[str, Any]] = {}
    for name in names:
        for operation in read_log(name):
            if operation.name == "once":
                token = min(operation.numbers)
                begun[token] = operation.scope, operation.given
                if operation.outcome == OK:
                    del begun[token]
    yield from begun.values()


def _is_told_to_end() -> threading.Thread:
    """A thread that ends when nobody holds the other side of the standard input."""
    watch = threading.Thread(target=sys.stdin.read, daemon=True)
    watch.start()
    return watch


def work(backend: str, path: Path, logs: Path, seed: str) -> None:
    """Be a worker."""
    harness = load(backend)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    told = sys.stdin.readline().split()
    if not told:
        return
    process, seat = map(int, told)
    watch = _is_told_to_end()
    earlier = [name for name in logs_in(logs) if name.seat == seat]
    with ExitStack() as stack:
        log = stack.enter_context(Log(logs, process, seat))
        site = stack.enter_context(site_of(harness, path))
        store = open_logged(site, log)
        client = Client(store, log, seat, Random(f"{seed} {process}"))
        for scope, lists in unfinished(earlier):
            client.finish(scope, lists)
        while watch.is_alive():
            client.step()


if __name__ == "__main__":
    _, backend_, path_, logs_, seed_ = sys.argv
    work(backend_, Path(path_), Path(logs_), seed_)
