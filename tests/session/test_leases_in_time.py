"""Laws of leases that hold by decision alone: time, persons, starts, copies."""

from __future__ import annotations

import json

import attrs
import pytest
from tests.session import starting
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
from tests.session.package_kit import ID, acting_as, position
from tests.session.test_starts import failed, fresh

from uaix_backends.memory import MemoryStore
from uaix_core.store.copying import copy_scope, copy_whole
from uaix_core.values.instants import DAY, FOREVER, SECOND

EDGES = [(-1, False), (0, True), (1, True)]


@pytest.fixture
def session():
    """A session over memory, with two packages."""
    return stored(fresh(), ID, OTHER_ID)


def cause(session, lease):
    """How a lease ended."""
    answer = session.leases.release(lease)
    assert "unchanged" == answer.outcome
    return answer.cause


@pytest.mark.parametrize(("off", "is_over"), EDGES)
@pytest.mark.parametrize("who", [NEXT, OTHER_RUN])
def test_a_lease_runs_before_its_end(session, who, off, is_over):
    """It keeps all others out up to its last microsecond, and from its end nobody."""
    lease = take(session)
    session.clock.at = NOW + LIFE + off

    assert is_over != lease.runs(session.clock.at)
    if is_over:
        taken = take(session, who)
        assert who == (taken.agent_id, taken.session_id)
        assert "taken" == cause(session, lease)
    else:
        refused("lease.package-busy", take, session, who)


@pytest.mark.parametrize(("off", "is_over"), EDGES)
def test_a_session_is_at_work_with_one_package(session, off, is_over):
    """It takes another package only once its lease is over, and then loses that one."""
    lease = take(session)
    session.clock.at = NOW + LIFE + off

    if not is_over:
        error = refused("lease.agent-busy", take, session, RUN, OTHER_ID)
        assert ("run-1", lease) == (error.path, error.current)
        take(session, NEXT, OTHER_ID)
        return
    other = take(session, RUN, OTHER_ID)
    assert [other] == session.leases.list()
    assert session.leases.holder(ID) is None
    assert "lapsed" == cause(session, lease)
    refused("lease.lost", says, session, lease)


def test_a_session_moves_to_a_package_that_was_left(session):
    """One commit ends both leases that are over: the package's and the session's."""
    mine, theirs = take(session), take(session, OTHER_RUN, OTHER_ID)
    session.clock.at = NOW + LIFE

    moved = take(session, RUN, OTHER_ID)

    assert [moved] == session.leases.list()
    assert ("lapsed", "taken") == (cause(session, mine), cause(session, theirs))
    details = json.loads(session.packages.receipt(moved.receipt).details)
    assert {mine.lease_id, theirs.lease_id} == set(details["ended"])


def test_the_same_name_of_another_agent_is_another_session(session):
    """A session is told by its agent and its name together."""
    first = take(session, RUN)
    second = take(session, OTHER_RUN, OTHER_ID)

    assert [first, second] == session.leases.list()


@pytest.mark.parametrize("life", [1, DAY])
def test_a_lease_is_given_for_a_day_at_most(session, life):
    """The shortest and the longest time are given as they are asked for."""
    assert NOW + life == take(session, life=life).until_at


@pytest.mark.parametrize("life", [0, -1, DAY + 1, True, 1.0, "1", None])
def test_no_other_time_is_given(session, life):
    """What is no time, or too long a one, is refused, and nothing is written."""
    lease, before = take(session), position(session)

    for call in (
        lambda: take(session, NEXT, OTHER_ID, life),
        lambda: session.leases.renew(lease, life=life),
    ):
        assert "life" == refused("lease.time", call).path
    assert (before, lease) == (position(session), session.leases.holder(ID))


def test_a_lease_ends_before_time_does(session):
    """What can't be written down as an instant is refused."""
    session.clock.at = FOREVER

    refused("instant.range", take, session)


@pytest.mark.parametrize("again", ["renew", "acquire"])
@pytest.mark.parametrize("off", [-1, 0, 1])
def test_a_lease_is_kept_for_longer(session, again, off):
    """It is the same lease, also after its end while nobody took the package."""
    lease, before = take(session), position(session)
    session.clock.at = NOW + LIFE + off

    kept = session.leases.renew(lease, life=LIFE) if again == "renew" else take(session)

    longer = attrs.evolve(lease, until_at=NOW + 2 * LIFE + off)
    assert longer == kept == session.leases.holder(ID)
    assert before == position(session)
    refused("lease.package-busy", take, session, NEXT)


@pytest.mark.parametrize(("life", "until"), [(LIFE - 1, 0), (LIFE, 0), (LIFE + 1, 1)])
def test_a_lease_is_never_cut_short(session, life, until):
    """Asking for less than it has leaves it as it is."""
    lease = take(session)

    for kept in (session.leases.renew(lease, life=life), take(session, life=life)):
        assert NOW + LIFE + until == kept.until_at
    assert kept == session.leases.get(lease.lease_id)


