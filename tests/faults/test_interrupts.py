"""An interrupt or a lack of memory at any line of a write leaves all or nothing."""

from __future__ import annotations

import contextlib
import linecache
import sys

import pytest
from tests.backends.ledger import opened, state_at, state_of
from tests.faults.points import chosen

from uaix_backends.memory import MemoryStore
from uaix_conformance.examples import SCOPE, fact, job, lease, note
from uaix_conformance.schema import KIT
from uaix_core.schema.commits import Commit
from uaix_core.schema.relations import Ref

#: Lines struck in a short run, of each kind of store and error.
SHARE = 12

FIRST = Commit(SCOPE, 1, adds=[note(1, title="one", text="gone")], puts=[lease(1)])
#: One commit of every kind of part.
SECOND = Commit(
    SCOPE,
    2,
    adds=[note(2, title="two"), fact(1)],
    puts=[job(1), lease(2)],
    erases=[Ref("note", ("t0", 1))],
)


def lines_of(call, at, error, *, within=("uaix_backends", "uaix_core")):
    """Raise an error at the n-th line of our code; how many lines there were."""
    count = 0

    def trace(frame, event, _argument):
        nonlocal count
        name = frame.f_code.co_filename
        if not any(part in name for part in within):
            return None
        line = linecache.getline(name, frame.f_lineno).strip()
        # Between a lock that is taken and the block under it, or a block and its
        # lock's release, Python lets no signal in.
        if event == "line" and not line.startswith(("with ", "finally:", "try:")):
            count += 1
            if count == at:
                raise error
        return trace

    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(None)
    return count


def made(backend, path):
    """A store with the first commit."""
    store = MemoryStore(KIT) if backend == "memory" else opened(backend, path)
    store.append(FIRST)
    state_of(store)
    return store


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("backend", ["memory", "directory", "sqlite"])
def test_an_error_at_any_line_leaves_all_or_nothing(tmp_path, backend, error):
    """The commit is whole or absent, the object goes on, and the files agree."""
    with contextlib.closing(made(backend, tmp_path / "whole")) as store:
        old = state_of(store)
        total = lines_of(lambda: store.append(SECOND), 0, error)
        new = state_of(store)
    for at in chosen(f"{backend} {error.__name__}", range(1, total + 1), SHARE):
        path = tmp_path / f"{at}"
        with contextlib.closing(made(backend, path)) as store:
            with contextlib.suppress(error):
                lines_of(lambda: store.append(SECOND), at, error)
            state = state_of(store)
            assert state in (old, new)
            if state == old:
                store.append(SECOND)
            assert new == state_of(store)
        if backend != "memory":
            assert new == state_at(backend, path)
