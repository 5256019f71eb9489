"""The views of the tiers: what stands, and which proposals wait for a person.

All need headers only. That a proposal's text was erased is read off the erasing commit
itself, so a view is the same whether its body went before or after a copy was made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from uaix_core.review.relations import Review
from uaix_core.schema.reducers import Changes
from uaix_core.schema.relations import Ref
from uaix_core.schema.schema import Room
from uaix_core.tiers.proposal_relations import (
    POINTER,
    PROPOSAL,
    PROPOSAL_ENTRY,
    PROPOSAL_SOURCE,
    Proposal,
    ProposalEntry,
)
from uaix_core.tiers.relations import (
    CONVERSATION,
    ERASURE_MARK,
    FIDELITY_CASE,
    FIDELITY_ENTRY,
    FIDELITY_RESULT,
    INDEX_MARK,
    PLATFORM_NOTE,
    SHORT_TERM,
    TURN,
    VARIANCE,
    WORKING_STATE,
    Conversation,
    FidelityCase,
    FidelityEntry,
    ShortTerm,
    Turn,
    WorkingState,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.reducers import Steps
    from uaix_core.schema.rows import Row


def reduce_tiers(recorded: Recorded, _erased: Mapping[Ref, Row]) -> Steps:
    """Show the last states, cases and counts, and where each proposal stands."""
    at, adds = recorded.recorded_at, recorded.commit.adds
    turns = [row for row in adds if isinstance(row, Turn)]
    reviews = [row for row in adds if isinstance(row, Review)]
    erased = [
        Ref(PROPOSAL_ENTRY.name, ref.key)
        for ref in recorded.commit.erases
        if ref.relation == PROPOSAL.name
    ]
    decided = [
        (Ref(PROPOSAL_ENTRY.name, (review.proposal_id,)), review.verdict)
        for review in reviews
        if review.proposal_id is not None
    ]
    wanted = {ref for ref, _verdict in decided}
    stands = dict((yield wanted.union(erased, map(_conversation_ref, turns))))
    puts: dict[Ref, Row] = {}
    for row in adds:
        shown = _shown(row, at)
        if shown is not None:
            puts[shown[0]] = shown[1]
    for turn in turns:
        ref = _conversation_ref(turn)
        before = cast("Conversation | None", puts.get(ref, stands.get(ref)))
        puts[ref] = _with_turn(before, turn, at)
    for ref in erased:
        entry = puts.get(ref, stands.get(ref))
        if isinstance(entry, ProposalEntry) and not entry.is_erased:
            puts[ref] = _evolved(entry, is_erased=True)
    for ref, verdict in decided:
        entry = puts.get(ref, stands.get(ref))
        if isinstance(entry, ProposalEntry) and entry.state == "open":
            puts[ref] = _evolved(entry, state=verdict, decided_at=at)
    return Changes(puts=tuple(puts.values()))


def _evolved(entry: ProposalEntry, **changes: Any) -> ProposalEntry:
    """A new row, which the store gives its version."""
    names = (name for name in PROPOSAL_ENTRY.columns if name not in changes)
    return ProposalEntry(**{name: getattr(entry, name) for name in names}, **changes)


def _conversation_ref(turn: Turn) -> Ref:
    key = (turn.package_id, turn.agent_id, turn.conversation_id)
    return Ref(CONVERSATION.name, key)


def _with_turn(before: Conversation | None, turn: Turn, at: int) -> Conversation:
    return Conversation(
        package_id=turn.package_id,
        agent_id=turn.agent_id,
        conversation_id=turn.conversation_id,
        turn_count=1 if before is None else before.turn_count + 1,
        begun_at=at if before is None else before.begun_at,
        modified_at=at,
    )


def _shown(row: Row, at: int) -> tuple[Ref, Row] | None:
    """The view row that a new row stands for by itself."""
    shown: Row
    if isinstance(row, WorkingState):
        place = (row.package_id, row.agent_id)
        shown = ShortTerm(*place, row.state_id, row.number, at)
        return SHORT_TERM.ref(shown), shown
    if isinstance(row, FidelityCase):
        shown = FidelityEntry(row.package_id, row.name, row.case_id, at)
        return FIDELITY_ENTRY.ref(shown), shown
    if isinstance(row, Proposal):
        shown = ProposalEntry(
            proposal_id=row.proposal_id,
            package_id=row.package_id,
            kind=row.kind,
            state="open",
            opened_at=at,
            decided_at=None,
            actor_kind=row.actor_kind,
            actor_id=row.actor_id,
            is_erased=False,
        )
        return PROPOSAL_ENTRY.ref(shown), shown
    return None


TIERS_ROOM = Room(
    "tiers",
    (
        WORKING_STATE,
        SHORT_TERM,
        TURN,
        CONVERSATION,
        VARIANCE,
        PLATFORM_NOTE,
        FIDELITY_CASE,
        FIDELITY_ENTRY,
        FIDELITY_RESULT,
        INDEX_MARK,
        ERASURE_MARK,
        PROPOSAL,
        PROPOSAL_SOURCE,
        PROPOSAL_ENTRY,
        POINTER,
    ),
    reduce_tiers,
)