def test_of_two_renewals_at_once_the_longer_counts(session):
    """The one that comes late was decided before the other, and cuts nothing short."""
    lease = take(session)
    late = overtaken(session, lambda: session.leases.renew(lease, life=3 * LIFE))

    assert NOW + 3 * LIFE == late.leases.renew(lease, life=2 * LIFE).until_at
    assert NOW + 3 * LIFE == session.leases.holder(ID).until_at


def test_no_lease_is_kept_that_was_released_meanwhile(session):
    """Also in a copy that knows no times, where nothing but the lease has changed."""
    lease = take(session)
    copy = attrs.evolve(session, store=MemoryStore())
    copy_scope(session.store, copy.store, session.scope)
    late = overtaken(copy, lambda: copy.leases.release(lease))

    refused("lease.lost", late.leases.renew, lease, life=LIFE)


def test_a_slow_clock_loses_and_does_not_know(session):
    """Whose clock lags is taken from in its sleep, and can't write or come back."""
    slow = at_clock(session, NOW - DAY)
    lease = take(slow, life=DAY)
    assert 1 == says(slow, lease)

    taken = take(session, NEXT)

    assert lease.runs(slow.clock.now())
    refused("lease.lost", says, slow, lease)
    refused("lease.lost", slow.leases.renew, lease, life=DAY)
    refused("lease.package-busy", take, slow)
    assert [taken] == session.leases.list()
    assert ["x"] == turns(session)


def test_a_released_package_is_free_at_once(session):
    """Another session takes it, and nothing more is written under the first lease."""
    lease = take(session)
    answer = session.leases.release(lease)

    assert ("released", "released", lease.lease_id, position(session)) == (
        answer.outcome,
        answer.cause,
        answer.lease_id,
        answer.seq,
    )
    assert session.leases.holder(ID) is None
    refused("lease.lost", says, session, lease)
    again = take(session, RUN)
    assert again.lease_id != lease.lease_id
    assert "unchanged" == session.leases.release(lease).outcome
    assert again == session.leases.holder(ID)
    receipt = session.packages.receipt(answer.receipt)
    assert {"verdict": "released", "lease_id": lease.lease_id} == json.loads(
        receipt.details
    )


def test_an_agent_acts_for_itself(session):
    """It takes, keeps and releases nothing of another agent; a person ends any."""
    ada, bob = (acting_as(session, f"agent:{name}") for name in ("ada", "bob"))
    lease = take(ada)

    for call in (
        lambda: take(bob, RUN, OTHER_ID),
        lambda: bob.leases.renew(lease, life=LIFE),
        lambda: bob.leases.release(lease),
    ):
        assert "agent_id" == refused("lease.agent", call).path
    assert lease == session.leases.holder(ID)
    assert "released" == session.leases.release(lease).outcome
    take(bob, OTHER_RUN)


def test_a_lease_is_of_a_package_that_is_there(session):
    """What the scope doesn't have is not found, and nothing is written."""
    lease, before = take(session), position(session)
    unknown = attrs.evolve(lease, lease_id="nothing")

    refused("package.not-found", take, session, NEXT, "nothing")
    refused("package.not-found", session.leases.holder, "nothing")
    refused("lease.not-found", session.leases.get, "nothing")
    refused("lease.not-found", session.leases.release, unknown)
    refused("lease.lost", session.leases.renew, unknown, life=LIFE)
    assert before == position(session)


@pytest.mark.parametrize(
    ("who", "code"),
    [
        (("no id", "run-1"), "id.syntax"),
        ((AGENT, ""), "id.syntax"),
        ((AGENT, "a/b"), "id.syntax"),
        ((AGENT, "ghp_" + "a1B2" * 9), "text.secret"),
    ],
)
def test_a_session_has_a_name_and_no_secret(session, who, code):
    """A token is no name of a session, so that none gets into history."""
    before = position(session)

    refused(code, take, session, who)
    assert before == position(session)


