"""The relations of the start-up room: who agreed that a hidden text may be shown."""

from __future__ import annotations

from uaix_core.history.relations import ActorKind
from uaix_core.schema.relations import Keep, Relation
from uaix_core.schema.rows import BodyRow, Id, Instant, Json, Row, row
from uaix_core.schema.schema import Room


@row
class Consent(BodyRow):
    """A person's word that a principal may see hidden texts of a package.

    ``consent_id`` is the SHA-256 of the RFC 8785 form of the other header fields.
    ``places`` is a list of ``{"path": ..., "field": ...}``; without a field it is the
    whole file. It lifts nothing from ``until_at`` on, nor once it was revoked.
    """

    consent_id: Id
    package_id: Id
    reader_kind: ActorKind
    reader_id: Id
    until_at: Instant
    receipt_id: Id
    actor_kind: ActorKind
    actor_id: Id
    places: Json | None


@row
class ConsentRevocation(Row):
    """That a consent was taken back; from then on it lifts nothing."""

    consent_id: Id
    package_id: Id
    receipt_id: Id
    actor_kind: ActorKind
    actor_id: Id


CONSENT = Relation(
    "consent",
    Consent,
    ("consent_id",),
    keep=Keep.HISTORY,
    paths={"by_package": ("package_id",)},
    body=("places",),
)
# The consent's own name, so that no store can hold two revocations of it.
CONSENT_REVOCATION = Relation(
    "consent_revocation",
    ConsentRevocation,
    ("consent_id",),
    keep=Keep.HISTORY,
    paths={"by_package": ("package_id",)},
)

STARTUP_ROOM = Room("startup", (CONSENT, CONSENT_REVOCATION))
