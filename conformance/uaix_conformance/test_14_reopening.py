"""Group 14: capabilities, closing and opening, processes, and the yardstick."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from uaix_conformance import writer
from uaix_conformance.comparison import (
    chain_is_whole,
    commits,
    contents,
    get,
    kept,
    place_of,
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
from uaix_conformance.strategies import INTEGERS, JSONS, NASTY
from uaix_conformance.yardstick import Measure
from uaix_core.schema.relations import Keep, Ref
from uaix_core.store.port import Capability
from uaix_core.values.errors import ClosedError, ConflictError, StoreOpenError
from uaix_core.values.ids import ScopeId

if TYPE_CHECKING:
    from collections.abc import Callable

    from uaix_conformance.harness import Site, Yardstick
    from uaix_core.schema.commits import Commit
    from uaix_core.store.port import Store

_SHARED = (Keep.HISTORY, Keep.VIEW)


def _backend(request: pytest.FixtureRequest) -> str:
    """The name under which a process of its own finds the backend."""
    name = request.node.callspec.params["harness"]
    assert isinstance(name, str)
    return name


def _life() -> list[Commit]:
    """Commits that leave something of everything."""
    return [
        commit(
            *(note(n, text=t, title=f"{n}") for n, t in enumerate(NASTY[:20])),
            *(fact(n, value=j) for n, j in zip(INTEGERS, JSONS, strict=False)),
            at=5,
        ),
        commit(note(0, "t1", data=b"\0\xff", text="x"), puts=[job(0), lease(3)]),
        commit(erases=[note_ref(2), note_ref(19)], at=-7),
        commit(note(0, title="other", text="y"), scope=OTHER, puts=[entry("a")]),
        commit(puts=[vector(4), job(1)], drops=[Ref("job", (False, 0))]),
        commit(
            note(1, "t1", text="x y", title="2"),
            fact(0, "s1"),
            erases=[note_ref(0, "t1"), note_ref(4)],
            at=6,
        ),
    ]


@pytest.mark.clause("14.1")
def test_capabilities_are_the_four_and_stay(new_site: Callable[[], Site]) -> None:
    """A frozenset of `Capability`, the same for each store, before and after work."""
    one, two = new_site().open(), new_site().open()
    before = one.capabilities
    one.append(commit(note(0)))

    assert isinstance(before, frozenset)
    assert before <= frozenset(Capability)
    assert before == one.capabilities == two.capabilities


@pytest.mark.clause("14.2")
@pytest.mark.requires(Capability.DURABLE)
def test_history_survives_closing(site: Site) -> None:
    """Rows, views, position, head and commits are what they were, in each scope."""
    store = site.open()
    for one in _life():
        store.append(one)
    before = [contents(store, scope) for scope in (SCOPE, OTHER)]
    for _ in range(2):
        store = site.reopen(store)
        after = [contents(store, scope) for scope in (SCOPE, OTHER)]
        for one_, two in zip(before, after, strict=True):
            for name in ("#position", "#head", "#commits"):
                assert one_[name] == two[name]
            assert kept(one_, *_SHARED) == kept(two, *_SHARED)
    assert [SCOPE, OTHER] == list(store.scopes(limit=9))


@pytest.mark.clause("14.2")
@pytest.mark.requires(Capability.DURABLE)
def test_the_chain_goes_on_after_reopening(
    site: Site, new_site: Callable[[], Site]
) -> None:
    """The next commit is sealed as if the store had stayed open."""
    store, other = site.open(), new_site().open()
    for one in _life():
        assert place_of(other.append(one)) == place_of(store.append(one))
        store = site.reopen(store)
    assert kept(contents(other, SCOPE), *_SHARED) == (
        kept(contents(store, SCOPE), *_SHARED)
    )


@pytest.mark.clause("14.2")
@pytest.mark.requires(Capability.DURABLE)
@pytest.mark.parametrize(
    ("relation", "key", "version"),
    [
        ("note", ("t0", 0), 1),
        ("fact", (0, False, 1, "s0"), 2),
        ("head", ("s0",), 2),
        ("latest", ("t0",), 1),
        ("job", (False, 0), 2),
        ("note", ("t0", 9), 0),
    ],
)
def test_versions_outlive_closing(
    site: Site, relation: str, key: tuple[object, ...], version: int
) -> None:
    """A version read before satisfies an expect after; one higher does not."""
    store = site.open()
    store.append(commit(note(0), fact(0), puts=[entry("a")]))
    store.append(commit(fact(1), puts=[job(0)]))
    store = site.reopen(store)

    with pytest.raises(ConflictError):
        store.append(commit(fact(7), expects=[expect(relation, key, version + 1)]))
    came = store.append(commit(fact(7), expects=[expect(relation, key, version)]))
    assert 3 == came.seq


@pytest.mark.clause("14.2", "6.1")
@pytest.mark.requires(Capability.DURABLE)
def test_erased_stays_erased_after_reopening(site: Site) -> None:
    """A body does not come back, nor what was about its row."""
    store = site.open()
    store.append(commit(note(0, text="a", title="t"), note(1), puts=[lease(0)]))
    store.append(commit(erases=[note_ref(0)]))
    before = contents(store, SCOPE)
    store = site.reopen(store)

    assert before["note"] == contents(store, SCOPE)["note"]
    assert [] == rows(store, SCOPE, "lease")
    assert [] == rows(store, SCOPE, "title")


@pytest.mark.clause("14.3")
@pytest.mark.requires(Capability.DURABLE)
@pytest.mark.parametrize("acknowledged", [1, 7])
def test_a_killed_writer_loses_nothing(
    request: pytest.FixtureRequest, site: Site, acknowledged: int
) -> None:
    """What append returned is there; the commit under way is there whole or not."""
    process = writer.start(_backend(request), site.path, 0, 10_000)
    try:
        writer.go(process)
        for _ in range(acknowledged):
            last = int(writer.said(process).readline())
    finally:
        process.kill()
        rest = writer.said(process).read().split("\n")
        process.wait()
        process.communicate()
    # A number that was cut off by the kill ends without a line end.
    last = max([last, *map(int, filter(None, rest[:-1]))])

    store = site.open()
    length = len(commits(store, SCOPE))
    assert last <= length <= last + 1
    chain_is_whole(store, length)
    for turn in range(length):
        assert get(store, SCOPE, "note", "w0", turn) is not None
    with store.snapshot(SCOPE) as snapshot:
        facts = snapshot.scan("fact", "by_word", limit=1_000)
    assert min(1_000, length * writer.FACTS) == len(facts)
    assert length - 1 == getattr(get(store, SCOPE, "job", False, 0), "due_at", None)
    assert length + 1 == store.append(commit(note(0, "after"))).seq


@pytest.mark.clause("14.4")
@pytest.mark.requires(Capability.SHARED)
def test_two_stores_at_one_path_see_each_other(site: Site) -> None:
    """In turn, each sees what the other appended, and is held to it."""
    one, two = site.open(), site.open()
    for turn in range(3):
        one.append(commit(note(turn), puts=[job(turn)]))
        assert contents(one, SCOPE) == contents(two, SCOPE)
        two.append(
            commit(fact(turn), expects=[expect("note", ("t0", turn), 2 * turn + 1)])
        )
        assert contents(one, SCOPE) == contents(two, SCOPE)
    with pytest.raises(ConflictError):
        one.append(commit(note(9), expects=[expect("head", ("s0",), 4)]))
    two.append(commit(erases=[note_ref(0)], scope=SCOPE))
    assert getattr(get(one, SCOPE, "note", "t0", 0), "text", "") is None
    two.append(commit(note(0), scope=OTHER, puts=[job(0, due_at=-1)]))
    assert [SCOPE, OTHER] == list(one.scopes(limit=9))
    assert [OTHER] == [scope for scope, _ in one.due("job", until=-1, limit=9)]


@pytest.mark.clause("14.4", "9.1")
@pytest.mark.requires(Capability.SHARED)
def test_a_snapshot_stands_still_against_the_other_store(site: Site) -> None:
    """What another store appends shows in later snapshots only."""
    one, two = site.open(), site.open()
    one.append(commit(note(0)))
    with two.snapshot(SCOPE) as snapshot:
        one.append(commit(note(1)))
        assert 1 == snapshot.position
        assert 1 == len(snapshot.scan("note", "key", limit=9))
    with two.snapshot(SCOPE) as snapshot:
        assert 2 == snapshot.position


@pytest.mark.clause("14.5")
@pytest.mark.requires(Capability.SHARED)
def test_processes_lose_no_commit(request: pytest.FixtureRequest, site: Site) -> None:
    """Two processes and this one end in one dense chain that holds every commit."""
    each = 12
    store = site.open()
    processes = [writer.start(_backend(request), site.path, w, each) for w in (0, 1)]
    for process in processes:
        writer.go(process)
    for turn in range(each):
        store.append(commit(note(turn, "own"), puts=[job(9, due_at=turn)]))
    seqs = []
    for process in processes:
        printed, _ = process.communicate()
        assert 0 == process.returncode
        seqs += list(map(int, printed.split()))

    chain_is_whole(store, 3 * each)
    assert 2 * each == len(set(seqs))
    for topic in ("w0", "w1", "own"):
        with store.snapshot(SCOPE) as snapshot:
            assert each == len(snapshot.scan("note", "key", (topic,), limit=100))
    store.append(commit(puts=[job(0)]))
    assert 3 * each + 1 == getattr(get(store, SCOPE, "job", False, 0), "version", 0)


@pytest.mark.clause("14.6")
@pytest.mark.requires(Capability.FILES)
def test_file_names_tell_nothing(site: Site) -> None:
    """Files are named after a commit, and no name shows a scope, a key or a body."""
    store = site.open()
    scope = ScopeId("heron-tenant", "project", "heron-scope")
    store.append(
        commit(
            note(0, "otter-topic", text="lynx-text", title="lynx-title", data=b"lynx"),
            fact(0, "otter-subject"),
            puts=[entry("otter-name", group="otter"), job(0), lease(0, "otter-topic")],
            scope=scope,
        )
    )
    store.close()
    names = [str(file.relative_to(site.path)).casefold() for file in site.files()]

    assert names
    for name in names:
        assert not [word for word in ("heron", "otter", "lynx") if word in name]


@pytest.mark.clause("14.7")
@pytest.mark.requires(Capability.FILES)
@pytest.mark.parametrize(
    "content", [b"not a store at all\n" * 400, b"\0" * 8192], ids=["text", "zeros"]
)
def test_what_is_no_store_is_left_alone(site: Site, content: bytes) -> None:
    """Where each file of a store holds something else, opening is refused."""
    store = site.open()
    store.append(commit(note(0), puts=[job(0)]))
    store.close()
    files = site.files()
    for file in files:
        file.write_bytes(content)

    with pytest.raises(StoreOpenError):
        site.open()
    assert files == site.files()
    assert {content} == {file.read_bytes() for file in files}


@pytest.mark.clause("14.8")
def test_a_closed_store_refuses_every_verb(store: Store) -> None:
    """Each verb is refused; closing again changes nothing."""
    recorded = store.append(commit(note(0)))
    store.close()
    store.close()
    _refuses_all(store)
    with pytest.raises(ClosedError):
        store.append(recorded)
    store.close()


def _refuses_all(store: Store) -> None:
    with pytest.raises(ClosedError):
        store.append(commit(note(1)))
    with pytest.raises(ClosedError), store.snapshot(SCOPE):
        pass
    with pytest.raises(ClosedError):
        store.due("job", until=0, limit=1)
    with pytest.raises(ClosedError):
        store.scopes(limit=1)
    with pytest.raises(ClosedError):
        store.rebuild(SCOPE)


@pytest.mark.clause("14.9")
def test_stores_at_different_paths_share_nothing(new_site: Callable[[], Site]) -> None:
    """Neither rows nor scopes nor positions nor work of one show in the other."""
    one, two = new_site().open(), new_site().open()
    one.append(commit(note(0, text="one"), puts=[job(0)]))
    assert [] == list(two.scopes(limit=9))
    assert [] == list(two.due("job", until=0, limit=9))
    two.append(commit(note(0, text="two"), puts=[job(0)]))

    for store, text in ((one, "one"), (two, "two")):
        (row,) = rows(store, SCOPE, "note")
        assert (text, 1) == (getattr(row, "text", None), row.version)
        assert [1] == [r.version for r in rows(store, SCOPE, "job")]
    one.close()
    assert 2 == two.append(commit(note(1))).seq


@pytest.mark.clause("14.10")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_is_refused(store: Store) -> None:
    """Every verb fails in the child; the parent works on."""
    store.append(commit(note(0)))
    if not hasattr(os, "fork"):  # Where nothing forks, the clause holds by itself.
        return
    pid = os.fork()
    if not pid:
        code = 1
        try:
            _refuses_all(store)
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)

    assert 0 == status, "the child was not refused"
    assert 2 == store.append(commit(note(1))).seq
    assert 2 == len(rows(store, SCOPE, "note"))


@pytest.mark.clause("14.11")
def test_commits_replay_into_the_same_files(store: Store, yardstick: Yardstick) -> None:
    """Positions, heads, rows and files equal those of the same history given there."""
    given = _life()
    for one in given:
        store.append(one)
    measure = Measure(yardstick)
    try:
        direct = measure.direct(given)
        copied = measure.replay(store, (SCOPE, OTHER))
        for scope in (SCOPE, OTHER):
            came, expected = contents(copied, scope), contents(direct, scope)
            for name in ("#position", "#head", "#commits"):
                assert expected[name] == came[name]
            assert kept(expected, *_SHARED) == kept(came, *_SHARED)
            assert kept(contents(store, scope), *_SHARED) == kept(came, *_SHARED)
        measure.compare()
    finally:
        measure.close()
