"""The views of the access room: what stands of entitlements, bindings, credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import attrs

from uaix_core.access.relations import (
    AGENT_BINDING,
    BOUND_PACKAGE,
    DENIAL_ENTRY,
    ENROLLED_PROJECT,
    ENTITLEMENT,
    HELD_ENTITLEMENT,
    ISSUED_CREDENTIAL,
    RELATIONS,
    AgentBinding,
    AgentUnbinding,
    BoundPackage,
    Credential,
    CredentialEnd,
    Denial,
    DenialEntry,
    EnrolledProject,
    Enrolment,
    Entitlement,
    EntitlementEnd,
    HeldEntitlement,
    IssuedCredential,
)
from uaix_core.schema.reducers import Changes
from uaix_core.schema.relations import Ref
from uaix_core.schema.schema import Room

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.reducers import Steps
    from uaix_core.schema.rows import Row


def reduce_access(recorded: Recorded, _erased: Mapping[Ref, Row]) -> Steps:
    """Put what was granted, bound and issued; take out what came to an end."""
    adds, now = recorded.commit.adds, recorded.recorded_at
    found = yield {ref for ref in map(_origin, adds) if ref is not None}
    puts: dict[Ref, Row] = {}
    drops: list[Ref] = []
    for row in adds:
        if isinstance(row, EntitlementEnd):
            origin = cast("Entitlement", found[_named(row)])
            drops.append(HELD_ENTITLEMENT.ref(_held(origin, now)))
        elif isinstance(row, AgentUnbinding):
            bound = cast("AgentBinding", found[_named(row)])
            drops.append(BOUND_PACKAGE.ref(_bound(bound, now)))
        elif isinstance(row, CredentialEnd):
            ref = _named(row)
            issued: Any = puts.get(ref, found.get(ref))
            until_at = min(issued.until_at, row.from_at)
            puts[ref] = attrs.evolve(issued, until_at=until_at)
        elif (shown := _shown(row, now)) is not None:
            relation, view = shown
            puts[relation.ref(view)] = view
    return Changes(puts=tuple(puts.values()), drops=tuple(drops))


def _origin(row: Row) -> Ref | None:
    """What has to be read about a row that ends something."""
    is_end = isinstance(row, EntitlementEnd | AgentUnbinding | CredentialEnd)
    return _named(row) if is_end else None


def _named(row: Any) -> Ref:
    if isinstance(row, EntitlementEnd):
        return Ref(ENTITLEMENT.name, (row.entitlement_id,))
    if isinstance(row, AgentUnbinding):
        return Ref(AGENT_BINDING.name, (row.binding_id,))
    return Ref(ISSUED_CREDENTIAL.name, (row.credential_id,))


def _shown(row: Row, now: int) -> tuple[Any, Row] | None:
    """The view row that a row of history makes, with its relation."""
    if isinstance(row, Entitlement):
        return HELD_ENTITLEMENT, _held(row, now)
    if isinstance(row, AgentBinding):
        return BOUND_PACKAGE, _bound(row, now)
    if isinstance(row, Credential):
        return ISSUED_CREDENTIAL, _issued(row, now)
    if isinstance(row, Enrolment):
        project = EnrolledProject(row.scope_kind, row.scope_key, row.package_id, now)
        return ENROLLED_PROJECT, project
    if isinstance(row, Denial):
        who = (row.principal_kind, row.principal_id)
        return DENIAL_ENTRY, DenialEntry(row.denial_id, now, *who)
    return None


def _held(row: Entitlement, now: int) -> HeldEntitlement:
    return HeldEntitlement(
        row.principal_kind,
        row.principal_id,
        row.entitlement_id,
        row.role,
        row.scope_kind,
        row.scope_key,
        row.package_id,
        now,
        row.until_at,
    )


def _bound(row: AgentBinding, now: int) -> BoundPackage:
    return BoundPackage(
        row.scope_kind,
        row.scope_key,
        row.package_id,
        row.agent_id,
        row.binding_id,
        now,
    )


def _issued(row: Credential, now: int) -> IssuedCredential:
    return IssuedCredential(
        row.credential_id,
        row.principal_kind,
        row.principal_id,
        row.scope_kind,
        row.scope_key,
        row.key_id,
        row.token_digest,
        now,
        row.until_at,
    )


ACCESS_ROOM = Room("access", RELATIONS, reduce_access)
