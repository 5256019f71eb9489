"""Packages: install with all structural checks, its parts, and export."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import product
from benchmarks.figures import TARGETS, Figure
from benchmarks.floor import Floor, write_zip
from benchmarks.timing import in_turns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmarks.plan import Plan
    from benchmarks.timing import Run
    from uaix_core import Session

_KINDS = ("sqlite", "dir", "memory")

#: What the target of an install is for: the checks of content are printed apart.
_STRUCTURE = "sqlite, structural checks"


def install(plan: Plan) -> Iterator[Figure]:
    """Install into a fresh scope against rows and SHA-256 of the same files."""
    sizes = (("install few", plan.few, plan.repeats), ("install many", plan.many, 1))
    for target, count, times in sizes:
        with plan.folder() as name:
            files = product.package(count)
            yield from _installs(plan, Path(name), files, target, times)


def _installs(
    plan: Plan, place: Path, files: Mapping[str, bytes], target: str, times: int
) -> Iterator[Figure]:
    base = Floor(place / "floor.db")
    renamed = [
        {f"{run}/{path}": content for path, content in files.items()}
        for run in range(plan.rounds * times)
    ]
    from_folder = product.folder_source(files)
    from_archive = product.archive_source(files)
    with ExitStack() as stores:
        opened = {
            kind: stores.enter_context(product.opened(kind, place)) for kind in _KINDS
        }
        sqlite = opened["sqlite"]
        reports = [product.judged(from_folder) for _ in renamed]
        commits = [
            product.decided(sqlite, product.scope_of("append", run), report)
            for run, report in enumerate(reports)
        ]
        runs: dict[str, Run] = {
            "": lambda run: base.store_files(renamed[run]),
            f"{_STRUCTURE}, a folder": product.installs_structure(
                sqlite, "bare-folder", from_folder
            ),
            f"{_STRUCTURE}, an archive": product.installs_structure(
                sqlite, "bare-archive", from_archive
            ),
            "of it: judge the structure": lambda _: product.judged_structure(
                from_folder
            ),
            "of it: decide": lambda run: product.decided(
                sqlite, product.scope_of("decide", run), reports[run]
            ),
            "of it: append": lambda run: sqlite.append(commits[run]),
            "judge structure and content": lambda _: product.judged(from_folder),
            "sqlite, all checks, a folder": product.installs(
                sqlite, "folder", from_folder
            ),
            "sqlite, all checks, an archive": product.installs(
                sqlite, "archive", from_archive
            ),
        }
        for kind, wording in (("dir", "directory"), ("memory", "memory")):
            runs[f"{wording}, all checks, a folder"] = product.installs(
                opened[kind], "folder", from_folder
            )
        floor, *measures = in_turns(
            list(runs.values()), rounds=plan.rounds, times=times
        )
    base.close()
    for what, measure in zip(list(runs)[1:], measures, strict=True):
        held = TARGETS[target] if what.startswith(_STRUCTURE) else None
        yield Figure("install", f"{len(files):,} files, {what}", measure, floor, held)


def export(plan: Plan) -> Iterator[Figure]:
    """Export as an archive against writing the same files with zipfile."""
    for count in (plan.few, plan.many):
        files = product.package(count)
        times = plan.repeats if count == plan.few else 1
        with plan.folder() as name, ExitStack() as stores:
            runs: list[Run] = [partial(_written, files)]
            for kind in _KINDS:
                store = stores.enter_context(product.opened(kind, Path(name)))
                session = product.session_of(store, product.scope_of("export"))
                session.packages.install(product.folder_source(files))
                assert session.packages.export("benchmark").files == files
                runs.append(partial(_exported, session))
            floor, *measures = in_turns(runs, rounds=plan.rounds, times=times)
        for kind, measure in zip(_KINDS, measures, strict=True):
            what = f"{count:,} files, {kind}"
            yield Figure("export", what, measure, floor, TARGETS["export"])


def _written(files: Mapping[str, bytes], _: int) -> object:
    return write_zip(files)


def _exported(session: Session, _: int) -> object:
    return session.packages.export("benchmark")
