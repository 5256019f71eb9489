"""Laws of what `advance` gives to backends, beyond what a caller of the port sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_conformance.examples import (
    SCOPE,
    commit,
    entry,
    job,
    lease,
    note,
    note_ref,
    vector,
)
from uaix_conformance.schema import ROOMS
from uaix_core.schema.relations import Keep, Ref, Relation
from uaix_core.schema.rows import Id, Int, Row, row
from uaix_core.schema.schema import Room, Schema
from uaix_core.store.advance import advance, drive, replay_views
from uaix_core.store.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Iterable


@row
class Pin(Row):
    """WORK about a note that its key does not name, so it may move to another."""

    name: Id
    topic: Id
    number: Int


BY_NOTE = {"by_note": ("topic", "number")}
PIN = Relation("pin", Pin, ("name",), keep=Keep.WORK, paths=BY_NOTE, about="note")
SCHEMA = Schema(*ROOMS, Room("pins", (PIN,)))

#: Views come, change and go; local rows are put, dropped, and go with what they are
#: about, one of them in both ways at once.
LIFE = (
    commit(note(0, text="a b", title="x"), note(1, text="b"), puts=[job(0)]),
    commit(puts=[lease(0), lease(0, holder="h1"), vector(0), entry("e")]),
    commit(
        note(2, text="c", title="x"),
        erases=[note_ref(0)],
        drops=[Ref("lease", ("t0", 0, "h0")), Ref("job", (False, 0))],
        puts=[lease(2), vector(0, model="m1")],
    ),
    commit(puts=[Pin(name, "t0", 1) for name in ("p0", "p1")]),
    commit(note(3, text="d b"), erases=[note_ref(1)], puts=[Pin("p1", "t0", 2)]),
    commit(note(4, text="e"), erases=[note_ref(2)]),
)


def names(puts: Iterable[Row], drops: Iterable[Ref]) -> list[Ref]:
    """The names of all rows that change."""
    return sorted([*(SCHEMA.of(row).ref(row) for row in puts), *drops])


def test_a_change_names_each_row_once():
    """Puts and drops share no row, so a backend may carry them out in any order."""
    state = Tables(SCHEMA, SCOPE)
    for given in LIFE:
        change = drive(advance(SCHEMA, given, state.mark, state.work), state.answer)
        state = state.apply(change)
        found = names(change.puts, change.drops)
        assert sorted(set(found)) == found


def test_a_replayed_change_of_views_names_each_row_once():
    """The same holds for what a rebuild puts and drops."""
    state = Tables(SCHEMA, SCOPE)
    for given in LIFE:
        steps = advance(SCHEMA, given, state.mark, state.work)
        state = state.apply(drive(steps, state.answer))
    new = state.without_views()
    for recorded in state.commits():
        puts, drops = drive(replay_views(SCHEMA, recorded), new.answer)
        found = names(puts, drops)
        assert sorted(set(found)) == found
        new = new.with_rows(puts, drops)
