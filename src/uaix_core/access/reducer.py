"""The views of the access room: what stands of entitlements, bindings, credentials."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from uaix_core.access.relations import (
    AGENT_BINDING,
    BOUND_PACKAGE,
    CURRENT_SECRET,
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
    CurrentSecret,
    Denial,
    DenialEntry,
    EnrolledProject,
    Enrolment,
    Entitlement,
    EntitlementEnd,
    HeldEntitlement,
    IssuedCredential,
    StoredSecret,
)
from uaix_core.schema.reducers import Changes
from uaix_core.schema.relations import Ref
from uaix_core.schema.schema import Room

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.reducers import Steps
    from uaix_core.schema.relations import Relation
    from uaix_core.schema.rows import Row


def reduce_access(recorded: Recorded, erased: Mapping[Ref, Row]) -> Steps:
    """Put what was granted, bound and issued; take out what came to an end."""
    adds, now = recorded.commit.adds, recorded.recorded_at
    gone = {_current_ref(row) for row in erased.values() if _is_secret(row)}
    ended = {ref for ref in map(_origin, adds) if ref is not None}
    found = yield ended | gone
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
            puts[ref] = _ended(issued, row)
        elif (shown := _shown(row, now)) is not None:
            relation, view = shown
            puts[relation.ref(view)] = view
    for row in erased.values():
        # A secret whose newest text is gone is none any more.
        current: Any = found.get(_current_ref(row)) if _is_secret(row) else None
        is_newest = current is not None and current.number == _number_of(row)
        if is_newest and _current_ref(row) not in puts:
            drops.append(_current_ref(row))
    return Changes(puts=tuple(puts.values()), drops=tuple(drops))


def _ended(issued: Any, end: CredentialEnd) -> Row:
    until_at = min(issued.until_at, end.from_at)
    # What was rotated ends by the clock, everything else by having been said.
    said = issued.ended_at if end.cause == "rotated" else end.from_at
    ended: Row = attrs.evolve(issued, until_at=until_at, ended_at=said)
    return ended


def _is_secret(row: Row) -> bool:
    return isinstance(row, StoredSecret)


_number_of = attrgetter("number")


def _current_ref(row: Any) -> Ref:
    return Ref(CURRENT_SECRET.name, (row.secret_name,))


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


def _shown(row: Row, now: int) -> tuple[Relation, Row] | None:
    """The view row that a row of history makes, with its relation."""
    shown = _SHOWN.get(type(row))
    return None if shown is None else (shown[0], shown[1](row, now))


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
        None,
    )


def _project(row: Enrolment, now: int) -> EnrolledProject:
    return EnrolledProject(row.scope_kind, row.scope_key, row.package_id, now)


def _denied(row: Denial, now: int) -> DenialEntry:
    return DenialEntry(row.denial_id, now, row.principal_kind, row.principal_id)


def _kept(row: StoredSecret, now: int) -> CurrentSecret:
    return CurrentSecret(row.secret_name, row.number, row.key_id, now)


#: What a row of history is shown as: the relation of the view, and how it is made.
_SHOWN: Final[dict[type[Row], tuple[Relation, Callable[[Any, int], Row]]]] = {
    Entitlement: (HELD_ENTITLEMENT, _held),
    AgentBinding: (BOUND_PACKAGE, _bound),
    Credential: (ISSUED_CREDENTIAL, _issued),
    Enrolment: (ENROLLED_PROJECT, _project),
    Denial: (DENIAL_ENTRY, _denied),
    StoredSecret: (CURRENT_SECRET, _kept),
}

ACCESS_ROOM = Room("access", RELATIONS, reduce_access)
