"""Group 8: local rows and the work number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from uaix_conformance.comparison import (
    commits,
    contents,
    exacts,
    get,
    place_of,
    refused,
    rows,
)
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
from uaix_core.schema.relations import Ref
from uaix_core.store.port import Capability
from uaix_core.values.errors import ConflictError

if TYPE_CHECKING:
    from uaix_conformance.harness import Site
    from uaix_core.store.port import Store


def _version(store: Store, *key: object, relation: str = "job") -> int | None:
    row = get(store, SCOPE, relation, *key)
    return row.version if row is not None else None


@pytest.mark.clause("8.1")
def test_a_put_writes_whether_or_not_one_stood(store: Store) -> None:
    """The row put last stands, once, in its new place on every path."""
    store.append(commit(puts=[job(0, due_at=5, kind="ask"), job(1, due_at=3)]))
    store.append(commit(puts=[job(0, due_at=1, kind="see"), entry("a", group="g")]))
    store.append(commit(puts=[entry("a", group="h", value="v")]))

    assert [0, 1] == [
        getattr(r, "number", None) for r in rows(store, SCOPE, "job", "by_due")
    ]
    assert ["ask", "see"] == [
        getattr(r, "kind", None) for r in rows(store, SCOPE, "job", "by_kind")
    ]
    assert [("h", "v")] == [
        (getattr(r, "group", None), getattr(r, "value", None))
        for r in rows(store, SCOPE, "entry", "by_group")
    ]


@pytest.mark.clause("8.1")
def test_a_drop_removes_its_row_alone(store: Store) -> None:
    """The row is gone from every path; others stay; a new put may follow."""
    store.append(commit(puts=[job(0), job(1), entry("a"), entry("A")]))
    store.append(commit(drops=[Ref("job", (False, 0)), Ref("entry", ("a",))]))

    for path in ("key", "by_due", "by_kind"):
        assert [1] == [
            getattr(r, "number", None) for r in rows(store, SCOPE, "job", path)
        ]
    for path in ("key", "by_group", "by_at"):
        assert ["A"] == [
            getattr(r, "name", None) for r in rows(store, SCOPE, "entry", path)
        ]
    store.append(commit(puts=[job(0)]))
    assert 3 == _version(store, False, 0)


@pytest.mark.clause("8.1")
def test_dropping_an_absent_row_changes_no_row(store: Store) -> None:
    """It is no error, and every row stays."""
    store.append(commit(puts=[job(0), entry("a")]))
    before = contents(store, SCOPE)
    store.append(commit(drops=[Ref("job", (True, 0)), Ref("entry", ("A",))]))

    assert before == contents(store, SCOPE)


@pytest.mark.clause("8.2")
def test_a_local_commit_takes_no_seq(store: Store) -> None:
    """The unchanged place is returned, and `commits()` never yields it."""
    with store.snapshot(SCOPE) as snapshot:
        empty = snapshot.head
    assert (0, empty) == _seq_and_digest(store, commit(puts=[job(0)], at=7))
    first = store.append(commit(note(0), at=3))
    for local in (
        commit(puts=[job(1)], at=9),
        commit(drops=[Ref("job", (False, 0))], at=9),
    ):
        assert place_of(first) == place_of(store.append(local))
    assert [1] == [recorded.seq for recorded in commits(store, SCOPE)]


def _seq_and_digest(store: Store, made: object) -> tuple[int, str]:
    recorded = store.append(made)  # type: ignore[arg-type]
    return recorded.seq, recorded.digest


@pytest.mark.clause("8.3")
def test_each_local_change_raises_the_work_number_by_one(store: Store) -> None:
    """Puts, drops and both raise it once; history alone does not."""
    store.append(commit(puts=[job(0), job(1), entry("a")]))
    assert {1} == {r.version for r in rows(store, SCOPE, "job")}
    store.append(commit(note(0)))
    store.append(commit(drops=[Ref("job", (False, 0))]))
    store.append(commit(drops=[Ref("job", (False, 9))], puts=[job(2)]))
    assert 3 == _version(store, False, 2)
    store.append(commit(fact(), puts=[job(3)]))
    assert 4 == _version(store, False, 3)
    assert 1 == _version(store, False, 1)


@pytest.mark.clause("8.3")
def test_scopes_count_their_work_apart(store: Store) -> None:
    """Another scope's changes do not move the number."""
    for _ in range(3):
        store.append(commit(puts=[job(0)], scope=OTHER))
    store.append(commit(puts=[job(0)]))

    assert 1 == _version(store, False, 0)


