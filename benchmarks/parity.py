"""The floor held against another floor, where that lies beside the checkout.

A slow floor flatters, so ours must not be slower than one that others wrote.
"""

from __future__ import annotations

import importlib.util
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import data
from benchmarks import floor as ours
from benchmarks.figures import TARGETS, Figure
from benchmarks.timing import in_turns, run_by_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.plan import Plan
    from benchmarks.timing import Run

REFERENCE = Path(__file__).parents[2] / "shared" / "design" / "floor.py"

_BATCH = 1_000


def parity(plan: Plan) -> Iterator[Figure]:
    """Our floor (``ours``) against the other one (``floor``), work by work."""
    other = _other()
    if other is None:
        return
    with plan.folder() as name:
        place = Path(name)
        one, two = ours.Floor(place / "ours"), other.Floor(place / "theirs")
        yield from _stores(plan, one, two, other)
        yield from _notes(plan, one, two)
        one.close()
        two.con.close()
    yield from _archives(plan, other)


def _other() -> Any:
    if not REFERENCE.is_file():
        return None
    spec = importlib.util.spec_from_file_location("reference_floor", REFERENCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _figure(what: str, runs: list[Run], *, rounds: int, times: int = 1) -> Figure:
    # Both do the same, so that even a short disturbance of one would show.
    measured = in_turns if times == 1 else run_by_run
    one, two = measured(runs, rounds=rounds, times=times)
    return Figure("floor", what, one, two, TARGETS["floor"])


def _stores(plan: Plan, one: ours.Floor, two: Any, other: Any) -> Iterator[Figure]:
    for count, times in ((plan.few, 2 * plan.repeats), (plan.many, 1)):
        files = data.small_files(count)
        renamed = [
            {f"{count}/{run}/{path}": content for path, content in files.items()}
            for run in range(plan.rounds * times)
        ]
        runs: list[Run] = [
            partial(lambda files, run: one.store_files(files[run]), renamed),
            partial(lambda files, run: other.store_files(two.con, files[run]), renamed),
        ]
        what = f"store {count:,} files"
        yield _figure(what, runs, rounds=plan.rounds, times=times)


def _notes(plan: Plan, one: ours.Floor, two: Any) -> Iterator[Figure]:
    durable = plan.rounds * plan.durable
    notes = data.notes(plan.notes + durable)
    kept, rest = notes[: plan.notes], notes[plan.notes :]
    parts = [kept[at : at + _BATCH] for at in range(0, len(kept), _BATCH)]
    both: list[Run] = [lambda at: one.put(parts[at]), lambda at: two.put(parts[at])]
    yield _figure(f"put {len(parts[0]):,} notes", both, rounds=len(parts))
    singles: list[Run] = [
        lambda at: one.put(rest[at : at + 1]),
        lambda at: two.put(rest[at : at + 1]),
    ]
    yield _figure("put one note", singles, rounds=plan.rounds, times=plan.durable)
    one.load()
    two.load()
    picked = data.picks(plan.reads * plan.rounds, plan.notes)
    by_key = "select * from m where key = ?"
    page = "select * from m where ns = ? order by ts limit 50"
    reads: list[Run] = [
        lambda run: one.get(str(picked[run])),
        lambda run: two.con.execute(by_key, (str(picked[run]),)).fetchall(),
    ]
    yield _figure("get by key", reads, rounds=plan.rounds, times=plan.reads)
    scans: list[Run] = [
        lambda run: one.scan(notes[picked[run]][1]),
        lambda run: two.con.execute(page, (notes[picked[run]][1],)).fetchall(),
    ]
    yield _figure("scan 50", scans, rounds=plan.rounds, times=plan.reads)
    for where in ("all", "one scope"):

        def fused(floor: Any, run: int, where: str = where) -> object:
            _, scope, text, vector = notes[picked[run]]
            return floor.fused(text, vector, None if where == "all" else scope)

        assert len(fused(one, 0)) == len(fused(two, 0))  # type: ignore[arg-type]
        runs: list[Run] = [partial(fused, one), partial(fused, two)]
        yield _figure(
            f"fused, {where}", runs, rounds=plan.rounds, times=5 * plan.repeats
        )


def _archives(plan: Plan, other: Any) -> Iterator[Figure]:
    files = data.small_files(plan.many)
    archive = ours.write_zip(files)
    writes: list[Run] = [
        lambda _: ours.write_zip(files),
        lambda _: other.zip_write(files),
    ]
    reads: list[Run] = [
        lambda _: ours.read_zip(archive),
        lambda _: other.zip_read(archive),
    ]
    yield _figure(f"write a ZIP of {plan.many:,}", writes, rounds=plan.rounds)
    yield _figure(f"read a ZIP of {plan.many:,}", reads, rounds=plan.rounds)
