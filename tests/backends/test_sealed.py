"""Laws of sealed scopes: what rests, who opens it, and what can't be passed off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import pytest
from tests.backends.sealed_harness import KEYS, behind, rests
from tests.backends.sealed_places import (
    BOTH,
    NEW,
    OTHER_KEY,
    Meddling,
    Place,
    everywhere,
    shown,
)

from uaix_backends import Sealing
from uaix_backends.memory import MemoryStore
from uaix_backends.sealed import SealedStore
from uaix_conformance import writer
from uaix_conformance.comparison import chain_is_whole, contents, get, rows
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
from uaix_conformance.schema import KIT
from uaix_core.access.keys import KeyRing
from uaix_core.access.relations import Denial
from uaix_core.access.sealed_rows import (
    SEALED_COPY,
    SEALED_PART,
    SEALED_ROOM,
    SEALED_WORK,
)
from uaix_core.schema.relations import Keep, Ref
from uaix_core.store.copying import copy_whole, differences
from uaix_core.store.port import Capability
from uaix_core.store.verifying import verify_scope
from uaix_core.tiers.relations import IndexMark
from uaix_core.values.errors import (
    AccessError,
    CallerError,
    IntegrityError,
    LimitError,
    OutcomeUnknownError,
    SchemaError,
    UaixError,
)
from uaix_core.values.ids import ScopeId

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from uaix_core import Store
    from uaix_core.schema.commits import Commit
    from uaix_core.schema.relations import Relation

KINDS = ("dir", "sqlite", "postgres")


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A place of each backend that keeps anything."""
    found = Place(request.param, tmp_path / "place")
    yield found
    found.close()


def life() -> list[Commit]:
    """Commits that leave something of everything."""
    return [
        commit(note(0, text="one text"), note(1, text="two", data=b"\0\xff"), fact(0)),
        commit(puts=[job(0), lease(0), lease(1), vector(0), entry("name")]),
        commit(note(2, text="three"), fact(1), puts=[job(1), vector(1)], at=5),
        commit(erases=[note_ref(0)], drops=[Ref("job", (False, 0))]),
        commit(note(0, "t1", text="more"), erases=[note_ref(2)]),
    ]


def lived(store: Store) -> Store:
    """A store with these commits."""
    for one in life():
        store.append(one)
    return store


def inner(sealed_of: Store | None = None) -> MemoryStore:
    """A store in memory that a sealed one may stand before; perhaps a raw copy."""
    found = MemoryStore(behind(KIT))
    if sealed_of is not None:
        copy_whole(sealed_of, found, SCOPE)
    return found


def over(store: Store, keys: KeyRing = KEYS, scopes: Any = everywhere) -> SealedStore:
    """A sealed store before this one."""
    return SealedStore(store, Sealing(keys, scopes), schema=KIT)


def refused(work: Callable[[], object], kind: type[UaixError] = AccessError) -> str:
    """The code with which this is refused."""
    with pytest.raises(kind) as raised:
        work()
    return raised.value.code


