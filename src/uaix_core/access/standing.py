"""What a credential stands for now: read anew for every call, and kept nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from uaix_core.access.relations import (
    BOUND_PACKAGE,
    HELD_ENTITLEMENT,
    ISSUED_CREDENTIAL,
    BoundPackage,
    HeldEntitlement,
    IssuedCredential,
)
from uaix_core.access.roles import POWERS
from uaix_core.access.rows import principal_of, scope_of
from uaix_core.access.tokens import NO_DIGEST, invalid
from uaix_core.store.scanning import all_rows
from uaix_core.values.ids import ScopeId

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core.access.keys import KeyRing
    from uaix_core.access.roles import Powers, Role
    from uaix_core.access.tokens import Token
    from uaix_core.store.port import Snapshot
    from uaix_core.values.ids import Principal

#: The key of the scope of a tenant that says who may do what.
AUTHORITY_KEY: Final = "authority"


def authority_scope(tenant: str) -> ScopeId:
    """The scope in which a tenant's authority is kept."""
    return ScopeId(tenant, "shared", AUTHORITY_KEY)


@attrs.frozen
class Entitled:
    """One thing that a principal may be: a role over a scope or a package of it.

    ``package_id`` is None for all packages of the scope. ``id`` is that of the
    entitlement, or of the binding for the role ``agent``.
    """

    id: str
    role: Role
    scope: ScopeId
    package_id: str | None
    since_at: int
    until_at: int | None = None

    @property
    def powers(self) -> Powers:
        """What the role lets its holder do."""
        return POWERS[self.role]

    def as_dict(self) -> dict[str, Any]:
        """It as plain data."""
        return {**attrs.asdict(self, recurse=False), "scope": self.scope.text}


@attrs.frozen
class Standing:
    """Who a credential stands for in its scope, and what that principal may be there.

    ``entitled`` are those of the credential's scope that hold now, sorted by id.
    """

    credential_id: str
    principal: Principal
    scope: ScopeId
    until_at: int
    entitled: tuple[Entitled, ...]

    @property
    def is_wide(self) -> bool:
        """Whether some role is over the whole scope."""
        return any(one.package_id is None for one in self.entitled)

    @property
    def packages(self) -> frozenset[str]:
        """The packages that some role names."""
        return frozenset(
            one.package_id for one in self.entitled if one.package_id is not None
        )

    def powers_over(self, package_id: str | None) -> Iterator[Powers]:
        """The powers over a package; None: over what belongs to no package."""
        for one in self.entitled:
            if one.package_id is None or one.package_id == package_id:
                yield one.powers

    def may_see(self, package_id: str | None) -> bool:
        """Whether a package, or what belongs to none, may be read at all."""
        return any(True for _ in self.powers_over(package_id))

    def sees_hidden(self, package_id: str | None) -> bool:
        """Whether texts that are marked as private may be read as they are stored."""
        return any(powers.sees_hidden for powers in self.powers_over(package_id))

    def may(self, operation: str, package_id: str | None) -> bool:
        """Whether an operation may be done with a package, or with the scope."""
        return any(operation in p.operations for p in self.powers_over(package_id))

    @property
    def administers(self) -> bool:
        """Whether it may say who else may do what in its scope."""
        return any(
            one.role == "admin" and one.package_id is None for one in self.entitled
        )


def authenticated(
    snapshot: Snapshot, token: Token, keys: KeyRing, tenant: str, now: int
) -> Standing:
    """Who a token stands for at an instant, in the one scope that it is good in.

    Args:
        snapshot: the tenant's authority scope.
        token: what the caller shows.
        keys: the host's keys.
        tenant: whose scope that is.
        now: the instant, in microseconds UTC.

    Raises:
        AccessError: ``credential.invalid`` whatever is wrong with it: an unknown one
            costs the same work as one that was revoked. ``keys.missing``.

    """
    row = snapshot.get(ISSUED_CREDENTIAL.name, (token.credential_id,))
    issued = cast("IssuedCredential | None", row)
    key_id = keys.active if issued is None else issued.key_id
    digest = NO_DIGEST if issued is None else issued.token_digest
    is_right = token.is_of(keys, key_id, digest)
    if issued is None or not is_right or issued.is_over(now):
        raise invalid()
    scope, principal = scope_of(issued, tenant), principal_of(issued)
    return Standing(
        credential_id=issued.credential_id,
        principal=principal,
        scope=scope,
        until_at=issued.until_at,
        entitled=entitled_to(snapshot, principal, scope, now),
    )


def entitled_to(
    snapshot: Snapshot, principal: Principal, scope: ScopeId, now: int
) -> tuple[Entitled, ...]:
    """What a principal may be in a scope at an instant, sorted by id.

    A role that its holder's kind may not have counts for nothing.
    """
    return tuple(
        one
        for one in held_by(snapshot, principal, scope.tenant)
        if one.scope == scope
        and (one.until_at is None or now < one.until_at)
        and principal.kind in one.powers.holders
    )


def held_by(snapshot: Snapshot, principal: Principal, tenant: str) -> list[Entitled]:
    """All that a principal was granted or bound to in a tenant, sorted by id."""
    who = (principal.kind, principal.id)
    rows: Iterator[Any] = all_rows(snapshot, HELD_ENTITLEMENT, prefix=who)
    found = [_of_grant(cast("HeldEntitlement", row), tenant) for row in rows]
    if principal.kind == "agent":
        rows = all_rows(snapshot, BOUND_PACKAGE, "by_agent", (principal.id,))
        found += [_of_binding(cast("BoundPackage", row), tenant) for row in rows]
    return sorted(found, key=lambda one: one.id)


def _of_grant(row: HeldEntitlement, tenant: str) -> Entitled:
    return Entitled(
        id=row.entitlement_id,
        role=cast("Role", row.role),
        scope=scope_of(row, tenant),
        package_id=row.package_id,
        since_at=row.since_at,
        until_at=row.until_at,
    )


def _of_binding(row: BoundPackage, tenant: str) -> Entitled:
    return Entitled(
        id=row.binding_id,
        role="agent",
        scope=scope_of(row, tenant),
        package_id=row.package_id,
        since_at=row.bound_at,
    )
