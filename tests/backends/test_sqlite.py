"""Writers of a SQLite store, and closing it."""

from __future__ import annotations

import threading
from contextlib import closing

import pytest
from tests.backends.pages import (
    SCOPE,
    SMALL,
    add,
    code_of,
    erase,
    page,
    searched_file,
    titles,
)

from uaix_backends.memory import MemoryStore
from uaix_backends.sqlite import SqliteStore
from uaix_core.schema.commits import Expect
from uaix_core.values.errors import (
    ClosedError,
    ConflictError,
)


def test_a_reducer_that_fails_leaves_nothing(store):
    """An exception in a reducer rolls back, and the store goes on."""
    store.append(add(page(1)))

    with pytest.raises(ArithmeticError):
        store.append(add(page(2), page(-1)))

    assert [1] == titles(store)
    assert 2 == store.append(add(page(2))).seq


def test_a_busy_store_is_told_after_the_timeout(path, store):
    """A writer waits for another process's commit no longer than it was told."""
    with closing(SqliteStore.open(path, schema=SMALL, busy_timeout_s=0)) as second:
        with store._connections.writing():
            assert "storage.busy" == code_of(lambda: second.append(add(page(1))))
        assert 1 == second.append(add(page(1))).seq


def test_threads_make_one_chain(store):
    """Eight threads that append to one scope make one dense chain."""
    failed = []

    def work(start):
        try:
            for n in range(start, start + 20):
                store.append(add(page(n)))
                titles(store)
        except BaseException as error:  # noqa: BLE001 - told below
            failed.append(error)

    threads = [threading.Thread(target=work, args=(20 * i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [] == failed
    with store.snapshot(SCOPE) as snapshot:
        chain = list(snapshot.commits())
    assert list(range(1, 161)) == [r.seq for r in chain]
    copy = MemoryStore(SMALL)
    assert [r.digest for r in chain] == [copy.append(r).digest for r in chain]


def test_two_stores_on_one_path(path, store):
    """Two open stores see each other's commits and refuse what the other changed."""
    with closing(SqliteStore.open(path, schema=SMALL)) as second:
        first = store.append(add(page(1)))
        assert [1] == titles(second)
        assert 2 == second.append(add(page(2))).seq
        assert [1, 2] == titles(store)
        with pytest.raises(ConflictError):
            second.append(add(page(3), expects=[Expect("page", (1,), 0)]))
        assert first.digest == store.append(first).digest


def test_readers_are_never_in_the_way(store):
    """A snapshot reads on while another thread is in the middle of a commit."""
    store.append(add(page(1)))
    with store._connections.writing() as writer:
        writer.execute("DELETE FROM uaix_title")
        assert [1] == titles(store)


def test_a_closed_store_is_closed(store):
    """After closing every verb is refused, and closing again changes nothing."""
    store.append(add(page(1)))
    store.close()
    store.close()

    for call in (
        lambda: store.append(add(page(2))),
        lambda: store.snapshot(SCOPE).__enter__(),
        lambda: store.scopes(limit=1),
        store.settle,
    ):
        assert "store.closed" == code_of(call, ClosedError)


def test_a_link_leads_to_one_store(tmp_path, path, store):
    """A store that is opened through a symbolic link erases in the same files."""
    store.append(add(page(1, "erased-title")))
    link = tmp_path / "elsewhere"
    link.mkdir()
    (link / "link.sqlite").symlink_to(path)
    with closing(SqliteStore.open(link / "link.sqlite", schema=SMALL)) as second:
        second.append(erase(1))
        assert not second.has_pending_erasures
    store.close()

    assert [] == searched_file(path, b"erased-title")
