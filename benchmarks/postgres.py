"""How many commits a second a PostgreSQL store takes, single and batched.

python -m benchmarks.postgres [--commits 300]

The server is a throwaway one with fsync off, or the one that `UAIX_PG_DSN` names: the
figures say what the library and the round trips cost, not what a disk does.
"""

from __future__ import annotations

import argparse
import threading
import time
from contextlib import closing

from benchmarks import data, product
from uaix_backends.postgres import PostgresStore
from uaix_backends.postgres.testing import server

_BATCH = 1_000
_WRITERS = 4


def main() -> None:
    """Measure single commits, batches, and writers of several scopes."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.postgres", description=__doc__
    )
    parser.add_argument("--commits", type=int, default=300)
    count = parser.parse_args().commits
    store = PostgresStore.open(server(), create=True, namespace="benchmark")
    with closing(store):
        _print("single, one scope", count, _single(store, "one", count))
        rows = max(1, count // 100)
        seconds = _batched(store, rows)
        print(f"{'batched':<24} {rows * _BATCH / seconds:10,.0f} rows/s")
        start = time.perf_counter()
        threads = [
            threading.Thread(target=_single, args=(store, f"scope-{n}", count))
            for n in range(_WRITERS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - start
        _print(f"single, {_WRITERS} scopes", _WRITERS * count, seconds)


def _single(store: PostgresStore, name: str, count: int) -> float:
    scope = product.scope_of(name)
    commits = [
        product.commit(scope, number, [text])
        for number, text in enumerate(data.texts(count))
    ]
    start = time.perf_counter()
    for commit in commits:
        store.append(commit)
    return time.perf_counter() - start


def _batched(store: PostgresStore, batches: int) -> float:
    scope = product.scope_of("batched")
    texts = data.texts(batches * _BATCH)
    commits = [
        product.commit(scope, number, texts[number * _BATCH : (number + 1) * _BATCH])
        for number in range(batches)
    ]
    start = time.perf_counter()
    for commit in commits:
        store.append(commit)
    return time.perf_counter() - start


def _print(name: str, count: int, seconds: float) -> None:
    print(f"{name:<24} {count / seconds:10,.0f} commits/s")


if __name__ == "__main__":
    main()
