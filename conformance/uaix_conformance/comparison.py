"""Comparing what stores show: rows exactly, snapshots whole, refusals without trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from uaix_conformance.examples import SCOPE
from uaix_conformance.oracle import scanned
from uaix_conformance.schema import KIT
from uaix_conformance.sealing import BEFORE_ALL, first_digest, sealed_digest
from uaix_core.schema.relations import BY_KEY, Keep, Ref

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from uaix_conformance.oracle import State
    from uaix_core.schema.commits import Commit, Recorded
    from uaix_core.schema.relations import Key, Relation
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot, Store
    from uaix_core.values.ids import ScopeId

_E = TypeVar("_E", bound=BaseException)

#: A row taken apart: its relation, its version, each field's type and value. Without
#: the types, 1 would equal True.
Exact = tuple[str, int, tuple[tuple[str, str, Any], ...]]

#: More than any example holds, and few enough that pages are turned.
_PAGE = 1_000


def exact(row: Row | None, schema: Any = KIT) -> Exact | None:
    """A row as a value that compares exactly; None stays None."""
    if row is None:
        return None
    relation = schema.of(row)
    values = ((name, getattr(row, name)) for name in relation.fields)
    return (
        relation.name,
        row.version,
        tuple((name, type(value).__name__, value) for name, value in values),
    )


def exacts(rows: Iterable[Row], schema: Any = KIT) -> list[Exact | None]:
    """Many rows, in their order."""
    return [exact(row, schema) for row in rows]


def unversioned(rows: Iterable[Row]) -> list[Any]:
    """Many rows without their versions."""
    return [(name, fields) for name, _, fields in filter(None, exacts(rows))]


def place_of(recorded: Recorded) -> tuple[int, int, str]:
    """Seq, recorded instant and digest."""
    return recorded.seq, recorded.recorded_at, recorded.digest


def exact_commit(recorded: Recorded, schema: Any = KIT) -> Any:
    """A recorded commit as a value: its place, rows added, names erased."""
    commit = recorded.commit
    return (
        place_of(recorded),
        commit.scope.text,
        exacts(commit.adds, schema),
        [(ref.relation, tuple(ref.key)) for ref in commit.erases],
    )


def every(snapshot: Snapshot, relation: str, path: str = BY_KEY) -> list[Row]:
    """All rows of a relation in the order of a path, page after page."""
    found: list[Row] = []
    order = KIT.relation(relation).path_fields(path)
    after: Key | None = None
    while True:
        page = snapshot.scan(relation, path, after=after, limit=_PAGE)
        found += page
        if len(page) < _PAGE:
            return found
        last = tuple(getattr(page[-1], name) for name in order)
        assert last != after, "pages do not come to an end"
        after = last


def shown(snapshot: Snapshot, schema: Any = KIT) -> dict[str, Any]:
    """Everything a snapshot answers: place, commits, and rows by relation.

    What is no relation's name begins with ``#``.
    """
    return {
        "#position": snapshot.position,
        "#head": snapshot.head,
        "#commits": [exact_commit(r, schema) for r in snapshot.commits()],
        **{
            relation.name: exacts(
                snapshot.scan(relation.name, BY_KEY, limit=_PAGE), schema
            )
            for relation in schema.relations.values()
        },
    }


def contents(store: Store, scope: ScopeId) -> dict[str, Any]:
    """Everything a store shows of a scope now."""
    with store.snapshot(scope) as snapshot:
        return shown(snapshot, store.schema)


def modelled(state: State) -> dict[str, Any]:
    """What `contents` must give for a scope of the model."""
    schema, rows = state.schema, state.all_rows()
    listed: dict[str, list[Any]] = {name: [] for name in schema.relations}
    for ref, row in sorted(rows.items()):
        listed[ref.relation].append(exact(row, schema))
    return {
        "#position": state.position,
        "#head": state.head,
        "#commits": [exact_commit(r, schema) for r in state.commits()],
        **listed,
    }


def compare(state: State, snapshot: Snapshot, turn: int) -> None:
    """One scope, asked by every verb; `get` for one row of each relation by turns."""
    assert modelled(state) == shown(snapshot)
    rows = state.all_rows()
    for relation in state.schema.relations.values():
        for path in relation.paths:
            assert exacts(scanned(relation, rows, path)) == exacts(
                snapshot.scan(relation.name, path, limit=_PAGE)
            )
        keys = [ref.key for ref in rows if ref.relation == relation.name]
        found = snapshot.get_many(relation.name, keys)
        assert len(keys) == len(found)
        for key in keys:
            assert exact(rows[Ref(relation.name, key)]) == exact(found[key])
        if keys:
            key = keys[turn % len(keys)]
            assert exact(found[key]) == exact(snapshot.get(relation.name, key))
    after = state.position // 2
    assert [exact_commit(r) for r in state.commits(after)] == [
        exact_commit(r) for r in snapshot.commits(after)
    ]


def kept(contents_: dict[str, Any], *keeps: Keep, schema: Any = KIT) -> dict[str, Any]:
    """The part of `contents` whose relations are kept so."""
    names = [relation.name for relation in schema.kept(*keeps)]
    return {name: contents_[name] for name in names}


def get(store: Store, scope: ScopeId, relation: str, *key: Any) -> Row | None:
    """One row, as a snapshot opened now shows it."""
    with store.snapshot(scope) as snapshot:
        return snapshot.get(relation, key)


def rows(store: Store, scope: ScopeId, relation: str, path: str = BY_KEY) -> list[Row]:
    """All rows of a relation, as a snapshot opened now shows them."""
    with store.snapshot(scope) as snapshot:
        return every(snapshot, relation, path)


def commits(store: Store, scope: ScopeId, after: int = 0) -> list[Recorded]:
    """The commits of a scope, as a snapshot opened now shows them."""
    with store.snapshot(scope) as snapshot:
        return list(snapshot.commits(after))


def refused(
    store: Store,
    error: type[_E],
    commit: Commit | Recorded,
    watched: Sequence[ScopeId] = (),
) -> _E:
    """Append what must be refused with this error and must leave no trace."""
    scope = getattr(commit, "scope", None) or commit.commit.scope  # type: ignore[union-attr]
    scopes = {scope, *watched}
    before = {s: contents(store, s) for s in scopes}
    with pytest.raises(error) as raised:
        store.append(commit)
    after = {s: contents(store, s) for s in scopes}

    assert before == after, "a refused commit left a trace"
    return raised.value


def order_of(relation: Relation, path: str, row: Row) -> Key:
    """The values by which a row stands on a path."""
    return tuple(getattr(row, name) for name in relation.path_fields(path))


def chain_is_whole(store: Store, length: int, scope: ScopeId = SCOPE) -> None:
    """The scope's commits are dense and each seals the one before it."""
    found = commits(store, scope)
    assert list(range(1, length + 1)) == [recorded.seq for recorded in found]
    previous, last = first_digest(scope), BEFORE_ALL
    for recorded in found:
        assert last <= recorded.recorded_at
        digest = sealed_digest(
            KIT, recorded.commit, recorded.seq, recorded.recorded_at, previous
        )
        assert digest == recorded.digest
        previous, last = recorded.digest, recorded.recorded_at
    with store.snapshot(scope) as snapshot:
        assert (length, previous) == (snapshot.position, snapshot.head)
