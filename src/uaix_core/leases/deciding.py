"""Taking a package for a session, keeping it for longer, and giving it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, cast

import attrs

from uaix_core.history.receipts import receipt_row
from uaix_core.leases.holding import (
    Lease,
    LeaseState,
    check_held,
    fence,
    find_lease,
    lease_state,
    session_lease_state,
)
from uaix_core.leases.relations import (
    HELD_LEASE,
    LEASE_END,
    LeaseEnd,
    LeaseStart,
    LeaseTime,
)
from uaix_core.packages.export import find_package
from uaix_core.schema.commits import Commit
from uaix_core.values.errors import CallerError, ConflictError
from uaix_core.values.ids import check_id
from uaix_core.values.instants import DAY, check_instant

if TYPE_CHECKING:
    from uaix_core.history.receipts import Writing
    from uaix_core.schema.commits import Recorded
    from uaix_core.store.port import Snapshot

OPERATION: Final = "lease"
#: The longest time that a lease is given or renewed for, in microseconds.
MAX_LIFE: Final = DAY

EndWord = Literal["released", "taken", "lapsed"]


@attrs.frozen
class Acquiring:
    """Which package is to be taken, for whom, and for how long (microseconds).

    Raises:
        CallerError: ``lease.time``, ``id.syntax``.

    """

    package_id: str
    agent_id: str
    session_id: str
    life: int

    def __attrs_post_init__(self) -> None:
        check_id(self.package_id, "package_id")
        check_id(self.agent_id, "agent_id")
        check_id(self.session_id, "session_id")
        check_life(self.life)


def check_life(life: int) -> int:
    """Return a time in microseconds, or refuse it with ``lease.time``."""
    if type(life) is not int or not 0 < life <= MAX_LIFE:
        raise CallerError(
            "a lease is given for at most a day, and for a microsecond at least",
            code="lease.time",
            path="life",
            hint="renew it for longer",
        )
    return life


@attrs.frozen
class Plan:
    """The lease that comes of a decision, and the commit of it, None when it stands."""

    lease: Lease
    commit: Commit | None

    def told(self, recorded: Recorded | None) -> Lease:
        """The lease, once its commit stands."""
        if recorded is None or not recorded.commit.is_chained:
            return self.lease
        return attrs.evolve(
            self.lease, fence=recorded.seq, since_at=recorded.recorded_at
        )


@attrs.frozen
class Released:
    """The answer to a release.

    ``unchanged`` found the lease ended and wrote nothing; ``cause`` says how it ended.
    ``is_staged`` says that it is gone again unless a host commits.
    """

    outcome: Literal["released", "unchanged"]
    lease_id: str
    cause: str
    seq: int
    receipt: str
    is_staged: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain data."""
        return attrs.asdict(self)


def decide_acquire(snapshot: Snapshot, writing: Writing, wanted: Acquiring) -> Plan:
    """Take a package for a session, unless another holds it.

    A session that holds it already keeps the same lease, for at least as long as is
    asked for.

    Raises:
        NotFoundError: ``package.not-found``.
        ConflictError: ``lease.package-busy``, ``lease.agent-busy``.
        CallerError: ``lease.agent``, ``instant.range``.

    """
    _check_agent(writing, wanted.agent_id)
    find_package(snapshot, wanted.package_id)
    now = writing.now
    until_at = check_instant(now + wanted.life)
    state = lease_state(snapshot, wanted.package_id)
    before = state.lease
    who = (wanted.agent_id, wanted.session_id)
    if before is not None and (before.agent_id, before.session_id) == who:
        return _extended(writing, state, before, until_at)
    if before is not None and before.runs(now):
        raise ConflictError(
            "another session is at work with the package",
            code="lease.package-busy",
            relation=HELD_LEASE.name,
            key=(before.lease_id,),
            current=before,
            path=wanted.package_id,
            hint="wait until its lease is over, or clone the package",
        )
    other = session_lease_state(snapshot, *who)
    elsewhere = None if other is None else other.lease
    if elsewhere is not None and elsewhere.runs(now):
        raise ConflictError(
            "the session is at work with another package",
            code="lease.agent-busy",
            relation=HELD_LEASE.name,
            key=(elsewhere.lease_id,),
            current=elsewhere,
            path=wanted.session_id,
            hint="release the other lease first",
        )
    return _taken(writing, wanted, until_at, state, other)


