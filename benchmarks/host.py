"""What joining a host's transaction costs beside a store of one's own.

python -m benchmarks.host [--commits 200]

Each line is one durable commit of one revision, through a store that owns its
connection and through one that joined a host's. Both take turns; the least of five
rounds counts, and the target is at most 1.2 times the wall time.
"""

from __future__ import annotations

import argparse
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchmarks import data, product

if TYPE_CHECKING:
    from collections.abc import Callable

_ROUNDS = 5


def _timed(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _compare(name: str, count: int, ours: Any, joined: Any) -> None:
    """Alternate both, each round with fresh rows, and print the least of each."""
    owned_s, joined_s = [], []
    number = 0
    for _ in range(_ROUNDS):
        commits = [
            product.commit(product.scope_of(name), number + i, [text])
            for i, text in enumerate(data.texts(count))
        ]
        number += count
        owned_s.append(_timed(lambda c=commits: [ours(one) for one in c]))
        joined_s.append(_timed(lambda c=commits: [joined(one) for one in c]))
    owned, guest = min(owned_s) / count, min(joined_s) / count
    verdict = "ok" if guest <= 1.2 * owned else "over"
    print(
        f"{name:<12} owned {owned * 1e3:7.3f} ms  joined {guest * 1e3:7.3f} ms  "
        f"{guest / owned:5.2f}x  (<= 1.2x: {verdict})"
    )


def sqlite(folder: Path, count: int) -> None:
    """SQLite at FULL, the host on apsw and on sqlite3."""
    import sqlite3  # noqa: PLC0415 - each database is loaded where it is measured

    import apsw  # noqa: PLC0415

    from uaix_backends.sqlite import SqliteStore  # noqa: PLC0415

    for library in (apsw.Connection, sqlite3.connect):
        name = library.__module__.partition(".")[0].strip("_")
        file = str(folder / f"{name}.db")
        options = {} if library is apsw.Connection else {"isolation_level": None}
        raw = library(file, **options)
        raw.execute("PRAGMA journal_mode = wal")
        raw.execute("PRAGMA synchronous = FULL")
        raw.execute("BEGIN")
        for statement in SqliteStore.ddl():
            raw.execute(statement)
        raw.execute("COMMIT")
        with (
            closing(raw),
            closing(SqliteStore.open(folder / f"{name}-own.db", create=True)) as own,
            closing(SqliteStore.join(raw)) as guest,
        ):

            def staged(one: Any, raw: Any = raw, guest: Any = guest) -> None:
                raw.execute("BEGIN IMMEDIATE")
                guest.append(one)
                raw.execute("COMMIT")

            _compare(name, count, own.append, staged)


def postgres(count: int) -> None:
    """A throwaway PostgreSQL, the host on psycopg."""
    import psycopg  # noqa: PLC0415 - as above

    from uaix_backends.postgres import PostgresStore  # noqa: PLC0415
    from uaix_backends.postgres.testing import server  # noqa: PLC0415

    dsn = server()
    with psycopg.connect(dsn, autocommit=True) as raw:
        for statement in PostgresStore.ddl(namespace="joined"):
            raw.execute(statement)
        own = PostgresStore.open(dsn, create=True, namespace="owned")
        guest = PostgresStore.join(raw, namespace="joined")
        with closing(own), closing(guest):

            def staged(one: Any) -> None:
                with raw.transaction():
                    guest.append(one)

            _compare("psycopg", count, own.append, staged)


def main() -> None:
    """Measure both databases."""
    parser = argparse.ArgumentParser("python -m benchmarks.host", description=__doc__)
    parser.add_argument("--commits", type=int, default=200)
    count = parser.parse_args().commits
    with TemporaryDirectory() as folder:
        sqlite(Path(folder), count)
    postgres(count)


if __name__ == "__main__":
    main()
