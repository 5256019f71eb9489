"""Laws of sealed scopes when others write at the same time, or the medium fails."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from tests.backends.sealed_harness import KEYS, behind
from tests.backends.sealed_places import BOTH, Meddling, everywhere

from uaix_backends import Sealing
from uaix_backends.memory import MemoryStore
from uaix_backends.sealed import SealedStore
from uaix_conformance.comparison import contents, get, rows
from uaix_conformance.examples import (
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
from uaix_conformance.schema import KIT
from uaix_core.access.keys import KeyRing
from uaix_core.access.sealed_rows import SEALED_PART
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import ConflictError, OutcomeUnknownError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from uaix_core.schema.commits import Commit


class Pair:
    """Two store objects before one store: one writes, the other comes in between."""

    def __init__(self, keys: KeyRing = KEYS) -> None:
        self.raw = MemoryStore(behind(KIT))
        self.between = Meddling(self.raw)
        sealing = Sealing(keys, everywhere)
        self.one = SealedStore(self.between, sealing, schema=KIT)  # type: ignore[arg-type]
        self.other = SealedStore(self.raw, sealing, schema=KIT)
        self.other.append(
            commit(
                note(0, text="a"),
                note(1, text="b"),
                fact(0),
                puts=[job(0), lease(1), entry("e")],
            )
        )

    def meanwhile(self, *deeds: Callable[[SealedStore], object]) -> None:
        """Let the other one do these right before the first one's next writes."""
        self.between.deeds += [lambda _, deed=deed: deed(self.other) for deed in deeds]

    def check(self) -> dict[str, Any]:
        """Both show the same as whoever opens it anew; what they show."""
        anew = SealedStore(self.raw, Sealing(BOTH, everywhere), schema=KIT)
        shown = contents(self.one, SCOPE)
        assert shown == contents(self.other, SCOPE) == contents(anew, SCOPE)
        assert verify_scope(anew, SCOPE).is_sound
        assert verify_scope(self.raw, SCOPE).is_sound
        return shown


@pytest.fixture
def pair() -> Pair:
    """Two stores with a first commit."""
    return Pair()


def test_a_commit_follows_the_one_that_was_first(pair: Pair) -> None:
    """However many come in between, both are there in one chain."""
    pair.meanwhile(*(lambda s, n=n: s.append(commit(fact(n))) for n in (1, 2, 3)))

    assert 5 == pair.one.append(commit(fact(9))).seq
    assert [0, 1, 2, 3, 9] == [r.size for r in rows(pair.one, SCOPE, "fact")]  # type: ignore[attr-defined]
    pair.check()