class TestAtRest:
    def test_it_answers_as_a_plain_store(self, place: Place) -> None:
        """Rows, versions, commits and digests are those of plain memory, reopened."""
        expected = contents(lived(MemoryStore(KIT)), SCOPE)

        assert expected == contents(lived(place.open()), SCOPE)
        place.close()
        assert expected == contents(place.open(), SCOPE)

    def test_nothing_of_it_rests_in_plain(self, place: Place) -> None:
        """Bodies, keys, words, views and local rows of a sealed scope stand nowhere."""
        texts = ("ibis-body", "ibis-title", "ibis-word", "ibis-topic", "ibis-subject")
        local = ("ibis-cached", "ibis-name", "ibis-holder")
        told = commit(
            note(0, texts[3], text=texts[0], title=texts[1], data=b"ibis-bytes"),
            fact(0, texts[4], value='"ibis-json"'),
            note(1, text=texts[2]),
            puts=[
                vector(0, texts[3], text=local[0]),
                entry(local[1]),
                lease(0, texts[3], holder=local[2]),
            ],
        )
        store = place.open(scopes=[SCOPE])
        store.append(told)
        assert [] == shown(place, *texts, *local, "ibis-bytes", "ibis-json")

        # The same search finds them in a scope that isn't sealed.
        store = place.open(scopes=[SCOPE])
        found = (texts[0], texts[3], *local)
        store.append(attrs.evolve(told, scope=OTHER))
        assert list(found) == shown(place, *found)

    def test_work_numbers_are_those_of_a_plain_store(self) -> None:
        """Also where nothing local is left to put or to drop in the store behind."""
        sealed, plain_ = over(inner()), MemoryStore(KIT)
        steps = [
            commit(note(0), note(1)),
            commit(drops=[Ref("entry", ("absent",))]),
            commit(puts=[lease(0)], erases=[note_ref(0)]),
            commit(puts=[vector(1)], erases=[note_ref(1)]),
            commit(erases=[note_ref(0)]),
            commit(puts=[job(0), entry("e")]),
            commit(drops=[Ref("entry", ("e",)), Ref("job", (False, 7))]),
            commit(puts=[job(1)]),
        ]
        for one in steps:
            assert plain_.append(one) == sealed.append(one)
            assert contents(plain_, SCOPE) == contents(sealed, SCOPE)

    def test_an_erased_body_opens_with_no_key(self, place: Place) -> None:
        """Its sealed part is gone as well, so the keys open nothing of it any more."""
        store = place.open()
        store.append(commit(note(0, text="gone"), note(1, text="stays")))
        raw = place.raw()
        (part,) = _parts(raw, (1, 1))
        sealed = part.sealed
        assert any(rests(sealed, one) for one in place.at_rest())
        store, raw = place.open(), place.raw()
        store.append(commit(erases=[note_ref(0)]))

        (part,) = _parts(raw, (1, 1))
        assert part.sealed is None
        assert len(_parts(raw, (1, 2))) == 1
        assert not any(rests(sealed, one) for one in place.at_rest())
        assert get(place.open(), SCOPE, "note", "t0", 1) is not None

    def test_the_store_behind_is_sound(self, place: Place) -> None:
        """Who has no keys can still verify what rests, and who has them the rest."""
        store = lived(place.open())

        assert verify_scope(place.raw(), SCOPE).is_sound
        assert verify_scope(store, SCOPE).is_sound

    def test_processes_share_a_scope(self, place: Place, tmp_path: Path) -> None:
        """Two processes lose no commit of each other, and end in one chain."""
        each, site = 6, tmp_path / "shared"
        site.mkdir()
        name = f"tests.backends.sealed_harness:over_{place.kind}"
        processes = [writer.start(name, site, w, each) for w in (0, 1)]
        for process in processes:
            writer.go(process)
        said = [process.communicate()[0].split() for process in processes]

        assert list(range(1, 2 * each + 1)) == sorted(int(n) for s in said for n in s)
        with writer.site_of(writer.load(name), site) as opened:
            chain_is_whole(opened.open(), 2 * each)


def _parts(store: Store, prefix: tuple[int, ...] = ()) -> list[Any]:
    with store.snapshot(SCOPE) as snapshot:
        return list(snapshot.scan(SEALED_PART.name, "key", prefix, limit=1_000))


def _ref(parts: list[Any]) -> Ref:
    return SEALED_PART.ref(parts[0])


