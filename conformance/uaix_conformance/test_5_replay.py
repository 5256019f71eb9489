"""Group 5: copying a ledger, commit by commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from uaix_conformance.comparison import (
    commits,
    contents,
    exact_commit,
    get,
    kept,
    place_of,
    refused,
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
    lease,
    note,
    note_ref,
)
from uaix_conformance.oracle import Oracle
from uaix_conformance.schema import KIT
from uaix_conformance.sealing import first_digest, sealed_digest
from uaix_core.schema.commits import Recorded
from uaix_core.schema.relations import Keep
from uaix_core.values.errors import IntegrityError
from uaix_core.values.instants import FOREVER

if TYPE_CHECKING:
    from collections.abc import Callable

    from uaix_conformance.harness import Site
    from uaix_core.store.port import Store


def _source(store: Store) -> list[Recorded]:
    """A short ledger with an erasure and local parts."""
    return [
        store.append(one)
        for one in (
            commit(note(0, text="a b", title="x"), note(1, text="b"), at=3),
            commit(fact(0), puts=[job(0), lease(0), entry("e")], at=5),
            commit(
                note(2, text="c"),
                erases=[note_ref(1)],
                expects=[expect("note", ("t0", 0), 1)],
                at=4,
            ),
            commit(fact(1), fact(0, "s1")),
        )
    ]


@pytest.fixture
def copy(new_site: Callable[[], Site]) -> Store:
    """Another fresh store."""
    return new_site().open()


@pytest.mark.clause("5.1")
def test_the_next_commit_keeps_its_place(store: Store, copy: Store) -> None:
    """Seq, recorded instant and digest of a replayed commit are those it came with."""
    _source(store)

    for recorded in commits(store, SCOPE):
        assert place_of(recorded) == place_of(copy.append(recorded))
    assert [exact_commit(r) for r in commits(store, SCOPE)] == [
        exact_commit(r) for r in commits(copy, SCOPE)
    ]


@pytest.mark.clause("5.1")
def test_a_replay_checks_no_expects(store: Store, copy: Store) -> None:
    """Expects that came along and would fail now are not looked at."""
    recorded = store.append(commit(note(0)))
    wrong = changed(
        recorded.commit, expects=(expect("note", ("t0", 7), 99),), puts=(job(0),)
    )
    copy.append(changed(recorded, commit=wrong))

    assert place_of(recorded) == place_of(commits(copy, SCOPE)[0])


@pytest.mark.clause("5.2")
def test_replaying_what_is_there_changes_nothing(store: Store) -> None:
    """Each known commit, the last as well as the first, is returned as it is."""
    _source(store)
    before = contents(store, SCOPE)

    for recorded in commits(store, SCOPE):
        assert place_of(recorded) == place_of(store.append(recorded))
    assert before == contents(store, SCOPE)


@pytest.mark.clause("5.3")
@pytest.mark.parametrize("seq", [1, 3, 4])
def test_another_commit_at_a_known_place_is_refused(store: Store, seq: int) -> None:
    """A seq that is there with another digest is a fork, at either end."""
    _source(store)
    oracle = Oracle(KIT)
    for number in range(seq):
        other = oracle.append(commit(note(number, "fork")))

    refused(store, IntegrityError, other)


@pytest.mark.clause("5.9")
@pytest.mark.parametrize("seq", [0, -1, -2])
@pytest.mark.parametrize("length", [0, 1, 2])
def test_no_commit_stands_before_the_first(store: Store, seq: int, length: int) -> None:
    """A seq below 1 is refused, whichever digest of the chain comes with it."""
    made = [commit(fact(number)) for number in range(length + 1)]
    digests = [store.append(one).digest for one in made[:length]]

    for digest in (first_digest(SCOPE), *digests):
        refused(store, IntegrityError, Recorded(seq, 0, digest, made[-1]))
    assert length + 1 == store.append(made[-1]).seq


@pytest.mark.clause("5.4")
def test_a_well_sealed_gap_is_refused(store: Store) -> None:
    """A commit that is sealed for a later place after this head is no next one."""
    head = store.append(commit(fact(0))).digest
    given = commit(fact(1))
    for seq in (3, 4):
        digest = sealed_digest(KIT, given, seq, 0, head)
        refused(store, IntegrityError, Recorded(seq, 0, digest, given))

    digest = sealed_digest(KIT, given, 2, 0, head)
    assert 2 == store.append(Recorded(2, 0, digest, given)).seq


@pytest.mark.clause("5.4")
def test_a_gap_is_refused(store: Store, copy: Store) -> None:
    """The next seq is taken; the one after it is not, nor is one in an empty scope."""
    first, second, third, fourth = _source(store)
    refused(copy, IntegrityError, second)
    copy.append(first)
    refused(copy, IntegrityError, third)
    refused(copy, IntegrityError, fourth)
    copy.append(second)

    assert [1, 2] == [recorded.seq for recorded in commits(copy, SCOPE)]


@pytest.mark.clause("5.4", "5.3")
@pytest.mark.parametrize("seq", [0, -1])
def test_a_place_before_the_first_is_refused(store: Store, seq: int) -> None:
    """No commit has a seq below 1."""
    (recorded, *_) = _source(store)

    refused(store, IntegrityError, changed(recorded, seq=seq))


@pytest.mark.clause("5.5")
@pytest.mark.parametrize(
    "forged",
    [
        {"digest": "0" * 64},
        {"recorded_at": 6},
        {"recorded_at": 4},
        {"commit": commit(fact(2), fact(0, "s1"))},
        {"commit": commit(fact(0, "s1"), fact(1))},
        {"commit": commit(fact(1))},
        {"commit": commit(fact(1), fact(0, "s1"), erases=[note_ref(0)])},
        {"commit": commit(fact(1), fact(0, "s1"), scope=OTHER)},
    ],
    ids=[
        "digest",
        "later",
        "earlier",
        "row",
        "order",
        "fewer",
        "more",
        "scope",
    ],
)
def test_a_forged_commit_is_refused(
    store: Store, copy: Store, forged: dict[str, object]
) -> None:
    """Digest, instant, rows, order and scope all stand under the seal."""
    *first, last = _source(store)
    for recorded in first:
        copy.append(recorded)
        copy.append(changed(recorded, commit=recorded.commit))

    broken = changed(last, **forged)
    refused(copy, IntegrityError, broken)
    assert place_of(last) == place_of(copy.append(last))


@pytest.mark.clause("5.5")
def test_a_commit_of_another_past_is_refused(store: Store, copy: Store) -> None:
    """A well sealed commit that follows another head is refused."""
    copy.append(commit(note(5)))
    _, second, *_ = _source(store)

    refused(copy, IntegrityError, second)


@pytest.mark.clause("5.5", "4.2")
def test_a_commit_that_goes_back_in_time_is_refused(store: Store) -> None:
    """A sealed instant before the last one is refused; the last one itself stands."""
    store.append(commit(fact(0), at=5))
    with store.snapshot(SCOPE) as snapshot:
        head = snapshot.head
    for at, stands in ((4, False), (5, True)):
        given = commit(fact(1), at=at)
        recorded = Recorded(2, at, sealed_digest(KIT, given, 2, at, head), given)
        if stands:
            assert place_of(recorded) == place_of(store.append(recorded))
        else:
            refused(store, IntegrityError, recorded)


@pytest.mark.clause("5.5")
def test_a_commit_beyond_all_instants_is_refused(store: Store) -> None:
    """The last instant that can be written down is taken, one after it is not."""
    with store.snapshot(SCOPE) as snapshot:
        head = snapshot.head
    given = commit(fact())
    digest = sealed_digest(KIT, given, 1, FOREVER, head)

    refused(store, IntegrityError, Recorded(1, FOREVER + 1, digest, given))
    assert FOREVER == store.append(Recorded(1, FOREVER, digest, given)).recorded_at


@pytest.mark.clause("5.6", "6.2")
def test_a_row_may_be_born_erased(store: Store, copy: Store) -> None:
    """Body and salt absent, header and digest there, the chain the same."""
    _source(store)
    first = commits(store, SCOPE)[0]
    copy.append(first)
    born = get(copy, SCOPE, "note", "t0", 1)

    assert place_of(first) == place_of(commits(copy, SCOPE)[0])
    assert note(1, text="b").body_digest == getattr(born, "body_digest", None)
    for field in ("title", "text", "data", "meta", "salt"):
        assert getattr(born, field, "") is None
    assert [["a", 1], ["b", 1]] == [
        [row.word, row.count]  # type: ignore[attr-defined]
        for row in _views(copy, "tally")
    ]


def _views(store: Store, relation: str) -> list[object]:
    with store.snapshot(SCOPE) as snapshot:
        return list(snapshot.scan(relation, "key", limit=1_000))


@pytest.mark.clause("5.7")
def test_a_copy_equals_its_source_in_history_and_views(
    store: Store, copy: Store
) -> None:
    """HISTORY and VIEW rows are equal, versions included; nothing local came along."""
    _source(store)
    store.append(commit(note(1, "t1", title="y"), scope=OTHER))
    for scope in (SCOPE, OTHER):
        for recorded in commits(store, scope):
            copy.append(recorded)

    for scope in (SCOPE, OTHER):
        one, two = contents(store, scope), contents(copy, scope)
        shared = (Keep.HISTORY, Keep.VIEW)
        assert kept(one, *shared) == kept(two, *shared)
        local = kept(two, Keep.WORK, Keep.CACHE)
        assert {name: [] for name in local} == local


@pytest.mark.clause("5.7", "8.3")
def test_a_replay_leaves_the_work_number(store: Store, copy: Store) -> None:
    """Puts that a recorded commit still carries are left out and not counted."""
    for recorded in _source(store):
        copy.append(recorded)
    copy.append(commit(puts=[job(7)]))

    assert getattr(get(copy, SCOPE, "job", False, 0), "version", None) is None
    assert 1 == getattr(get(copy, SCOPE, "job", False, 7), "version", None)


@pytest.mark.clause("5.8")
def test_a_copy_goes_on_like_its_source(store: Store, copy: Store) -> None:
    """The next commit gets the same seal in the copy as in the source."""
    _source(store)
    for recorded in commits(store, SCOPE):
        copy.append(recorded)
    following = commit(note(3, text="b c"), erases=[note_ref(0)], at=1)

    assert place_of(store.append(following)) == place_of(copy.append(following))
    shared = (Keep.HISTORY, Keep.VIEW)
    assert kept(contents(store, SCOPE), *shared) == kept(contents(copy, SCOPE), *shared)
