"""Erasing what the tiers hold, and with it what was proposed from it.

A proposal may repeat what it was made from, so its text goes in the same commit. What a
person accepted stays: a pointer says where something is, and a revision is the
package's. The answer names such pointers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from uaix_core.history.receipts import receipt_row
from uaix_core.review.notes import REVIEWERS
from uaix_core.schema.commits import Commit, Expect
from uaix_core.store.scanning import all_rows
from uaix_core.tiers.answers import Erased
from uaix_core.tiers.proposal_relations import (
    POINTER,
    PROPOSAL,
    PROPOSAL_SOURCE,
)
from uaix_core.tiers.relations import (
    ERASURE_MARK,
    FIDELITY_CASE,
    PLATFORM_NOTE,
    TURN,
    VARIANCE,
    WORKING_STATE,
    ErasureMark,
)
from uaix_core.values.errors import CallerError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from uaix_core.history.receipts import Writing
    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.relations import Ref, Relation
    from uaix_core.store.port import Snapshot
    from uaix_core.tiers.proposal_relations import Pointer, ProposalSource

OPERATION: Final = "erase"
#: The most texts that one erasure is asked for; their proposals come on top.
MAX_ERASED: Final = 1_000

#: What can be erased, by the word for it.
KINDS: Final[Mapping[str, Relation]] = {
    "state": WORKING_STATE,
    "turn": TURN,
    "variance": VARIANCE,
    "note": PLATFORM_NOTE,
    "case": FIDELITY_CASE,
    "proposal": PROPOSAL,
    "pointer": POINTER,
}
#: What an agent may erase of its own; all else a person erases.
_AGENTS_OWN: Final = ("state", "turn")


@attrs.frozen
class Erasing:
    """What is to be erased: of which package, of which tier, which ids."""

    package_id: str
    kind: str
    ids: tuple[str, ...]


@attrs.frozen
class Plan:
    """The commit of an erasure, None when nothing is left of it, and its answer."""

    commit: Commit | None
    answer: Erased

    def told(self, recorded: Recorded | None) -> Erased:
        """The answer, once its commit stands."""
        if recorded is None:
            return self.answer
        return attrs.evolve(self.answer, seq=recorded.seq)


def decide_erasure(snapshot: Snapshot, writing: Writing, erasing: Erasing) -> Plan:
    """The erasure of some texts; of what was erased before nothing is left to do.

    Raises:
        NotFoundError: ``tier.not-found``; then nothing is erased.
        CallerError: ``erase.person``, ``erase.ids``.

    """
    relation = KINDS[erasing.kind]
    if not 0 < len(set(erasing.ids)) == len(erasing.ids) <= MAX_ERASED:
        raise CallerError(
            f"an erasure names 1 to {MAX_ERASED:,} ids, each once",
            code="erase.ids",
            path="ids",
        )
    _check_eraser(writing, erasing.kind)
    keys = [(one,) for one in erasing.ids]
    found = snapshot.get_many(relation.name, keys)
    rows: list[Any] = []
    for key in keys:
        row: Any = found.get(key)
        if (
            row is None
            or row.package_id != erasing.package_id
            or not _is_own(writing, row)
        ):
            raise NotFoundError(
                "no such thing in this tier of the package",
                code="tier.not-found",
                path=key[0],
            )
        rows.append(row)
    standing = [row for row in rows if relation.has_body(row)]
    proposals = _made_from(snapshot, erasing.ids)
    named = [(one,) for one in proposals]
    whole = [
        PROPOSAL.ref(row)
        for row in snapshot.get_many(PROPOSAL.name, named).values()
        if PROPOSAL.has_body(row)
    ]
    pointers = tuple(
        pointer.pointer_id for one in proposals for pointer in _came_of(snapshot, one)
    )
    answer = Erased(len(standing), tuple(proposals), pointers)
    erases = [relation.ref(row) for row in standing] + whole
    if not erases:
        return Plan(None, answer)
    return _plan(writing, erasing, answer, erases)


def _plan(
    writing: Writing, erasing: Erasing, answer: Erased, erases: Sequence[Ref]
) -> Plan:
    receipt_id = writing.ids.new()
    receipt = receipt_row(
        writing,
        receipt_id,
        operation=OPERATION,
        outcome="accepted",
        details={
            "kind": erasing.kind,
            "erased": answer.count,
            "proposals": len(answer.proposals),
            "pointers_kept": len(answer.pointers),
        },
        package_id=erasing.package_id,
    )
    mark = ErasureMark(package_id=erasing.package_id, erased_at=writing.now)
    commit = Commit(
        writing.scope, writing.now, adds=(receipt,), puts=(mark,), erases=erases
    )
    return Plan(commit, attrs.evolve(answer, receipt=receipt_id))


def expect_no_erasure(snapshot: Snapshot, package_id: str) -> Expect:
    """That nothing of a package's tiers was erased since a snapshot."""
    row = snapshot.get(ERASURE_MARK.name, (package_id,))
    version = 0 if row is None else row.version
    return Expect(ERASURE_MARK.name, (package_id,), version)


def _check_eraser(writing: Writing, kind: str) -> None:
    principal = writing.principal.kind
    if principal in REVIEWERS or (principal == "agent" and kind in _AGENTS_OWN):
        return
    raise CallerError(
        "a person erases that",
        code="erase.person",
        path="principal",
        hint="one of " + ", ".join(f"{kind}:ID" for kind in REVIEWERS),
    )


def _is_own(writing: Writing, row: Any) -> bool:
    principal = writing.principal
    return principal.kind != "agent" or bool(row.agent_id == principal.id)


def _made_from(snapshot: Snapshot, ids: Iterable[str]) -> list[str]:
    """The ids of the proposals that were made from any of these, each once."""
    found: dict[str, None] = {}
    for one in ids:
        rows = all_rows(snapshot, PROPOSAL_SOURCE, prefix=(one,))
        named = cast("Iterator[ProposalSource]", rows)
        found |= dict.fromkeys(row.proposal_id for row in named)
    return list(found)


def _came_of(snapshot: Snapshot, proposal_id: str) -> Iterator[Pointer]:
    """The pointer of an accepted proposal, unless it was erased."""
    rows = all_rows(snapshot, POINTER, "by_proposal", (proposal_id,))
    for row in cast("Iterator[Pointer]", rows):
        if POINTER.has_body(row):
            yield row
