"""Leases as they stand: who holds a package, until when, and what a fence is.

Whether a lease was lost is never a question of time. It is held until a later commit
ended it, and whatever is written under it expects that there was none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import attrs

from uaix_core.leases.relations import (
    HELD_LEASE,
    LEASE,
    LEASE_TIME,
    HeldLease,
    LeaseStart,
    LeaseTime,
)
from uaix_core.schema.commits import Commit, Expect
from uaix_core.values.arguments import check_type
from uaix_core.values.errors import CallerError, ConflictError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uaix_core.store.port import Snapshot


@attrs.frozen
class Lease:
    """The right of one session of an agent to be at work with a package.

    ``fence`` is the seq of the commit that gave it. From ``until_at`` on another
    session may take the package, and so it may where the store doesn't know the time
    (None). ``since_at`` is None once the lease has come to an end. ``is_staged`` says
    that it is gone again unless a host commits.
    """

    lease_id: str
    package_id: str
    agent_id: str
    session_id: str
    fence: int
    receipt: str
    since_at: int | None = None
    until_at: int | None = None
    is_staged: bool = False

    def runs(self, now: int) -> bool:
        """Whether nobody else may take the package at an instant."""
        return (
            self.since_at is not None
            and self.until_at is not None
            and now < self.until_at
        )

    def as_dict(self) -> dict[str, Any]:
        """The lease as plain data."""
        return attrs.asdict(self)


@attrs.frozen
class LeaseState:
    """A package and its lease, if there is one that nobody has ended.

    ``seen`` is the version of the row that tells the time, 0 for none.
    """

    package_id: str
    lease: Lease | None
    seen: int

    def runs(self, now: int) -> bool:
        """Whether nobody may take the package but who holds it."""
        return self.lease is not None and self.lease.runs(now)

    @property
    def expect(self) -> Expect:
        """That nobody took or kept the package since it was read."""
        return Expect(LEASE_TIME.name, (self.package_id,), self.seen)


def lease_state(snapshot: Snapshot, package_id: str) -> LeaseState:
    """The lease of a package as it stands."""
    page = snapshot.scan(HELD_LEASE.name, "by_package", (package_id,), limit=1)
    held = cast("Sequence[HeldLease]", page)
    return _state(snapshot, package_id, held)


def session_lease_state(
    snapshot: Snapshot, agent_id: str, session_id: str
) -> LeaseState | None:
    """The lease of an agent's session with its package; None without one."""
    who = (agent_id, session_id)
    page = snapshot.scan(HELD_LEASE.name, "by_session", who, limit=1)
    held = cast("Sequence[HeldLease]", page)
    return _state(snapshot, held[0].package_id, held) if held else None


def held_leases(snapshot: Snapshot, *, after: str | None, limit: int) -> list[Lease]:
    """The leases that nobody has ended, in the order of their packages."""
    begin = None if after is None else (after,)
    page = snapshot.scan(HELD_LEASE.name, "by_package", after=begin, limit=limit)
    rows = cast("Sequence[HeldLease]", page)
    times = snapshot.get_many(LEASE_TIME.name, [(row.package_id,) for row in rows])
    return [_lease(row, times.get((row.package_id,))) for row in rows]


def find_lease(snapshot: Snapshot, lease_id: str) -> Lease:
    """A lease, also one that has come to an end.

    Raises:
        NotFoundError: ``lease.not-found``.

    """
    held = snapshot.get(HELD_LEASE.name, (lease_id,))
    if held is not None:
        row = cast("HeldLease", held)
        return _lease(row, snapshot.get(LEASE_TIME.name, (row.package_id,)))
    found = snapshot.get(LEASE.name, (lease_id,))
    if found is None:
        raise NotFoundError(
            "no such lease in this scope", code="lease.not-found", path=lease_id
        )
    return _lease(cast("LeaseStart", found), None)


def _state(
    snapshot: Snapshot, package_id: str, held: Sequence[HeldLease]
) -> LeaseState:
    time = snapshot.get(LEASE_TIME.name, (package_id,))
    lease = _lease(held[0], time) if held else None
    return LeaseState(package_id, lease, 0 if time is None else time.version)


def _lease(row: HeldLease | LeaseStart, time: Any) -> Lease:
    # A time that was told of an earlier lease says nothing of this one.
    is_told = isinstance(time, LeaseTime) and time.lease_id == row.lease_id
    return Lease(
        lease_id=row.lease_id,
        package_id=row.package_id,
        agent_id=row.agent_id,
        session_id=row.session_id,
        fence=row.version,
        receipt=row.receipt_id,
        since_at=row.since_at if isinstance(row, HeldLease) else None,
        until_at=time.until_at if is_told else None,
    )


def fence(lease: Lease) -> Expect:
    """That a lease has not come to an end; for any commit of its session.

    It names the lease and not only its package: a seq that a host's rollback took back
    is given out again, an id isn't.
    """
    return Expect(HELD_LEASE.name, (lease.lease_id,), lease.fence)


def fenced(commit: Commit, lease: Lease) -> Commit:
    """The commit, which goes through only while the lease is held."""
    return attrs.evolve(commit, expects=(*commit.expects, fence(lease)))


def is_held(snapshot: Snapshot, lease: Lease) -> bool:
    """Whether there is this very lease, and it has not come to an end."""
    row = cast("HeldLease | None", snapshot.get(HELD_LEASE.name, (lease.lease_id,)))
    return row is not None and (
        row.package_id,
        row.agent_id,
        row.session_id,
        row.version,
    ) == (lease.package_id, lease.agent_id, lease.session_id, lease.fence)


def check_held(snapshot: Snapshot, lease: Lease) -> None:
    """Refuse what is done under a lease that has come to an end.

    Raises:
        ConflictError: ``lease.lost``.

    """
    if not is_held(snapshot, lease):
        raise ConflictError(
            "the lease has come to an end",
            code="lease.lost",
            relation=HELD_LEASE.name,
            key=(lease.lease_id,),
            expected=lease.fence,
            path=lease.lease_id,
            hint="stop, or acquire a lease again and read anew",
        )


def check_about(lease: Lease, package_id: str, agent_id: str) -> None:
    """Refuse the lease of another package or agent.

    Raises:
        CallerError: ``lease.other``.

    """
    check_type(lease, Lease, "lease")
    if (lease.package_id, lease.agent_id) != (package_id, agent_id):
        raise CallerError(
            "the lease is of another package or agent",
            code="lease.other",
            path="lease",
        )
