"""Group 9: a snapshot reads one scope and stands still."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from uaix_conformance.comparison import (
    commits,
    contents,
    exact,
    exact_commit,
    exacts,
    shown,
)
from uaix_conformance.examples import (
    OTHER,
    SCOPE,
    commit,
    entry,
    fact,
    job,
    lease,
    note,
    note_ref,
)
from uaix_conformance.schema import NOTE
from uaix_core.schema.relations import Ref
from uaix_core.values.errors import ClosedError
from uaix_core.values.ids import ScopeId

if TYPE_CHECKING:
    from uaix_core.store.port import Store


def _fill(store: Store) -> None:
    store.append(commit(note(0, text="a"), note(1, text="b"), fact(0)))
    store.append(commit(note(2, text="a c"), puts=[job(0), entry("e")]))


@pytest.mark.clause("9.1")
def test_an_open_snapshot_stands_still(store: Store) -> None:
    """Adds, puts, drops, views and commits made meanwhile do not show in it."""
    _fill(store)
    with store.snapshot(SCOPE) as snapshot:
        before = shown(snapshot)
        store.append(commit(note(3, text="a"), fact(1), puts=[job(0, due_at=9)]))
        store.append(commit(puts=[job(1)], drops=[Ref("entry", ("e",))]))
        store.rebuild(SCOPE)
        assert before == shown(snapshot)
        assert snapshot.get("note", ("t0", 3)) is None
        assert {} == snapshot.get_many("job", [(False, 1)])
    assert before != contents(store, SCOPE)


@pytest.mark.clause("9.1")
def test_a_snapshot_of_an_empty_scope_stays_empty(store: Store) -> None:
    """Opened before the first commit, it shows none of it."""
    with store.snapshot(SCOPE) as snapshot:
        before = shown(snapshot)
        _fill(store)
        assert before == shown(snapshot)


@pytest.mark.clause("9.1")
def test_a_half_read_answer_goes_on_as_it_began(store: Store) -> None:
    """commits() that was begun before an append ends where it would have ended."""
    _fill(store)
    with store.snapshot(SCOPE) as snapshot:
        reading = snapshot.commits()
        first = next(reading)
        store.append(commit(note(3)))
        assert [1, 2] == [first.seq, *(recorded.seq for recorded in reading)]


@pytest.mark.clause("9.1")
def test_only_bodies_may_go_from_an_open_snapshot(store: Store) -> None:
    """During an erase a row shows whole or erased, and all else as before."""
    _fill(store)
    store.append(commit(puts=[lease(0)]))
    with store.snapshot(SCOPE) as snapshot:
        before = shown(snapshot)
        whole = snapshot.get("note", ("t0", 0))
        store.append(commit(erases=[note_ref(0)]))
        now = shown(snapshot)
        assert whole is not None
        erased = NOTE.make(
            tuple(
                None if name in (*NOTE.body, "salt") else getattr(whole, name)
                for name in NOTE.columns
            ),
            whole.version,
        )
        assert exact(snapshot.get("note", ("t0", 0))) in (exact(whole), exact(erased))
        assert before["note"][1:] == now["note"][1:]
        assert before["#position"] == now["#position"]
        for name in ("fact", "tally", "link", "latest", "job", "lease", "entry"):
            assert before[name] == now[name]


@pytest.mark.clause("9.1", "2.1")
def test_snapshots_of_different_ages_stand_side_by_side(store: Store) -> None:
    """Each shows the state at which it was opened."""
    with store.snapshot(SCOPE) as first:
        store.append(commit(fact(0)))
        with store.snapshot(SCOPE) as second:
            store.append(commit(fact(1)))
            with store.snapshot(SCOPE) as third:
                assert [0, 1, 2] == [s.position for s in (first, second, third)]
                assert [0, 1, 2] == [
                    len(s.scan("fact", "key", limit=9)) for s in (first, second, third)
                ]


@pytest.mark.clause("9.2")
def test_position_and_head_are_the_last_commit_s(store: Store) -> None:
    """0 and the scope's first digest, then the seq and digest of each commit."""
    for number in range(3):
        came = store.append(commit(fact(number), puts=[job(number)]))
        store.append(commit(puts=[job(9)]))
        with store.snapshot(SCOPE) as snapshot:
            assert (number + 1, came.digest) == (snapshot.position, snapshot.head)
    with store.snapshot(OTHER) as snapshot:
        assert 0 == snapshot.position


