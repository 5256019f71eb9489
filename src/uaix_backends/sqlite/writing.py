"""Writing what `advance` decided, and computing views anew, inside a transaction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from uaix_core.schema.codec import key_out
from uaix_core.store.advance import drive, replay_views

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uaix_backends.sqlite.hosts import Statements
    from uaix_backends.sqlite.layout import Layout
    from uaix_backends.sqlite.reading import ScopeRows
    from uaix_core.schema.commits import Commit
    from uaix_core.schema.relations import Key, Ref
    from uaix_core.schema.rows import Row
    from uaix_core.store.advance import Advance

_NEW_SCOPE = (
    "INSERT INTO uaix_scope (scope, seq, recorded_at, digest, work) "
    "VALUES (?, ?, ?, ?, ?)"
)
_MOVE_SCOPE = (
    "UPDATE uaix_scope SET seq = ?, recorded_at = ?, digest = ?, work = ? "
    "WHERE scope_no = ?"
)
_LOG = (
    "INSERT INTO uaix_commit (scope_no, seq, recorded_at, digest, adds, erases) "
    "VALUES (?, ?, ?, ?, ?, ?)"
)


def write(rows: ScopeRows, change: Advance) -> None:
    """Write all of a change into the transaction that ``rows`` was read in."""
    connection, layout, mark = rows.connection, rows.layout, change.mark
    state = (mark.seq, mark.recorded_at, mark.digest, change.work)
    if rows.number is None:
        connection.execute(_NEW_SCOPE, (rows.scope.text, *state))
        rows.number = connection.last_insert_rowid()
    else:
        connection.execute(_MOVE_SCOPE, (*state, rows.number))
    number = rows.number
    if mark.seq > rows.mark.seq:
        commit = change.recorded.commit
        erases = _erases(layout, commit) if commit.erases else None
        place = (number, mark.seq, mark.recorded_at, mark.digest)
        connection.execute(_LOG, (*place, len(commit.adds), erases))
    _add(connection, layout, number, change)
    _mark_erased(connection, layout, number, change.erased)
    change_rows(connection, layout, number, change.puts, change.drops)
    rows.mark, rows.work = mark, change.work


def _erases(layout: Layout, commit: Commit) -> str:
    relation = layout.schema.relation
    names = [
        [ref.relation, key_out(relation(ref.relation), ref.key)]
        for ref in commit.erases
    ]
    return json.dumps(names, ensure_ascii=False, separators=(",", ":"))


def _add(connection: Statements, layout: Layout, number: int, change: Advance) -> None:
    seq = change.mark.seq
    added: dict[str, list[tuple[object, ...]]] = {}
    for ord_, row in enumerate(change.adds):
        relation = layout.schema.of(row)
        bound = (number, seq, ord_, *relation.values(row))
        added.setdefault(relation.name, []).append(bound)
    for name, bounds in added.items():
        connection.executemany(layout.tables[name].add, bounds)


def _mark_erased(
    connection: Statements, layout: Layout, number: int, refs: Sequence[Ref]
) -> None:
    for name, keys in _by_relation(refs).items():
        bounds = ((number, *key) for key in keys)
        connection.executemany(layout.tables[name].erase, bounds)


def change_rows(
    connection: Statements,
    layout: Layout,
    number: int,
    puts: Sequence[Row],
    drops: Sequence[Ref],
) -> None:
    """Put and drop VIEW, WORK and CACHE rows."""
    for name, keys in _by_relation(drops).items():
        bounds = ((number, *key) for key in keys)
        connection.executemany(layout.tables[name].drop, bounds)
    standing: dict[str, list[tuple[object, ...]]] = {}
    for row in puts:
        relation = layout.schema.of(row)
        bound = (number, row.version, *relation.values(row))
        standing.setdefault(relation.name, []).append(bound)
    for name, values in standing.items():
        connection.executemany(layout.tables[name].put, values)


def _by_relation(refs: Sequence[Ref]) -> dict[str, list[Key]]:
    keys: dict[str, list[Key]] = {}
    for ref in refs:
        keys.setdefault(ref.relation, []).append(ref.key)
    return keys


def rebuild_views(rows: ScopeRows) -> int:
    """Drop the views of a scope and replay its history; the commits replayed."""
    if rows.number is None:
        return 0
    connection, layout = rows.connection, rows.layout
    for table in layout.views:
        connection.execute(table.clear, (rows.number,))
    for part in rows.commits(0):
        for recorded in part:
            puts, drops = drive(replay_views(layout.schema, recorded), rows.answer)
            change_rows(connection, layout, rows.number, puts, drops)
    return rows.mark.seq
