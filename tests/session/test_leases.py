"""Laws of leases that stores keep: one holder, and nothing written by who lost it."""

from __future__ import annotations

import json

import pytest
from tests.session.conftest import NOW
from tests.session.leasing import (
    AGENT,
    LIFE,
    NEXT,
    OTHER_ID,
    OTHER_RUN,
    RUN,
    at_clock,
    overtaken,
    refused,
    says,
    stored,
    take,
    turns,
)
from tests.session.package_kit import ID, NOTE, position

from uaix_backends.memory import MemoryStore
from uaix_core import ConflictError
from uaix_core.leases.deciding import (
    Acquiring,
    decide_acquire,
    decide_release,
    decide_renewal,
)
from uaix_core.leases.holding import fence
from uaix_core.leases.relations import LEASE_TIME, LeaseStart
from uaix_core.schema.commits import Commit
from uaix_core.store.copying import copy_scope, differences
from uaix_core.tiers.relations import IndexMark

pytestmark = pytest.mark.every_backend


def test_one_session_is_at_work_with_a_package(session):
    """Who comes second is told so, and nothing of it is written."""
    lease = take(stored(session))

    assert lease == session.leases.holder(ID)
    assert (ID, *RUN, NOW, NOW + LIFE) == (
        lease.package_id,
        lease.agent_id,
        lease.session_id,
        lease.since_at,
        lease.until_at,
    )
    before = position(session)
    assert before == lease.fence
    for who in (NEXT, OTHER_RUN):
        error = refused("lease.package-busy", take, session, who)
        assert (ID, lease) == (error.path, error.current)
    assert (before, lease) == (position(session), session.leases.holder(ID))
    receipt = session.packages.receipt(lease.receipt)
    assert ("lease", "accepted", ID) == (
        receipt.operation,
        receipt.outcome,
        receipt.package_id,
    )
    assert {
        "verdict": "acquired",
        "lease_id": lease.lease_id,
        "agent_id": AGENT,
        "session_id": "run-1",
        "ended": [],
    } == json.loads(receipt.details)


def test_a_retry_is_the_same_lease(session):
    """Whoever holds the package gets the lease that it has, and history stands."""
    lease = take(stored(session))
    before = position(session), _time(session)

    for life in (LIFE, LIFE - 1, 1):
        assert lease == take(session, life=life)
        assert lease == session.leases.renew(lease, life=life)
    assert before == (position(session), _time(session))


def _time(session):
    """The number of the last write of the package's time."""
    with session.snapshot() as snapshot:
        return snapshot.get(LEASE_TIME.name, (ID,)).version


def test_a_lease_that_is_over_is_taken(session, clock):
    """From its end on another session takes the package, under a higher fence."""
    first = take(stored(session))
    clock.at = NOW + LIFE - 1
    refused("lease.package-busy", take, session, NEXT)
    clock.at = NOW + LIFE

    second = take(session, NEXT)

    assert first.fence < second.fence == position(session)
    assert second == session.leases.holder(ID)
    assert [second] == session.leases.list()
    details = json.loads(session.packages.receipt(second.receipt).details)
    assert [first.lease_id] == details["ended"]


WRITES = {
    "state": lambda tiers, lease: tiers.short_term.put(ID, AGENT, "x", lease=lease),
    "turn": lambda tiers, lease: tiers.conversations.add(
        ID, AGENT, "talk", "user", "x", lease=lease
    ),
    "variance": lambda tiers, lease: tiers.variance.record(
        ID, AGENT, NOTE, what="x", why="y", lease=lease
    ),
}


def test_a_lost_lease_writes_nothing(session, clock):
    """After a take-over nothing is written under it, whatever its clock says."""
    first = take(stored(session))
    for write in WRITES.values():
        write(session.tiers, first)
    late = at_clock(session, NOW)
    clock.at = NOW + LIFE
    second = take(session, NEXT)
    before = position(session)

    for write in WRITES.values():
        error = refused("lease.lost", write, late.tiers, first)
        assert first.lease_id == error.path
    refused("lease.lost", late.leases.renew, first, life=LIFE)
    mark = IndexMark(name="words", package_id=ID, seq=0, marked_at=NOW)
    commit = Commit(session.scope, NOW, expects=[fence(first)], puts=[mark])
    with pytest.raises(ConflictError):
        session.store.append(commit)
    assert before == position(session)
    assert [] == session.tiers.indexes.list("words")
    for write in WRITES.values():
        assert before < write(session.tiers, second).seq
    assert 2 == len(session.tiers.variance.report(ID).variances)
    assert ["x", "x"] == turns(session)