@pytest.mark.clause("8.3", "2.2")
def test_a_refused_change_does_not_count(store: Store) -> None:
    """A refused put leaves the number, so the next one is dense."""
    store.append(commit(puts=[job(0)]))
    refused(
        store,
        ConflictError,
        commit(puts=[job(1)], expects=[expect("job", (False, 0), 9)]),
    )
    store.append(commit(puts=[job(2)]))

    assert 2 == _version(store, False, 2)


@pytest.mark.clause("8.4")
def test_a_work_number_is_never_given_twice(store: Store) -> None:
    """Dropping everything does not bring an old number back."""
    store.append(commit(puts=[job(0), entry("a")]))
    store.append(commit(drops=[Ref("job", (False, 0)), Ref("entry", ("a",))]))
    store.append(commit(puts=[job(0)]))
    assert 3 == _version(store, False, 0)
    refused(
        store,
        ConflictError,
        commit(puts=[job(0)], expects=[expect("job", (False, 0), 1)]),
    )


@pytest.mark.clause("8.4")
def test_rows_that_an_erasure_takes_free_no_number(store: Store) -> None:
    """After an erasure that took rows along, the next put has a new number."""
    store.append(commit(note(0), puts=[lease(0), vector(0)]))
    store.append(commit(erases=[note_ref(0)]))
    store.append(commit(puts=[lease(1)]))

    number = _version(store, "t0", 1, "h0", relation="lease")
    assert number is not None
    assert number > 1


@pytest.mark.clause("8.4", "8.6")
@pytest.mark.requires(Capability.DURABLE)
@pytest.mark.parametrize("last", ["put", "drop"])
def test_the_work_number_goes_on_after_reopening(site: Site, last: str) -> None:
    """Also when no row is left that carries it."""
    store = site.open()
    store.append(commit(puts=[job(0)]))
    store.append(commit(puts=[job(1)]))
    if last == "drop":
        gone = [Ref("job", (False, 0)), Ref("job", (False, 1))]
        store.append(commit(drops=gone))
    store = site.reopen(store)
    store.append(commit(puts=[job(2)]))

    assert (4 if last == "drop" else 3) == _version(store, False, 2)


@pytest.mark.clause("8.5")
def test_history_and_work_come_together(store: Store) -> None:
    """One commit may add and put; when either is refused, neither is there."""
    store.append(commit(note(0), puts=[job(0)]))
    assert 1 == _version(store, False, 0)
    refused(store, ConflictError, commit(note(0), puts=[job(1)]))
    refused(
        store,
        ConflictError,
        commit(note(1), puts=[job(1)], expects=[expect("job", (False, 0), 0)]),
    )
    store.append(commit(note(1), puts=[job(1)]))
    assert (2, 2) == (
        len(rows(store, SCOPE, "note")),
        _version(store, False, 1),
    )


@pytest.mark.clause("8.6")
@pytest.mark.requires(Capability.DURABLE)
def test_work_survives_closing(site: Site) -> None:
    """WORK rows are there after reopening, versions and due places included."""
    store = site.open()
    store.append(commit(note(0), puts=[job(0, due_at=4), lease(0)]))
    store.append(commit(puts=[job(1, due_at=2, payload="[1]"), job(0, due_at=1)]))
    store.append(commit(puts=[job(2)]))
    store.append(commit(drops=[Ref("job", (False, 2))]))
    before = [exacts(rows(store, SCOPE, name)) for name in ("job", "lease")]
    due = store.due("job", until=9, limit=9)
    store = site.reopen(store)

    assert before == [exacts(rows(store, SCOPE, name)) for name in ("job", "lease")]
    assert exacts(row for _, row in due) == exacts(
        row for _, row in store.due("job", until=9, limit=9)
    )
    store.append(commit(puts=[job(0)], expects=[expect("job", (False, 0), 2)]))
