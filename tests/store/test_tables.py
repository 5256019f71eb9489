"""Laws of states: how one is made of what was kept of another, and what they share."""

from __future__ import annotations

import pytest
from tests.store.lives import LIFE

from uaix_conformance.examples import SCOPE, fact
from uaix_conformance.schema import KIT
from uaix_core.schema.commits import Commit
from uaix_core.schema.relations import Keep
from uaix_core.store.advance import advance, drive
from uaix_core.store.tables import Tables

COMMITS = tuple(one for one in LIFE if one.scope == SCOPE)
KEPT = (Keep.HISTORY, Keep.VIEW)


def after(state: Tables, one: Commit) -> Tables:
    steps = advance(KIT, one, state.mark, state.work)
    return state.apply(drive(steps, state.answer))


def states() -> list[Tables]:
    """The state before, between and after the commits of a life."""
    found = [Tables(KIT, SCOPE)]
    for one in COMMITS:
        found.append(after(found[-1], one))
    return found


def again(state: Tables) -> Tables:
    """The state made of what is kept of this one."""
    maps = {(relation.name, path): rows for relation, path, rows in state.maps(*KEPT)}
    return Tables.restored(KIT, SCOPE, state.mark, maps, state.log)


def shown(state: Tables) -> object:
    """All that is kept of a state."""
    rows = {
        (relation.name, path): list(state.all(relation.name, path))
        for relation in KIT.kept(*KEPT)
        for path in relation.orders
    }
    return rows, list(state.commits()), state.mark


@pytest.mark.parametrize("number", range(len(COMMITS) + 1))
def test_a_restored_state_shows_what_was_kept(number: int) -> None:
    """History and views are the same on each path, local rows are gone."""
    state = states()[number]
    new = again(state)

    assert shown(state) == shown(new)
    assert 0 == new.work
    assert [] == [r.name for r in KIT.kept(Keep.WORK, Keep.CACHE) if [*new.all(r.name)]]


def test_a_restored_state_goes_on_as_the_other() -> None:
    """The next commit changes both alike."""
    *_, state, last = states()

    assert shown(last) == shown(after(again(state), COMMITS[-1]))


@pytest.mark.parametrize("keeps", [KEPT, (Keep.WORK,), tuple(Keep), ()])
def test_maps_are_those_of_the_kinds_asked_for(keeps: tuple[Keep, ...]) -> None:
    """Each relation of the kinds that has rows comes once for each of its paths."""
    for state in states():
        expected = [
            (relation.name, path, list(state.all(relation.name, path)))
            for relation in KIT.kept(*keeps)
            for path in relation.orders
            if [*state.all(relation.name)]
        ]
        found = [
            (relation.name, path, [row for _key, row in rows.rising((), beyond=False)])
            for relation, path, rows in state.maps(*keeps)
        ]
        # A map that lost its last row may still be there.
        assert expected == [one for one in found if one[2]]
    assert bool(keeps) == bool(expected)


def test_states_share_a_log_and_see_their_part_of_it() -> None:
    """A state keeps its commits when another goes on, and when that was in vain."""
    found = states()
    seqs = [[recorded.seq for recorded in state.commits()] for state in found]
    assert [state.mark.seq for state in found] == [len(seen) for seen in seqs]

    before = shown(found[2])
    other = after(found[2], Commit(SCOPE, 99, adds=(fact(7),)))
    assert before == shown(found[2])
    assert other.mark.digest == other.digest_at(other.mark.seq)
    assert found[2].mark.digest == other.digest_at(found[2].mark.seq)