class TestForms:
    def test_without_keys_nobody_writes(self, place: Place) -> None:
        """A plain commit to a sealed scope is refused, also as a replay."""
        lived(place.open())
        raw, before = place.raw(), place.raw()
        copied = MemoryStore(KIT)
        recorded = lived(copied).append(commit(fact(9)))

        assert "scope.sealed" == refused(lambda: raw.append(commit(fact(7))))
        with pytest.raises((AccessError, IntegrityError)):
            raw.append(recorded)
        assert [] == differences(before, raw, SCOPE)

    def test_plain_history_is_not_sealed_on_top(self, place: Place) -> None:
        """Reading and writing are refused, local rows too, and nothing has changed."""
        lived(MemoryStore(KIT))
        raw = place.raw()
        raw.append(commit(fact(0)))
        store = place.open()

        for one in (commit(fact(1)), commit(puts=[job(0)])):
            assert "scope.plain" == refused(
                lambda one=one: store.append(one), CallerError
            )  # type: ignore[misc]
        assert "scope.plain" == refused(lambda: contents(store, SCOPE), CallerError)
        assert "scope.plain" == refused(lambda: store.reseal(SCOPE), CallerError)
        with raw.snapshot(SCOPE) as snapshot:
            assert (1, []) == (
                snapshot.position,
                snapshot.scan("job", "key", limit=9),
            )

    def test_the_first_commit_decides(self) -> None:
        """Of a plain writer and a sealing one the first makes the form of the scope."""
        behind_it = Meddling(inner())
        behind_it.deeds.append(lambda _: _plain(behind_it).append(commit(fact(0))))

        store = over(behind_it)  # type: ignore[arg-type]
        assert "scope.plain" == refused(
            lambda: store.append(commit(fact(1))), CallerError
        )
        assert 1 == len(rows(_plain(behind_it), SCOPE, "fact"))

    def test_one_commit_has_one_form(self) -> None:
        """Sealed parts and plain rows in one commit are refused, first or later."""
        raw, other = inner(), inner()
        over(raw).append(commit(note(0)))
        over(raw).append(commit(note(1)))
        first, second = _parts(raw, (1, 0)), _parts(raw, (2, 0))

        for mixed in (commit(*first, fact(0)), commit(fact(0), *first)):
            assert refused(lambda it=mixed: other.append(it), CallerError)  # type: ignore[misc]
        other.append(commit(*first))
        for mixed in (commit(*second, fact(0)), commit(fact(0), erases=[_ref(second)])):
            assert "scope.sealed" == refused(lambda it=mixed: other.append(it))  # type: ignore[misc]
        assert 1 == len(_parts(other))

    def test_other_scopes_are_as_ever(self) -> None:
        """What isn't chosen stands plain, for whoever opens the store."""
        raw = inner()
        store = over(raw, scopes=[SCOPE.text])
        store.append(commit(note(0, text="a"), scope=OTHER))
        store.append(commit(note(0, text="a")))

        assert 1 == len(rows(raw, OTHER, "note"))
        assert [] == rows(raw, SCOPE, "note")
        assert [SCOPE, OTHER] == list(store.scopes(limit=9))
        assert [1, 1] == [store.rebuild(scope) for scope in (SCOPE, OTHER)]

    def test_a_plain_scope_moves_by_a_copy(self, place: Place) -> None:
        """Copied into a store that seals it, it is the same and stands nowhere."""
        plain = lived(MemoryStore(KIT))
        plain.append(commit(note(7, text="a-heron-text")))
        store = place.open()
        copied = copy_whole(plain, store, SCOPE)

        assert () == copied.differences
        assert contents(plain, SCOPE)["#commits"] == contents(store, SCOPE)["#commits"]
        assert [] == shown(place, "a-heron-text")


def _plain(store: Any) -> Store:
    found: Store = store._inner
    return found


class TestKeys:
    @pytest.mark.parametrize(
        ("keys", "code"),
        [
            (NEW, "keys.missing"),
            (KeyRing("k1", {"k1": OTHER_KEY}), "sealed.broken"),
        ],
        ids=["missing", "wrong"],
    )
    def test_who_lacks_the_key_gets_nothing(
        self, place: Place, keys: KeyRing, code: str
    ) -> None:
        """Reading, writing and sealing anew fail; the scope never looks empty."""
        before = contents(lived(place.open()), SCOPE)
        store = place.open(keys)
        work: list[Callable[[], object]] = [
            lambda: contents(store, SCOPE),
            lambda: store.append(commit(fact(9))),
            lambda: store.append(commit(puts=[job(9)])),
            lambda: store.reseal(SCOPE),
            lambda: store.rebuild(SCOPE),
        ]

        assert [code] * len(work) == [refused(one) for one in work]
        assert before == contents(place.open(), SCOPE)

    def test_each_scope_has_a_key_of_its_own(self) -> None:
        """So does each name, and none of them is a key that seals secrets."""
        ring = KeyRing("k1", {"k1": b"\1" * 32, "k2": b"\2" * 32})
        keys = {ring.scope_key(k, s) for k in ("k1", "k2") for s in (SCOPE, OTHER)}
        keys |= {ring.sealing_key("k1"), ring.sealing_key("k2")}

        assert 6 == len(keys)
        assert {32} == {len(key) for key in keys}

    @pytest.mark.parametrize(
        ("scopes", "held", "code"),
        [
            (SCOPE.text, 1, "sealing.scopes"),
            (["kit"], 1, "scope.syntax"),
            ([SCOPE], 0, "sealing.held"),
        ],
    )
    def test_what_is_sealed_is_said_rightly(
        self, scopes: Any, held: int, code: str
    ) -> None:
        """One text is no collection, and a scope is written as everywhere."""
        assert code == refused(lambda: Sealing(KEYS, scopes, held), CallerError)

    def test_keys_are_not_shown(self) -> None:
        """Neither what is sealed nor who seals it shows a key when it is printed."""
        for key in KEYS.keys.values():
            assert repr(key) not in repr(Sealing(KEYS, everywhere))