@pytest.mark.parametrize(
    "changed",
    [
        {"fence": 1},
        {"lease_id": "other"},
        {"session_id": "run-2"},
        {"agent_id": "bob"},
        {"package_id": OTHER_ID},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_a_lease_is_good_as_it_was_given(session, changed):
    """One that differs in anything but its time is no lease."""
    lease = attrs.evolve(take(session), **changed)

    refused("lease.lost", session.leases.renew, lease, life=LIFE)
    is_other = {"agent_id", "package_id"} & changed.keys()
    refused("lease.other" if is_other else "lease.lost", says, session, lease)
    assert [] == turns(session)


def test_leases_are_listed_by_their_packages(session):
    """Page by page, and with their times."""
    leases = [take(session, RUN), take(session, NEXT, OTHER_ID)]
    session.clock.at += 1
    leases[1] = session.leases.renew(leases[1], life=LIFE)

    first = session.leases.list(limit=1)
    then = session.leases.list(after=first[-1].package_id)
    assert leases == [*first, *then]
    assert [] == session.leases.list(after=OTHER_ID)
    shown = leases[0].as_dict()
    assert json.loads(json.dumps(shown)) == shown


def test_a_clone_is_another_package(session):
    """While one session has the persona, another starts work with its clone."""
    lease = take(session)
    refused("lease.package-busy", take, session, NEXT)

    clone = session.packages.clone(ID).package_id

    assert NEXT == (AGENT, take(session, NEXT, clone).session_id)
    assert lease == session.leases.holder(ID)


def test_a_copy_knows_no_time(session):
    """In a store that history alone was copied to a lease is over, and fences on."""
    lease = take(session)
    copy = attrs.evolve(session, store=MemoryStore())
    copy_scope(session.store, copy.store, session.scope)

    assert attrs.evolve(lease, until_at=None) == copy.leases.holder(ID)
    assert 1 == says(copy, lease)
    taken = take(copy, NEXT)

    refused("lease.lost", says, copy, lease)
    assert ([taken], [lease]) == (copy.leases.list(), session.leases.list())
    assert 1 == says(session, lease)


def test_a_copy_with_its_local_rows_goes_on(session):
    """Where times were copied too, a lease runs as long as it did."""
    lease = take(session)
    copy = attrs.evolve(session, store=MemoryStore())
    copy_whole(session.store, copy.store, session.scope)

    refused("lease.package-busy", take, copy, NEXT)
    assert lease == copy.leases.holder(ID)


def test_a_time_of_an_earlier_lease_says_nothing(session):
    """Where history came in after the times, the time of the old lease isn't used."""
    take(session, life=DAY)
    copy = attrs.evolve(session, store=MemoryStore())
    copy_whole(session.store, copy.store, session.scope)
    session.leases.release(session.leases.holder(ID))
    take(session, NEXT)
    copy_scope(session.store, copy.store, session.scope)

    assert copy.leases.holder(ID).until_at is None
    take(copy, OTHER_RUN)


# Starts under a lease


@pytest.fixture
def active():
    """A session with a package that starts for its agent."""
    session = fresh()
    starting.installed(session, starting.Maker())
    return session


def test_a_start_names_its_lease(active):
    """The assembly and its receipt say under which lease it was, the fence included."""
    lease = take(active)

    started = active.start(ID, agent_id=AGENT, lease=lease)

    assert (lease.lease_id, lease.fence) == (started.lease_id, started.fence)
    details = json.loads(active.packages.receipt(started.receipt).details)
    assert lease.lease_id == details["lease_id"]
    active.leases.release(lease)
    free = active.start(ID, agent_id=AGENT)
    assert (None, None) == (free.lease_id, free.fence)
    assert started.files == free.files


@pytest.mark.parametrize(("off", "is_over"), EDGES)
def test_a_start_is_under_a_lease_that_runs(active, off, is_over):
    """One that is over starts nothing; while one runs nothing else starts."""
    lease = take(active)
    active.clock.at = NOW + LIFE + off
    under, without = {"lease": lease}, {}
    good, bad = (without, under) if is_over else (under, without)

    path = lease.lease_id if is_over else ID
    assert {("startup.lease", path)} == failed(active, ID, **bad)
    assert active.start(ID, agent_id=AGENT, **good).records
    kept = active.leases.renew(lease, life=2 * LIFE)
    assert active.start(ID, agent_id=AGENT, lease=kept).records


def test_a_start_is_under_its_own_lease(active):
    """That of another package, agent or session, or a lost one, starts nothing."""
    stored(active, OTHER_ID)
    lost = take(active)
    active.leases.release(lost)
    elsewhere = take(active, RUN, OTHER_ID)
    mine = take(active, NEXT)

    for lease in (lost, elsewhere, attrs.evolve(mine, fence=mine.fence - 1)):
        found = failed(active, ID, lease=lease)
        assert {("startup.lease", lease.lease_id)} == found
    assert {("startup.lease", mine.lease_id)} == failed(
        active, ID, lease=mine, agent_id="bob"
    )
    assert active.start(ID, agent_id=AGENT, lease=mine).records


@pytest.mark.parametrize("is_named", [True, False])
def test_a_start_that_is_overtaken_starts_nothing(active, is_named):
    """Who takes the package between the decision and the append has it alone."""
    lease = take(active)
    active.clock.at = NOW + LIFE - is_named

    def first():
        active.clock.at = NOW + LIFE
        take(active, NEXT)

    late = overtaken(at_clock(active, active.clock.at), first)
    path = lease.lease_id if is_named else ID
    asked = {"lease": lease} if is_named else {}
    assert {("startup.lease", path)} == failed(late, ID, **asked)


def test_a_start_under_a_lease_that_is_released_meanwhile_starts_nothing(active):
    """A lease that ends between the decision and the append ends the start as well."""
    lease = take(active)
    late = overtaken(active, lambda: active.leases.release(lease))

    assert {("startup.lease", lease.lease_id)} == failed(late, ID, lease=lease)


def test_a_heartbeat_keeps_no_start_away(active):
    """A lease that is renewed between decision and append starts all the same."""
    lease = take(active)
    active.clock.at += SECOND
    late = overtaken(active, lambda: active.leases.renew(lease, life=LIFE))

    assert late.start(ID, agent_id=AGENT, lease=lease).records
