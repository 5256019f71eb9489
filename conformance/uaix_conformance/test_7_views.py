"""Group 7: reducers, and views as a function of the history that survives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from uaix_conformance.examples import OTHER, SCOPE, commit, fact, job, note, note_ref
from uaix_conformance.oracle import Oracle
from uaix_conformance.rows import Tally
from uaix_conformance.schema import KIT, ROOMS
from uaix_core.schema.reducers import Changes
from uaix_core.schema.relations import Keep, Ref
from uaix_core.schema.schema import Room, Schema
from uaix_core.values.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from uaix_conformance.harness import Site
    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.reducers import Reducer, Steps
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Store


def _watched(reducer: Reducer) -> Schema:
    """The kit's schema and one more reducer, which runs last.

    A store may run reducers again whenever it computes views anew, so tests look at
    the first run for each seq: the one inside the append.
    """
    return Schema(*ROOMS, Room("watch", (), reducer))


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


@pytest.mark.clause("7.2")
def test_a_reducer_is_given_what_stands(site: Site) -> None:
    """The answer has an entry for each key under which a row stands, and no other."""
    given: dict[int, Mapping[Ref, Row]] = {}
    wanted = {
        Ref("note", ("t0", 0)),
        Ref("note", ("t0", 5)),
        Ref("note", ("t0", 1)),
        Ref("head", ("s0",)),
        Ref("head", ("s9",)),
    }

    def watch(recorded: Recorded, _erased: Mapping[Ref, Row]) -> Steps:
        given.setdefault(recorded.seq, dict((yield wanted)))
        return Changes()

    store = site.open(_watched(watch))
    store.append(commit(note(0, text="a"), fact(4)))
    store.append(commit(note(1, text="b")))

    found = given[2]
    assert {
        Ref("note", ("t0", 0)),
        Ref("note", ("t0", 1)),
        Ref("head", ("s0",)),
    } == set(found)
    standing = found[Ref("note", ("t0", 0))]
    assert ("a", 1) == (getattr(standing, "text", None), standing.version)
    assert 4 == getattr(found[Ref("head", ("s0",))], "size", None)


def _asking(times: int) -> Reducer:
    def ask(_recorded: Recorded, _erased: Mapping[Ref, Row]) -> Steps:
        for number in range(times):
            yield {Ref("note", ("t0", number))}
        return Changes()

    return ask


@pytest.mark.clause("7.3")
@pytest.mark.parametrize("times", [0, 1, 3])
def test_three_questions_are_answered(site: Site, times: int) -> None:
    """A reducer may ask up to three times in one run, in each run anew."""
    store = site.open(_watched(_asking(times)))
    store.append(commit(note(0)))
    store.append(commit(note(1)))

    assert 2 == len(commits(store, SCOPE))


@pytest.mark.clause("7.3")
def test_a_fourth_question_is_refused(site: Site) -> None:
    """A reducer that asks a fourth time spoils the commit."""
    store = site.open(_watched(_asking(4)))
    before = contents(store, SCOPE)
    with pytest.raises(SchemaError):
        store.append(commit(note(0), puts=[job(0)]))

    assert before == contents(store, SCOPE)


@pytest.mark.clause("7.4")
def test_later_reducers_see_what_earlier_ones_did(site: Site) -> None:
    """A row put or dropped by an earlier reducer reads so, and not as it stood."""
    seen: dict[int, dict[str, int]] = {}

    def watch(recorded: Recorded, _erased: Mapping[Ref, Row]) -> Steps:
        found = yield {Ref("tally", (word,)) for word in "abc"}
        seen.setdefault(
            recorded.seq,
            {row.word: row.count for row in found.values() if isinstance(row, Tally)},
        )
        return Changes()

    store = site.open(_watched(watch))
    store.append(commit(note(0, text="a b")))
    store.append(commit(note(1, text="b c"), erases=[note_ref(0)]))
    store.append(commit(fact()))

    assert [{"a": 1, "b": 1}, {"b": 1, "c": 1}, {"b": 1, "c": 1}] == list(seen.values())


@pytest.mark.clause("7.4")
def test_the_last_reducer_has_the_last_word(site: Site) -> None:
    """When two reducers write one row, the later one's stands."""

    def overrule(_recorded: Recorded, _erased: Mapping[Ref, Row]) -> Steps:
        yield from ()
        return Changes(puts=[Tally("a", 99)], drops=[Ref("tally", ("b",))])

    store = site.open(_watched(overrule))
    store.append(commit(note(0, text="a b c")))

    assert [("a", 99), ("c", 1)] == [
        (getattr(r, "word", ""), getattr(r, "count", 0))
        for r in rows(store, SCOPE, "tally")
    ]


