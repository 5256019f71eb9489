"""The lease verbs: one session of one agent is at work with a package at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from uaix_core.gate.said import check_identities
from uaix_core.leases.deciding import (
    Acquiring,
    Plan,
    Released,
    decide_acquire,
    decide_release,
    decide_renewal,
    released,
)
from uaix_core.leases.holding import Lease, find_lease, held_leases, lease_state
from uaix_core.packages.export import find_package
from uaix_core.session.writes import write
from uaix_core.values.arguments import check_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from uaix_core.history.receipts import Writing
    from uaix_core.schema.commits import Commit, Recorded
    from uaix_core.session.work import Work
    from uaix_core.store.port import Snapshot


class Leases:
    """Who is at work with which package; made by a session, not by hand."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def acquire(
        self, package_id: str, *, agent_id: str, session_id: str, life: int
    ) -> Lease:
        """Take a package for a session of an agent, for a time.

        Whoever holds it already keeps the same lease, for at least ``life`` from now,
        so that a retry changes nothing. A lease whose time is over is taken, and from
        then on nothing is written under it, whatever the clock of its session says.

        Args:
            package_id: which package.
            agent_id: for whom; a principal that is an agent acquires for itself.
            session_id: the host's name of one run of the agent. A run that begins anew
                has a new one, or it can't be told from the one before.
            life: for how many microseconds, at most a day.

        Raises:
            NotFoundError: ``package.not-found``.
            ConflictError: ``lease.package-busy`` while another session holds it,
                ``lease.agent-busy`` while this one holds another package.
            CallerError: ``lease.agent``, ``lease.time``, ``id.syntax``,
                ``instant.range``, ``text.secret``.

        """
        wanted = Acquiring(package_id, agent_id, session_id, life)
        check_identities({"agent_id": agent_id, "session_id": session_id})
        return self._planned(
            lambda snapshot, writing: decide_acquire(snapshot, writing, wanted)
        )

    def renew(self, lease: Lease, *, life: int) -> Lease:
        """Keep a lease for at least ``life`` microseconds from now.

        One whose time is over is kept as well, while nobody took it. It is no commit
        of the history.

        Raises:
            ConflictError: ``lease.lost``.
            CallerError: ``lease.agent``, ``lease.time``, ``instant.range``.

        """
        check_type(lease, Lease, "lease")
        return self._planned(
            lambda snapshot, writing: decide_renewal(snapshot, writing, lease, life)
        )

    def release(self, lease: Lease) -> Released:
        """Give a package back; of a lease that has ended nothing changes.

        Raises:
            NotFoundError: ``lease.not-found``.
            CallerError: ``lease.agent``.

        """
        check_type(lease, Lease, "lease")
        work = self._work
        writing = work.writing()

        def decided(snapshot: Snapshot) -> Commit | Released:
            return decide_release(snapshot, writing, lease.lease_id)

        outcome: Recorded | Released = write(work.store, work.scope, decided)
        answer = outcome if isinstance(outcome, Released) else released(outcome)
        return attrs.evolve(answer, is_staged=work.is_staged)

    def get(self, lease_id: str) -> Lease:
        """A lease by its id, also one that has ended.

        Raises:
            NotFoundError: ``lease.not-found``.

        """
        with self._work.snapshot() as snapshot:
            return find_lease(snapshot, lease_id)

    def holder(self, package_id: str) -> Lease | None:
        """The lease of a package, also one whose time is over while nobody took it.

        Raises:
            NotFoundError: ``package.not-found``.

        """
        with self._work.snapshot() as snapshot:
            find_package(snapshot, package_id)
            return lease_state(snapshot, package_id).lease

    def list(self, *, after: str | None = None, limit: int = 100) -> Sequence[Lease]:
        """The leases that have not ended, in the order of their packages.

        ``after`` is the package of the last one of the page before.
        """
        with self._work.snapshot() as snapshot:
            return held_leases(snapshot, after=after, limit=limit)

    def _planned(self, decide: Callable[[Snapshot, Writing], Plan]) -> Lease:
        """Write what a decision came to, and answer with the lease."""
        work = self._work
        writing = work.writing()
        plans: list[Plan] = []

        def decided(snapshot: Snapshot) -> Commit | None:
            plans[:] = [decide(snapshot, writing)]
            return plans[0].commit

        recorded: Recorded | None = write(work.store, work.scope, decided)
        return attrs.evolve(plans[0].told(recorded), is_staged=work.is_staged)
