"""Entitlements: granting a role over a scope or a package, and withdrawing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import attrs

from uaix_core.access.deciding import Administering, Done, Made
from uaix_core.access.relations import (
    ENTITLEMENT,
    ENTITLEMENT_END,
    HELD_ENTITLEMENT,
    Entitlement,
    EntitlementEnd,
)
from uaix_core.access.roles import GRANTED_ROLES, POWERS
from uaix_core.access.rows import scope_of
from uaix_core.access.standing import held_by
from uaix_core.schema.commits import Expect
from uaix_core.values.errors import CallerError, NotFoundError
from uaix_core.values.ids import Principal, ScopeId, check_id
from uaix_core.values.instants import check_instant

if TYPE_CHECKING:
    from uaix_core.access.roles import GrantedRole
    from uaix_core.store.port import Snapshot

GRANT: Final = "grant"
WITHDRAW: Final = "withdraw"


@attrs.frozen
class Granting:
    """Who is to have which role over what, and until when.

    ``package_id`` is None for all packages of the scope; ``until_at`` None for no end.

    Raises:
        CallerError: ``grant.role`` for a word that is no role, or a role that this
            kind of principal may not have; ``id.syntax``, ``instant.range``.

    """

    principal: Principal
    role: GrantedRole
    scope: ScopeId
    package_id: str | None = None
    until_at: int | None = None

    def __attrs_post_init__(self) -> None:
        if self.role not in GRANTED_ROLES:
            raise CallerError(
                "no such role to be granted",
                code="grant.role",
                path="role",
                hint="one of " + ", ".join(GRANTED_ROLES),
            )
        if self.principal.kind not in POWERS[self.role].holders:
            raise CallerError(
                "a role that this kind of principal may not have",
                code="grant.role",
                path="principal",
                hint="one of " + ", ".join(sorted(POWERS[self.role].holders)),
            )
        if self.package_id is not None:
            check_id(self.package_id, "package_id")
        if self.until_at is not None:
            check_instant(self.until_at)


def decide_grant(
    snapshot: Snapshot, by: Administering, wanted: Granting
) -> Made | Done:
    """The commit of an entitlement, or the answer where the very same one holds.

    Raises:
        CallerError: ``authority.*``, ``grant.until`` for an end that is past.
        AccessError: ``access.denied``.

    """
    by.check_over(snapshot, wanted.scope)
    writing = by.writing
    if wanted.until_at is not None and wanted.until_at <= writing.now:
        raise CallerError("a grant ends after now", code="grant.until", path="until_at")
    what = (wanted.role, wanted.scope, wanted.package_id, wanted.until_at)
    for held in held_by(snapshot, wanted.principal, wanted.scope.tenant):
        if (held.role, held.scope, held.package_id, held.until_at) == what:
            row = cast("Entitlement", snapshot.get(ENTITLEMENT.name, (held.id,)))
            return Done("unchanged", held.id, row.version, row.receipt_id)
    receipt_id, entitlement_id = writing.ids.new(), writing.ids.new()
    row = Entitlement(
        entitlement_id=entitlement_id,
        principal_kind=wanted.principal.kind,
        principal_id=wanted.principal.id,
        role=wanted.role,
        scope_kind=wanted.scope.kind,
        scope_key=wanted.scope.key,
        package_id=wanted.package_id,
        until_at=wanted.until_at,
        receipt_id=receipt_id,
        **by.actor(),
    )
    details = {
        "entitlement_id": entitlement_id,
        "principal": wanted.principal.text,
        "role": wanted.role,
        "scope": wanted.scope.text,
    }
    return by.made(GRANT, entitlement_id, receipt_id, (row,), details=details)


def decide_withdrawal(
    snapshot: Snapshot, by: Administering, entitlement_id: str
) -> Made | Done:
    """The commit that withdraws an entitlement, or the answer where it was before.

    Raises:
        NotFoundError: ``entitlement.not-found``.
        CallerError: ``authority.person``.
        AccessError: ``access.denied``.

    """
    by.check_any(snapshot)
    found = cast(
        "Entitlement | None", snapshot.get(ENTITLEMENT.name, (entitlement_id,))
    )
    tenant = by.writing.scope.tenant
    if found is None or not by.knows_of(scope_of(found, tenant)):
        raise NotFoundError(
            "no such entitlement", code="entitlement.not-found", path=entitlement_id
        )
    row = found
    by.check_over(snapshot, scope_of(row, tenant))
    before = snapshot.get(ENTITLEMENT_END.name, (entitlement_id,))
    if before is not None:
        receipt_id = cast("EntitlementEnd", before).receipt_id
        return Done("unchanged", entitlement_id, before.version, receipt_id)
    key = (row.principal_kind, row.principal_id, entitlement_id)
    held = snapshot.get(HELD_ENTITLEMENT.name, key)
    expect = Expect(HELD_ENTITLEMENT.name, key, held.version if held else 0)
    receipt_id = by.writing.ids.new()
    end = EntitlementEnd(entitlement_id, receipt_id, **by.actor())
    details = {"entitlement_id": entitlement_id}
    return by.made(
        WITHDRAW,
        entitlement_id,
        receipt_id,
        (end,),
        details=details,
        expects=(expect,),
    )
