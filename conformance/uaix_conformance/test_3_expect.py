"""Group 3: what a writer relied on still stands, or nothing is written."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from uaix_conformance.comparison import commits, exact, get, refused, rows
from uaix_conformance.examples import (
    OTHER,
    SCOPE,
    commit,
    entry,
    expect,
    fact,
    job,
    lease,
    note,
    note_ref,
    vector,
)
from uaix_conformance.threads import at_once
from uaix_core.schema.commits import Expect
from uaix_core.schema.relations import Ref
from uaix_core.values.errors import CallerError, ConflictError, SchemaError

if TYPE_CHECKING:
    from uaix_core.store.port import Store

#: One row of each relation that may be expected, and its version after `_fill`.
_STANDING = [
    ("note", ("t0", 0), 2),
    ("fact", (0, False, 0, "s0"), 3),
    ("head", ("s0",), 3),
    ("latest", ("t0",), 2),
    ("job", (False, 0), 4),
    ("lease", ("t0", 0, "h0"), 4),
    ("vector", ("m0", "t0", 0), 3),
    ("entry", ("a",), 5),
]


def _fill(store: Store) -> None:
    """Commits after which the rows above stand, each written by another commit."""
    store.append(commit(note(9, "t9"), puts=[job(9)]))
    store.append(commit(note(0), puts=[job(9)]))
    store.append(commit(fact(), puts=[vector(0)]))
    store.append(commit(puts=[job(0), lease(0)]))
    store.append(commit(puts=[entry("a")]))


@pytest.mark.clause("3.1", "3.3", "3.4", "3.5")
@pytest.mark.parametrize(("relation", "key", "version"), _STANDING)
def test_an_expect_holds_at_its_version_only(
    store: Store, relation: str, key: tuple[object, ...], version: int
) -> None:
    """The version that stands holds; one lower and one higher are refused."""
    _fill(store)

    for wrong in (version - 1, version + 1, 0):
        refused(
            store,
            ConflictError,
            commit(fact(5), expects=[expect(relation, key, wrong)]),
        )
    store.append(commit(fact(5), expects=[expect(relation, key, version)]))
    assert 4 == store.append(commit(note(5, "t5"))).seq - 1


@pytest.mark.clause("3.1", "3.5")
def test_a_local_commit_is_held_to_its_expects(store: Store) -> None:
    """Expects bind a commit without history just as well."""
    store.append(commit(puts=[job(0)]))

    refused(
        store,
        ConflictError,
        commit(puts=[job(0, due_at=1)], expects=[expect("job", (False, 0), 2)]),
    )
    store.append(
        commit(puts=[job(0, due_at=1)], expects=[expect("job", (False, 0), 1)])
    )
    assert 2 == getattr(get(store, SCOPE, "job", False, 0), "version", None)


@pytest.mark.clause("3.2")
@pytest.mark.parametrize(("relation", "key", "version"), _STANDING)
def test_version_0_holds_where_no_row_stands(
    store: Store, relation: str, key: tuple[object, ...], version: int
) -> None:
    """An expect of 0 holds before there is a row and not after; 1 does not hold."""
    refused(store, ConflictError, commit(fact(7), expects=[expect(relation, key, 1)]))
    store.append(commit(note(7, "t7"), expects=[expect(relation, key, 0)]))
    _fill(store)
    refused(store, ConflictError, commit(fact(7), expects=[expect(relation, key, 0)]))


@pytest.mark.clause("3.2", "8.1")
def test_version_0_holds_again_after_a_drop(store: Store) -> None:
    """A dropped row stands no more."""
    store.append(commit(puts=[job(0)]))
    store.append(commit(drops=[Ref("job", (False, 0))]))

    refused(
        store,
        ConflictError,
        commit(puts=[job(1)], expects=[expect("job", (False, 0), 1)]),
    )
    store.append(commit(puts=[job(1)], expects=[expect("job", (False, 0), 0)]))


@pytest.mark.clause("3.3")
def test_history_carries_the_seq_that_added_it(store: Store) -> None:
    """A row's version is the seq of its commit, also after an erasure."""
    for number in range(3):
        store.append(commit(note(number), fact(number)))
    store.append(commit(erases=[note_ref(1)]))

    assert [1, 2, 3] == [row.version for row in rows(store, SCOPE, "note")]
    assert [1, 2, 3] == [row.version for row in rows(store, SCOPE, "fact")]
    assert [[1, 1], [2, 2], [3, 3], []] == [
        [row.version for row in recorded.commit.adds]
        for recorded in commits(store, SCOPE)
    ]


