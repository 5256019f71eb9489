"""The state machine: a store and the oracle go through the same random life."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
)

from uaix_conformance import strategies as draw
from uaix_conformance.comparison import (
    compare,
    contents,
    exact,
    exacts,
    kept,
    modelled,
    order_of,
    place_of,
    shown,
)
from uaix_conformance.examples import OTHER, SCOPE
from uaix_conformance.oracle import Oracle, scanned
from uaix_conformance.schema import KIT, RELATIONS
from uaix_conformance.yardstick import Measure
from uaix_core.schema.commits import Commit, Expect, Recorded
from uaix_core.schema.relations import BY_KEY, Keep, Ref
from uaix_core.store.port import Capability
from uaix_core.values.errors import ConflictError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from uaix_conformance.harness import Site, Yardstick
    from uaix_conformance.oracle import State
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot, Store
    from uaix_core.values.ids import ScopeId

_SCOPES = (SCOPE, OTHER)
_LOCAL = (Keep.WORK, Keep.CACHE)
_EXPECTABLE = ("note", "fact", "latest", "head", "job", "lease", "vector", "entry")
_ABSENT = (Ref("job", (True, 9)), Ref("note", ("t9", 9)), Ref("head", ("s9",)))
_PATHS = [(r, path) for r in RELATIONS for path in (BY_KEY, *r.paths)]


def _refs(rows: Iterable[Row]) -> dict[Ref, Row]:
    return {KIT.of(row).ref(row): row for row in rows}


def _but_erased(row: Any) -> Any:
    """An exact row without what an erasure may take from it."""
    gone = (*KIT.relation("note").body, "salt")
    name, version, fields = row
    return name, version, [f for f in fields if name != "note" or f[0] not in gone]


class StoreMachine(RuleBasedStateMachine):
    """Random commits, snapshots, reopenings and rebuilds, compared at every step.

    Rules that write outnumber the others: Hypothesis leaves out some rules in each
    run, and a life without commits says nothing.
    """

    new_site: Callable[[], Site]
    yardstick: Yardstick | None

    def __init__(self) -> None:
        super().__init__()
        self.oracle = Oracle(KIT)
        self.stack = ExitStack()
        self.held: list[tuple[Snapshot, State]] = []
        self.submitted: list[Commit] = []
        self.stores: list[Store] = []
        self.turn = 0
        #: The scopes that something was done to since they were compared.
        self.touched: set[ScopeId] = set()

    @initialize()
    def begin(self) -> None:
        """Open a store; two on one path when they may be shared."""
        self.site = type(self).new_site()
        self.stores = [self.site.open()]
        if Capability.SHARED in self.stores[0].capabilities:
            self.stores.append(self.site.open())
        self.touched.update(_SCOPES)

    @property
    def store(self) -> Store:
        """The store whose turn it is."""
        self.turn += 1
        return self.stores[self.turn % len(self.stores)]

    def _submit(self, commit: Commit) -> None:
        """Give a commit to both and compare what they say."""
        changes = (commit.adds, commit.puts, commit.drops, commit.erases)
        if not any(changes):
            return
        self.touched.add(commit.scope)
        try:
            expected: Any = self.oracle.append(commit)
        except ConflictError as error:
            expected = error
        try:
            came: Any = self.store.append(commit)
        except ConflictError as error:
            came = error
        assert type(expected) is type(came), (expected, came)
        if isinstance(came, Recorded):
            assert place_of(expected) == place_of(came)
            self.submitted.append(commit)
        elif expected.code == "conflict.expect":
            assert (expected.relation, expected.key) == (came.relation, came.key)
            assert expected.expected == came.expected
            assert exact(expected.current) == exact(came.current)

    def _new(self, scope: ScopeId, rows: Iterable[Row]) -> list[Row]:
        """The rows whose keys do not stand yet: else hardly any commit is kept."""
        standing = self.oracle.state(scope).rows
        return [row for ref, row in _refs(rows).items() if ref not in standing]

    def _some(self, data: st.DataObject, scope: ScopeId, *names: str) -> list[Ref]:
        """Up to three rows that stand, and at times one that doesn't."""
        standing = [r for r in self.oracle.state(scope).rows if r.relation in names]
        absent = [ref for ref in _ABSENT if ref.relation in names]
        refs = st.sampled_from(standing * 2 + absent)
        return data.draw(st.lists(refs, min_size=1, max_size=3, unique=True))

    def _expects(
        self, data: st.DataObject, scope: ScopeId, off: int = 0
    ) -> list[Expect]:
        """Expects that hold, or miss by ``off``."""
        rows = self.oracle.state(scope).all_rows()
        names = [ref for ref in rows if ref.relation in _EXPECTABLE]
        refs = st.sampled_from([*names, *_ABSENT])
        return [
            Expect(ref.relation, ref.key, max(0, off + rows[ref].version))
            if ref in rows
            else Expect(ref.relation, ref.key, max(0, off))
            for ref in data.draw(st.lists(refs, max_size=3, unique=True))
        ]

    @rule(
        scope=draw.scopes,
        at=draw.small,
        notes=st.lists(draw.notes(), min_size=1, max_size=3),
        facts=st.lists(draw.facts(), max_size=2),
    )
    def add(self, scope: ScopeId, at: int, notes: list[Row], facts: list[Row]) -> None:
        """Add history under new keys; titles may be taken."""
        self._submit(Commit(scope, at, adds=self._new(scope, [*notes, *facts])))

    @rule(
        data=st.data(),
        scope=draw.scopes,
        notes=st.lists(draw.notes(), max_size=2),
        facts=st.lists(draw.facts(), max_size=2),
        puts=st.lists(draw.local_rows(), max_size=2),
    )
    def add_and_put(
        self,
        data: st.DataObject,
        scope: ScopeId,
        notes: list[Row],
        facts: list[Row],
        puts: list[Row],
    ) -> None:
        """Add history and local rows over expects that hold."""
        self._submit(
            Commit(
                scope,
                0,
                expects=self._expects(data, scope),
                adds=self._new(scope, [*notes, *facts]),
                puts=_refs(puts).values(),
            )
        )

    @rule(
        data=st.data(),
        scope=draw.scopes,
        puts=st.lists(draw.local_rows(), max_size=3),
    )
    def put_and_drop(
        self, data: st.DataObject, scope: ScopeId, puts: list[Row]
    ) -> None:
        """Change local rows alone."""
        names = [r.name for r in KIT.kept(*_LOCAL)]
        put = _refs(puts)
        drops = [r for r in self._some(data, scope, *names) if r not in put]
        self._submit(Commit(scope, 0, puts=put.values(), drops=drops))

    @rule(
        data=st.data(),
        scope=draw.scopes,
        notes=st.lists(draw.notes(), max_size=2),
        puts=st.lists(draw.local_rows(), max_size=2),
    )
    def erase_and_more(
        self, data: st.DataObject, scope: ScopeId, notes: list[Row], puts: list[Row]
    ) -> None:
        """Erase, add and put at once; what is put may be about what goes."""
        self._submit(
            Commit(
                scope,
                1,
                adds=self._new(scope, notes),
                puts=_refs(puts).values(),
                erases=self._some(data, scope, "note"),
            )
        )

    @rule(data=st.data(), scope=draw.scopes)
    def erase_the_latest(self, data: st.DataObject, scope: ScopeId) -> None:
        """Erase what the views show last: they must go back to the one before."""
        views = self.oracle.state(scope).views()
        latest = [
            Ref("note", (*ref.key, getattr(row, "number")))  # noqa: B009 - a Latest
            for ref, row in views.items()
            if ref.relation == "latest"
        ]
        if latest:
            ref = data.draw(st.sampled_from(latest))
            self._submit(Commit(scope, 0, erases=[ref]))

    @rule(
        data=st.data(),
        scope=draw.scopes,
        adds=st.lists(draw.notes() | draw.facts(), max_size=2),
        puts=st.lists(draw.local_rows(), max_size=1),
        off=st.sampled_from([-1, 0, 1]),
    )
    def conflict(
        self,
        data: st.DataObject,
        scope: ScopeId,
        adds: list[Row],
        puts: list[Row],
        off: int,
    ) -> None:
        """Append what may meet a taken key, or expects that miss by one."""
        self._submit(
            Commit(
                scope,
                4,
                expects=self._expects(data, scope, off),
                adds=_refs(adds).values(),
                puts=_refs(puts).values(),
            )
        )

    @rule(
        scope=draw.scopes,
        what=st.sampled_from(["hold", "let go", "reopen", "rebuild", "replay"]),
    )
    def tend(self, scope: ScopeId, what: str) -> None:
        """Hold snapshots, let go of them, reopen, rebuild, replay what is known."""
        state = self.oracle.state(scope)
        if what == "hold" and len(self.held) < 2:
            snapshot = self.stack.enter_context(self.store.snapshot(scope))
            self.held.append((snapshot, state))
        elif what == "let go":
            self._let_go()
        elif what == "rebuild":
            self.touched.add(scope)
            assert state.position == self.store.rebuild(scope)
        elif what == "replay":
            self.touched.add(scope)
            for recorded in state.commits()[-2:]:
                assert place_of(recorded) == place_of(self.store.append(recorded))
        elif what == "reopen" and Capability.DURABLE in self.stores[0].capabilities:
            self._let_go()
            for store in self.stores:
                store.close()
            self.stores = [self.site.open() for _ in self.stores]
            self.touched.update(_SCOPES)

    def _let_go(self) -> None:
        try:
            self._check_held(_SCOPES)
        finally:
            self.held.clear()
            self.stack.close()

    @rule(
        data=st.data(),
        scope=draw.scopes,
        path=st.sampled_from(_PATHS),
        reverse=st.booleans(),
        limit=st.sampled_from([1, 2, 3, 1_000]),
    )
    def scan(
        self,
        data: st.DataObject,
        scope: ScopeId,
        path: tuple[Any, str],
        reverse: bool,
        limit: int,
    ) -> None:
        """Scan from a place that a row has, or nearly has."""
        relation, name = path
        rows = self.oracle.state(scope).all_rows()
        every = scanned(relation, rows, name)
        if not every:
            return
        order = order_of(relation, name, data.draw(st.sampled_from(every)))
        other = order_of(relation, name, data.draw(st.sampled_from(every)))
        cut = data.draw(st.integers(0, len(order)))
        to = data.draw(st.integers(cut, len(order)))
        where: dict[str, Any] = {
            "after": other[cut:to] or None,
            "reverse": reverse,
            "limit": limit,
        }
        expected = scanned(relation, rows, name, order[:cut], **where)
        with self.store.snapshot(scope) as snapshot:
            came = snapshot.scan(relation.name, name, order[:cut], **where)
        assert exacts(expected) == exacts(came)

    @invariant()
    def same_answers(self) -> None:
        """Every verb answers as the model does; what was left alone stands there."""
        if not self.stores:
            return
        store = self.store
        for scope in _SCOPES:
            state = self.oracle.state(scope)
            with store.snapshot(scope) as snapshot:
                if scope in self.touched:
                    compare(state, snapshot, self.turn)
                place = snapshot.position, snapshot.head
            assert (state.position, state.head) == place
        self._check_held(self.touched)
        self.touched.clear()
        assert self.oracle.scopes(None, 1_000) == list(store.scopes(limit=1_000))
        for until in (-1, 0, 2):
            expected = self.oracle.due("job", until, 3)
            came = store.due("job", until=until, limit=3)
            assert [(s, exact(row)) for s, row in expected] == [
                (s, exact(row)) for s, row in came
            ]

    def _check_held(self, scopes: Collection[ScopeId]) -> None:
        """What was open before shows what it showed; only erased bodies may go."""
        for snapshot, state in self.held:
            if state.scope not in scopes:
                continue
            before, now = modelled(state), shown(snapshot)
            for name in before.keys() - {"note", "#commits"}:
                assert before[name] == now[name]
            assert list(map(_but_erased, before["note"])) == list(
                map(_but_erased, now["note"])
            )
            places = [recorded[0] for recorded in now["#commits"]]
            assert [recorded[0] for recorded in before["#commits"]] == places

    def teardown(self) -> None:
        """Compare all there is, and what it leaves when it is replayed elsewhere."""
        try:
            self._let_go()
            for store in self.stores:
                for scope in _SCOPES:
                    with store.snapshot(scope) as snapshot:
                        compare(self.oracle.state(scope), snapshot, self.turn)
            if self.stores and (yardstick := type(self).yardstick) is not None:
                self._measure(yardstick)
        finally:
            for store in self.stores:
                store.close()
            if self.stores:
                self.site.discard()

    def _measure(self, yardstick: Yardstick) -> None:
        """Replay into the yardstick and compare with the same commits given to it."""
        measure = Measure(yardstick)
        try:
            direct = measure.direct(self.submitted)
            copied = measure.replay(self.stores[0], _SCOPES)
            for scope in _SCOPES:
                expected, came = contents(direct, scope), contents(copied, scope)
                keeps = (Keep.HISTORY, Keep.VIEW)
                assert kept(expected, *keeps) == kept(came, *keeps)
                assert expected["#commits"] == came["#commits"]
            measure.compare()
        finally:
            measure.close()
