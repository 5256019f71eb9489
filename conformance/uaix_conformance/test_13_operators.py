"""Group 13: scopes and due, the two verbs that read across scopes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from uaix_conformance.comparison import exact, get
from uaix_conformance.examples import OTHER, SCOPE, commit, fact, job, note
from uaix_core.schema.relations import Ref
from uaix_core.values.errors import SchemaError
from uaix_core.values.ids import ScopeId
from uaix_core.values.instants import EARLIEST, FOREVER

if TYPE_CHECKING:
    from uaix_core.store.port import Store

#: In the order of their text: "-" and "." stand before "/", digits and letters after.
_SCOPES = [
    ScopeId("B", "shared", "x"),
    ScopeId("a-b", "project", "x"),
    ScopeId("a.b", "project", "x"),
    ScopeId("a", "personal", "x"),
    ScopeId("a", "project", "X"),
    ScopeId("a", "project", "x"),
    ScopeId("a", "project", "x-"),
    ScopeId("a", "project", "x0"),
    ScopeId("a0", "project", "x"),
    ScopeId("aa", "personal", "x"),
]


@pytest.mark.clause("13.1")
def test_scopes_are_listed_once_in_the_order_of_their_text(store: Store) -> None:
    """Each scope that holds a commit, by code point of its written form."""
    assert [] == list(store.scopes(limit=9))
    for scope in [*_SCOPES[::-1], *_SCOPES]:
        size = 0 if get(store, scope, "fact", 0, False, 0, "s0") is None else 1
        store.append(commit(fact(size), scope=scope))

    assert sorted(_SCOPES, key=str) == _SCOPES
    assert list(_SCOPES) == list(store.scopes(limit=100))
    assert _SCOPES[:3] == list(store.scopes(limit=3))


@pytest.mark.clause("13.1")
def test_scopes_after_one_are_strictly_greater(store: Store) -> None:
    """After each listed scope the next one follows; after an unlisted one likewise."""
    for scope in _SCOPES:
        store.append(commit(fact(), scope=scope))

    for i, scope in enumerate(_SCOPES):
        assert _SCOPES[i + 1 :] == list(store.scopes(after=scope, limit=100))
        assert _SCOPES[i + 1 : i + 3] == list(store.scopes(after=scope, limit=2))
    for text, place in (
        ("A/personal/a", 0),
        ("a/personal/y", 4),
        ("a/project/x.", 7),
        ("b/personal/a", 10),
    ):
        after = ScopeId.parse(text)
        assert _SCOPES[place:] == list(store.scopes(after=after, limit=100))


@pytest.mark.clause("13.1", "9.3")
def test_a_scope_that_holds_no_commit_is_not_listed(store: Store) -> None:
    """Reading, rebuilding and local changes make no commit of the history."""
    store.append(commit(puts=[job(0)], scope=OTHER))
    with store.snapshot(SCOPE) as snapshot:
        assert 0 == snapshot.position
    store.rebuild(SCOPE)

    assert [] == list(store.scopes(limit=9))


def _due(store: Store, until: int, limit: int = 100) -> list[tuple[str, object]]:
    return [
        (scope.key, (getattr(r, "urgent", None), getattr(r, "number", None)))
        for scope, r in store.due("job", until=until, limit=limit)
    ]


@pytest.mark.clause("13.2")
@pytest.mark.parametrize(
    "at", [0, -1, 1_772_000_000_000_001, EARLIEST + 1, FOREVER - 1]
)
def test_a_row_is_due_at_its_instant(store: Store, at: int) -> None:
    """At the instant and one microsecond after it, and not one before."""
    store.append(commit(puts=[job(0, due_at=at)]))

    assert [] == _due(store, at - 1)
    assert [("one", (False, 0))] == _due(store, at)
    assert [("one", (False, 0))] == _due(store, at + 1)


@pytest.mark.clause("13.2")
def test_due_reads_all_scopes_and_whole_rows(store: Store) -> None:
    """Each row comes with its scope, equal to what the scope's snapshot shows."""
    store.append(commit(note(0), puts=[job(0, payload="[1]"), job(1, due_at=9)]))
    store.append(commit(puts=[job(0, kind="see")], scope=OTHER))
    found = store.due("job", until=0, limit=9)

    assert [SCOPE, OTHER] == [scope for scope, _ in found]
    for scope, row in found:
        assert exact(get(store, scope, "job", False, 0)) == exact(row)


@pytest.mark.clause("13.3")
def test_due_is_ordered_by_instant_scope_and_key(store: Store) -> None:
    """First the instant, then the scope's text, then the key; cut at the limit."""
    for scope in (OTHER, SCOPE):
        store.append(
            commit(
                puts=[
                    job(1, urgent=True, due_at=1),
                    job(2, due_at=1),
                    job(-1, due_at=1),
                    job(0, urgent=True, due_at=-1),
                    job(0, due_at=2),
                ],
                scope=scope,
            )
        )
    expected = [
        ("one", (True, 0)),
        ("two", (True, 0)),
        ("one", (False, -1)),
        ("one", (False, 2)),
        ("one", (True, 1)),
        ("two", (False, -1)),
        ("two", (False, 2)),
        ("two", (True, 1)),
        ("one", (False, 0)),
        ("two", (False, 0)),
    ]

    assert expected == _due(store, 2)
    assert expected[:8] == _due(store, 1)
    for limit in (1, 4, 9, 10, 11):
        assert expected[:limit] == _due(store, 2, limit)


@pytest.mark.clause("13.3")
def test_due_orders_scopes_by_their_text(store: Store) -> None:
    """Not by their parts: "a-b/..." stands before "a/..."."""
    for scope in reversed(_SCOPES):
        store.append(commit(puts=[job(0)], scope=scope))

    found = [scope for scope, _ in store.due("job", until=0, limit=100)]
    assert list(_SCOPES) == found


@pytest.mark.clause("13.3")
def test_a_row_leaves_its_earlier_place(store: Store) -> None:
    """Dropped, or put again with a later instant, it is no longer due when it was."""
    store.append(commit(puts=[job(n, due_at=n) for n in range(3)]))
    store.append(commit(puts=[job(0, due_at=5)], drops=[Ref("job", (False, 1))]))

    assert [("one", (False, 2))] == _due(store, 4)
    assert [("one", (False, 2)), ("one", (False, 0))] == _due(store, 5)
    store.append(commit(puts=[job(0, due_at=-5)]))
    assert [("one", (False, 0))] == _due(store, 0)


@pytest.mark.clause("13.4")
@pytest.mark.parametrize("relation", ["lease", "entry", "note", "head", "nothing"])
def test_due_of_a_relation_without_due_field_is_refused(
    store: Store, relation: str
) -> None:
    """WORK that declares none, and every other keeping."""
    with pytest.raises(SchemaError):
        store.due(relation, until=0, limit=1)