@pytest.mark.parametrize(
    ("expected", "deed"),
    [
        (("head", ("s0",), 1), commit(fact(1))),
        (("note", ("t0", 5), 0), commit(note(5))),
        (("latest", ("t0",), 1), commit(note(5))),
        (("job", (False, 0), 1), commit(puts=[job(0)])),
        (("job", (False, 3), 0), commit(puts=[job(3)])),
        (("lease", ("t0", 1, "h0"), 1), commit(puts=[lease(1, until=5)])),
        (("lease", ("t0", 1, "h1"), 0), commit(puts=[lease(1, holder="h1")])),
        (("lease", ("t0", 1, "h0"), 1), commit(erases=[note_ref(1)])),
        (("entry", ("e",), 1), commit(puts=[entry("e", size=1)])),
        (("entry", ("f",), 0), commit(puts=[entry("f")])),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
@pytest.mark.parametrize(
    "work", [commit(fact(9)), commit(puts=[job(9)])], ids=["history", "local"]
)
def test_what_a_caller_expects_is_never_skipped(
    pair: Pair, expected: Any, deed: Commit, work: Commit
) -> None:
    """It failed in between, so the commit fails, with the row that stands now."""
    pair.meanwhile(lambda s: s.append(deed))
    relied = commit(*work.adds, puts=work.puts, expects=[expect(*expected)])
    with pytest.raises(ConflictError) as raised:
        pair.one.append(relied)

    error = raised.value
    assert expected == (error.relation, error.key, error.expected)
    assert error.current == get(pair.other, SCOPE, error.relation or "", *expected[1])
    assert get(pair.one, SCOPE, "job", False, 9) is None
    assert get(pair.one, SCOPE, "fact", 0, False, 9, "s0") is None
    pair.check()


@pytest.mark.parametrize(
    "stands",
    [
        ("head", ("s0",), 1),
        ("note", ("t0", 1), 1),
        ("job", (False, 0), 1),
        ("lease", ("t0", 1, "h0"), 1),
        ("entry", ("e",), 1),
        ("entry", ("f",), 0),
    ],
)
def test_what_still_stands_is_relied_on(pair: Pair, stands: Any) -> None:
    """A commit in between that touches nothing the caller expects is no conflict."""
    pair.meanwhile(lambda s: s.append(commit(note(5), puts=[job(5), lease(5)])))
    relied = commit(fact(9), puts=[job(9)], expects=[expect(*stands)])

    assert 3 == pair.one.append(relied).seq
    pair.check()


@pytest.mark.parametrize(
    "about", [lease(0), vector(0, text="a")], ids=["WORK", "CACHE"]
)
def test_an_erasure_takes_what_came_in_between(pair: Pair, about: Any) -> None:
    """A local row about the erased one that another writer put meanwhile goes too."""
    pair.meanwhile(lambda s: s.append(commit(puts=[about])))
    pair.one.append(commit(erases=[note_ref(0)]))

    shown = pair.check()
    assert ([], 1) == (shown["vector"], len(shown["lease"]))


def test_an_erasure_reaches_what_was_sealed_anew() -> None:
    """Sealed under another key right before, the body goes all the same."""
    pair = Pair(KeyRing("k1", BOTH.keys))
    rotating = SealedStore(pair.raw, Sealing(BOTH, everywhere), schema=KIT)
    pair.meanwhile(lambda _: rotating.reseal(SCOPE))
    pair.one.append(commit(erases=[note_ref(0)]))

    assert _live(pair, (1, 1)) == []
    pair.check()


def test_sealing_anew_brings_nothing_back() -> None:
    """A body that is erased while its scope is sealed anew stays erased."""
    pair = Pair(KeyRing("k1", BOTH.keys))
    rotating = SealedStore(pair.between, Sealing(BOTH, everywhere), schema=KIT)  # type: ignore[arg-type]
    pair.meanwhile(lambda s: s.append(commit(erases=[note_ref(0)])))
    rotating.reseal(SCOPE)

    assert _live(pair, (1, 1)) == []
    pair.check()


@pytest.mark.parametrize(
    ("before", "put"), [(1, lease(1, until=7)), (2, entry("e", size=7))]
)
def test_sealing_anew_keeps_what_was_put_in_between(before: int, put: Any) -> None:
    """A local row that is put while its scope is sealed anew is the later one."""
    pair = Pair(KeyRing("k1", BOTH.keys))
    rotating = SealedStore(pair.between, Sealing(BOTH, everywhere), schema=KIT)  # type: ignore[arg-type]
    # The parts come first, then WORK, then CACHE.
    pair.meanwhile(*[lambda _: None] * before, lambda s: s.append(commit(puts=[put])))
    rotating.reseal(SCOPE)

    assert [put] == rows(pair.one, SCOPE, KIT.of(put).name)
    pair.check()


def _live(pair: Pair, prefix: tuple[int, int]) -> list[Any]:
    with pair.raw.snapshot(SCOPE) as snapshot:
        found = snapshot.scan(SEALED_PART.name, "key", prefix, limit=9)
    return [row for row in found if SEALED_PART.has_body(row)]


@pytest.mark.parametrize("is_written", [False, True], ids=["lost", "written"])
@pytest.mark.parametrize("error", [OutcomeUnknownError, StorageError])
def test_a_failure_is_looked_into(
    pair: Pair, error: type[StorageError], is_written: bool
) -> None:
    """After an error what is shown is what the store behind holds, whichever it is."""

    def fail(it: Commit) -> None:
        if is_written:
            pair.raw.append(it)
        raise error("the medium failed")

    contents(pair.one, SCOPE)
    pair.between.deeds.append(fail)
    with pytest.raises(error):
        pair.one.append(commit(note(2, text="c"), puts=[job(2)]))

    shown = pair.check()
    assert 1 + is_written == shown["#position"]
    assert 2 + is_written == pair.one.append(commit(note(3))).seq
    pair.check()


def test_a_reader_may_know_more_than_the_writer(pair: Pair) -> None:
    """A snapshot that was opened before the writer returned stays whole."""
    with ExitStack() as stack:
        seen: list[Any] = []
        pair.between.afterwards += [
            lambda: (
                pair.other.append(commit(fact(5))),
                seen.append(stack.enter_context(pair.one.snapshot(SCOPE))),
            )
        ]
        pair.one.append(commit(fact(4)))
        assert [1, 2, 3] == [recorded.seq for recorded in seen[0].commits()]
        pair.one.append(commit(fact(6)))
        assert [1, 2, 3] == [recorded.seq for recorded in seen[0].commits()]
    pair.check()


@pytest.mark.parametrize("looks", [True, False])
def test_a_store_that_lost_its_end_is_read_again(pair: Pair, *, looks: bool) -> None:
    """Put back to an earlier state, the store shows that state and goes on from it."""
    earlier = MemoryStore(behind(KIT))
    with pair.raw.snapshot(SCOPE) as snapshot:
        for recorded in snapshot.commits():
            earlier.append(recorded)
    pair.one.append(commit(fact(1)))
    pair.one.append(commit(fact(2)))
    pair.raw._scopes = earlier._scopes

    if looks:
        assert 1 == contents(pair.one, SCOPE)["#position"]
    for number in (5, 6, 7):
        pair.other.append(commit(fact(number)))
    assert [0, 5, 6, 7] == [r.size for r in rows(pair.one, SCOPE, "fact")]  # type: ignore[attr-defined]
    pair.check()
