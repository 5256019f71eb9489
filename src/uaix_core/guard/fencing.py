"""What an agent keeps of its own is written under the lease that runs, or not at all.

While a session is at work with a package, another session of the same agent may hold a
token just as good. Its states, turns and variance stay out all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_core.guard.sight import PACKAGE_FIELD
from uaix_core.leases.holding import fence, lease_state
from uaix_core.tiers.relations import TURN, VARIANCE, WORKING_STATE
from uaix_core.values.errors import ConflictError

if TYPE_CHECKING:
    from uaix_core.schema.commits import Commit, Expect
    from uaix_core.schema.schema import Schema
    from uaix_core.store.port import Snapshot

#: What is an agent's own.
_OWN = frozenset((WORKING_STATE.name, TURN.name, VARIANCE.name))


def fences_of(
    schema: Schema, snapshot: Snapshot, commit: Commit, now: int
) -> list[Expect]:
    """What a commit of an agent has to expect, beside what it says itself.

    Where no lease runs it is that none was taken meanwhile.

    Raises:
        ConflictError: ``lease.needed``.

    """
    expects = []
    own = [row for row in commit.adds if schema.of(row).name in _OWN]
    for package_id in {getattr(row, PACKAGE_FIELD) for row in own}:
        state = lease_state(snapshot, package_id)
        lease = state.lease
        if lease is None or not lease.runs(now):
            expects.append(state.expect)
            continue
        if fence(lease) in commit.expects:
            continue
        raise ConflictError(
            "the package is at work under a lease, which this doesn't name",
            code="lease.needed",
            path=package_id,
            hint="hand in the session's own lease; without one, another run is at work",
        )
    return expects
