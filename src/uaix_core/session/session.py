"""The façade: a principal at work in one scope of a store."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import attrs

from uaix_core.session.work import Work

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from uaix_core.leases.holding import Lease
    from uaix_core.packages.revisions import RevisionConflictError
    from uaix_core.session.leases import Leases
    from uaix_core.session.packages import Packages
    from uaix_core.session.proposals import Proposals
    from uaix_core.session.readback import Readback
    from uaix_core.session.registrations import Registrations
    from uaix_core.session.reviews import Reviews
    from uaix_core.session.starts import Consents
    from uaix_core.session.tiers import Tiers
    from uaix_core.startup.assembling import Assembly
    from uaix_core.startup.watermarks import IndexWatermark


@attrs.define(frozen=True, slots=False, eq=False)
class Session(Work):
    """All that one principal does in one scope; cheap, make one whenever needed.

    Clock, ids and random bytes are handed in, so that every run can be repeated;
    `uaix_backends.open_session` hands in the system's. The arguments are those of
    `uaix_core.session.work.Work`.
    """

    @cached_property
    def packages(self) -> Packages:
        """The package verbs: lint, install, export, list, show, history."""
        from uaix_core.session.packages import Packages  # noqa: PLC0415 - on first use

        return Packages(self)

    @cached_property
    def registrations(self) -> Registrations:
        """The registration verbs: register under a grant, get, list, history."""
        from uaix_core.session.registrations import (  # noqa: PLC0415 - on first use
            Registrations,
        )

        return Registrations(self)

    @cached_property
    def review(self) -> Reviews:
        """The review verbs: package, records, keep, take, restore, waiting."""
        from uaix_core.session.reviews import Reviews  # noqa: PLC0415 - on first use

        return Reviews(self, self.packages)

    @cached_property
    def tiers(self) -> Tiers:
        """The tiers beside a persona: short_term, conversations, pointers, and more."""
        from uaix_core.session.tiers import Tiers  # noqa: PLC0415 - on first use

        return Tiers(self)

    @cached_property
    def proposals(self) -> Proposals:
        """The proposal verbs: propose, accept, decline, get, list."""
        from uaix_core.session.proposals import (  # noqa: PLC0415 - on first use
            Proposals,
        )

        return Proposals(self, self.packages)

    def keep_conflict(self, error: RevisionConflictError) -> tuple[str, ...]:
        """See `uaix_core.session.packages.Packages.keep_conflict`."""
        return self.packages.keep_conflict(error)

    @cached_property
    def consents(self) -> Consents:
        """The consent verbs: grant, revoke, list."""
        from uaix_core.session.starts import Consents  # noqa: PLC0415 - on first use

        return Consents(self)

    @cached_property
    def leases(self) -> Leases:
        """The lease verbs: acquire, renew, release, get, holder, list."""
        from uaix_core.session.leases import Leases  # noqa: PLC0415 - on first use

        return Leases(self)

    def whoami(self) -> Readback:
        """Who this session is, in which scope, and what it may do there.

        Raises:
            AccessError: ``credential.invalid``, ``keys.missing`` under a token.

        """
        from uaix_core.session.readback import readback  # noqa: PLC0415 - on first use

        return readback(self)

    def start(
        self,
        package_id: str,
        *,
        agent_id: str,
        triggered: Collection[str] = (),
        indexes: Iterable[IndexWatermark] = (),
        lease: Lease | None = None,
    ) -> Assembly:
        """Put a package together for an agent: all of it in start-up order, or nothing.

        Every check is made, digests included, and all that fail are told at once.
        Fields marked private, sensitive or none are blanked unless a consent lifts
        them for this session's principal. Either outcome leaves a receipt.

        Args:
            package_id: which package.
            agent_id: for whom. A package that names agents (``agentId``, ``npcId`` in
                its manifest) starts for these only; a principal that is an agent starts
                as itself only.
            triggered: paths of further files that have to load.
            indexes: indexes that have to cover the package as it is now.
            lease: the lease of the agent's session, whose time may not be over. While
                one runs, the package starts under it only.

        Raises:
            NotFoundError: ``package.not-found``; it leaves no receipt.
            StartupError: ``startup.refused``, with every check that failed.
            CallerError: ``id.syntax``.

        """
        from uaix_core.session.starts import start  # noqa: PLC0415 - on first use

        return start(
            self,
            package_id,
            agent_id=agent_id,
            triggered=triggered,
            indexes=indexes,
            lease=lease,
        )