@pytest.mark.clause("3.3")
def test_one_row_given_twice_carries_each_seq(store: Store) -> None:
    """The same object may be added to two scopes; neither sees the other's seq."""
    given = (note(0, text="a"), fact(0))
    store.append(commit(note(9)))
    with store.snapshot(SCOPE) as before:
        store.append(commit(*given))
        store.append(commit(*given, scope=OTHER))
        assert 1 == before.position

    for scope, seq in ((SCOPE, 2), (OTHER, 1)):
        for relation, key in (("note", ("t0", 0)), ("fact", (0, False, 0, "s0"))):
            row = get(store, scope, relation, *key)
            assert row is not None
            assert seq == row.version
    store.append(commit(fact(1), expects=[expect("note", ("t0", 0), 2)]))


@pytest.mark.clause("3.4")
def test_a_versioned_view_carries_the_seq_that_wrote_it(store: Store) -> None:
    """Only a commit that writes the row moves its version."""
    store.append(commit(fact(0)))
    store.append(commit(fact(0, "s1")))
    store.append(commit(note(0), puts=[job(0)]))
    store.append(commit(fact(1)))

    heads = rows(store, SCOPE, "head")
    assert [("s0", 4), ("s1", 2)] == [
        (getattr(row, "subject", ""), row.version) for row in heads
    ]
    assert [0, 0] == [row.version for row in rows(store, SCOPE, "tally")] + [
        row.version for row in rows(store, SCOPE, "link")
    ]


@pytest.mark.clause("3.4", "7.7")
def test_a_view_that_goes_back_carries_the_seq_of_what_it_shows(store: Store) -> None:
    """When an erasure brings an earlier state back, its seq comes back with it."""
    store.append(commit(note(0)))
    store.append(commit(note(1)))
    store.append(commit(erases=[note_ref(1)]))
    latest = get(store, SCOPE, "latest", "t0")

    assert latest is not None
    assert (0, 1) == (getattr(latest, "number", None), latest.version)


@pytest.mark.clause("3.5")
def test_local_rows_carry_the_work_number_that_put_them(store: Store) -> None:
    """The version of a WORK or CACHE row counts changes of the scope, not commits."""
    store.append(commit(note(0)))
    store.append(commit(note(1), puts=[job(0), entry("a")]))
    store.append(commit(note(2)))
    store.append(commit(puts=[job(1), vector(0)]))

    assert [1, 2] == [row.version for row in rows(store, SCOPE, "job")]
    assert [1] == [row.version for row in rows(store, SCOPE, "entry")]
    assert [2] == [row.version for row in rows(store, SCOPE, "vector")]


@pytest.mark.clause("3.6")
def test_a_conflict_says_what_was_expected_and_what_stands(store: Store) -> None:
    """The error carries relation, key, expected version and the standing row."""
    store.append(commit(note(0, text="here"), fact(), puts=[job(0)]))

    for relation, key in (
        ("note", ("t0", 0)),
        ("head", ("s0",)),
        ("job", (False, 0)),
    ):
        wrong = commit(fact(1), expects=[expect(relation, key, 4)])
        error = refused(store, ConflictError, wrong)
        standing = get(store, SCOPE, relation, *key)
        assert (relation, key, 4) == (error.relation, error.key, error.expected)
        assert exact(standing) == exact(error.current)  # type: ignore[arg-type]


@pytest.mark.clause("3.6")
def test_a_conflict_over_nothing_carries_none(store: Store) -> None:
    """When no row stands under the expected key, `current` is None."""
    wrong = commit(fact(1), expects=[expect("note", ("t0", 0), 3)])
    error = refused(store, ConflictError, wrong)

    assert ("note", ("t0", 0), 3) == (error.relation, error.key, error.expected)
    assert error.current is None


@pytest.mark.clause("3.11")
@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize(
    ("relation", "key"),
    [("tally", ("a",)), ("title", ("t0", 0)), ("link", ("t0", 0)), ("rank", (1, "a"))],
)
def test_a_view_without_versions_is_not_expected(
    store: Store, relation: str, key: tuple[object, ...], version: int
) -> None:
    """Its rows say nothing about who wrote them last."""
    store.append(commit(note(0, text="a", title="t")))

    made = commit(fact(1), expects=[expect(relation, key, version)])
    refused(store, SchemaError, made)


@pytest.mark.clause("3.11")
@pytest.mark.parametrize("version", [-1, True, 1.0, "1", None])
def test_an_expected_version_is_a_number_from_0_on(
    store: Store, version: object
) -> None:
    """What no row can have is a mistake of the caller and no conflict."""
    store.append(commit(note(0)))

    made = commit(fact(1), expects=[Expect("note", ("t0", 0), version)])  # type: ignore[arg-type]
    refused(store, CallerError, made)


