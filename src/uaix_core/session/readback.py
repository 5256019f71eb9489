"""Readback: who a session is, where, and what it may do there; nobody else's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from uaix_core.guard.snapshot import GuardedSnapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uaix_core.access.standing import Entitled
    from uaix_core.session.work import Work
    from uaix_core.values.ids import Principal, ScopeId


@attrs.frozen
class Readback:
    """Who a session is and what it may do.

    ``entitled`` are its roles in its scope; the packages that are bound to an agent
    are those of the role ``agent``. A session that the host opened without a token has
    no credential, and may do everything.
    """

    principal: Principal
    scope: ScopeId
    credential_id: str | None = None
    until_at: int | None = None
    entitled: Sequence[Entitled] = ()

    @property
    def packages(self) -> list[str]:
        """The packages that are bound to the agent that this is, sorted."""
        bound = (one.package_id for one in self.entitled if one.role == "agent")
        return sorted(package_id for package_id in bound if package_id is not None)

    def as_dict(self) -> dict[str, Any]:
        """It as plain data."""
        return {
            "principal": self.principal.text,
            "scope": self.scope.text,
            "credential_id": self.credential_id,
            "until_at": self.until_at,
            "entitled": [one.as_dict() for one in self.entitled],
            "packages": self.packages,
        }


def readback(work: Work) -> Readback:
    """Who works here; see `Session.whoami`."""
    with work.snapshot() as snapshot:
        if not isinstance(snapshot, GuardedSnapshot):
            return Readback(work.principal, work.scope)
        standing = snapshot.standing
    return Readback(
        standing.principal,
        standing.scope,
        standing.credential_id,
        standing.until_at,
        standing.entitled,
    )