def _taken(
    writing: Writing,
    wanted: Acquiring,
    until_at: int,
    state: LeaseState,
    other: LeaseState | None,
) -> Plan:
    """A new lease, in one commit with the ends of those whose time is over."""
    receipt_id, lease_id = writing.ids.new(), writing.ids.new()
    ends: list[LeaseEnd] = []
    if state.lease is not None:
        ends.append(_end(writing, state.lease, "taken", receipt_id))
    if other is not None and other.lease is not None:
        ends.append(_end(writing, other.lease, "lapsed", receipt_id))
    begun = LeaseStart(
        lease_id=lease_id,
        package_id=wanted.package_id,
        agent_id=wanted.agent_id,
        session_id=wanted.session_id,
        receipt_id=receipt_id,
        actor_kind=writing.principal.kind,
        actor_id=writing.principal.id,
    )
    receipt = receipt_row(
        writing,
        receipt_id,
        operation=OPERATION,
        outcome="accepted",
        details={
            "verdict": "acquired",
            "lease_id": lease_id,
            "agent_id": wanted.agent_id,
            "session_id": wanted.session_id,
            "ended": [end.lease_id for end in ends],
        },
        package_id=wanted.package_id,
    )
    others = () if other is None else (other,)
    commit = Commit(
        writing.scope,
        writing.now,
        expects=[one.expect for one in (state, *others)],
        adds=(begun, *ends, receipt),
        puts=(LeaseTime(wanted.package_id, lease_id, until_at),),
    )
    lease = Lease(
        lease_id=lease_id,
        package_id=wanted.package_id,
        agent_id=wanted.agent_id,
        session_id=wanted.session_id,
        fence=0,
        receipt=receipt_id,
        until_at=until_at,
    )
    return Plan(lease, commit)


def decide_renewal(
    snapshot: Snapshot, writing: Writing, lease: Lease, life: int
) -> Plan:
    """Keep a lease for longer; also one whose time is over, while nobody took it.

    Raises:
        ConflictError: ``lease.lost``.
        CallerError: ``lease.agent``, ``lease.time``, ``instant.range``.

    """
    until_at = check_instant(writing.now + check_life(life))
    _check_agent(writing, lease.agent_id)
    check_held(snapshot, lease)
    state = lease_state(snapshot, lease.package_id)
    return _extended(writing, state, state.lease or lease, until_at)


def _extended(writing: Writing, state: LeaseState, lease: Lease, until_at: int) -> Plan:
    """The same lease for longer; never for shorter, and then nothing is written."""
    if lease.until_at is not None and lease.until_at >= until_at:
        return Plan(lease, None)
    commit = Commit(
        writing.scope,
        writing.now,
        expects=(fence(lease), state.expect),
        puts=(LeaseTime(lease.package_id, lease.lease_id, until_at),),
    )
    return Plan(attrs.evolve(lease, until_at=until_at), commit)


def decide_release(
    snapshot: Snapshot, writing: Writing, lease_id: str
) -> Commit | Released:
    """The commit that gives a package back, or the answer where the lease had ended.

    Raises:
        NotFoundError: ``lease.not-found``.
        CallerError: ``lease.agent``.

    """
    lease = find_lease(snapshot, lease_id)
    _check_agent(writing, lease.agent_id)
    before = snapshot.get(LEASE_END.name, (lease_id,))
    if before is not None:
        end = cast("LeaseEnd", before)
        return Released("unchanged", lease_id, end.cause, end.version, end.receipt_id)
    receipt_id = writing.ids.new()
    receipt = receipt_row(
        writing,
        receipt_id,
        operation=OPERATION,
        outcome="accepted",
        details={"verdict": "released", "lease_id": lease_id},
        package_id=lease.package_id,
    )
    return Commit(
        writing.scope,
        writing.now,
        adds=(_end(writing, lease, "released", receipt_id), receipt),
    )


def released(recorded: Recorded) -> Released:
    """The answer to what was written, read off its commit."""
    end = cast("LeaseEnd", recorded.commit.adds[0])
    return Released("released", end.lease_id, end.cause, recorded.seq, end.receipt_id)


def _end(writing: Writing, lease: Lease, cause: EndWord, receipt_id: str) -> LeaseEnd:
    return LeaseEnd(
        lease_id=lease.lease_id,
        package_id=lease.package_id,
        cause=cause,
        receipt_id=receipt_id,
        actor_kind=writing.principal.kind,
        actor_id=writing.principal.id,
    )


def _check_agent(writing: Writing, agent_id: str) -> None:
    """An agent acts for itself; others act for it, or end what it left behind."""
    principal = writing.principal
    if principal.kind == "agent" and principal.id != agent_id:
        raise CallerError(
            "the lease is another agent's",
            code="lease.agent",
            path="agent_id",
            hint="an agent takes and releases for itself only",
        )
