"""The relations of the review room."""

from __future__ import annotations

from typing import Annotated

from uaix_core.history.relations import ActorKind
from uaix_core.schema.relations import Keep, Relation
from uaix_core.schema.rows import BodyRow, Id, Instant, Json, Row, Text, Word, row

Subject = Annotated[str, Word("package", "record", "conflict", "proposal")]
Verdict = Annotated[
    str,
    Word(
        "quarantined",
        "review_required",
        "active",
        "reviewed",
        "approved",
        "rejected",
        "restored",
        "kept",
        "taken",
        "branched",
        "picked",
        "accepted",
        "declined",
    ),
]


@row
class Review(BodyRow):
    """What a reviewer decided about a package, a record, a conflict or a proposal.

    A review of a package names the checkpoint that was looked at, one of a record the
    revision, one of a conflict the conflict, one of a proposal the proposal.
    ``blockers`` is a list of texts, ``agreements`` an object: who agreed to what.
    """

    review_id: Id
    subject: Subject
    verdict: Verdict
    package_id: Id
    record_id: Id | None
    revision_id: Id | None
    checkpoint_id: Id | None
    conflict_id: Id | None
    proposal_id: Id | None
    receipt_id: Id
    actor_kind: ActorKind
    actor_id: Id
    note: Text | None
    blockers: Json | None
    agreements: Json | None


@row
class OpenConflict(Row):
    """A conflict that nobody has decided yet.

    ``path`` is where its record stood, None once the candidate was erased.
    """

    package_id: Id
    record_id: Id
    conflict_id: Id
    opened_at: Instant
    actor_kind: ActorKind
    actor_id: Id
    path: Text | None


REVIEW = Relation(
    "review",
    Review,
    ("review_id",),
    keep=Keep.HISTORY,
    paths={"by_package": ("package_id", "subject")},
    body=("note", "blockers", "agreements"),
)
OPEN_CONFLICT = Relation(
    "open_conflict",
    OpenConflict,
    ("package_id", "record_id", "conflict_id"),
    keep=Keep.VIEW,
    versioned=True,
)