@pytest.mark.clause("9.3")
def test_an_unknown_scope_is_an_empty_one(store: Store) -> None:
    """Every verb answers emptily and the scope is not there afterwards."""
    _fill(store)
    unknown = ScopeId("nobody", "personal", "knows")
    for _ in range(2):
        empty = contents(store, unknown)
        assert 0 == empty.pop("#position")
        assert 64 == len(empty.pop("#head"))
        assert {name: [] for name in empty} == empty
    with store.snapshot(unknown) as snapshot:
        assert snapshot.get("note", ("t0", 0)) is None
        assert {} == snapshot.get_many("note", [("t0", 0)])
    assert [SCOPE] == list(store.scopes(limit=9))


@pytest.mark.clause("9.4")
def test_scopes_do_not_show_in_each_other(store: Store) -> None:
    """Under equal keys each scope shows its own rows, by every verb."""
    scopes = [
        SCOPE,
        OTHER,
        ScopeId("kit", "personal", "one"),
        ScopeId("Kit", "project", "one"),
        ScopeId("kit", "project", "one."),
    ]
    for scope in scopes:
        text = scope.text
        store.append(
            commit(
                note(0, text=text), puts=[entry("e", value=text), job(0)], scope=scope
            )
        )
    for scope in scopes:
        with store.snapshot(scope) as snapshot:
            (row,) = snapshot.scan("note", "by_time", limit=9)
            assert scope.text == getattr(row, "text", None)
            assert exact(row) == exact(snapshot.get("note", ("t0", 0)))
            (cached,) = snapshot.get_many("entry", [("e",)]).values()
            assert scope.text == getattr(cached, "value", None)
            assert [scope.text] == [
                getattr(r, "word", None) for r in snapshot.scan("tally", "key", limit=9)
            ]
            assert [scope] == [r.commit.scope for r in snapshot.commits()]


@pytest.mark.clause("9.5")
def test_get_gives_the_row_or_none(store: Store) -> None:
    """Each standing row under its key, None under one that differs in any field."""
    _fill(store)
    with store.snapshot(SCOPE) as snapshot:
        row = snapshot.get("note", ("t0", 1))
        assert exacts(snapshot.scan("note", "key", ("t0", 1), limit=1)) == [exact(row)]
        assert snapshot.get("note", ("t0", 3)) is None
        assert snapshot.get("note", ("t1", 1)) is None
        assert snapshot.get("fact", (0, True, 0, "s0")) is None
        assert snapshot.get("fact", (0, False, 0, "s0")) is not None


@pytest.mark.clause("9.5")
def test_get_many_gives_what_stands(store: Store) -> None:
    """Exactly the asked keys under which a row stands, however often asked for."""
    _fill(store)
    keys = [("t0", 2), ("t0", 9), ("t0", 0), ("t1", 0), ("t0", 2)]
    with store.snapshot(SCOPE) as snapshot:
        found = snapshot.get_many("note", keys)
        assert {("t0", 0), ("t0", 2)} == set(found)
        for key, row in found.items():
            assert exact(snapshot.get("note", key)) == exact(row)
        assert {} == snapshot.get_many("note", [])
        assert {} == snapshot.get_many("job", [(True, 0)])


@pytest.mark.clause("9.6")
def test_commits_begin_after_a_seq(store: Store) -> None:
    """Those whose seq is greater, in order, up to the position; 0 is the default."""
    for number in range(4):
        store.append(commit(fact(number), note(number)))
    with store.snapshot(SCOPE) as snapshot:
        for after, seqs in (
            (-1, [1, 2, 3, 4]),
            (0, [1, 2, 3, 4]),
            (1, [2, 3, 4]),
            (3, [4]),
            (4, []),
            (5, []),
        ):
            assert seqs == [recorded.seq for recorded in snapshot.commits(after)]
        store.append(commit(fact(9)))
        assert [3, 4] == [recorded.seq for recorded in snapshot.commits(after=2)]
    assert [exact_commit(r) for r in commits(store, SCOPE)][3:] == [
        exact_commit(r) for r in commits(store, SCOPE, after=3)
    ]


@pytest.mark.clause("9.7")
def test_a_closed_snapshot_refuses_reads(store: Store) -> None:
    """Each verb and each property of it."""
    _fill(store)
    with store.snapshot(SCOPE) as snapshot:
        pass
    for read in (
        lambda: snapshot.position,
        lambda: snapshot.head,
        lambda: snapshot.get("note", ("t0", 0)),
        lambda: snapshot.get_many("note", [("t0", 0)]),
        lambda: snapshot.scan("note", "key", limit=1),
        lambda: list(snapshot.commits()),
    ):
        with pytest.raises(ClosedError):
            read()


@pytest.mark.clause("9.7")
def test_a_half_read_answer_ends_with_its_snapshot(store: Store) -> None:
    """commits() that was begun gives no further commit once the snapshot is closed."""
    _fill(store)
    with store.snapshot(SCOPE) as snapshot:
        reading = snapshot.commits()
        assert 1 == next(reading).seq
    with pytest.raises(ClosedError):
        next(reading)
