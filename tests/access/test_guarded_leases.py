"""Laws of leases under a token: an agent's own, and what keeps it out is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.access.places import ADA, APOLLO, BOB, CAROL, OTHER, Places
from tests.access.strangers import PERSONA
from tests.session.leasing import LIFE, NEXT, RUN, refused, says, take, turns
from tests.session.starting import AGENT, ID

from uaix_core import Principal
from uaix_core.guard import store as guard_store
from uaix_core.values.errors import AccessError

if TYPE_CHECKING:
    from collections.abc import Callable


def test_an_agent_works_under_its_lease(places: Places) -> None:
    """It takes, keeps, starts, writes and releases with its token alone."""
    agent = places.of(ADA)
    lease = take(agent)
    places.clock.at += 1

    kept = agent.leases.renew(lease, life=LIFE)

    assert kept.until_at == places.clock.at + LIFE
    assert lease.lease_id == agent.start(ID, agent_id=AGENT, lease=kept).lease_id
    assert 1 == says(agent, kept)
    refused("lease.package-busy", take, places.of(ADA), NEXT)
    assert [kept] == agent.leases.list()
    assert "released" == agent.leases.release(kept).outcome
    refused("lease.lost", says, agent, kept)
    assert ["x"] == turns(agent)


def test_what_an_agent_keeps_is_written_under_the_lease(places: Places) -> None:
    """Another run with a token as good writes nothing of its own meanwhile."""
    lease = take(places.of(ADA))
    other = places.of(ADA)
    tiers = other.tiers

    for call in (
        lambda **given: tiers.short_term.put(ID, AGENT, "text", **given),
        lambda **given: tiers.conversations.add(ID, AGENT, "c", "user", "x", **given),
        lambda **given: tiers.variance.record(
            ID, AGENT, PERSONA, what="x", why="y", **given
        ),
    ):
        refused("lease.needed", call)
        call(lease=lease)
    places.clock.at += LIFE
    tiers.short_term.put(ID, AGENT, "text")
    places.host().tiers.short_term.put(ID, AGENT, "the host's own")


def test_an_agent_by_a_grant_is_kept_out_as_well(quick: Places) -> None:
    """Whoever is an agent, by whatever role: while a lease runs its own waits."""
    eve = Principal("agent", "eve")
    quick.authority().grant(eve, "writer", scope=APOLLO, package_id=ID)
    take(quick.of(ADA))

    refused("lease.needed", quick.of(eve).tiers.short_term.put, ID, "eve", "text")


def test_a_lease_that_is_taken_meanwhile_counts(quick: Places, monkeypatch) -> None:
    """What was let through before another run took the package is judged again."""
    agent, other = quick.of(ADA), quick.of(ADA)
    judged = guard_store.fences_of
    taken = []

    def late(*given):
        expects = judged(*given)
        if not taken:
            # Taking it is judged as well, and not again from there.
            taken.append(True)
            take(other)
        return expects

    monkeypatch.setattr(guard_store, "fences_of", late)
    refused("lease.needed", agent.tiers.short_term.put, ID, AGENT, "late")
    assert taken


def test_a_lease_of_another_package_is_not_told(quick: Places) -> None:
    """Who may not see a package is told of its lease what is told of none."""
    lease = take(quick.of(BOB), (BOB.id, "run-1"), OTHER)
    agent = quick.of(ADA)

    assert [] == agent.leases.list()
    refused("lease.not-found", agent.leases.get, lease.lease_id)
    refused("package.not-found", agent.leases.holder, OTHER)
    refused("package.not-found", take, agent, RUN, OTHER)


def test_a_package_that_was_bound_anew_is_free_when_its_lease_is_over(
    quick: Places,
) -> None:
    """Its new agent is told who is at work, waits, and takes the package then."""
    lease = take(quick.of(ADA))
    authority = quick.authority()
    authority.unbind(AGENT, ID, scope=APOLLO)
    authority.bind(BOB.id, ID, scope=APOLLO)
    bob, who = quick.of(BOB), (BOB.id, "run-1")

    error = refused("lease.package-busy", take, bob, who)
    assert lease == error.current
    quick.clock.at += LIFE
    assert take(bob, who) == quick.host().leases.holder(ID)
    refused("lease.lost", says, quick.host(), lease)


@pytest.mark.parametrize(
    ("role", "may"),
    [("reader", False), ("reviewer", False), ("writer", True), ("admin", True)],
)
def test_a_lease_is_for_whoever_writes(quick: Places, role: str, *, may: bool) -> None:
    """Who may only read or review takes, keeps and releases nothing."""
    quick.authority().grant(CAROL, role, scope=APOLLO, package_id=ID)
    session, host = quick.of(CAROL), quick.host()

    assert may == _is_done(lambda: take(session))
    held = take(host)
    assert held == session.leases.holder(ID)
    assert may == _is_done(lambda: session.leases.renew(held, life=2 * LIFE))
    assert may == _is_done(lambda: session.leases.release(held))
    assert may == (host.leases.holder(ID) is None)


def _is_done(call: Callable[[], object]) -> bool:
    try:
        call()
    except AccessError:
        return False
    return True
