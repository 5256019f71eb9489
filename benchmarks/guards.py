"""The guard: verbs under a token, against the same ones of the host itself."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import product
from benchmarks.figures import Figure
from benchmarks.timing import run_by_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.plan import Plan
    from uaix_core import Session

_KINDS = ("sqlite", "dir", "memory")
_FILES = 40


def guard(plan: Plan) -> Iterator[Figure]:
    """Show and start a package under an agent's token, and as the host."""
    files = product.persona(_FILES)
    with plan.folder() as name, ExitStack() as stores:
        for kind in _KINDS:
            store = stores.enter_context(product.opened(kind, Path(name)))
            host = product.reviewer_of(store, product.scope_of("guard"))
            product.activate(host, files)
            agent = product.agent_of(host)
            for verb in (_shown, _started):
                runs = [partial(verb, agent), partial(verb, host)]
                ours, floor = run_by_run(runs, rounds=plan.rounds, times=plan.repeats)
                what = f"{verb.__name__[1:]} under a token, {kind}, against the host"
                yield Figure("guard", what, ours, floor)


def _shown(session: Session, _: int) -> object:
    return session.packages.show("benchmark")


def _started(session: Session, _: int) -> object:
    return session.start("benchmark", agent_id="benchmark")
