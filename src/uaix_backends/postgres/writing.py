"""Writing what `advance` decided, and computing views anew, inside a transaction.

All statements of a commit, COMMIT among them, go to the server in one round trip.
"""

# ruff: noqa: S608 - texts are made of quoted names; every value is bound

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from uaix_core.schema.codec import key_out
from uaix_core.schema.relations import BY_KEY
from uaix_core.store.advance import drive, replay_views

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from uaix_backends.postgres.layout import Layout
    from uaix_backends.postgres.reading import ScopeRows
    from uaix_backends.postgres.statements import Statements
    from uaix_core.schema.commits import Commit
    from uaix_core.schema.relations import Key, Ref
    from uaix_core.schema.rows import Row
    from uaix_core.store.advance import Advance


def write(rows: ScopeRows, change: Advance, commit: Callable[[], object]) -> None:
    """Write all of a change into the transaction that ``rows`` was read in.

    ``commit`` ends the transaction, in the same round trip.
    """
    statements, layout, mark = rows.statements, rows.layout, change.mark
    number = rows.number
    assert number is not None  # noqa: S101 - a locked scope has its row
    names = layout.names
    with statements.batch():
        statements.execute(
            f"UPDATE {names.scope} SET seq = %s, recorded_at = %s, digest = %s, "
            "work = %s WHERE scope_no = %s",
            (mark.seq, mark.recorded_at, mark.digest, change.work, number),
        )
        if mark.seq > rows.mark.seq:
            recorded = change.recorded.commit
            erases = _erases(layout, recorded) if recorded.erases else None
            place = (number, mark.seq, mark.recorded_at, mark.digest)
            statements.execute(
                f"INSERT INTO {names.commit} (scope_no, seq, recorded_at, digest, "
                "adds, erases) VALUES (%s, %s, %s, %s, %s, %s)",
                (*place, len(recorded.adds), erases),
            )
        _add(statements, layout, number, change)
        _mark_erased(statements, layout, number, change.erased)
        change_rows(statements, layout, number, change.puts, change.drops)
        commit()
    rows.mark, rows.work = mark, change.work


def _erases(layout: Layout, commit: Commit) -> str:
    relation = layout.schema.relation
    names = [
        [ref.relation, key_out(relation(ref.relation), ref.key)]
        for ref in commit.erases
    ]
    return json.dumps(names, ensure_ascii=False, separators=(",", ":"))


def _add(statements: Statements, layout: Layout, number: int, change: Advance) -> None:
    seq = change.mark.seq
    added: dict[str, list[tuple[object, ...]]] = {}
    for ord_, row in enumerate(change.adds):
        relation = layout.schema.of(row)
        bound = (number, seq, ord_, *relation.values(row))
        added.setdefault(relation.name, []).append(bound)
    for name, bounds in added.items():
        statements.executemany(layout.tables[name].add, bounds)


def _mark_erased(
    statements: Statements, layout: Layout, number: int, refs: Sequence[Ref]
) -> None:
    for name, keys in _by_relation(refs).items():
        table = layout.tables[name]
        statements.executemany(
            table.erase,
            [(number, *table.bound(BY_KEY, key)) for key in keys],
        )


def change_rows(
    statements: Statements,
    layout: Layout,
    number: int,
    puts: Sequence[Row],
    drops: Sequence[Ref],
) -> None:
    """Put and drop VIEW, WORK and CACHE rows."""
    gone = _by_relation(drops)
    standing: dict[str, list[tuple[object, ...]]] = {}
    for row in puts:
        relation = layout.schema.of(row)
        bound = (number, row.version, *relation.values(row))
        standing.setdefault(relation.name, []).append(bound)
        if not layout.tables[relation.name].has_unique_key:
            # No index says that a row stands there, so it goes first.
            gone.setdefault(relation.name, []).append(relation.key_of(row))
    for name, keys in gone.items():
        table = layout.tables[name]
        statements.executemany(
            table.drop,
            [(number, *table.bound(BY_KEY, key)) for key in keys],
        )
    for name, values in standing.items():
        statements.executemany(layout.tables[name].put, values)


def _by_relation(refs: Sequence[Ref]) -> dict[str, list[Key]]:
    keys: dict[str, list[Key]] = {}
    for ref in refs:
        keys.setdefault(ref.relation, []).append(ref.key)
    return keys


def rebuild_views(rows: ScopeRows) -> int:
    """Drop the views of a scope and replay its history; the commits replayed."""
    if rows.number is None:
        return 0
    statements, layout = rows.statements, rows.layout
    for table in layout.views:
        statements.execute(table.clear, (rows.number,))
    for part in rows.commits(0):
        for recorded in part:
            puts, drops = drive(replay_views(layout.schema, recorded), rows.answer)
            with statements.batch():
                change_rows(statements, layout, rows.number, puts, drops)
    return rows.mark.seq
