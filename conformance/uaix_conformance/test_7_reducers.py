"""Group 7, continued: what a reducer is given, and what it may do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from uaix_conformance.comparison import commits, contents, exacts, rows
from uaix_conformance.examples import (
    SCOPE,
    commit,
    entry,
    fact,
    job,
    note,
    note_ref,
)
from uaix_conformance.oracle import without_body
from uaix_conformance.rows import Tally
from uaix_conformance.schema import KIT, NOTE, watched
from uaix_core.schema.reducers import Changes
from uaix_core.schema.relations import Ref
from uaix_core.schema.schema import Room, Schema
from uaix_core.values.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from uaix_conformance.harness import Site
    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.reducers import Reducer, Steps
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Store


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

    store = site.open(watched(watch))
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
    store = site.open(watched(_asking(times)))
    store.append(commit(note(0)))
    store.append(commit(note(1)))

    assert 2 == len(commits(store, SCOPE))


@pytest.mark.clause("7.3")
def test_a_fourth_question_is_refused(site: Site) -> None:
    """A reducer that asks a fourth time spoils the commit."""
    store = site.open(watched(_asking(4)))
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

    store = site.open(watched(watch))
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

    store = site.open(watched(overrule))
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

    store = site.open(watched(watch))
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
    copy = new_site().open(watched(watch))
    for recorded in commits(store, SCOPE):
        copy.append(recorded)

    assert {1: ([None, "stays"], []), 2: ([], [])} == seen


@pytest.mark.clause("7.10")
def test_reducers_read_the_commit_s_own_rows_as_they_will_stand(site: Site) -> None:
    """What it adds is there with its seq, what it erases without its body."""
    seen: dict[int, list[dict[Ref, Row]]] = {}
    wanted = {note_ref(0), note_ref(1), note_ref(9), Ref("fact", (0, False, 0, "s0"))}

    def watch(recorded: Recorded, _erased: Mapping[Ref, Row]) -> Steps:
        yield {Ref("tally", ("a",))}
        first = yield wanted
        again = yield {*wanted, Ref("head", ("s0",))}
        seen.setdefault(recorded.seq, [dict(first), dict(again)])
        return Changes()

    store = site.open(watched(watch))
    store.append(commit(note(0, text="a"), note(8)))
    old = note(0, text="a")
    new, plain = note(1, text="b"), fact()
    store.append(commit(new, plain, erases=[note_ref(0)]))

    expected = [
        without_body(NOTE, NOTE.stamped(old, 1)),
        NOTE.stamped(new, 2),
        KIT.of(plain).stamped(plain, 2),
    ]
    names = [note_ref(0), note_ref(1), Ref("fact", (0, False, 0, "s0"))]
    first, again = seen[2]
    assert set(names) == set(first) == set(again) - {Ref("head", ("s0",))}
    for found in (first, again):
        assert exacts(expected) == exacts(found[name] for name in names)


@pytest.mark.clause("7.10")
def test_the_first_question_may_be_for_the_commit_s_own_rows(site: Site) -> None:
    """They are there without any other reducer having asked for anything."""
    seen: dict[int, list[Ref]] = {}

    def watch(recorded: Recorded, _erased: Mapping[Ref, Row]) -> Steps:
        found = yield {note_ref(number) for number in range(3)}
        seen.setdefault(recorded.seq, sorted(found))
        return Changes()

    store = site.open(Schema(Room("notes", (NOTE,), watch)))
    store.append(commit(note(0)))
    store.append(commit(note(1)))

    assert {1: [note_ref(0)], 2: [note_ref(0), note_ref(1)]} == seen


@pytest.mark.clause("7.9")
@pytest.mark.parametrize(
    "ref",
    [
        Ref("job", (False, 0)),
        Ref("lease", ("t0", 0, "h0")),
        Ref("vector", ("m0", "t0", 0)),
        Ref("entry", ("",)),
    ],
)
def test_a_reducer_reads_history_and_views_alone(site: Site, ref: Ref) -> None:
    """A view that hung on local rows could not be replayed."""

    def ask(_recorded: Recorded, _erased: Mapping[Ref, Row]) -> Steps:
        yield {note_ref(0), ref}
        return Changes()

    store = site.open(watched(ask))
    with pytest.raises(SchemaError):
        store.append(commit(note(0), puts=[job(0)]))
    assert [] == rows(store, SCOPE, "note")


@pytest.mark.clause("7.9")
@pytest.mark.parametrize(
    "changes",
    [
        Changes(puts=[fact(9)]),
        Changes(puts=[job(9)]),
        Changes(puts=[entry("e")]),
        Changes(drops=[note_ref(0)]),
        Changes(drops=[Ref("job", (False, 0))]),
        Changes(puts=[Tally("t", 1)], drops=[Ref("entry", ("e",))]),
    ],
)
def test_a_reducer_changes_views_alone(site: Site, changes: Changes) -> None:
    """It makes no history and no local rows, and takes none away."""

    def write(recorded: Recorded, _erased: Mapping[Ref, Row]) -> Steps:
        yield from ()
        return changes if recorded.seq > 1 else Changes()

    store = site.open(watched(write))
    store.append(commit(note(0), puts=[job(0), entry("e")]))
    before = contents(store, SCOPE)
    with pytest.raises(SchemaError):
        store.append(commit(note(1)))

    assert before == contents(store, SCOPE)


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

    store = site.open(watched(fail))
    store.append(commit(note(0), puts=[job(0)]))
    before = contents(store, SCOPE)
    with pytest.raises(OddError):
        store.append(commit(note(1), fact(), puts=[job(0, due_at=5)]))

    assert before == contents(store, SCOPE)
    assert 2 == store.append(commit(note(1))).seq
