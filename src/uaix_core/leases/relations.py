"""The relations of the leases room, and the view of what is held.

Who holds a package is history. Until when is WORK: it moves with every renewal, and
what it says is about this store and its clocks alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from uaix_core.history.relations import ActorKind
from uaix_core.schema.reducers import Changes
from uaix_core.schema.relations import Keep, Ref, Relation
from uaix_core.schema.rows import Id, Instant, Row, Word, row
from uaix_core.schema.schema import Room

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.reducers import Steps

EndCause = Annotated[str, Word("released", "taken", "lapsed")]


@row
class LeaseStart(Row):
    """That a session of an agent took a package.

    ``session_id`` is the host's name of one run of the agent. The row's version is the
    fence of what is written under the lease.
    """

    lease_id: Id
    package_id: Id
    agent_id: Id
    session_id: Id
    receipt_id: Id
    actor_kind: ActorKind
    actor_id: Id


@row
class LeaseEnd(Row):
    """That a lease came to an end, and how.

    It was ``released``; or its time was over, and another session took the package
    (``taken``), or its own session took another package (``lapsed``).
    """

    lease_id: Id
    package_id: Id
    cause: EndCause
    receipt_id: Id
    actor_kind: ActorKind
    actor_id: Id


@row
class HeldLease(Row):
    """A lease that has not come to an end: one for a package, one for a session.

    That its time is over ends no lease; it only lets another session take it.
    """

    lease_id: Id
    package_id: Id
    agent_id: Id
    session_id: Id
    receipt_id: Id
    since_at: Instant


@row
class LeaseTime(Row):
    """Until when nobody may take a package from the lease that is named here.

    It stays when that lease ends, and says nothing of any other.
    """

    package_id: Id
    lease_id: Id
    until_at: Instant


LEASE = Relation("lease", LeaseStart, ("lease_id",), keep=Keep.HISTORY)
# The lease's own name, so that no store can hold two ends of it.
LEASE_END = Relation("lease_end", LeaseEnd, ("lease_id",), keep=Keep.HISTORY)
HELD_LEASE = Relation(
    "held_lease",
    HeldLease,
    ("lease_id",),
    keep=Keep.VIEW,
    paths={"by_package": ("package_id",), "by_session": ("agent_id", "session_id")},
    unique=("by_package", "by_session"),
    versioned=True,
)
LEASE_TIME = Relation("lease_time", LeaseTime, ("package_id",), keep=Keep.WORK)


def reduce_leases(recorded: Recorded, _erased: Mapping[Ref, Row]) -> Steps:
    """Show each lease that begins, and no longer one that ends."""
    adds = recorded.commit.adds
    yield set()
    return Changes(
        puts=[
            HeldLease(
                lease_id=one.lease_id,
                package_id=one.package_id,
                agent_id=one.agent_id,
                session_id=one.session_id,
                receipt_id=one.receipt_id,
                since_at=recorded.recorded_at,
            )
            for one in adds
            if isinstance(one, LeaseStart)
        ],
        drops=[
            Ref(HELD_LEASE.name, (one.lease_id,))
            for one in adds
            if isinstance(one, LeaseEnd)
        ],
    )


LEASES_ROOM = Room("leases", (LEASE, LEASE_END, HELD_LEASE, LEASE_TIME), reduce_leases)
