"""Denials: that somebody was refused, kept where only who administers can read it.

A row holds no name of what was asked for, only its digest under the host's key, so
that the record of a guess is no answer to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

import attrs

from uaix_core.access.relations import DENIAL, DENIAL_ENTRY, Denial, DenialEntry
from uaix_core.access.rows import principal_of, scope_of
from uaix_core.schema.commits import Commit

if TYPE_CHECKING:
    from uaix_core.access.keys import KeyRing
    from uaix_core.access.standing import Standing
    from uaix_core.history.receipts import Writing
    from uaix_core.store.port import Snapshot
    from uaix_core.values.ids import Principal, ScopeId

#: Why: nothing that they may see; an operation that no role of theirs has; a package
#: that isn't theirs; a text that is marked as private.
DenialCode = Literal["not-found", "operation", "package", "disclosure"]
#: The operation of whoever only read.
READ = "read"
#: The operation of whoever wanted to say, or to know, who may do what.
ADMINISTER = "administer"


@attrs.frozen
class DenialView:
    """Who was refused what, where and when; ``target_digest`` is of what it was.

    ``credential_id`` is the credential that was shown.
    """

    denial_id: str
    denied_at: int
    code: DenialCode
    operation: str
    principal: Principal
    credential_id: str
    scope: ScopeId
    target_digest: str | None

    def as_dict(self) -> dict[str, Any]:
        """It as plain data."""
        shown = attrs.asdict(self, recurse=False)
        return {**shown, "principal": self.principal.text, "scope": self.scope.text}


def denials_in(
    snapshot: Snapshot, tenant: str, *, after: tuple[int, str] | None, limit: int
) -> list[DenialView]:
    """A page of denials, oldest first; ``after`` is the last one of the page before."""
    page = snapshot.scan(DENIAL_ENTRY.name, "by_time", after=after, limit=limit)
    entries = cast("list[DenialEntry]", list(page))
    found = snapshot.get_many(DENIAL.name, [(entry.denial_id,) for entry in entries])
    return [
        _view(cast("Denial", found[(entry.denial_id,)]), entry.denied_at, tenant)
        for entry in entries
    ]


def _view(row: Denial, denied_at: int, tenant: str) -> DenialView:
    return DenialView(
        denial_id=row.denial_id,
        denied_at=denied_at,
        code=cast("DenialCode", row.code),
        operation=row.operation,
        principal=principal_of(row),
        credential_id=row.credential_id,
        scope=scope_of(row, tenant),
        target_digest=row.target_digest,
    )


def denial_commit(  # noqa: PLR0913 - the fields of one row
    writing: Writing,
    standing: Standing,
    keys: KeyRing,
    *,
    code: DenialCode,
    operation: str,
    target: str | None = None,
) -> Commit:
    """The commit that records a denial in the tenant's authority scope.

    ``writing`` is of that scope; ``target`` is what was asked for, and only digested.
    """
    digest = None
    if target is not None:
        digest = keys.digest(keys.active, "denied", standing.scope.text, target)
    row = Denial(
        denial_id=writing.ids.new(),
        code=code,
        operation=operation,
        principal_kind=standing.principal.kind,
        principal_id=standing.principal.id,
        credential_id=standing.credential_id,
        scope_kind=standing.scope.kind,
        scope_key=standing.scope.key,
        target_digest=digest,
    )
    return Commit(writing.scope, writing.now, adds=(row,))
