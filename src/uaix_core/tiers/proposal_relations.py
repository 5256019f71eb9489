"""The relations of what moves between tiers: proposals, their sources, pointers."""

from __future__ import annotations

from typing import Annotated

from uaix_core.history.relations import ActorKind
from uaix_core.schema.relations import Keep, Relation
from uaix_core.schema.rows import (
    BodyRow,
    Bool,
    Bytes,
    Id,
    Instant,
    Json,
    Row,
    Text,
    Word,
    row,
)

ProposalKind = Annotated[str, Word("pointer", "file")]
ProposalState = Annotated[str, Word("open", "accepted", "declined")]
SourceKind = Annotated[str, Word("state", "turn", "variance", "note")]


@row
class Proposal(BodyRow):
    """What somebody proposes to make of what was recorded; it changes nothing.

    One for a pointer has title, locator and digest, one for a file has path, content,
    the revision that was seen (empty: none) and members of its manifest entry; what is
    of the other kind is empty.
    """

    proposal_id: Id
    package_id: Id
    kind: ProposalKind
    receipt_id: Id
    actor_kind: ActorKind
    actor_id: Id
    reason: Text | None
    title: Text | None
    locator: Text | None
    digest: Text | None
    path: Text | None
    expected_revision: Text | None
    entry: Json | None
    content: Bytes | None


@row
class ProposalSource(Row):
    """What a proposal was made from; it stays when the source's text is erased."""

    source_id: Id
    proposal_id: Id
    package_id: Id
    kind: SourceKind


@row
class ProposalEntry(Row):
    """Where a proposal stands: open, or as the first decision about it said.

    An open one that ``is_erased`` can only be declined: its text went with one of its
    sources.
    """

    proposal_id: Id
    package_id: Id
    kind: ProposalKind
    state: ProposalState
    opened_at: Instant
    decided_at: Instant | None
    actor_kind: ActorKind
    actor_id: Id
    is_erased: Bool


@row
class Pointer(BodyRow):
    """A line of the ledger of long-term memory: where something is, and its digest.

    It came of an accepted proposal, whose sources say what it was made from. It never
    holds what it points at.
    """

    pointer_id: Id
    package_id: Id
    proposal_id: Id
    receipt_id: Id
    actor_kind: ActorKind
    actor_id: Id
    title: Text | None
    locator: Text | None
    digest: Text | None


PROPOSAL = Relation(
    "proposal",
    Proposal,
    ("proposal_id",),
    keep=Keep.HISTORY,
    paths={"by_receipt": ("receipt_id",)},
    body=(
        "reason",
        "title",
        "locator",
        "digest",
        "path",
        "expected_revision",
        "entry",
        "content",
    ),
)
PROPOSAL_SOURCE = Relation(
    "proposal_source",
    ProposalSource,
    ("source_id", "proposal_id"),
    keep=Keep.HISTORY,
    paths={"by_proposal": ("proposal_id",)},
)
PROPOSAL_ENTRY = Relation(
    "proposal_entry",
    ProposalEntry,
    ("proposal_id",),
    keep=Keep.VIEW,
    paths={"by_state": ("package_id", "state", "opened_at")},
    versioned=True,
)
POINTER = Relation(
    "pointer",
    Pointer,
    ("pointer_id",),
    keep=Keep.HISTORY,
    paths={
        "by_package": ("package_id",),
        "by_proposal": ("proposal_id",),
    },
    body=("title", "locator", "digest"),
)
