"""What a registration answers, and the decisions that it and a refused one make."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Literal, cast

import attrs

from uaix_core.authority.relations import Registration
from uaix_core.values.decisions import Decision
from uaix_core.values.errors import CallerError, ConflictError
from uaix_core.values.ids import Principal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core.history.receipts import Writing
    from uaix_core.schema.commits import Recorded
    from uaix_core.values.ids import PrincipalKind

#: The kind of the decisions that are made here.
KIND: Final = "registry.register"
#: The reason of those that accept; a denied one has the code of its error.
GRANTED: Final = "registration.granted"


@attrs.frozen
class Registered:
    """The answer to a registration.

    ``insert`` wrote it; ``unchanged`` found the same version with the same content and
    wrote nothing at all. ``seq`` and ``receipt`` are of the commit that stored it.
    ``is_staged`` says that all of it is gone again unless a host commits, and
    ``decisions`` are to be delivered after that; where nothing changed nothing was
    decided.
    """

    outcome: Literal["insert", "unchanged"]
    namespace: str
    document_version: int
    seq: int
    receipt: str
    is_staged: bool = False
    decisions: tuple[Decision, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain data."""
        shown = attrs.asdict(self, recurse=False)
        return {**shown, "decisions": [one.as_dict() for one in self.decisions]}


def unchanged(row: Registration) -> Registered:
    """The answer to a document that was registered before."""
    return Registered(
        "unchanged", row.namespace, row.document_version, row.version, row.receipt_id
    )


def registered(recorded: Recorded) -> Registered:
    """The answer to a registration that was written, read off its commit."""
    commit = recorded.commit
    row = next(row for row in commit.adds if isinstance(row, Registration))
    decision = Decision(
        kind=KIND,
        reason=GRANTED,
        scope=commit.scope,
        actor=Principal(cast("PrincipalKind", row.actor_kind), row.actor_id),
        receipt=row.receipt_id,
        details={
            "registry": row.registry,
            "namespace": row.namespace,
            "document_version": row.document_version,
            "operator_id": row.operator_id,
            # The salted one: the document's own would confirm a guess for ever.
            "body_digest": row.body_digest,
        },
    )
    return Registered(
        "insert",
        row.namespace,
        row.document_version,
        recorded.seq,
        row.receipt_id,
        decisions=(decision,),
    )


@contextmanager
def denied(
    writing: Writing, registry: str, named: tuple[str, int] | None = None
) -> Iterator[None]:
    """Give the error of a refusal its decision.

    ``named`` is a namespace and version that the configuration names; what only the
    refused document says is somebody's text, and stays out of decisions.
    """
    try:
        yield
    except (CallerError, ConflictError) as error:
        details: dict[str, str | int] = {"registry": registry}
        if named is not None:
            details["namespace"], details["document_version"] = named
        error.decisions = (
            Decision(
                kind=KIND,
                reason=error.code,
                scope=writing.scope,
                actor=writing.principal,
                is_denied=True,
                details=details,
            ),
        )
        raise
