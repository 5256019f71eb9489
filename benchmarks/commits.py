"""Commits: one durable row at a time, with a local row beside it, and in bulk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import data, product
from benchmarks.figures import TARGETS, Figure
from benchmarks.floor import Floor
from benchmarks.timing import in_turns, run_by_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.plan import Plan
    from benchmarks.timing import Run
    from uaix_core import Store


def append(plan: Plan) -> Iterator[Figure]:
    """Durable commits against durable rows with SHA-256."""
    with (
        plan.folder() as name,
        product.opened("sqlite", Path(name)) as sqlite,
        product.opened("dir", Path(name)) as directory,
    ):
        base = Floor(Path(name) / "floor.db")
        yield from _single(plan, base, sqlite, directory)
        yield from _bulk(plan, base, sqlite, directory)
        base.close()


def _single(
    plan: Plan, base: Floor, sqlite: Store, directory: Store
) -> Iterator[Figure]:
    contents = data.texts(plan.rounds * plan.durable)
    runs = [
        lambda run: base.store_files({f"one/{run}": contents[run]}),
        _one(sqlite, contents, work=False),
        _one(directory, contents, work=False),
        _one(sqlite, contents, work=True),
        _one(directory, contents, work=True),
    ]
    floor, by_sqlite, by_directory, work_sqlite, work_directory = run_by_run(
        runs, rounds=plan.rounds, times=plan.durable
    )
    commit, to_directory = TARGETS["commit"], TARGETS["commit to a directory"]
    yield Figure("append", "one row, sqlite", by_sqlite, floor, commit)
    yield Figure("append", "one row, directory", by_directory, floor)
    yield Figure(
        "append",
        "one row, directory against sqlite",
        by_directory,
        by_sqlite,
        to_directory,
    )
    yield Figure("append", "and a local row, sqlite", work_sqlite, floor)
    yield Figure("append", "and a local row, directory", work_directory, floor)
    yield Figure(
        "append",
        "and a local row, directory against sqlite",
        work_directory,
        work_sqlite,
        to_directory,
    )


def _one(store: Store, contents: list[bytes], *, work: bool) -> Run:
    scope = product.scope_of("work" if work else "one")
    return lambda run: store.append(
        product.commit(scope, run, [contents[run]], work=work)
    )


def _bulk(plan: Plan, base: Floor, sqlite: Store, directory: Store) -> Iterator[Figure]:
    contents = data.texts(plan.batch)
    scope = product.scope_of("bulk")
    renamed = [
        {f"bulk/{run}/{at}": content for at, content in enumerate(contents)}
        for run in range(plan.rounds)
    ]
    floor, by_sqlite, by_directory = in_turns(
        [
            lambda run: base.store_files(renamed[run]),
            lambda run: sqlite.append(product.commit(scope, run, contents)),
            lambda run: directory.append(product.commit(scope, run, contents)),
        ],
        rounds=plan.rounds,
    )
    yield Figure("append", f"{plan.batch:,} rows, sqlite", by_sqlite, floor)
    yield Figure("append", f"{plan.batch:,} rows, directory", by_directory, floor)
