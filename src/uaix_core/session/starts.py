"""The start-up verbs: start a package for an agent; grant, revoke and list consents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from uaix_core.gate.said import check_identities, check_lines
from uaix_core.guard.store import unveiled
from uaix_core.leases.holding import Lease, fence, lease_state
from uaix_core.packages.export import find_package
from uaix_core.session.writes import write
from uaix_core.startup.assembling import decide_start
from uaix_core.startup.checks import LEASE, StartupCheck, StartupError
from uaix_core.startup.consents import (
    Consented,
    ConsentPlace,
    Granting,
    consented,
    consents_of,
    decide_grant,
    decide_revocation,
)
from uaix_core.startup.judging import Wanted
from uaix_core.startup.watermarks import check_indexes
from uaix_core.values.arguments import check_items, check_texts, check_type
from uaix_core.values.ids import Principal, check_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from uaix_core.leases.holding import LeaseState
    from uaix_core.schema.commits import Commit, Recorded
    from uaix_core.session.work import Work
    from uaix_core.startup.assembling import Assembly, Started
    from uaix_core.startup.consents import ConsentView
    from uaix_core.startup.watermarks import IndexWatermark
    from uaix_core.store.port import Snapshot


def start(  # noqa: PLR0913 - what a start is asked for
    work: Work,
    package_id: str,
    *,
    agent_id: str,
    triggered: Collection[str] = (),
    indexes: Iterable[IndexWatermark] = (),
    lease: Lease | None = None,
) -> Assembly:
    """Put a package together for an agent; `Session.start` says what it does."""
    agent = check_id(agent_id, "agent_id")
    paths = check_texts(triggered, "triggered")
    asked = check_indexes(indexes)
    check_identities({"agent_id": agent, "indexes": [index.name for index in asked]})
    check_lines({"triggered": paths})
    if lease is not None:
        check_type(lease, Lease, "lease")
    wanted = Wanted(
        package_id,
        agent,
        paths,
        asked,
        lease_id=None if lease is None else lease.lease_id,
        fence=None if lease is None else lease.fence,
    )
    writing = work.writing()
    decisions: list[Started] = []

    def decided(snapshot: Snapshot) -> Commit:
        state = lease_state(snapshot, package_id)
        failed = tuple(_lease_checks(state, wanted, lease, writing.now))
        started = decide_start(snapshot, writing, attrs.evolve(wanted, failed=failed))
        decisions.append(started)
        expects = [*started.commit.expects, state.expect]
        if lease is not None and not failed:
            expects.append(fence(lease))
        return attrs.evolve(started.commit, expects=expects)

    # What is private is read in order to be blanked, and leaves only as that.
    recorded: Recorded = write(unveiled(work.store), work.scope, decided)
    started = decisions[-1]
    if started.assembly is None:
        raise StartupError(package_id, started.failed, started.receipt)
    return attrs.evolve(started.assembly, seq=recorded.seq, is_staged=work.is_staged)


def _lease_checks(
    state: LeaseState, wanted: Wanted, lease: Lease | None, now: int
) -> Iterator[StartupCheck]:
    """The lease that is named has to run; where none is, none may."""
    if lease is None:
        if state.runs(now):
            yield StartupCheck(LEASE, wanted.package_id)
        return
    held = state.lease
    is_right = held is not None and (held.lease_id, held.fence, held.agent_id) == (
        lease.lease_id,
        lease.fence,
        wanted.agent_id,
    )
    if not (is_right and state.runs(now)):
        yield StartupCheck(LEASE, lease.lease_id)


class Consents:
    """Who may see the hidden texts of packages; made by a session, not by hand."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def grant(
        self,
        package_id: str,
        reader: Principal | str,
        places: Iterable[ConsentPlace],
        *,
        until_at: int,
    ) -> Consented:
        """Let a principal see hidden texts of a package at start-up, for a time.

        Args:
            package_id: whose texts they are.
            reader: who may see them, as a principal or ``kind:id``.
            places: files of the package, or fields of them.
            until_at: the instant (microseconds UTC) from which it lifts nothing.

        Raises:
            NotFoundError: ``package.not-found``, ``record.not-found``.
            CallerError: ``consent.*``, ``instant.range``, ``principal.*``,
                ``text.secret``.

        """
        work = self._work
        named = check_items(places, ConsentPlace, "places")
        if isinstance(reader, str):
            reader = Principal.parse(reader)
        check_type(reader, Principal, "reader")
        check_identities({"reader": reader.id})
        check_lines({"places": [[place.path, place.field or ""] for place in named]})
        granting = Granting(package_id, reader, named, until_at)
        writing = work.writing()

        def decided(snapshot: Snapshot) -> Commit:
            return decide_grant(snapshot, writing, granting)

        recorded: Recorded = write(work.store, work.scope, decided)
        return consented(recorded, "granted", is_staged=work.is_staged)

    def revoke(self, consent_id: str) -> Consented:
        """Take a consent back; again it changes nothing.

        Raises:
            NotFoundError: ``consent.not-found``.
            CallerError: ``consent.reviewer``.

        """
        work = self._work
        writing = work.writing()

        def decided(snapshot: Snapshot) -> Commit | Consented:
            return decide_revocation(snapshot, writing, consent_id)

        outcome: Recorded | Consented = write(work.store, work.scope, decided)
        if isinstance(outcome, Consented):
            return attrs.evolve(outcome, is_staged=work.is_staged)
        return consented(outcome, "revoked", is_staged=work.is_staged)

    def list(self, package_id: str) -> Sequence[ConsentView]:
        """All consents about a package, oldest first, ended and revoked ones too.

        Raises:
            NotFoundError: ``package.not-found``.

        """
        with self._work.snapshot() as snapshot:
            find_package(snapshot, package_id)
            return consents_of(snapshot, package_id)
