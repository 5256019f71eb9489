"""What an erasure leaves in the files of a SQLite store: nothing."""

from __future__ import annotations

import random
import re
from contextlib import closing

import apsw
import pytest
from tests.backends.pages import (
    SCOPE,
    SMALL,
    add,
    erase,
    page,
    searched,
)

from uaix_backends.sqlite import SqliteStore


def test_erased_bytes_leave_all_files(path, store):
    """An erased body is in no file, neither in use nor after closing."""
    store.append(add(page(1, "erased-title", b"erased-data"), page(2, "kept-title")))
    store.append(erase(1))

    needles = (b"erased-title", b"erased-data", b"kept-title")
    assert not store.has_pending_erasures
    assert [b"kept-title"] == searched(path.parent, *needles)
    store.close()
    assert [b"kept-title"] == searched(path.parent, *needles)


def test_a_reader_delays_an_erasure_until_it_closes(path, store):
    """What an open snapshot may still show goes when the snapshot does."""
    store.append(add(page(1, "erased-title", b"erased-data")))
    with store.snapshot(SCOPE) as snapshot:
        store.append(erase(1))
        assert store.has_pending_erasures
        assert not store.settle()
        assert "erased-title" == snapshot.get("page", (1,)).title

    assert not store.has_pending_erasures
    store.close()
    assert [] == searched(path.parent, b"erased-title", b"erased-data")


def test_a_reader_that_outlives_its_store(path, store):
    """A snapshot still reads after its store was closed, and then cleans up."""
    store.append(add(page(1, "erased-title", b"erased-data")))
    with store.snapshot(SCOPE) as snapshot:
        store.append(erase(1))
        store.close()
        assert "erased-title" == snapshot.get("page", (1,)).title

    assert [path] == list(path.parent.iterdir())
    assert [] == searched(path.parent, b"erased-title", b"erased-data")


@pytest.mark.parametrize("seed", range(3))
def test_pages_that_were_rebalanced_hold_no_copy(path, seed):
    """However rows moved between pages before, no copy of an erased one is left."""
    draw = random.Random(seed)
    names = [f"{draw.randrange(16**8):08x}-{n:05}-name" for n in range(1500)]
    with closing(
        SqliteStore.open(path, create=True, schema=SMALL, synchronous="NORMAL")
    ) as store:
        at = 0
        while at < len(names):
            size = draw.choice((1, 20, 200))
            part = range(at, min(at + size, len(names)))
            long = [draw.choice((0, 30, 300, 5000)) * "x" for _ in part]
            store.append(
                add(
                    *(
                        page(n, names[n] + tail)
                        for n, tail in zip(part, long, strict=True)
                    )
                )
            )
            at += size
        gone = draw.sample(range(len(names)), 700)
        for start in range(0, len(gone), 50):
            store.append(erase(*gone[start : start + 50]))

    data = path.read_bytes()
    found = {int(n) for n in re.findall(rb"-(\d{5})-name", data)}
    assert set(range(len(names))) - set(gone) == found
    with closing(apsw.Connection(str(path))) as connection:
        assert "ok" == connection.pragma("integrity_check")


def test_a_large_file_is_cleaned_when_it_is_closed(path, store, monkeypatch):
    """In a large file the pages are cleaned on closing, or when asked."""
    monkeypatch.setattr("uaix_backends.sqlite.erasing._AT_ONCE", 0)
    store.append(add(page(1, "one"), page(2, "two")))
    store.append(erase(1))
    assert store.has_pending_erasures
    assert store.settle()
    store.append(erase(2))
    store.close()

    with closing(SqliteStore.open(path, schema=SMALL)) as again:
        assert not again.has_pending_erasures
