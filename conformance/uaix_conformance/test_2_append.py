"""Group 2: one verb writes, whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from uaix_conformance.comparison import (
    commits,
    contents,
    exact,
    get,
    place_of,
    refused,
    unversioned,
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
from uaix_core.schema.relations import Ref
from uaix_core.values.errors import CallerError, ConflictError

if TYPE_CHECKING:
    from uaix_core.store.port import Store


@pytest.mark.clause("2.1")
def test_what_was_appended_shows(store: Store) -> None:
    """After append every add, put, drop and erase shows in a new snapshot."""
    store.append(commit(note(0), note(1), puts=[job(0), entry("a")]))
    store.append(
        commit(
            note(2),
            fact(),
            puts=[job(1), entry("a", value="new")],
            drops=[Ref("job", (False, 0))],
            erases=[note_ref(1)],
        )
    )

    assert get(store, SCOPE, "note", "t0", 2) is not None
    assert get(store, SCOPE, "fact", 0, False, 0, "s0") is not None
    assert get(store, SCOPE, "job", False, 1) is not None
    assert get(store, SCOPE, "job", False, 0) is None
    assert "new" == getattr(get(store, SCOPE, "entry", "a"), "value", None)
    assert getattr(get(store, SCOPE, "note", "t0", 1), "text", "") is None
    assert getattr(get(store, SCOPE, "note", "t0", 0), "text", None) == ""


@pytest.mark.clause("2.2")
@pytest.mark.parametrize(
    ("error", "spoilt"),
    [
        (ConflictError, {"adds": (note(1), fact(9), note(0))}),
        (ConflictError, {"expects": (expect("note", ("t0", 0), 2),)}),
        (CallerError, {"adds": (note(1), changed(note(2), topic="not an id"))}),
        (CallerError, {"puts": (job(1), changed(job(2), kind="unheard-of"))}),
        (ConflictError, {"adds": (note(1), note(2, title="taken"))}),
    ],
    ids=["key", "expect", "add", "put", "unique"],
)
def test_a_refused_commit_leaves_no_part(
    store: Store, error: type[Exception], spoilt: dict[str, tuple[object, ...]]
) -> None:
    """When its last part is refused, nothing of the first parts is kept."""
    store.append(
        commit(note(0, title="taken", text="x"), fact(), puts=[job(0), entry("a")])
    )
    whole = commit(
        note(1),
        puts=[entry("a", value="new")],
        drops=[Ref("job", (False, 0))],
        erases=[note_ref(0)] if error is not ConflictError else [],
    )

    refused(store, error, changed(whole, **spoilt), watched=[OTHER])
    after = store.append(commit(note(3), puts=[job(5)]))
    assert 2 == after.seq
    assert 2 == getattr(get(store, SCOPE, "job", False, 5), "version", None)


@pytest.mark.clause("2.3")
def test_a_key_is_added_once(store: Store) -> None:
    """An add whose key stands is refused, however alike or different the row is."""
    first = note(0, text="first")
    store.append(commit(first, fact()))

    error = refused(store, ConflictError, commit(note(0, text="second")))
    assert ("note", ("t0", 0)) == (error.relation, error.key)
    assert exact(get(store, SCOPE, "note", "t0", 0)) == exact(error.current)  # type: ignore[arg-type]
    refused(store, ConflictError, commit(first))
    refused(store, ConflictError, commit(fact(word="see")))


@pytest.mark.clause("2.3")
def test_a_key_is_added_once_in_a_commit(store: Store) -> None:
    """Two adds under one key in one commit are refused."""
    refused(store, ConflictError, commit(note(0), note(0, text="other")))
    refused(store, ConflictError, commit(fact(), note(0), fact(word="see")))


@pytest.mark.clause("2.3")
def test_the_same_key_in_another_scope_is_free(store: Store) -> None:
    """A key that stands in one scope may be added in another."""
    store.append(commit(note(0)))

    assert 1 == store.append(commit(note(0), scope=OTHER)).seq


@pytest.mark.clause("2.4")
def test_append_returns_what_commits_yields(store: Store) -> None:
    """Place, adds and erases are those of `commits()`, in the order given."""
    store.append(commit(note(4), note(1), note(3)))
    given = commit(
        fact(2),
        note(9),
        fact(1),
        note(0, "t1"),
        erases=[note_ref(3), note_ref(4), note_ref(1)],
        at=5,
    )
    came = store.append(given)
    (kept,) = commits(store, SCOPE, after=1)

    assert place_of(came) == place_of(kept)
    assert unversioned(given.adds) == unversioned(came.commit.adds)
    assert unversioned(given.adds) == unversioned(kept.commit.adds)
    assert given.erases == came.commit.erases == kept.commit.erases
    assert SCOPE == came.commit.scope == kept.commit.scope


@pytest.mark.clause("2.5")
def test_a_commit_touches_its_own_scope_alone(store: Store) -> None:
    """Rows, position, head and work number of another scope stay."""
    store.append(commit(note(0), puts=[job(0)], scope=OTHER))
    before = contents(store, OTHER)
    store.append(commit(note(0), note(1), fact(), puts=[job(0), job(1)]))
    store.append(
        commit(erases=[note_ref(0)], drops=[Ref("job", (False, 0))], puts=[entry()])
    )

    assert before == contents(store, OTHER)
    store.append(commit(puts=[job(0)], scope=OTHER))
    assert 2 == getattr(get(store, OTHER, "job", False, 0), "version", None)


_TWICE: dict[str, dict[str, Any]] = {
    "puts": {"puts": [job(1), job(1, due_at=9)]},
    "drops": {"drops": [Ref("job", (False, 0))] * 2},
    "erases": {"erases": [note_ref(0)] * 2},
    "expects": {
        "expects": [expect("note", ("t0", 0), 1), expect("note", ("t0", 0), 0)],
    },
    "put and drop": {"puts": [job(0)], "drops": [Ref("job", (False, 0))]},
    "add and erase": {"adds": [note(1)], "erases": [note_ref(0), note_ref(1)]},
}


@pytest.mark.clause("2.6")
@pytest.mark.parametrize("case", _TWICE)
def test_a_commit_names_a_row_once(store: Store, case: str) -> None:
    """What it would do to the row would hang on an order that it does not have."""
    store.append(commit(note(0), note(2), puts=[job(0), job(2)]))
    whole = commit(note(3), puts=[job(3)])

    refused(store, CallerError, changed(whole, **_TWICE[case]))
    for part, values in _TWICE[case].items():
        once = {part: values[:1]}
        assert place_of(store.append(changed(whole, **once)))
        whole = commit(note(4), puts=[job(4)])


@pytest.mark.clause("2.6")
def test_different_parts_may_name_one_row(store: Store) -> None:
    """An expect beside a put, a drop or an erase of its row is what expects are for."""
    store.append(commit(note(0), puts=[job(0), job(1)]))
    store.append(
        commit(
            note(1),
            puts=[job(0)],
            drops=[Ref("job", (False, 1))],
            erases=[note_ref(0)],
            expects=[
                expect("job", (False, 0), 1),
                expect("job", (False, 1), 1),
                expect("note", ("t0", 0), 1),
                expect("note", ("t0", 1), 0),
            ],
        )
    )

    assert get(store, SCOPE, "job", False, 1) is None


@pytest.mark.clause("2.7")
def test_a_commit_changes_something(store: Store) -> None:
    """Without a change it is refused, also when it expects something that holds."""
    store.append(commit(note(0)))

    refused(store, CallerError, commit())
    refused(store, CallerError, commit(expects=[expect("note", ("t0", 0), 1)]))
