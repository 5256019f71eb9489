"""Reads through the port against hand-written SQL on the same SQLite file."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import attrs

from benchmarks import data, product
from benchmarks.figures import TARGETS, Figure
from benchmarks.filling import many_rows
from benchmarks.floor import connect
from benchmarks.timing import in_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.plan import Plan
    from benchmarks.timing import Run
    from uaix_core import Snapshot

    Key = tuple[Any, ...]

_NAMES = (
    "select r.revision_id, r.package_id, r.record_id, s.scope_no "
    "from uaix_revision r join uaix_scope s using (scope_no) where s.scope = ?"
)


@attrs.frozen
class _Read:
    """One read, by hand and through the port; values are (revision, package, record).

    ``values_of`` gives what a name binds in the SQL, after the scope.
    """

    what: str
    sql: str
    values_of: Callable[[Key], Key]
    through_port: Callable[[Snapshot, Key], object]


_GETS = (
    _Read(
        "a revision by key",
        "select * from uaix_revision where scope_no = ? and revision_id = ?",
        lambda name: name[:1],
        lambda snapshot, name: snapshot.get("revision", name[:1]),
    ),
    _Read(
        "a head by key",
        "select * from uaix_head "
        "where scope_no = ? and package_id = ? and record_id = ?",
        lambda name: name[1:3],
        lambda snapshot, name: snapshot.get("head", name[1:3]),
    ),
)
_SCANS = (
    _Read(
        "50 revisions",
        "select * from uaix_revision where scope_no = ? and package_id = ? "
        "and record_id > ? order by record_id, number, revision_id limit 50",
        lambda name: name[1:3],
        lambda snapshot, name: snapshot.scan(
            "revision", "by_record", name[1:2], after=name[2:3], limit=50
        ),
    ),
    _Read(
        "50 heads",
        "select * from uaix_head where scope_no = ? and package_id = ? "
        "and record_id > ? order by record_id limit 50",
        lambda name: name[1:3],
        lambda snapshot, name: snapshot.scan(
            "head", "key", name[1:2], after=name[2:3], limit=50
        ),
    ),
)


def get(plan: Plan) -> Iterator[Figure]:
    """One row by its key."""
    yield from _reads(plan, "get", _GETS, plan.reads)


def scan(plan: Plan) -> Iterator[Figure]:
    """Fifty rows in the order of a path."""
    yield from _reads(plan, "scan", _SCANS, max(plan.reads // 10, 1))


def _reads(
    plan: Plan, group: str, reads: tuple[_Read, ...], times: int
) -> Iterator[Figure]:
    filled = many_rows(plan)
    target = TARGETS["read a row"]
    with product.opened("sqlite", filled.folder) as store:
        by_hand = connect(filled.folder / "store.sqlite")
        found = by_hand.execute(_NAMES, (filled.scope.text,)).fetchall()
        names = [found[at] for at in data.picks(times * plan.rounds, len(found))]
        number = found[0][-1]

        def fetch(read: _Read, run: int) -> object:
            values = (number, *read.values_of(names[run]))
            return by_hand.execute(read.sql, values).fetchall()

        def held_open(read: _Read, snapshot: Snapshot, run: int) -> object:
            return read.through_port(snapshot, names[run])

        def alone(read: _Read, run: int) -> object:
            with store.snapshot(filled.scope) as snapshot:
                return read.through_port(snapshot, names[run])

        for read in reads:
            assert fetch(read, 0)
            runs: list[Run] = [partial(fetch, read), partial(alone, read)]
            floor, fresh = in_turns(runs, rounds=plan.rounds, times=times)
            with store.snapshot(filled.scope) as snapshot:
                runs = [partial(fetch, read), partial(held_open, read, snapshot)]
                by_hand.execute("begin")
                inside, held = in_turns(runs, rounds=plan.rounds, times=times)
                by_hand.execute("commit")
            yield Figure(group, f"{read.what}, open snapshot", held, inside, target)
            yield Figure(group, f"{read.what}, its own snapshot", fresh, floor, target)
        by_hand.close()
