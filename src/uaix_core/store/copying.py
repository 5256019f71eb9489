"""Copying a scope's ledger from store to store, and comparing two stores."""

from __future__ import annotations

from itertools import islice, zip_longest
from typing import TYPE_CHECKING

import attrs

from uaix_core.schema.commits import Commit
from uaix_core.schema.relations import BY_KEY, Keep, values_of
from uaix_core.store.port import MAX_SCAN
from uaix_core.values.instants import EARLIEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from uaix_core.schema.relations import Relation
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.store.port import Snapshot, Store
    from uaix_core.values.ids import ScopeId

    #: Told how many commits of how many are done.
    Progress = Callable[[int, int], None]


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
    with source.snapshot(scope) as snapshot:
        return _replay(snapshot, target, scope, None)


@attrs.frozen
class Copied:
    """What came of copying one scope.

    ``commits`` were new in the target, ``local`` WORK and CACHE rows were put there,
    it is ``ahead`` of the source by so many commits, and ``differences`` are as
    `differences` gives them; the rows of a target that is ahead aren't compared.
    """

    scope: ScopeId
    position: int
    head: str
    commits: int
    local: int = 0
    ahead: int = 0
    differences: tuple[str, ...] = ()


def copy_whole(
    source: Store,
    target: Store,
    scope: ScopeId,
    progress: Progress | None = None,
) -> Copied:
    """Copy history and local rows of a scope as they stand now, and compare.

    Others may write to the source meanwhile. As `copy_scope` it may be repeated.

    Raises:
        IntegrityError: the target holds another history of this scope.

    """
    with source.snapshot(scope) as snapshot:
        commits = _replay(snapshot, target, scope, progress)
        local = 0
        for relation in source.schema.kept(Keep.WORK, Keep.CACHE):
            local += _copy_local(snapshot, target, scope, relation)
        with target.snapshot(scope) as copy:
            ahead = copy.position - snapshot.position
            found = [] if ahead > 0 else _differences(source.schema, snapshot, copy)
            return Copied(
                scope,
                copy.position,
                copy.head,
                commits,
                local,
                max(ahead, 0),
                tuple(found),
            )


def _replay(
    snapshot: Snapshot, target: Store, scope: ScopeId, progress: Progress | None
) -> int:
    copied = 0
    with target.snapshot(scope) as seen:
        position = seen.position
    # One commit back, so that a fork of the two histories is noticed.
    start = min(position, snapshot.position) - 1
    for recorded in snapshot.commits(max(start, 0)):
        target.append(recorded)
        copied += recorded.seq > position
        if progress is not None:
            progress(recorded.seq, snapshot.position)
    return copied


def _copy_local(
    snapshot: Snapshot, target: Store, scope: ScopeId, relation: Relation
) -> int:
    """Put the WORK or CACHE rows of a relation that aren't the same there already.

    Only where both stand at the same position: a target that has gone on has local
    rows of its own.
    """
    put = 0
    rows = all_rows(snapshot, relation)
    while page := list(islice(rows, MAX_SCAN)):
        with target.snapshot(scope) as seen:
            if seen.position != snapshot.position:
                return put
            keys = [relation.key_of(row) for row in page]
            standing = seen.get_many(relation.name, keys)
        new = [row for row in page if standing.get(relation.key_of(row)) != row]
        if new:
            # Nothing is chained, so the instant is of no matter.
            target.append(Commit(scope, EARLIEST, puts=new))
            put += len(new)
    return put


def all_rows(
    snapshot: Snapshot, relation: Relation, path: str = BY_KEY
) -> Iterator[Row]:
    """Every row of a relation in the order of a path, read page by page."""
    after = None
    place = values_of(relation.orders[path])
    while True:
        page = snapshot.scan(relation.name, path, after=after, limit=MAX_SCAN)
        yield from page
        if len(page) < MAX_SCAN:
            return
        after = place(page[-1])


def differences(one: Store, other: Store, scope: ScopeId) -> list[str]:
    """What differs between two stores in a scope: ``head`` and names of relations.

    HISTORY and VIEW rows are compared in every field, versions included.
    """
    with one.snapshot(scope) as a, other.snapshot(scope) as b:
        return _differences(one.schema, a, b)


def _differences(schema: Schema, one: Snapshot, other: Snapshot) -> list[str]:
    same = (one.position, one.head) == (other.position, other.head)
    found = [] if same else ["head"]
    for relation in schema.kept(Keep.HISTORY, Keep.VIEW):
        left, right = all_rows(one, relation), all_rows(other, relation)
        if any(_differ(x, y) for x, y in zip_longest(left, right)):
            found.append(relation.name)
    return found


def _differ(one: Row | None, other: Row | None) -> bool:
    if one is None or other is None:
        return True
    return one != other or one.version != other.version