@pytest.mark.clause("7.5")
def test_reducers_see_what_is_erased_as_it_was(site: Site) -> None:
    """Erased rows come with their bodies; absent and erased ones don't come."""
    seen: dict[int, Mapping[Ref, Row]] = {}

    def watch(recorded: Recorded, erased: Mapping[Ref, Row]) -> Steps:
        yield from ()
        seen.setdefault(recorded.seq, dict(erased))
        return Changes()

    store = site.open(_watched(watch))
    written = note(0, text="before")
    store.append(commit(written, note(1)))
    store.append(commit(erases=[note_ref(0), note_ref(9)]))
    store.append(commit(erases=[note_ref(0), note_ref(1)]))

    assert [[], [note_ref(0)], [note_ref(1)]] == [list(seen[n]) for n in (1, 2, 3)]
    (row,) = exacts([seen[2][note_ref(0)]])
    assert exacts([KIT.of(written).stamped(written, 1)]) == [row]


@pytest.mark.clause("7.5", "5.6")
def test_reducers_see_a_row_born_erased_without_body(
    store: Store, new_site: Callable[[], Site]
) -> None:
    """On replay such a row stands among the adds with its body absent."""
    seen: dict[int, Any] = {}

    def watch(recorded: Recorded, erased: Mapping[Ref, Row]) -> Steps:
        yield from ()
        bodies = [getattr(row, "text", "none") for row in recorded.commit.adds]
        seen.setdefault(recorded.seq, (bodies, list(erased)))
        return Changes()

    store.append(commit(note(0, text="gone"), note(1, text="stays")))
    store.append(commit(erases=[note_ref(0)]))
    copy = new_site().open(_watched(watch))
    for recorded in commits(store, SCOPE):
        copy.append(recorded)

    assert {1: ([None, "stays"], []), 2: ([], [])} == seen


@pytest.mark.clause("7.6")
def test_a_reducer_s_error_reaches_the_caller(site: Site) -> None:
    """The error comes out as it is and nothing of the commit is kept."""

    class OddError(Exception):
        pass

    def fail(recorded: Recorded, _erased: Mapping[Ref, Row]) -> Steps:
        yield {Ref("note", ("t0", 0))}
        if len(recorded.commit.adds) > 1:
            raise OddError
        return Changes()

    store = site.open(_watched(fail))
    store.append(commit(note(0), puts=[job(0)]))
    before = contents(store, SCOPE)
    with pytest.raises(OddError):
        store.append(commit(note(1), fact(), puts=[job(0, due_at=5)]))

    assert before == contents(store, SCOPE)
    assert 2 == store.append(commit(note(1))).seq


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

    store = site.open(_watched(changeable))
    store.append(commit(fact(0)))
    store.append(commit(fact(1)))
    counts[0] = 2
    store.rebuild(SCOPE)

    assert [("seq 1", 2), ("seq 2", 2)] == [
        (getattr(r, "word", ""), getattr(r, "count", 0))
        for r in rows(store, SCOPE, "tally")
    ]


@pytest.mark.clause("7.8")
def test_rebuilding_an_empty_scope_is_0(store: Store) -> None:
    """A scope that nobody wrote to has no commit to replay, and stays unknown."""
    assert 0 == store.rebuild(SCOPE)
    assert [] == list(store.scopes(limit=1))