class TestMeddling:
    @pytest.mark.parametrize(
        ("taken", "put"),
        [
            ((1, 0, 0), (2, 0, 0)),
            ((2, 0, 0), (1, 0, 0)),
            ((1, 1, 0), (1, 2, 0)),
            ((1, 1, 0), (1, 0, 0)),
            ((1, 0, 0), (1, 1, 0)),
        ],
        ids=str,
    )
    def test_a_part_opens_at_its_own_place_only(
        self, taken: tuple[int, ...], put: tuple[int, ...]
    ) -> None:
        """A sealed text that was moved to another number or part is refused."""
        raw = inner()
        over(raw).append(commit(note(0, text="a"), note(1, text="b")))
        over(raw).append(commit(note(2, text="c")))
        there = {SEALED_PART.key_of(row): row for row in _parts(raw)}
        moved = _forged(there, {put: there[taken].sealed})

        assert "sealed.broken" == refused(lambda: contents(over(moved), SCOPE))

    def test_a_part_that_no_commit_has_is_refused(self) -> None:
        """What was laid beside the parts of a commit isn't passed over."""
        raw = inner()
        over(raw).append(commit(note(0, text="a")))
        line, body = _parts(raw)
        laid = _forged({(1, 0, 0): line, (1, 1, 0): body, (1, 2, 0): _at(body, 2)}, {})

        assert "sealed.broken" == refused(lambda: contents(over(laid), SCOPE))

    def test_a_part_opens_in_its_own_scope_only(self) -> None:
        """Moved to the same place of another scope it is refused."""
        raw = inner()
        store = over(raw)
        for scope in (SCOPE, OTHER):
            store.append(commit(note(0, text="a"), scope=scope))
        there = {SEALED_PART.key_of(row): row for row in _parts(raw)}
        moved = _forged(there, {}, OTHER)

        assert "sealed.broken" == refused(lambda: contents(over(moved), OTHER))

    @pytest.mark.parametrize("lost", [(1, 0, 0), (2, 0, 0)])
    def test_a_commit_without_its_line_is_refused(self, lost: tuple[int, ...]) -> None:
        """What lacks a commit is no shorter history."""
        raw = inner()
        store = over(raw)
        for number in range(3):
            store.append(commit(note(number, text="a")))
        there = {SEALED_PART.key_of(row): row for row in _parts(raw)}
        erased = _forged(there, {})
        erased.append(commit(erases=[Ref(SEALED_PART.name, lost)]))
        assert "sealed.broken" == refused(lambda: contents(over(erased), SCOPE))

        del there[lost]
        with pytest.raises((IntegrityError, AccessError, CallerError)) as raised:
            contents(over(_forged(there, {})), SCOPE)
        assert raised.value.code in ("storage.segment", "sealed.broken", "scope.plain")

    @pytest.mark.parametrize("relation", [SEALED_WORK, SEALED_COPY], ids=repr)
    def test_a_local_row_opens_at_its_own_place_only(self, relation: Relation) -> None:
        """A row that was moved under another one's place is refused."""
        raw = inner()
        puts = [entry("a"), entry("b"), lease(0), lease(1)]
        over(raw).append(commit(fact(), puts=puts))
        with raw.snapshot(SCOPE) as snapshot:
            one, two = snapshot.scan(relation.name, "key", limit=9)
        moved: Any = relation.make(relation.values(two))
        moved.place = one.place  # type: ignore[attr-defined]
        raw.append(commit(puts=[moved]))

        assert "sealed.broken" == refused(lambda: contents(over(raw), SCOPE))