@pytest.mark.clause("3.10")
def test_a_conflict_over_a_taken_key_expected_0(store: Store) -> None:
    """An add relies on no row standing, so the error says 0 and what stands."""
    store.append(commit(note(0, text="here")))

    error = refused(store, ConflictError, commit(note(0, text="there")))
    assert ("note", ("t0", 0), 0) == (error.relation, error.key, error.expected)
    assert exact(get(store, SCOPE, "note", "t0", 0)) == exact(error.current)  # type: ignore[arg-type]


@pytest.mark.clause("3.10", "3.9")
def test_a_conflict_over_a_unique_expected_0(store: Store) -> None:
    """The error names the row that holds the place."""
    store.append(commit(note(0, title="a")))

    error = refused(store, ConflictError, commit(note(0, "t1", title="a")))
    assert ("title", ("t0", 0), 0) == (error.relation, error.key, error.expected)
    assert exact(get(store, SCOPE, "title", "t0", 0)) == exact(error.current)  # type: ignore[arg-type]


@pytest.mark.clause("3.7")
def test_expects_are_judged_on_the_state_before(store: Store) -> None:
    """What the commit itself adds, puts, drops or erases does not count yet."""
    store.append(commit(note(0), puts=[job(0)]))

    store.append(
        commit(
            note(1),
            puts=[job(1)],
            drops=[Ref("job", (False, 0))],
            erases=[note_ref(0)],
            expects=[
                expect("note", ("t0", 0), 1),
                expect("note", ("t0", 1), 0),
                expect("latest", ("t0",), 1),
                expect("job", (False, 0), 1),
                expect("job", (False, 1), 0),
            ],
        )
    )
    assert get(store, SCOPE, "job", False, 0) is None


@pytest.mark.clause("3.7")
@pytest.mark.parametrize("wrong", range(3))
def test_one_failing_expect_among_many_is_enough(store: Store, wrong: int) -> None:
    """Whichever of the expects fails, on written relations or not, nothing is kept."""
    store.append(commit(note(0), fact(), puts=[entry("a")]))
    expects = [
        expect("note", ("t0", 0), 1),
        expect("head", ("s0",), 1),
        expect("entry", ("a",), 1),
    ]
    relation, key, version = (
        expects[wrong].relation,
        expects[wrong].key,
        expects[wrong].version,
    )
    expects[wrong] = Expect(relation, key, version + 1)

    error = refused(store, ConflictError, commit(note(1), expects=expects))
    assert relation == error.relation


@pytest.mark.clause("3.8")
def test_of_many_writers_one_succeeds(store: Store) -> None:
    """Threads that expect the same version: one writes, the others are told."""
    store.append(commit(fact(0)))
    rounds, writers = 8, 4
    ends: list[str] = []
    # When one writer fails otherwise, the others must not wait for ever.
    together = threading.Barrier(writers, timeout=30)

    def write(writer: int) -> None:
        for turn in range(rounds):
            together.wait()
            try:
                store.append(
                    commit(
                        fact(turn + 1, at=writer),
                        expects=[expect("head", ("s0",), turn + 1)],
                    )
                )
            except ConflictError:
                ends.append("refused")
            else:
                ends.append("kept")

    at_once(writers, write)

    assert rounds == ends.count("kept")
    assert rounds * (writers - 1) == ends.count("refused")
    assert rounds + 1 == len(commits(store, SCOPE))


@pytest.mark.clause("3.9")
def test_a_taken_unique_is_refused(store: Store) -> None:
    """A reducer's row that shares a unique path with a standing one is refused."""
    store.append(commit(note(0, title="a")))

    error = refused(store, ConflictError, commit(note(1, title="a")))
    assert "title" == error.relation
    refused(store, ConflictError, commit(note(1), note(0, "t1", title="a")))
    store.append(commit(note(1, title="A"), note(2, title="a "), note(3, title="")))
    assert ["A", "a", "a "] == [
        getattr(row, "title", None) for row in rows(store, SCOPE, "title", "by_title")
    ]


@pytest.mark.clause("3.9")
def test_a_unique_taken_twice_by_one_commit_is_refused(store: Store) -> None:
    """Two new rows of one commit may not share a unique path."""
    refused(store, ConflictError, commit(note(0, title="a"), note(1, title="a")))


@pytest.mark.clause("3.9")
def test_a_unique_is_free_once_its_row_goes(store: Store) -> None:
    """The commit that takes the row away may give its place to another."""
    store.append(commit(note(0, title="a")))
    store.append(commit(note(1, title="a"), erases=[note_ref(0)]))
    store.append(commit(erases=[note_ref(1)]))
    store.append(commit(note(2, title="a")))

    assert [2] == [getattr(r, "number", None) for r in rows(store, SCOPE, "title")]
