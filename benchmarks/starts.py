"""Start-up: a package of 40 files put together, every check made, with its receipt."""

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
    from uaix_core import Session

_KINDS = ("sqlite", "dir", "memory")
_FILES = 40
#: Revisions of one record, where history is long.
_LONG = 200


def start(plan: Plan) -> Iterator[Figure]:
    """Start an advanced persona of which every dimension is private."""
    files = product.persona(_FILES)
    with plan.folder() as name, ExitStack() as stores:
        sessions = []
        for kind in _KINDS:
            store = stores.enter_context(product.opened(kind, Path(name)))
            session = product.reviewer_of(store, product.scope_of("start"))
            product.activate(session, files)
            sessions.append(session)
        runs = [partial(_started, session) for session in sessions]
        measures = run_by_run(runs, rounds=plan.rounds, times=plan.repeats)
        (cold,) = run_by_run(
            [partial(_unremembered, sessions[0])], rounds=plan.rounds, times=1
        )
        product.lengthen(sessions[0], min(plan.n, _LONG))
        (long,) = run_by_run(runs[:1], rounds=plan.rounds, times=plan.repeats)
    for kind, measure in zip(_KINDS, measures, strict=True):
        target = TARGETS["start"] if kind == "sqlite" else None
        yield Figure("start", f"{_FILES} files, {kind}", measure, None, target)
    yield Figure("start", f"{_FILES} files, sqlite, nothing remembered", cold)
    what = f"{_FILES} files, sqlite, one revised {min(plan.n, _LONG)} times"
    yield Figure("start", what, long)


def _started(session: Session, _: int) -> object:
    return session.start("benchmark", agent_id="benchmark")


def _unremembered(session: Session, _: int) -> object:
    product.forget_bodies()
    return _started(session, _)
