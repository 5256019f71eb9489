"""Group 11: what passes a limit is refused, and what reaches it is taken."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from uaix_conformance.comparison import get, place_of, rows
from uaix_conformance.examples import (
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
from uaix_core.schema.relations import Ref
from uaix_core.values.errors import ConflictError, LimitError
from uaix_core.values.ids import ScopeId

if TYPE_CHECKING:
    from uaix_conformance.rows import Note
    from uaix_core.schema.commits import Commit
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Store

_MIB = 2**20


@pytest.mark.clause("11.1")
def test_a_scan_takes_limits_from_1_to_1000(store: Store) -> None:
    """1 and 1,000 rows come when so many stand; 0 and 1,001 are refused."""
    store.append(commit(puts=[job(n) for n in range(1_001)]))
    with store.snapshot(SCOPE) as snapshot:
        for limit in (1, 2, 999, 1_000):
            assert limit == len(snapshot.scan("job", "by_due", limit=limit))
        for limit in (0, 1_001, -1, 10**9):
            with pytest.raises(LimitError):
                snapshot.scan("job", "by_due", limit=limit)


@pytest.mark.clause("11.1")
def test_a_limit_is_refused_where_nothing_stands(store: Store) -> None:
    """The limit is judged before the rows: an empty relation refuses it too."""
    with store.snapshot(SCOPE) as snapshot:
        assert [] == list(snapshot.scan("note", "key", limit=1_000))
        for limit in (0, 1_001):
            with pytest.raises(LimitError):
                snapshot.scan("note", "key", limit=limit)


@pytest.mark.clause("11.2")
def test_get_many_takes_10000_keys(store: Store) -> None:
    """10,000 keys are answered, one more is refused."""
    store.append(commit(*(fact(n) for n in (0, 5_000, 9_999, 10_000))))
    keys = [(0, False, n, "s0") for n in range(10_001)]
    with store.snapshot(SCOPE) as snapshot:
        found = snapshot.get_many("fact", keys[:10_000])
        assert [0, 5_000, 9_999] == sorted(
            getattr(r, "size", 0) for r in found.values()
        )
        with pytest.raises(LimitError):
            snapshot.get_many("fact", keys)


@cache
def _facts(count: int) -> tuple[Any, ...]:
    return tuple(fact(n) for n in range(count))


@pytest.mark.clause("11.3")
def test_a_commit_takes_20000_rows_of_all_parts(store: Store) -> None:
    """Adds, puts, drops and erases count together; expects do not."""
    store.append(commit(note(0), note(1), puts=[job(0), job(1)]))
    full = commit(
        *_facts(19_990),
        puts=[job(n) for n in range(2, 8)],
        drops=[Ref("job", (False, n)) for n in (0, 1)],
        erases=[note_ref(n) for n in (0, 1)],
        expects=[expect("note", ("t0", 0), 1)],
    )
    more: list[dict[str, Any]] = [
        {"adds": (*full.adds, fact(30_000))},
        {"puts": (*full.puts, entry("one too many"))},
        {"drops": (*full.drops, Ref("job", (True, 9)))},
        {"erases": (*full.erases, note_ref(9))},
    ]
    for parts in more:
        with pytest.raises(LimitError):
            store.append(changed(full, **parts))
    assert [] == rows(store, SCOPE, "fact")

    came = store.append(full)
    assert 2 == came.seq
    with store.snapshot(SCOPE) as snapshot:
        assert (2, came.digest) == (snapshot.position, snapshot.head)
        last = snapshot.scan("fact", "by_subject", reverse=True, limit=1)
        assert [19_989] == [getattr(row, "size", None) for row in last]
        (kept,) = snapshot.commits(after=1)
    assert place_of(came) == place_of(kept)
    assert 19_990 == len(kept.commit.adds)
    assert 6 == len(rows(store, SCOPE, "job"))


@cache
def _heavy() -> tuple[Note, ...]:
    """Notes whose bodies hold 256 MiB, a quarter of it in two-byte characters."""
    blob, text = b"\1" * (24 * _MIB), "é" * (4 * _MIB)
    notes = [note(n, data=blob, text=text, meta="0") for n in range(8)]
    # What else stands in the bodies is taken off the last blob.
    rest = blob[sum(len(n.meta or "") + len(n.title or "") for n in notes) :]
    return (*notes[:-1], note(7, data=rest, text=text, meta="0"))


def _heavy_commit(*more: Row) -> Commit:
    """A heavy commit that would fail for another reason if its size were taken."""
    return commit(*_heavy(), *more, expects=[expect("note", ("none", 0), 1)])


@pytest.mark.clause("11.4")
def test_bodies_of_256_mib_are_the_most(store: Store) -> None:
    """One byte more is too many; 256 MiB and a row without body fail by the expect."""
    with pytest.raises(ConflictError):
        store.append(_heavy_commit(fact()))
    with pytest.raises(LimitError):
        store.append(_heavy_commit(note(9, meta="1"), fact()))
    assert get(store, SCOPE, "note", "t0", 0) is None


@pytest.mark.clause("11.5")
def test_due_takes_limits_from_1_to_1000(store: Store) -> None:
    """1 and 1,000 rows come when so many are due; 0 and 1,001 are refused."""
    store.append(commit(puts=[job(n) for n in range(1_001)]))
    for limit in (1, 2, 999, 1_000):
        assert limit == len(store.due("job", until=0, limit=limit))
    for limit in (0, 1_001, -1):
        with pytest.raises(LimitError):
            store.due("job", until=0, limit=limit)


@pytest.mark.clause("11.5")
def test_scopes_takes_limits_from_1_to_1000(store: Store) -> None:
    """1 and 1,000 are taken, 0 and 1,001 refused, however many scopes there are."""
    for number in range(3):
        store.append(commit(fact(), scope=ScopeId("kit", "working", f"w{number}")))
    assert [1, 2, 3, 3, 3] == [
        len(store.scopes(limit=limit)) for limit in (1, 2, 3, 4, 1_000)
    ]
    for limit in (0, 1_001, -1):
        with pytest.raises(LimitError):
            store.scopes(limit=limit)
