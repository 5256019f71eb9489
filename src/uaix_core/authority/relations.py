"""The relations of the authority room."""

from __future__ import annotations

from uaix_core.history.relations import ActorKind
from uaix_core.schema.relations import Keep, Relation
from uaix_core.schema.rows import BodyRow, Id, Instant, Int, Json, Row, Text, row


@row
class Registration(BodyRow):
    """One version of a namespace's document, let in by the operator's grant.

    ``operator_id`` is who granted it, the actor who carried it out. ``document_digest``
    is the plain SHA-256 of ``document``, so it goes with it.
    """

    registry: Id
    namespace: Id
    document_version: Int
    receipt_id: Id
    operator_id: Id
    actor_kind: ActorKind
    actor_id: Id
    document_digest: Text | None
    document: Json | None


@row
class LatestRegistration(Row):
    """The highest version of a namespace that was registered, erased or not."""

    registry: Id
    namespace: Id
    document_version: Int
    receipt_id: Id
    registered_at: Instant


# The natural key, so that no store can hold two documents of one version.
REGISTRATION = Relation(
    "registration",
    Registration,
    ("registry", "namespace", "document_version"),
    keep=Keep.HISTORY,
    body=("document_digest", "document"),
)
LATEST_REGISTRATION = Relation(
    "latest_registration",
    LatestRegistration,
    ("registry", "namespace"),
    keep=Keep.VIEW,
    versioned=True,
)
