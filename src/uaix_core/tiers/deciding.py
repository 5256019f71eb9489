"""Deciding a proposal: a person accepts it, which makes the move, or declines it.

Either is a review. What an acceptance moves is in the same commit as the review, or in
none.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from uaix_core.history.receipts import receipt_row
from uaix_core.packages.addressing import RecordChange
from uaix_core.packages.relations import PACKAGE_FILE
from uaix_core.review.notes import check_reviewer, review_row
from uaix_core.schema.commits import Commit, Expect
from uaix_core.store.scanning import all_rows
from uaix_core.tiers.drafts import TierRef
from uaix_core.tiers.erasing import expect_no_erasure
from uaix_core.tiers.proposal_relations import (
    POINTER,
    PROPOSAL,
    PROPOSAL_ENTRY,
    PROPOSAL_SOURCE,
)
from uaix_core.tiers.proposing import standing_source
from uaix_core.values.canonical import SALT_BYTES
from uaix_core.values.errors import CallerError, ConflictError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core.history.receipts import Writing
    from uaix_core.packages.relations import PackageFile
    from uaix_core.review.notes import ReviewNote
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot
    from uaix_core.tiers.proposal_relations import (
        Proposal,
        ProposalEntry,
        ProposalSource,
    )

OPERATION: Final = "decide"


@attrs.frozen
class Decided:
    """The answer to a decision.

    ``pointer`` is the id of the pointer that came of it, ``revision`` that of the
    revision, if any.
    """

    verdict: str
    proposal_id: str
    seq: int
    receipt: str
    pointer: str | None = None
    revision: str | None = None
    is_staged: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain data."""
        return attrs.asdict(self)


@attrs.frozen
class Move:
    """What an accepted change of a file is made of, for the verb that revises."""

    package_id: str
    change: RecordChange
    review: Row
    expects: tuple[Expect, ...]


def find_proposal(snapshot: Snapshot, proposal_id: str) -> Proposal:
    """A proposal; NotFoundError (``proposal.not-found``) without one."""
    row = snapshot.get(PROPOSAL.name, (proposal_id,))
    if row is None:
        raise NotFoundError(
            "no such proposal in this scope",
            code="proposal.not-found",
            path=proposal_id,
        )
    return cast("Proposal", row)


def sources_of(snapshot: Snapshot, proposal_id: str) -> tuple[TierRef, ...]:
    """What a proposal was made from, erased ones too."""
    rows = all_rows(snapshot, PROPOSAL_SOURCE, "by_proposal", (proposal_id,))
    named = cast("Iterator[ProposalSource]", rows)
    return tuple(sorted(TierRef(row.kind, row.source_id) for row in named))


def find_open(snapshot: Snapshot, proposal_id: str) -> ProposalEntry:
    """The entry of a proposal that nobody has decided.

    Raises:
        NotFoundError: ``proposal.not-found``.
        ConflictError: ``proposal.decided``.

    """
    find_proposal(snapshot, proposal_id)
    entry = cast("ProposalEntry", snapshot.get(PROPOSAL_ENTRY.name, (proposal_id,)))
    if entry.state != "open":
        raise ConflictError(
            "the proposal was decided before",
            code="proposal.decided",
            relation=PROPOSAL_ENTRY.name,
            key=(proposal_id,),
            current=entry,
            path=proposal_id,
        )
    return entry


def decide_decline(
    snapshot: Snapshot, writing: Writing, proposal_id: str, note: ReviewNote
) -> Commit:
    """The commit that declines a proposal; nothing else changes.

    Raises:
        NotFoundError: ``proposal.not-found``.
        ConflictError: ``proposal.decided``.
        CallerError: ``review.reviewer``.

    """
    check_reviewer(writing)
    entry = find_open(snapshot, proposal_id)
    receipt_id = writing.ids.new()
    review = _review(writing, receipt_id, entry, "declined", note)
    receipt = _receipt(writing, receipt_id, entry, "declined")
    return Commit(
        writing.scope,
        writing.now,
        expects=(_expect_open(entry),),
        adds=(review, receipt),
    )


