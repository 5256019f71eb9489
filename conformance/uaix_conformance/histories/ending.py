"""The last process: ``python -m uaix_conformance.histories.ending``.

It finishes what was left unfinished under an idempotency key, and writes down what the
store and its files hold now that nobody else works on them.
"""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from uaix_conformance.comparison import every
from uaix_conformance.harness import load, site_of
from uaix_conformance.histories import deeds
from uaix_conformance.histories.client import SCOPES, Client
from uaix_conformance.histories.log import Log, logs_in
from uaix_conformance.histories.marks import marked_bytes
from uaix_conformance.histories.operations import Ending, Entry
from uaix_conformance.histories.worker import open_logged, unfinished
from uaix_conformance.rows import Fact, Head, Lease, Note, Vector
from uaix_conformance.schema import KIT
from uaix_conformance.sealing import first_digest, sealed_digest
from uaix_core.store.port import Capability

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_conformance.harness import Site
    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot, Store
    from uaix_core.values.ids import ScopeId

#: The last process sits where no other did.
_SEAT = 99


def _entry(recorded: Recorded, previous: str) -> Entry:
    """A commit by the numbers of what it wrote and erased."""
    commit = recorded.commit
    adds: list[int] = []
    for row in commit.adds:
        if isinstance(row, Note):
            adds.append(row.number)
        elif isinstance(row, Fact) and not deeds.is_receipt(row):
            adds.append(row.at)
    digest = sealed_digest(KIT, commit, recorded.seq, recorded.recorded_at, previous)
    return Entry(
        recorded.seq,
        recorded.digest,
        digest == recorded.digest,
        adds,
        [ref.key[-1] for ref in commit.erases],
    )


def _ledger(snapshot: Snapshot, scope: ScopeId) -> Iterator[Entry]:
    previous = first_digest(scope)
    for recorded in snapshot.commits():
        yield _entry(recorded, previous)
        previous = recorded.digest


def ending_of(store: Store, scope: ScopeId) -> Ending:
    """What a scope holds now."""
    shown: set[int] = set()
    with store.snapshot(scope) as snapshot:
        ledger = tuple(_ledger(snapshot, scope))
        for recorded in snapshot.commits():
            shown |= deeds.shown_by(recorded.commit.adds)
        for name in KIT.relations:
            shown |= deeds.shown_by(every(snapshot, name))
        heads = [row for row in every(snapshot, "head") if isinstance(row, Head)]
        names = [row.subject for row in heads if not row.sure]
        lists = {name: deeds.walked(snapshot, name)[0] for name in names}
        local = {name: _about(every(snapshot, name)) for name in deeds.ABOUT}
    return Ending(lists, shown, ledger, local)


def _about(rows: list[Row]) -> list[int]:
    """The numbers of the notes that local rows are about."""
    return [row.number for row in rows if isinstance(row, Lease | Vector)]


def _in_files(site: Site) -> set[int]:
    found: set[int] = set()
    for file in site.files():
        found |= marked_bytes(file.read_bytes())
    return found


def end(backend: str, path: Path, logs: Path) -> dict[str, Any]:
    """Finish, look at everything, and close."""
    names = logs_in(logs)
    process = 1 + max(name.process for name in names)
    with ExitStack() as stack:
        log = stack.enter_context(Log(logs, process, _SEAT))
        site = stack.enter_context(site_of(load(backend), path))
        store = open_logged(site, log)
        client = Client(store, log, _SEAT, Random(process))
        for scope, lists in unfinished(names):
            client.finish(scope, lists)
        endings = {name: ending_of(store, scope) for name, scope in SCOPES.items()}
        in_files: set[int] = set()
        if Capability.FILES in store.capabilities:
            store.close()
            in_files = _in_files(site)
            site.open().close()
            in_files |= _in_files(site)
    return {
        "endings": {name: ending.as_dict() for name, ending in endings.items()},
        "files": sorted(in_files),
    }


if __name__ == "__main__":
    _, backend_, path_, logs_ = sys.argv
    sys.stdout.write(json.dumps(end(backend_, Path(path_), Path(logs_))))