def _at(row: Any, part: int) -> Any:
    moved: Any = SEALED_PART.make(SEALED_PART.values(row))
    moved.part = part
    return moved


def _forged(
    there: dict[Any, Any], sealed: dict[Any, bytes], scope: ScopeId = SCOPE
) -> MemoryStore:
    """A store that holds these parts, some with another sealed text."""
    forged = inner()
    rows_ = [
        SEALED_PART.with_body(
            row.salt,
            number=row.number,
            part=row.part,
            generation=row.generation,
            key_id=row.key_id,
            sealed=sealed.get(key, row.sealed),
        )
        for key, row in sorted(there.items())
    ]
    forged.append(commit(*rows_, scope=scope))
    return forged


def test_a_row_under_two_places_is_one() -> None:
    """Where a copy brought a row in again the last one counts, and goes as one."""
    one, two = inner(), inner()
    over(one).append(commit(fact(), puts=[entry("a", size=1), lease(0, until=1)]))
    over(two).append(commit(fact(), puts=[entry("a", size=2), lease(0, until=2)]))
    for relation in (SEALED_COPY, SEALED_WORK):
        with two.snapshot(SCOPE) as snapshot:
            one.append(commit(puts=snapshot.scan(relation.name, "key", limit=9)))

    store = over(one)
    assert [2] == [row.size for row in rows(store, SCOPE, "entry")]  # type: ignore[attr-defined]
    assert [2] == [row.until for row in rows(store, SCOPE, "lease")]  # type: ignore[attr-defined]
    gone = [Ref("entry", ("a",)), Ref("lease", ("t0", 0, "h0"))]
    store.append(commit(drops=gone))
    for name in ("entry", "lease"):
        assert [] == rows(store, SCOPE, name) == rows(over(one), SCOPE, name)


def test_what_wraps_is_not_shown() -> None:
    """With keys a scope has its own rows alone, and copies to a plain one."""
    store = SealedStore(MemoryStore(), Sealing(KEYS, everywhere))
    mark = IndexMark("words", "nova", 1, 0)
    denial = Denial(
        "d1", "operation", "read", "human", "carol", "c1", "project", "apollo", None
    )
    store.append(commit(denial, puts=[mark]))
    plain_ = MemoryStore()

    assert () == copy_whole(store, plain_, SCOPE).differences
    for relation in SEALED_ROOM.relations:
        for shown_ in (store, plain_):
            with shown_.snapshot(SCOPE) as snapshot:
                assert [] == list(snapshot.scan(relation.name, "key", limit=9))
    assert mark == get(plain_, SCOPE, "index_mark", "words", "nova")


