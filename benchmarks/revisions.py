"""Revisions: one file of a package changed, against one durable commit of one row."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import product
from benchmarks.figures import TARGETS, Figure
from benchmarks.timing import run_by_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.plan import Plan

_KINDS = ("sqlite", "dir")
_FILES = 40


def revise(plan: Plan) -> Iterator[Figure]:
    """Revise one file of an advanced persona, with every check and its receipt."""
    files = product.persona(_FILES)
    with plan.folder() as name, ExitStack() as stores:
        for kind in _KINDS:
            store = stores.enter_context(product.opened(kind, Path(name)))
            session = product.reviewer_of(store, product.scope_of("revise"))
            product.activate(session, files)
            runs = [
                product.revises(session),
                partial(product.commits_one, store, product.scope_of("floor")),
            ]
            ours, floor = run_by_run(runs, rounds=plan.rounds, times=plan.repeats)
            what = f"one of {_FILES} files, {kind}, against one commit"
            yield Figure("revise", what, ours, floor, TARGETS["revise"])
