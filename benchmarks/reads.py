"""Reads through the port against hand-written SQL on the same SQLite file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import data, product
from benchmarks.figures import TARGETS, Figure
from benchmarks.floor import connect
from benchmarks.plan import folder
from benchmarks.timing import in_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmarks.plan import Plan
    from uaix_core import Snapshot, Store

_GETS = {
    "revision": "select * from uaix_revision where scope_no = 1 and revision_id = ?",
    "head": "select * from uaix_head "
    "where scope_no = 1 and package_id = ? and record_id = ?",
}
_SCANS = {
    "revision": "select * from uaix_revision where scope_no = 1 and package_id = ? "
    "and record_id > ? order by record_id, number, revision_id limit 50",
    "head": "select * from uaix_head where scope_no = 1 and package_id = ? "
    "and record_id > ? order by record_id limit 50",
}
_PATHS = {"revision": "by_record", "head": "key"}


def get(plan: Plan) -> Iterator[Figure]:
    """One row by its key."""
    with _filled(plan) as (place, store, scope, rows):
        by_hand = connect(place)
        picked = [rows[at] for at in data.picks(plan.reads * plan.rounds, len(rows))]
        for name, text in _GETS.items():
            at = slice(0, 1) if name == "revision" else slice(1, 3)
            keys = [row[at] for row in picked]
            assert by_hand.execute(text, keys[0]).fetchone()

            def fetch(run: int, text: str = text, keys: _Keys = keys) -> object:
                return by_hand.execute(text, keys[run]).fetchone()

            def read(
                snapshot: Snapshot, run: int, name: str = name, keys: _Keys = keys
            ) -> object:
                return snapshot.get(name, keys[run])

            yield from _both(plan, f"{name} by key", store, scope, fetch, read)
        by_hand.close()


def scan(plan: Plan) -> Iterator[Figure]:
    """Fifty rows in the order of a path."""
    with _filled(plan) as (place, store, scope, rows):
        by_hand = connect(place)
        picked = [rows[at] for at in data.picks(plan.reads * plan.rounds, len(rows))]
        starts = [row[1:3] for row in picked]
        for name, text in _SCANS.items():

            def fetch(run: int, text: str = text) -> object:
                return by_hand.execute(text, starts[run]).fetchall()

            def read(snapshot: Snapshot, run: int, name: str = name) -> object:
                package, record = starts[run]
                return snapshot.scan(
                    name, _PATHS[name], (package,), after=(record,), limit=50
                )

            yield from _both(plan, f"50 of {name}", store, scope, fetch, read)
        by_hand.close()


_Keys = list[tuple[str, ...]]