def test_a_write_that_was_decided_before_the_take_over_does_not_land(session, clock):
    """Between the decision and the append the lease counts as well."""
    first = take(stored(session))
    clock.at = NOW + LIFE
    late = overtaken(session, lambda: take(session, NEXT))

    refused("lease.lost", says, late, first)
    assert [] == turns(session)


def _acquiring(who, package_id=ID):
    return lambda snapshot, writing: (
        decide_acquire(snapshot, writing, Acquiring(package_id, *who, LIFE)).commit
    )


def _renewing(lease):
    return lambda snapshot, writing: (
        decide_renewal(snapshot, writing, lease, LIFE).commit
    )


def _releasing(lease):
    return lambda snapshot, writing: decide_release(snapshot, writing, lease.lease_id)


#: Two decisions over one snapshot, of which only the first may stand: what is held
#: before them (and over), and what makes each of them.
RACES = {
    "two sessions": (None, lambda _: (_acquiring(RUN), _acquiring(NEXT))),
    "two packages": (None, lambda _: (_acquiring(RUN), _acquiring(RUN, OTHER_ID))),
    "two take-overs": (RUN, lambda _: (_acquiring(NEXT), _acquiring(OTHER_RUN))),
    "kept, then taken": (RUN, lambda held: (_renewing(held), _acquiring(NEXT))),
    "taken, then kept": (RUN, lambda held: (_acquiring(NEXT), _renewing(held))),
    "kept by a retry": (RUN, lambda _: (_acquiring(RUN), _acquiring(NEXT))),
    "kept, then left": (
        RUN,
        lambda held: (_renewing(held), _acquiring(RUN, OTHER_ID)),
    ),
    "released, then kept": (RUN, lambda held: (_releasing(held), _renewing(held))),
    "released, then taken": (RUN, lambda held: (_releasing(held), _acquiring(NEXT))),
    "taken, then released": (RUN, lambda held: (_acquiring(NEXT), _releasing(held))),
}


def test_of_two_that_decide_at_once_one_goes_through(session_of, clock):
    """Whatever two sessions decide over one state, the second append is refused."""
    for number, (name, (holder, races)) in enumerate(RACES.items()):
        clock.at = NOW
        session = stored(session_of(f"races/project/p{number}"), ID, OTHER_ID)
        held = take(session, holder) if holder else None
        clock.at = NOW + LIFE
        with session.snapshot() as snapshot:
            first, second = (race(snapshot, session.writing()) for race in races(held))
        session.store.append(first)
        before = position(session), session.leases.list()
        with pytest.raises(ConflictError):
            session.store.append(second)
        assert before == (position(session), session.leases.list()), name


@pytest.mark.parametrize(
    "shared", [{"package_id": ID}, {"agent_id": AGENT, "session_id": "run-1"}]
)
def test_no_store_holds_two(session, shared):
    """A second lease of a package, or of a session, is refused by the store itself."""
    take(stored(session))
    named = {"package_id": OTHER_ID, "agent_id": "bob", "session_id": "run-2"}
    row = LeaseStart(
        lease_id="second",
        receipt_id="none",
        actor_kind="human",
        actor_id="alice",
        **{**named, **shared},
    )

    with pytest.raises(ConflictError) as caught:
        session.store.append(Commit(session.scope, NOW, adds=[row]))
    assert "conflict.unique" == caught.value.code


def test_views_are_built_anew_with_their_fences(session, clock):
    """A rebuild and a replay elsewhere show the same leases under the same fences."""
    first = take(stored(session, ID, OTHER_ID))
    clock.at = NOW + LIFE
    take(session, NEXT)
    third = take(session, RUN, OTHER_ID)
    session.leases.release(third)
    held = take(session, OTHER_RUN, OTHER_ID)

    session.store.rebuild(session.scope)

    assert [ID, OTHER_ID] == [one.package_id for one in session.leases.list()]
    assert held == session.leases.holder(OTHER_ID)
    refused("lease.lost", says, session, first)
    copy = MemoryStore()
    copy_scope(session.store, copy, session.scope)
    assert [] == differences(session.store, copy, session.scope)