def decide_pointer(
    snapshot: Snapshot, writing: Writing, proposal_id: str, note: ReviewNote
) -> Commit:
    """The commit that accepts a proposed pointer, and holds the pointer.

    Raises:
        NotFoundError: ``proposal.not-found``.
        ConflictError: ``proposal.decided``.
        CallerError: ``review.reviewer``, ``proposal.source-erased``.

    """
    check_reviewer(writing)
    entry = find_open(snapshot, proposal_id)
    proposal = _whole(snapshot, proposal_id)
    receipt_id = writing.ids.new()
    review = _review(writing, receipt_id, entry, "accepted", note)
    pointer = POINTER.named_by_header(
        "pointer_id",
        writing.random.bytes(SALT_BYTES),
        package_id=proposal.package_id,
        proposal_id=proposal_id,
        receipt_id=receipt_id,
        actor_kind=writing.principal.kind,
        actor_id=writing.principal.id,
        title=proposal.title,
        locator=proposal.locator,
        digest=proposal.digest,
    )
    receipt = _receipt(writing, receipt_id, entry, "accepted")
    return Commit(
        writing.scope,
        writing.now,
        expects=_expects(snapshot, entry),
        adds=(review, pointer, receipt),
    )


def move_of_file(
    snapshot: Snapshot,
    writing: Writing,
    proposal_id: str,
    receipt_id: str,
    note: ReviewNote,
) -> Move:
    """What accepting a proposed change of a file comes to.

    Raises:
        NotFoundError: ``proposal.not-found``.
        ConflictError: ``proposal.decided``, ``proposal.stale`` when another revision
            of the file stands than the proposal was made over.
        CallerError: ``review.reviewer``, ``proposal.source-erased``.

    """
    check_reviewer(writing)
    entry = find_open(snapshot, proposal_id)
    proposal = _whole(snapshot, proposal_id)
    path = proposal.path or ""
    expected = proposal.expected_revision or None
    rows = snapshot.scan(
        PACKAGE_FILE.name, "by_path", (proposal.package_id, path), limit=1
    )
    standing = cast("PackageFile | None", rows[0] if rows else None)
    if expected != (None if standing is None else standing.revision_id):
        raise ConflictError(
            "another revision of the file stands than was proposed over",
            code="proposal.stale",
            relation=PACKAGE_FILE.name,
            current=standing,
            path=path,
            hint="decline it; a new proposal over what stands can be made",
        )
    change = RecordChange(
        path,
        cast("bytes", proposal.content),
        expected,
        json.loads(proposal.entry or "null"),
        # It is decided once, so that what it makes was never made before.
        is_other=expected is None,
    )
    review = _review(writing, receipt_id, entry, "accepted", note)
    return Move(proposal.package_id, change, review, _expects(snapshot, entry))


def _whole(snapshot: Snapshot, proposal_id: str) -> Proposal:
    """A proposal with its text, all of whose sources still stand."""
    proposal = find_proposal(snapshot, proposal_id)
    if not PROPOSAL.has_body(proposal):
        raise CallerError(
            "the text of the proposal was erased",
            code="proposal.source-erased",
            path=proposal_id,
            hint="it can only be declined",
        )
    for source in sources_of(snapshot, proposal_id):
        standing_source(snapshot, proposal.package_id, source)
    return proposal


def _expects(snapshot: Snapshot, entry: ProposalEntry) -> tuple[Expect, ...]:
    return _expect_open(entry), expect_no_erasure(snapshot, entry.package_id)


def _expect_open(entry: ProposalEntry) -> Expect:
    return Expect(PROPOSAL_ENTRY.name, (entry.proposal_id,), entry.version)


def _review(
    writing: Writing,
    receipt_id: str,
    entry: ProposalEntry,
    verdict: str,
    note: ReviewNote,
) -> Row:
    return review_row(
        writing,
        receipt_id,
        note,
        subject="proposal",
        verdict=verdict,
        package_id=entry.package_id,
        proposal_id=entry.proposal_id,
    )


def _receipt(
    writing: Writing, receipt_id: str, entry: ProposalEntry, verdict: str
) -> Row:
    return receipt_row(
        writing,
        receipt_id,
        operation=OPERATION,
        outcome="accepted",
        details={"verdict": verdict, "proposal_id": entry.proposal_id},
        package_id=entry.package_id,
    )
