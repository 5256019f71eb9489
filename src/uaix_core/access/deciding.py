"""What the decisions of this room share: who may make them, and their receipts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from uaix_core.access.standing import AUTHORITY_KEY, entitled_to
from uaix_core.history.receipts import receipt_row
from uaix_core.schema.commits import Commit, Expect
from uaix_core.values.errors import AccessError, CallerError
from uaix_core.values.ids import PERSONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from uaix_core.access.standing import Standing
    from uaix_core.history.receipts import Writing
    from uaix_core.schema.relations import Ref
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot
    from uaix_core.values.ids import ScopeId


@attrs.frozen
class Administering:
    """Who administers: the host's own operator, or the holder of a credential.

    ``standing`` is None for the first, who may administer the whole tenant.
    """

    writing: Writing
    standing: Standing | None = None

    def check_over(self, snapshot: Snapshot, scope: ScopeId) -> None:
        """Refuse whoever may not say who does what in a scope.

        Raises:
            CallerError: ``authority.person``; ``authority.scope`` for a scope of
                another tenant, or the authority's own.
            AccessError: ``access.denied``.

        """
        self.check_person()
        own = self.writing.scope
        is_own = scope.kind == own.kind and scope.key == AUTHORITY_KEY
        if scope.tenant != own.tenant or is_own:
            raise CallerError(
                "a scope of this tenant, and not the one of its authority",
                code="authority.scope",
                path="scope",
            )
        if self.standing is None:
            return
        # Read anew: what was withdrawn before this commit counts here already.
        now = entitled_to(snapshot, self.standing.principal, scope, self.writing.now)
        is_here = self.standing.scope == scope
        current = attrs.evolve(self.standing, entitled=now)
        if not (is_here and current.administers):
            raise AccessError("only who administers the scope may do this")

    def check_any(self, snapshot: Snapshot) -> None:
        """Refuse whoever administers nothing, so that no id is told from another.

        Raises:
            CallerError: ``authority.person``.
            AccessError: ``access.denied``.

        """
        if self.standing is None:
            self.check_person()
        else:
            self.check_over(snapshot, self.standing.scope)

    def knows_of(self, scope: ScopeId) -> bool:
        """Whether what is of a scope is told from what isn't there."""
        return self.standing is None or self.standing.scope == scope

    def check_person(self) -> None:
        """Refuse whoever is no person (``authority.person``)."""
        if self.writing.principal.kind not in PERSONS:
            raise CallerError(
                "authority is given by a person",
                code="authority.person",
                path="principal",
                hint="one of " + ", ".join(f"{kind}:ID" for kind in PERSONS),
            )

    def made(  # noqa: PLR0913 - what a commit of this room consists of
        self,
        operation: str,
        made_id: str,
        receipt_id: str,
        rows: Sequence[Row],
        *,
        details: dict[str, Any],
        expects: Iterable[Expect] = (),
        erases: Iterable[Ref] = (),
    ) -> Made:
        """What a decision came to: its rows, with its receipt at the end."""
        writing = self.writing
        receipt = receipt_row(
            writing,
            receipt_id,
            operation=operation,
            outcome="accepted",
            details=details,
        )
        commit = Commit(
            writing.scope,
            writing.now,
            expects=tuple(expects),
            adds=(*rows, receipt),
            erases=tuple(erases),
        )
        return Made(operation, made_id, receipt_id, commit)

    def actor(self) -> dict[str, Any]:
        """The fields of a row that say who did it."""
        principal = self.writing.principal
        return {"actor_kind": principal.kind, "actor_id": principal.id}


@attrs.frozen
class Made:
    """A commit to be written, and what its answer will say."""

    operation: str
    id: str
    receipt: str
    commit: Commit


@attrs.frozen
class Done:
    """The answer to a decision that made or ended one thing.

    ``outcome`` is the operation of the receipt; ``unchanged`` found it as it was to be,
    and wrote nothing. ``is_staged`` says that it is gone again unless a host commits.
    """

    outcome: str
    id: str
    seq: int
    receipt: str
    is_staged: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain data."""
        return attrs.asdict(self)
