"""A machine of two agents with two sessions each, against a plain model.

Whoever acts when: a package has one lease and a session has one, nobody is taken from
before the time is over, and what is written was written by who held the package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import hypothesis
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.session.leasing import ID, OTHER_ID, at_clock, stored
from tests.session.test_starts import fresh

from uaix_backends.memory import MemoryStore
from uaix_core import ConflictError, Lease
from uaix_core.store.copying import copy_scope

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGES = (ID, OTHER_ID)
WHO = st.tuples(st.sampled_from(["ada", "bob"]), st.sampled_from(["run-1", "run-2"]))
#: Small and dense, so that ends are met at the very microsecond.
TIMES = st.integers(1, 4)
#: How far the clock of a session is off.
LAGS = st.integers(-2, 2)
_packages: list[Any] = []


def with_packages() -> Any:
    """A session over a store of its own that holds both packages."""
    if not _packages:
        _packages.append(stored(fresh(), *PACKAGES))
    store = MemoryStore()
    copy_scope(_packages[0].store, store, _packages[0].scope)
    return attrs.evolve(_packages[0], store=store)


def tried(call: Callable[[], Any]) -> tuple[Any, str]:
    """What a call gives, or the code of its refusal."""
    try:
        return call(), ""
    except ConflictError as error:
        return None, error.code


@attrs.define
class Held:
    """Who should hold a package, and until when."""

    who: tuple[str, str]
    lease: Lease
    until_at: int


class Leases(RuleBasedStateMachine):
    """Four sessions, two packages, a clock, and what should stand."""

    def __init__(self) -> None:
        super().__init__()
        self.session = with_packages()
        self.now = 0
        self.held: dict[str, Held] = {}
        self.given: list[Lease] = []
        self.written: dict[str, list[str]] = {package: [] for package in PACKAGES}

    def off(self, lag: int) -> Any:
        """The session at a clock that is off, on the same store."""
        return at_clock(self.session, self.now + lag)

    @rule(by=st.integers(0, 3))
    def wait(self, by: int) -> None:
        """Time goes on."""
        self.now += by

    @rule(who=WHO, package=st.sampled_from(PACKAGES), life=TIMES, lag=LAGS)
    def acquire(self, who: tuple[str, str], package: str, life: int, lag: int) -> None:
        """A session takes a package, or keeps it, if nobody is in the way."""
        now = self.now + lag
        before, others = self.held.get(package), self.of(who)
        is_mine = before is not None and before.who == who
        in_the_way = {
            "lease.package-busy": before is not None and now < before.until_at,
            "lease.agent-busy": any(now < self.held[p].until_at for p in others),
        }
        leases = self.off(lag).leases
        agent_id, session_id = who
        lease, code = tried(
            lambda: leases.acquire(
                package, agent_id=agent_id, session_id=session_id, life=life
            )
        )
        if code:
            assert not is_mine
            assert in_the_way[code]
            return
        if is_mine:
            assert before.lease.lease_id == lease.lease_id
            before.until_at = max(before.until_at, now + life)
        else:
            assert not any(in_the_way.values())
            for left in others:
                del self.held[left]
            self.held[package] = Held(who, lease, now + life)
            self.given.append(lease)
        assert self.held[package].until_at == lease.until_at

    @precondition(lambda self: self.given)
    @rule(data=st.data(), life=TIMES, lag=LAGS)
    def renew(self, data: Any, life: int, lag: int) -> None:
        """A session keeps a lease for longer, if it still has it."""
        lease = data.draw(st.sampled_from(self.given))
        kept, code = tried(lambda: self.off(lag).leases.renew(lease, life=life))
        assert code == ("" if self.has(lease) else "lease.lost")
        if code:
            return
        held = self.held[lease.package_id]
        held.until_at = max(held.until_at, self.now + lag + life)
        assert held.until_at == kept.until_at

    @precondition(lambda self: self.given)
    @rule(data=st.data(), lag=LAGS)
    def release(self, data: Any, lag: int) -> None:
        """A session gives a package back, once."""
        lease = data.draw(st.sampled_from(self.given))
        answer = self.off(lag).leases.release(lease)
        assert self.has(lease) == (answer.outcome == "released")
        if self.has(lease):
            del self.held[lease.package_id]

    @precondition(lambda self: self.given)
    @rule(data=st.data(), lag=LAGS)
    def write(self, data: Any, lag: int) -> None:
        """A session writes under a lease that it has, or was given before."""
        lease = data.draw(st.sampled_from(self.given))
        talks = self.off(lag).tiers.conversations
        whose = (lease.package_id, lease.agent_id)
        name = lease.lease_id
        _turn, code = tried(
            lambda: talks.add(*whose, "talk", "user", name, lease=lease)
        )
        assert code == ("" if self.has(lease) else "lease.lost")
        if not code:
            self.written[lease.package_id].append(name)

    def of(self, who: tuple[str, str]) -> list[str]:
        """The packages that a session holds."""
        return [package for package, held in self.held.items() if held.who == who]

    def has(self, lease: Lease) -> bool:
        """Whether a lease should be held."""
        held = self.held.get(lease.package_id)
        return held is not None and held.lease.lease_id == lease.lease_id

    @invariant()
    def each_is_held_by_one(self) -> None:
        """Packages are with whom the model says, for as long, one for a session."""
        listed = self.session.leases.list()
        assert {
            package: (*held.who, held.lease.fence, held.until_at)
            for package, held in self.held.items()
        } == {
            one.package_id: (one.agent_id, one.session_id, one.fence, one.until_at)
            for one in listed
        }
        sessions = [(one.agent_id, one.session_id) for one in listed]
        assert len(set(sessions)) == len(sessions) == len(self.held)

    @invariant()
    def only_holders_have_written(self) -> None:
        """Every turn that stands was written under the lease of that moment."""
        talks = self.session.tiers.conversations
        for package, written in self.written.items():
            texts = [
                (turn.version, turn.text)
                for agent in ("ada", "bob")
                for turn in talks.turns(package, agent, "talk", limit=1_000)
            ]
            assert written == [text for _seq, text in sorted(texts)]


def test_leases_live_as_the_model_does():
    """Two agents with two sessions each keep the laws of leases."""
    run_state_machine_as_test(
        Leases,
        settings=hypothesis.settings(
            max_examples=hypothesis.settings().max_examples // 2,
            stateful_step_count=20,
            deadline=None,
        ),
    )
