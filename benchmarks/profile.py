"""Where the time of one operation goes, for a decision record.

    python -m benchmarks.profile NAME [--top 25] [--sort tottime]

Profiling makes calls dear and everything else cheap: take from it what to look at, and
measure with `python -m benchmarks` whether a change helped.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import attrs

from benchmarks import data, product
from benchmarks.filling import many_rows
from benchmarks.plan import QUICK, Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.timing import Run
    from uaix_core import Store

_FEW, _MANY = 31, 4_000


@attrs.frozen
class Operation:
    """What is profiled: a run over an opened store, and how often it runs."""

    times: int
    made: Callable[[Store], Run]
    kind: str = "sqlite"
    is_filled: bool = False


def _install(count: int) -> Callable[[Store], Run]:
    source = product.folder_source(product.package(count))
    return lambda store: product.installs(store, "profile", source)


def _lint(count: int) -> Callable[[Store], Run]:
    source = product.archive_source(product.package(count))
    return lambda _: lambda _: product.judged(source)


def _decide(count: int) -> Callable[[Store], Run]:
    report = product.judged(product.folder_source(product.package(count)))
    scope = product.scope_of("profile")
    return lambda store: lambda _: product.decided(store, scope, report)


def _export(count: int) -> Callable[[Store], Run]:
    def made(store: Store) -> Run:
        _install(count)(store)(0)
        packages = product.session_of(store, product.scope_of("profile")).packages
        return lambda _: packages.export("benchmark")

    return made


def _append(rows: int) -> Callable[[Store], Run]:
    contents, scope = data.texts(rows), product.scope_of("profile")
    return lambda store: lambda run: store.append(product.commit(scope, run, contents))


def _get(store: Store) -> Run:
    scope = product.scope_of("rows")

    def run(number: int) -> object:
        with store.snapshot(scope) as snapshot:
            return snapshot.get("head", ("benchmark", f"record-{number}"))

    return run


def _scan(store: Store) -> Run:
    scope = product.scope_of("rows")

    def run(number: int) -> object:
        with store.snapshot(scope) as snapshot:
            after = (f"record-{number}",)
            return snapshot.scan("head", "key", ("benchmark",), after=after, limit=50)

    return run


#: Made when they are asked for, since packages take a while to make.
OPERATIONS: dict[str, Callable[[], Operation]] = {
    "install-31": lambda: Operation(50, _install(_FEW)),
    "install-4000": lambda: Operation(3, _install(_MANY)),
    "install-4000-directory": lambda: Operation(3, _install(_MANY), "dir"),
    "install-4000-memory": lambda: Operation(3, _install(_MANY), "memory"),
    "lint-31": lambda: Operation(100, _lint(_FEW)),
    "lint-4000": lambda: Operation(3, _lint(_MANY)),
    "decide-4000": lambda: Operation(3, _decide(_MANY)),
    "export-31": lambda: Operation(100, _export(_FEW)),
    "export-4000": lambda: Operation(3, _export(_MANY)),
    "append-1": lambda: Operation(1_000, _append(1)),
    "append-1-directory": lambda: Operation(1_000, _append(1), "dir"),
    "append-1000": lambda: Operation(5, _append(1_000)),
    "get": lambda: Operation(5_000, _get, is_filled=True),
    "scan": lambda: Operation(1_000, _scan, is_filled=True),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Profile the named operation and print its dearest functions."""
    parser = argparse.ArgumentParser("python -m benchmarks.profile")
    parser.add_argument("name", choices=OPERATIONS, metavar="NAME")
    parser.add_argument("--top", type=int, default=25, help="functions to print")
    parser.add_argument("--sort", default="tottime", help="an order of pstats")
    given = parser.parse_args(arguments)
    with TemporaryDirectory(prefix="profile-") as place:
        profile = _profiled(OPERATIONS[given.name](), Plan(Path(place), QUICK))
    stats = pstats.Stats(profile, stream=sys.stdout)
    stats.strip_dirs().sort_stats(given.sort).print_stats(given.top)
    return 0


def _profiled(operation: Operation, plan: Plan) -> cProfile.Profile:
    folder = many_rows(plan).folder if operation.is_filled else plan.place
    with product.opened(operation.kind, folder) as store:
        run = operation.made(store)
        # What happens at the first time only is not what is looked for.
        run(0)
        profile = cProfile.Profile()
        profile.enable()
        for number in range(1, operation.times + 1):
            run(number)
        profile.disable()
    return profile


if __name__ == "__main__":
    sys.exit(main())
