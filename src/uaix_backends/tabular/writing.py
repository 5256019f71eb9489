"""Writing what `advance` decided, and computing views anew, inside a transaction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from uaix_core.schema.codec import key_out
from uaix_core.schema.relations import BY_KEY
from uaix_core.store.advance import drive, replay_views

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from uaix_backends.tabular.layouts import Layout
    from uaix_backends.tabular.reading import TabularRows
    from uaix_core.schema.commits import Commit
    from uaix_core.schema.relations import Key, Ref
    from uaix_core.schema.rows import Row
    from uaix_core.store.advance import Advance


def write(
    rows: TabularRows, change: Advance, commit: Callable[[], object] = lambda: None
) -> None:
    """Write all of a change into the transaction that ``rows`` was read in.

    The scope has its row by then. ``commit`` may end the transaction; where statements
    are sent in batches it goes with them.
    """
    layout, mark = rows.layout, change.mark
    execute = rows.statements.execute
    with rows.batch():
        state = (mark.seq, mark.recorded_at, mark.digest, change.work)
        execute(layout.move_scope, (*state, rows.number))
        if mark.seq > rows.mark.seq:
            recorded = change.recorded.commit
            erases = _erases(layout, recorded) if recorded.erases else None
            place = (rows.number, mark.seq, mark.recorded_at, mark.digest)
            execute(layout.log, (*place, len(recorded.adds), erases))
        _add(rows, change)
        _mark_erased(rows, change.erased)
        _change_rows(rows, change.puts, change.drops)
        commit()
    rows.mark, rows.work = mark, change.work


def _erases(layout: Layout, commit: Commit) -> str:
    relation = layout.schema.relation
    names = [
        [ref.relation, key_out(relation(ref.relation), ref.key)]
        for ref in commit.erases
    ]
    return json.dumps(names, ensure_ascii=False, separators=(",", ":"))


def _add(rows: TabularRows, change: Advance) -> None:
    layout, seq = rows.layout, change.mark.seq
    added: dict[str, list[tuple[Any, ...]]] = {}
    for ord_, row in enumerate(change.adds):
        relation = layout.schema.of(row)
        bound = (rows.number, seq, ord_, *relation.values(row))
        added.setdefault(relation.name, []).append(bound)
    for name, bounds in added.items():
        rows.statements.executemany(layout.tables[name].add, bounds)


def _mark_erased(rows: TabularRows, refs: Sequence[Ref]) -> None:
    for name, keys in _by_relation(refs).items():
        table = rows.layout.tables[name]
        bounds = [(rows.number, *table.bound(BY_KEY, key)) for key in keys]
        rows.statements.executemany(table.erase, bounds)


def _change_rows(rows: TabularRows, puts: Sequence[Row], drops: Sequence[Ref]) -> None:
    """Put and drop VIEW, WORK and CACHE rows."""
    layout = rows.layout
    gone = _by_relation(drops)
    standing: dict[str, list[tuple[Any, ...]]] = {}
    for row in puts:
        relation = layout.schema.of(row)
        bound = (rows.number, row.version, *relation.values(row))
        standing.setdefault(relation.name, []).append(bound)
        if not layout.tables[relation.name].has_unique_key:
            # No index says that a row stands there, so it goes first.
            gone.setdefault(relation.name, []).append(relation.key_of(row))
    for name, keys in gone.items():
        table = layout.tables[name]
        bounds = [(rows.number, *table.bound(BY_KEY, key)) for key in keys]
        rows.statements.executemany(table.drop, bounds)
    for name, values in standing.items():
        rows.statements.executemany(layout.tables[name].put, values)


def _by_relation(refs: Sequence[Ref]) -> dict[str, list[Key]]:
    keys: dict[str, list[Key]] = {}
    for ref in refs:
        keys.setdefault(ref.relation, []).append(ref.key)
    return keys


def rebuild_views(rows: TabularRows) -> int:
    """Drop the views of a scope and replay its history; the commits replayed."""
    if rows.number is None:
        return 0
    for table in rows.layout.views:
        rows.statements.execute(table.clear, (rows.number,))
    schema = rows.layout.schema
    for part in rows.commits(0):
        for recorded in part:
            puts, drops = drive(replay_views(schema, recorded), rows.answer)
            with rows.batch():
                _change_rows(rows, puts, drops)
    return rows.mark.seq
