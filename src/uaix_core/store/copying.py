"""Copying a scope's ledger from store to store, and comparing two stores."""

from __future__ import annotations

from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING

import attrs

from uaix_core.schema.commits import MAX_ROWS, Commit, Expect
from uaix_core.schema.relations import BY_KEY, Keep, values_of
from uaix_core.store.port import MAX_SCAN
from uaix_core.store.scanning import all_rows
from uaix_core.values.instants import EARLIEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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
        local = _copy_local(snapshot, target, scope, source.schema)
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
    snapshot: Snapshot, target: Store, scope: ScopeId, schema: Schema
) -> int:
    """Put the WORK and CACHE rows of a scope; how many were put.

    WORK rows only where both stand at the same position and the target has none: who
    has worked there has rows of its own, and work that is done must not come back. Of
    CACHE rows, which are derived, those that are absent.
    """
    with target.snapshot(scope) as seen:
        if (seen.position, seen.head) != (snapshot.position, snapshot.head):
            return 0
        has_work = any(
            seen.scan(relation.name, BY_KEY, limit=1)
            for relation in schema.kept(Keep.WORK)
        )
    put = 0
    for relation in schema.kept(Keep.CACHE):
        rows = all_rows(snapshot, relation)
        while page := list(islice(rows, MAX_SCAN)):
            keys = [relation.key_of(row) for row in page]
            with target.snapshot(scope) as seen:
                standing = seen.get_many(relation.name, keys)
            put += _put(
                target,
                schema,
                scope,
                [row for row in page if relation.key_of(row) not in standing],
            )
    if not has_work:
        work = chain.from_iterable(
            all_rows(snapshot, relation) for relation in schema.kept(Keep.WORK)
        )
        # As many as one commit takes, so that a break leaves all of them or none.
        while some := list(islice(work, MAX_ROWS)):
            put += _put(target, schema, scope, some)
    if put:
        _drop_about_erased(target, scope, schema)
    return put


def _put(target: Store, schema: Schema, scope: ScopeId, rows: Sequence[Row]) -> int:
    """Put rows that are absent."""
    if rows:
        refs = [schema.of(row).ref(row) for row in rows]
        expects = [Expect(ref.relation, ref.key, 0) for ref in refs]
        # Nothing is chained, so the instant is of no matter.
        target.append(Commit(scope, EARLIEST, expects=expects, puts=rows))
    return len(rows)


def _drop_about_erased(target: Store, scope: ScopeId, schema: Schema) -> None:
    """Drop local rows about a row that was erased just before they were put."""
    for relation, row in _about_erased(target, scope, schema):
        target.append(Commit(scope, EARLIEST, drops=[relation.ref(row)]))


def _about_erased(
    store: Store, scope: ScopeId, schema: Schema
) -> list[tuple[Relation, Row]]:
    with store.snapshot(scope) as snapshot:
        return list(about_erased(snapshot, schema))


def about_erased(snapshot: Snapshot, schema: Schema) -> Iterator[tuple[Relation, Row]]:
    """The WORK and CACHE rows about a row whose body is erased; there are none."""
    for relation in schema.kept(Keep.WORK, Keep.CACHE):
        if relation.about is None:
            continue
        about = schema.relation(relation.about)
        key = values_of(about.key)
        rows = all_rows(snapshot, relation)
        while page := list(islice(rows, MAX_SCAN)):
            wanted = list({key(row) for row in page})
            targets = snapshot.get_many(about.name, wanted)
            for row in page:
                target = targets.get(key(row))
                if target is not None and not about.has_body(target):
                    yield relation, row


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
