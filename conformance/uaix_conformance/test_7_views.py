"""Group 7: reducers, and views as a function of the history that survives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from uaix_conformance.comparison import (
    commits,
    contents,
    exacts,
    get,
    kept,
    modelled,
    rows,
)
from uaix_conformance.examples import (
    OTHER,
    SCOPE,
    commit,
    fact,
    job,
    note,
    note_ref,
)
from uaix_conformance.oracle import Oracle
from uaix_conformance.rows import Tally
from uaix_conformance.schema import KIT, watched
from uaix_core.schema.reducers import Changes
from uaix_core.schema.relations import Keep, Ref

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from uaix_conformance.harness import Site
    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.reducers import Steps
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Store


@pytest.mark.clause("7.1")
def test_views_show_with_the_commit(store: Store) -> None:
    """What reducers put and dropped shows in get, get_many and on every path."""
    store.append(commit(note(0, text="a b"), note(1, text="b"), fact(3)))
    store.append(commit(note(2, text="c"), fact(1, "s1"), erases=[note_ref(0)]))

    assert get(store, SCOPE, "tally", "a") is None
    assert 1 == getattr(get(store, SCOPE, "tally", "b"), "count", None)
    with store.snapshot(SCOPE) as snapshot:
        keys = [("a",), ("b",), ("c",)]
        assert {("b",), ("c",)} == set(snapshot.get_many("tally", keys))
    assert ["s1", "s0"] == [
        getattr(r, "subject", "") for r in rows(store, SCOPE, "head", "by_size")
    ]
    assert [(1, "b"), (1, "c")] == [
        (getattr(r, "count", 0), getattr(r, "word", ""))
        for r in rows(store, SCOPE, "rank")
    ]


@pytest.mark.clause("7.1", "7.7")
def test_a_count_vanishes_at_zero(store: Store) -> None:
    """Two, one, none: at none the row is gone and not a row of 0."""
    store.append(commit(note(0, text="w"), note(1, text="w")))
    counts = [2, 1, None]
    for number, expected in enumerate(counts):
        tally = get(store, SCOPE, "tally", "w")
        assert expected == getattr(tally, "count", None)
        if number < 2:
            store.append(commit(erases=[note_ref(number)]))
    assert [] == rows(store, SCOPE, "rank")


def _eventful(store: Store) -> None:
    """Commits and erasures after which every view went forth and back."""
    store.append(commit(note(0, text="a b", title="x"), note(1, text="b"), fact(0)))
    store.append(commit(note(2, text="b c", title="y"), note(0, "t1", text="a")))
    store.append(commit(note(3, text="c"), fact(1), erases=[note_ref(2), note_ref(0)]))
    store.append(commit(note(4, text="d", title="x"), erases=[note_ref(3)]))
    store.append(commit(erases=[note_ref(4), note_ref(0, "t1")]))
    store.append(commit(fact(2, "s1"), puts=[job(0)], scope=OTHER))


@pytest.mark.clause("7.7")
def test_views_are_those_of_the_surviving_history(
    store: Store, new_site: Callable[[], Site]
) -> None:
    """The views equal those of a replay of what is left, and those of the model."""
    _eventful(store)
    copy, oracle = new_site().open(), Oracle(KIT)
    for recorded in commits(store, SCOPE):
        copy.append(recorded)
        oracle.append(recorded)
    views = kept(contents(store, SCOPE), Keep.VIEW)

    assert kept(modelled(oracle.state(SCOPE)), Keep.VIEW) == views
    assert kept(contents(copy, SCOPE), Keep.VIEW) == views
    assert ["b"] == [getattr(r, "word", "") for r in rows(store, SCOPE, "tally")]


@pytest.mark.clause("7.7", "8.2")
def test_local_changes_move_no_view(site: Site) -> None:
    """A commit without history reduces to nothing: a replay would not know of it."""

    def count(recorded: Recorded, _erased: Mapping[Ref, Row]) -> Steps:
        yield from ()
        adds = len(recorded.commit.adds)
        return Changes(puts=[Tally(f"{adds} at {recorded.seq}", adds)])

    store = site.open(watched(count))
    store.append(commit(puts=[job(0)]))
    assert [] == rows(store, SCOPE, "tally")
    store.append(commit(fact(0)))
    before = rows(store, SCOPE, "tally")
    store.append(commit(puts=[job(1)], drops=[Ref("job", (False, 0))]))

    assert ["1 at 1"] == [getattr(r, "word", "") for r in before]
    assert exacts(before) == exacts(rows(store, SCOPE, "tally"))


@pytest.mark.clause("7.8")
def test_a_rebuild_changes_no_row(store: Store) -> None:
    """`rebuild` counts the commits and leaves every relation of every scope equal."""
    _eventful(store)
    store.append(commit(puts=[job(3)]))
    before = [contents(store, scope) for scope in (SCOPE, OTHER)]

    assert (5, 1) == (store.rebuild(SCOPE), store.rebuild(OTHER))
    assert before == [contents(store, scope) for scope in (SCOPE, OTHER)]
    assert 6 == store.append(commit(note(9))).seq


@pytest.mark.clause("7.8")
def test_a_rebuild_runs_the_reducers(site: Site) -> None:
    """`rebuild` computes views anew: a reducer that changed its mind shows."""
    counts = [1]

    def changeable(recorded: Recorded, _erased: Mapping[Ref, Row]) -> Steps:
        yield from ()
        return Changes(puts=[Tally(f"seq {recorded.seq}", counts[0])])

    store = site.open(watched(changeable))
    store.append(commit(fact(0)))
    store.append(commit(fact(1)))
    counts[0] = 2
    store.rebuild(SCOPE)

    assert [("seq 1", 2), ("seq 2", 2)] == [
        (getattr(r, "word", ""), getattr(r, "count", 0))
        for r in rows(store, SCOPE, "tally")
    ]


@pytest.mark.clause("7.8")
def test_a_rebuild_shows_no_reducer_what_came_later(site: Site) -> None:
    """A reducer finds the history that stood when its commit was new."""

    def count(recorded: Recorded, _erased: Mapping[Ref, Row]) -> Steps:
        found = yield {Ref("note", ("t0", number)) for number in range(4)}
        return Changes(puts=[Tally(f"seq {recorded.seq}", len(found))])

    store = site.open(watched(count))
    for number in range(3):
        store.append(commit(note(number, text="first")))
    before = contents(store, SCOPE)
    assert [("seq 1", 1), ("seq 2", 2), ("seq 3", 3)] == [
        (getattr(r, "word", ""), getattr(r, "count", 0))
        for r in rows(store, SCOPE, "tally")[1:]
    ]
    store.rebuild(SCOPE)

    assert before == contents(store, SCOPE)


@pytest.mark.clause("7.8")
def test_rebuilding_an_empty_scope_is_0(store: Store) -> None:
    """A scope that nobody wrote to has no commit to replay, and stays unknown."""
    assert 0 == store.rebuild(SCOPE)
    assert [] == list(store.scopes(limit=1))
