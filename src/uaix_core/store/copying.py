"""Copying a scope's ledger from store to store, and comparing two stores."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from uaix_core.schema.relations import BY_KEY, Keep, values_of
from uaix_core.store.port import MAX_SCAN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core.schema.relations import Relation
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot, Store
    from uaix_core.values.ids import ScopeId


def all_scopes(store: Store) -> Iterator[ScopeId]:
    """Every scope of a store, read page by page; for operators' tools."""
    after = None
    while page := store.scopes(after=after, limit=MAX_SCAN):
        yield from page
        after = page[-1]


def copy_scope(source: Store, target: Store, scope: ScopeId) -> int:
    """Replay a scope's commits into another store; how many were new there.

    Repeating it, also after a break, goes on where the target stands.

    Raises:
        IntegrityError: the target holds another history of this scope.

    """
    copied = 0
    with target.snapshot(scope) as seen:
        position = seen.position
    with source.snapshot(scope) as snapshot:
        # One commit back, so that a fork of the two histories is noticed.
        for recorded in snapshot.commits(max(position - 1, 0)):
            target.append(recorded)
            copied += recorded.seq > position
    return copied


def all_rows(snapshot: Snapshot, relation: Relation) -> Iterator[Row]:
    """Every row of a relation in the order of its key, read page by page."""
    after = None
    key = values_of(relation.key)
    while True:
        page = snapshot.scan(relation.name, BY_KEY, after=after, limit=MAX_SCAN)
        yield from page
        if len(page) < MAX_SCAN:
            return
        after = key(page[-1])


def differences(one: Store, other: Store, scope: ScopeId) -> list[str]:
    """What differs between two stores in a scope: ``head`` and names of relations.

    HISTORY and VIEW rows are compared in every field, versions included.
    """
    with one.snapshot(scope) as a, other.snapshot(scope) as b:
        found = [] if (a.position, a.head) == (b.position, b.head) else ["head"]
        for relation in one.schema.kept(Keep.HISTORY, Keep.VIEW):
            left, right = all_rows(a, relation), all_rows(b, relation)
            if any(_differ(x, y) for x, y in zip_longest(left, right)):
                found.append(relation.name)
    return found


def _differ(one: Row | None, other: Row | None) -> bool:
    if one is None or other is None:
        return True
    return one != other or one.version != other.version
