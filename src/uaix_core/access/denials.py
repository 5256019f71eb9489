"""Denials: that somebody was refused, kept where only who administers can read it.

A row holds no name of what was asked for, only its digest under the host's key, so
that the record of a guess is no answer to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from uaix_core.access.relations import Denial
from uaix_core.schema.commits import Commit

if TYPE_CHECKING:
    from uaix_core.access.keys import KeyRing
    from uaix_core.access.standing import Standing
    from uaix_core.history.receipts import Writing

#: Why: nothing that they may see; an operation that no role of theirs has; a package
#: that isn't theirs; a text that is marked as private.
DenialCode = Literal["not-found", "operation", "package", "disclosure"]
#: The operation of whoever only read.
READ = "read"


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
