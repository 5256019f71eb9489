"""Group 4: seq, recorded instant, digest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from uaix_conformance.comparison import (
    chain_is_whole,
    commits,
    place_of,
    refused,
    rows,
)
from uaix_conformance.examples import (
    OTHER,
    SCOPE,
    changed,
    commit,
    entry,
    expect,
    fact,
    job,
    note,
    note_ref,
)
from uaix_conformance.oracle import Oracle
from uaix_conformance.schema import KIT
from uaix_conformance.sealing import first_digest, sealed_digest
from uaix_conformance.strategies import INSTANTS, INTEGERS, JSONS
from uaix_conformance.threads import at_once
from uaix_core.schema.relations import Ref
from uaix_core.values.errors import CallerError, ConflictError
from uaix_core.values.instants import EARLIEST, FOREVER

if TYPE_CHECKING:
    from uaix_core.store.port import Store


def _place(store: Store) -> tuple[int, str]:
    with store.snapshot(SCOPE) as snapshot:
        return snapshot.position, snapshot.head


@pytest.mark.clause("4.1")
def test_seqs_are_dense_from_1(store: Store) -> None:
    """Each commit with history takes the next number; others and refused ones none."""
    assert 1 == store.append(commit(note(0))).seq
    assert 1 == store.append(commit(puts=[job(0)])).seq
    refused(store, ConflictError, commit(note(0)))
    assert 2 == store.append(commit(erases=[note_ref(0)])).seq
    refused(store, ConflictError, commit(fact(), expects=[expect("job", (True, 1), 5)]))
    assert 1 == store.append(commit(note(0), scope=OTHER)).seq
    assert 3 == store.append(commit(fact(), puts=[job(1)])).seq
    assert [1, 2, 3] == [recorded.seq for recorded in commits(store, SCOPE)]


@pytest.mark.clause("4.2")
def test_recorded_at_never_goes_back(store: Store) -> None:
    """The later of wish and last instant is recorded: before, equal, after."""
    wishes = [10, 9, 10, 11, 0, 11, FOREVER, 12]
    came = [
        store.append(commit(fact(i), at=wish)).recorded_at
        for i, wish in enumerate(wishes)
    ]

    assert [10, 10, 10, 11, 11, 11, FOREVER, FOREVER] == came
    assert came == [recorded.recorded_at for recorded in commits(store, SCOPE)]


@pytest.mark.clause("4.2")
def test_the_first_wish_stands(store: Store) -> None:
    """In an empty scope any wish is recorded, down to the earliest instant."""
    assert EARLIEST == store.append(commit(fact(), at=EARLIEST)).recorded_at
    assert -5 == store.append(commit(fact(), at=-5, scope=OTHER)).recorded_at
    assert -5 == store.append(commit(fact(1), at=-5)).recorded_at


@pytest.mark.clause("4.8")
@pytest.mark.parametrize(
    "wish", [EARLIEST - 1, FOREVER + 1, True, 1.0, "1970-01-01T00:00:00Z", None]
)
def test_a_wish_is_an_instant(store: Store, wish: object) -> None:
    """What is no instant is refused, also where it would not be recorded."""
    store.append(commit(fact(0), at=5))

    for made in (commit(fact(1)), commit(puts=[job(0)])):
        refused(store, CallerError, changed(made, recorded_at=wish))


@pytest.mark.clause("4.2", "8.2")
def test_local_commits_do_not_move_the_clock(store: Store) -> None:
    """A commit without history leaves the last recorded instant as it was."""
    store.append(commit(fact(0), at=5))
    store.append(commit(puts=[job(0)], at=50))

    assert 6 == store.append(commit(fact(1), at=6)).recorded_at


@pytest.mark.clause("4.3")
def test_digests_are_those_of_the_contract(store: Store) -> None:
    """The digest is SHA-256 of the RFC 8785 form, computed here a second time."""
    given = [
        commit(
            *(note(n, noted_at=at, extra=JSONS[n]) for n, at in enumerate(INSTANTS)),
            at=1_772_000_000_123_456,
        ),
        commit(*(fact(size, value='{"b":1,"é":[]}') for size in INTEGERS), at=-1),
        commit(fact(0, "z"), note(99, "A"), fact(1, "z"), erases=[note_ref(0)]),
        commit(erases=[note_ref(2), note_ref(1)]),
        commit(
            fact(0, "y"),
            erases=[note_ref(3)],
            puts=[job(0)],
            expects=[expect("note", ("A", 99), 3)],
        ),
    ]
    previous, last = first_digest(SCOPE), EARLIEST
    for seq, one in enumerate(given, 1):
        last = max(last, one.recorded_at)
        previous = sealed_digest(KIT, one, seq, last, previous)
        assert (seq, last, previous) == place_of(store.append(one))
    assert (len(given), previous) == _place(store)


@pytest.mark.clause("4.3")
def test_erases_are_sealed_by_keys_in_json(store: Store) -> None:
    """A number that JSON can't hold exactly stands in the key as text."""
    numbers = (0, 2**53 - 1, 2**53, 2**63 - 1, -(2**53), -(2**63))
    store.append(commit(*(note(number) for number in numbers)))
    head = _place(store)[1]
    gone = commit(erases=[note_ref(number) for number in numbers])

    expected = sealed_digest(KIT, gone, 2, 0, head)
    assert (2, 0, expected) == place_of(store.append(gone))
    assert gone.erases == commits(store, SCOPE)[1].commit.erases


@pytest.mark.clause("4.3")
def test_the_order_of_adds_and_erases_is_sealed(store: Store) -> None:
    """The same rows in another order have another digest."""
    one = store.append(commit(note(0), note(1)))
    two = store.append(commit(note(1), note(0), scope=OTHER))
    oracle = Oracle(KIT)

    assert place_of(oracle.append(commit(note(0), note(1)))) == place_of(one)
    assert place_of(oracle.append(commit(note(1), note(0), scope=OTHER))) == (
        place_of(two)
    )


@pytest.mark.clause("4.4")
def test_the_mark_at_0_names_format_and_scope(store: Store) -> None:
    """An empty scope's head is the digest of format and scope, another in each."""
    heads = []
    for scope in (SCOPE, OTHER):
        with store.snapshot(scope) as snapshot:
            heads.append(snapshot.head)

    assert [first_digest(SCOPE), first_digest(OTHER)] == heads
    assert heads[0] != heads[1]


@pytest.mark.clause("4.5")
def test_expects_puts_and_drops_are_not_chained(store: Store) -> None:
    """With and without local parts a commit has the same digest."""
    oracle = Oracle(KIT)
    store.append(commit(puts=[job(0), entry("a")]))
    came = store.append(
        commit(
            note(0),
            puts=[job(1)],
            drops=[Ref("job", (False, 0))],
            expects=[expect("entry", ("a",), 1)],
        )
    )

    assert place_of(oracle.append(commit(note(0)))) == place_of(came)
    (kept,) = commits(store, SCOPE)
    assert ((), (), ()) == (kept.commit.expects, kept.commit.puts, kept.commit.drops)


@pytest.mark.clause("4.7")
@pytest.mark.parametrize("turn", range(5))
def test_threads_end_in_one_dense_chain(store: Store, turn: int) -> None:
    """Commits of four threads that begin a scope together stand in one chain."""
    writers, each = 4, 8

    def write(writer: int) -> None:
        for number in range(each):
            store.append(
                commit(fact(number, f"s{writer}"), at=number, puts=[job(writer)])
            )

    at_once(writers, write)
    chain_is_whole(store, writers * each)
    assert writers * each == max(row.version for row in rows(store, SCOPE, "job"))
