"""Processes that share a SQLite store, and files that change under it."""

from __future__ import annotations

import os
import signal

import pytest
from tests.backends.pages import (
    SCOPE,
    SMALL,
    add,
    code_of,
    erase,
    in_child,
    page,
    run,
    searched,
    titles,
)

from uaix_backends.sqlite import SqliteStore
from uaix_core.values.errors import (
    ClosedError,
)


def test_a_killed_eraser_is_finished_by_the_next(path, store):
    """An erasure that a killed process left pending is finished at the next open."""
    store.append(add(page(1, "erased-title", b"erased-data")))
    store.close()

    def die():
        mine = SqliteStore.open(path, schema=SMALL)
        with mine.snapshot(SCOPE):
            mine.append(erase(1))
            os.kill(os.getpid(), signal.SIGKILL)

    assert -signal.SIGKILL == in_child(die)
    SqliteStore.open(path, schema=SMALL).close()
    assert [] == searched(path.parent, b"erased-title", b"erased-data")


def test_a_forked_child_is_refused(store):
    """A child may use neither the store nor its snapshots; the parent goes on."""
    store.append(add(page(1)))
    with store.snapshot(SCOPE) as snapshot:

        def refused():
            calls = [
                lambda: store.append(add(page(2))),
                lambda: store.snapshot(SCOPE).__enter__(),
                lambda: snapshot.get("page", (1,)),
                lambda: snapshot.position,
                lambda: store.due("job", until=1, limit=1),
                lambda: store.scopes(limit=1),
                lambda: store.rebuild(SCOPE),
            ]
            codes = {code_of(call, ClosedError) for call in calls}
            store.close()
            return codes == {"store.forked"}

        assert 0 == in_child(refused)
        assert 1 == snapshot.position
    assert 2 == store.append(add(page(2))).seq


def test_a_child_that_exits_leaves_locks_and_log(path, store):
    """A child that closes and exits in the usual way takes nothing from its parent."""
    store.append(add(page(1)))
    done = run(
        """
        store = SqliteStore.open(path, schema=SMALL)
        with store._connections.writing() as writer:
            writer.execute("UPDATE uaix_scope SET work = work")
            child = os.fork()
            if child == 0:
                store.close()
                sys.exit(0)
            assert 0 == os.waitpid(child, 0)[1]
            second = SqliteStore.open(path, schema=SMALL, busy_timeout_s=0)
            assert "storage.busy" == code_of(lambda: second.append(add(page(2))))
            second.close()
        assert 2 == store.append(add(page(2))).seq
        store.close()
        """,
        path,
    )

    assert 0 == done.returncode, done.stderr
    assert [1, 2] == titles(store)


@pytest.mark.parametrize("act", ["unlink", "rename", "replace"])
def test_a_replaced_file_is_noticed(path, store, act):
    """No commit goes into a file that is no longer the one at the path."""
    store.append(add(page(1)))
    spare = path.with_suffix(".spare")
    if act == "unlink":
        path.unlink()
    elif act == "rename":
        path.rename(spare)
    else:
        spare.write_bytes(b"")
        spare.replace(path)

    assert "storage.replaced" == code_of(lambda: store.append(add(page(2))))
    assert "storage.replaced" == code_of(lambda: store.rebuild(SCOPE))