class TestRotation:
    def test_all_is_sealed_anew(self, place: Place) -> None:
        """Afterwards the new key opens everything alone, and the old one nothing."""
        before = contents(lived(place.open()), SCOPE)
        old = [row.sealed for row in _parts(place.raw()) if row.sealed]
        assert all(any(rests(o, one) for one in place.at_rest()) for o in old)
        store = place.open(BOTH)
        # 4 lines, 2 bodies that stand, 3 local rows.
        assert [9, 0] == [store.reseal(SCOPE), store.reseal(SCOPE)]

        rest = place.at_rest()
        assert not [o for o in old if any(rests(o, one) for one in rest)]
        after = contents(place.open(NEW), SCOPE)
        shared = [r.name for r in KIT.kept(Keep.HISTORY, Keep.VIEW)]
        for name in ("#commits", "#head", "job", *shared):
            assert before[name] == after[name]
        for name in ("vector", "entry", "lease"):
            assert [one[2] for one in before[name]] == [one[2] for one in after[name]]
        assert "keys.missing" == refused(lambda: contents(place.open(KEYS), SCOPE))

    @pytest.mark.parametrize(
        ("limit", "most", "expected"), [("PAGE", 2, 6), ("_BYTES", 0, 8)]
    )
    def test_a_break_is_gone_on_from(
        self, monkeypatch: pytest.MonkeyPatch, limit: str, most: int, expected: int
    ) -> None:
        """Broken off anywhere, the scope opens with both keys and is finished later."""
        monkeypatch.setattr(f"uaix_backends.sealed.rotating.{limit}", most)
        steps = 0
        while True:
            behind_it = Meddling(inner())
            before = contents(lived(over(behind_it)), SCOPE)["#commits"]  # type: ignore[arg-type]
            store = over(behind_it, BOTH)  # type: ignore[arg-type]
            behind_it.deeds += [lambda _: None] * steps + [_broken]
            try:
                store.reseal(SCOPE)
            except OutcomeUnknownError:
                pass
            else:
                break
            assert before == contents(over(behind_it, BOTH), SCOPE)["#commits"]  # type: ignore[arg-type]
            behind_it.deeds.clear()
            store.reseal(SCOPE)
            assert before == contents(over(behind_it, NEW), SCOPE)["#commits"]  # type: ignore[arg-type]
            steps += 1
        assert expected == steps

    def test_who_works_goes_on(self) -> None:
        """A store that was open all the while reads and writes on, with both keys."""
        raw = inner()
        old = over(raw, KeyRing("k1", BOTH.keys))
        lived(old)
        over(raw, BOTH).reseal(SCOPE)
        old.append(commit(note(9, text="z"), erases=[note_ref(1)]))

        assert contents(old, SCOPE) == contents(over(raw, BOTH), SCOPE)
        assert 2 == over(raw, BOTH).reseal(SCOPE)


def _broken(_commit: Commit) -> None:
    raise OutcomeUnknownError("the medium failed")


class TestHolding:
    def test_what_is_not_held_is_opened_again(self) -> None:
        """More scopes than are held are all read and written as ever."""
        store = SealedStore(inner(), Sealing(KEYS, everywhere, held=2), schema=KIT)
        scopes = [ScopeId("kit", "working", f"w{n}") for n in range(5)]
        for turn in range(2):
            for number, scope in enumerate(scopes):
                store.append(commit(fact(turn, f"s{number}"), scope=scope))

        assert 2 == len(store._held)
        assert [2] * 5 == [len(rows(store, scope, "fact")) for scope in scopes]

    def test_a_store_inside_a_host_is_refused(self) -> None:
        """What the host may roll back isn't held in memory."""
        joined = inner()
        joined.capabilities = frozenset({Capability.JOINS})  # type: ignore[misc]
        assert "sealing.joined" == refused(lambda: over(joined), CallerError)

    def test_a_store_without_the_room_is_refused(self) -> None:
        """There is no place for sealed parts in a schema of somebody's own."""
        with pytest.raises(SchemaError):
            over(MemoryStore(KIT))

    def test_promises_are_those_of_the_store_behind(self, place: Place) -> None:
        """All but to work inside a host's transaction."""
        store, raw = place.open(), place.raw()
        assert raw.capabilities - {Capability.JOINS} == store.capabilities

    def test_what_is_sealed_is_counted_once(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A full commit is taken in a sealed scope; one row more is too many."""
        monkeypatch.setattr("uaix_core.schema.checks.MAX_ROWS", 20)
        store = over(inner())
        store.append(commit(*(note(n) for n in range(19)), puts=[job(0)]))
        erased = [note_ref(n) for n in range(19)]
        local = {"puts": [vector(99)], "expects": [expect("job", (False, 0), 1)]}

        assert 2 == store.append(commit(erases=erased, **local)).seq
        assert 3 == store.append(commit(*(note(n + 20) for n in range(20)))).seq
        with pytest.raises(LimitError):
            store.append(commit(*(note(n + 50) for n in range(21))))
        with pytest.raises(LimitError):
            store.append(commit(fact(), erases=erased, **local))

    def test_bodies_are_counted_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Bodies up to the limit are taken, whatever they are when they are sealed."""
        monkeypatch.setattr("uaix_core.schema.checks.MAX_BODY_BYTES", 100)
        store = over(inner())
        most = 100 - len("null")

        with pytest.raises(LimitError):
            store.append(commit(note(0, data=b"x" * (most + 1))))
        assert 1 == store.append(commit(note(0, data=b"x" * most))).seq
