"""Whole stores: opening them, their views made anew, their bytes on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import data, product
from benchmarks.figures import TARGETS, Figure
from benchmarks.filling import many_commits, many_rows
from benchmarks.floor import Floor
from benchmarks.plan import QUICK
from benchmarks.timing import Measure, in_turns
from uaix_backends.backup import write_backup
from uaix_core.store.copying import copy_whole
from uaix_core.store.verifying import verify_scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from benchmarks.filling import Filled
    from benchmarks.plan import Plan
    from uaix_core import ScopeId, Store

    Opened = Callable[[str, Path], AbstractContextManager[Store]]


def opening(plan: Plan) -> Iterator[Figure]:
    """From a closed store to the first answer about a scope."""
    commits, rows = many_commits(plan), many_rows(plan)
    # The cache is made when a store that has come far is closed.
    with product.opened("dir", commits.folder) as store:
        _read_one(store, commits.scope)
    for kind, opened, filled, holds, target in (
        ("dir", product.opened_unaided, commits, "commits", TARGETS["open unaided"]),
        ("dir with its cache", product.opened, commits, "commits", TARGETS["open"]),
        ("sqlite", product.opened, rows, "rows", None),
    ):

        def first(
            _: int,
            kind: str = kind.partition(" ")[0],
            opened: Opened = opened,
            filled: Filled = filled,
        ) -> object:
            with opened(kind, filled.folder) as store:
                _read_one(store, filled.scope)
            return None

        (measure,) = in_turns([first], rounds=1 if plan.n > QUICK else 3)
        what = f"{kind} and first read, {plan.n:,} {holds}"
        yield Figure("open", what, measure, None, target)


def _read_one(store: Store, scope: ScopeId) -> None:
    with store.snapshot(scope) as snapshot:
        assert snapshot.position
        assert snapshot.scan("revision", "by_record", limit=1)


def whole(plan: Plan) -> Iterator[Figure]:
    """All of a store verified, backed up, and copied into another."""
    filled = many_commits(plan)
    with product.opened("dir", filled.folder) as store, plan.folder() as name:
        (measure,) = in_turns([lambda _: verify_scope(store, filled.scope)], rounds=1)
        yield _per_second("verify, dir, commits", plan.n, measure)
        path = Path(name) / "backup"
        (measure,) = in_turns(
            [lambda _: write_backup(store, path, made_at=0, overwrite=True)], rounds=1
        )
        yield _per_second("backup, dir, commits, verified", plan.n, measure)
        ours = Measure(path.stat().st_size / plan.n)
        floor = Measure(_size(filled.folder) / plan.n)
        yield Figure("whole", "backup, a commit against dir", ours, floor, unit="B")
        with product.opened("memory", plan.place) as target:
            (measure,) = in_turns(
                [lambda _: copy_whole(store, target, filled.scope)], rounds=1
            )
        yield _per_second("copy, dir into memory, commits", plan.n, measure)


def _per_second(what: str, count: int, measure: Measure) -> Figure:
    rate = Measure(count / measure.value * 1_000)
    return Figure("whole", what, rate, unit="/s")


def rebuild(plan: Plan) -> Iterator[Figure]:
    """All views of a scope dropped and made anew."""
    rows = many_rows(plan)
    with product.opened("sqlite", rows.folder) as store:
        yield _rate(store, rows.scope, plan.n, f"sqlite, {plan.n:,} rows")
    # The directory store makes its views anew by the same code.
    commits, scope = data.texts(plan.notes), product.scope_of("commits")
    with product.opened("memory", plan.place) as store:
        for number, content in enumerate(commits):
            store.append(product.commit(scope, number, [content]))
        what = f"memory, {plan.notes:,} one-row commits"
        yield _rate(store, scope, plan.notes, what)


def _rate(store: Store, scope: ScopeId, rows: int, what: str) -> Figure:
    (measure,) = in_turns([lambda _: store.rebuild(scope)], rounds=2)
    rate = Measure(rows / measure.value * 1_000)
    return Figure("rebuild", what, rate, None, TARGETS["rebuild"], unit="/s")


def disk(plan: Plan) -> Iterator[Figure]:
    """Bytes for each file of a large package, after the store was closed."""
    files = product.package(plan.many)
    with plan.folder() as name:
        place = Path(name)
        base = Floor(place / "floor")
        base.store_files(files)
        base.close()
        floor = Measure(_size(place / "floor") / len(files))
        for kind in ("sqlite", "dir"):
            with product.opened(kind, place) as store:
                product.installs(store, "disk", product.folder_source(files))(0)
            ours = Measure(_size(place / f"store.{kind}") / len(files))
            yield Figure(
                "disk", f"a file of {len(files):,}, {kind}", ours, floor, unit="B"
            )


def _size(path: Path) -> int:
    paths = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in paths if file.is_file())
