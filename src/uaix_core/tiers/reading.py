"""Reading the tiers: each is read by itself, and none is read into another."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import attrs

from uaix_core.packages.export import find_package
from uaix_core.tiers.deciding import find_proposal, sources_of
from uaix_core.tiers.proposal_relations import POINTER, PROPOSAL_ENTRY
from uaix_core.tiers.relations import SHORT_TERM, VARIANCE, WORKING_STATE
from uaix_core.values.errors import CallerError, NotFoundError
from uaix_core.values.instants import EARLIEST, check_instant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uaix_core.store.port import Snapshot
    from uaix_core.tiers.drafts import TierRef
    from uaix_core.tiers.proposal_relations import Pointer, ProposalEntry
    from uaix_core.tiers.recording import AgentOf
    from uaix_core.tiers.relations import ShortTerm, Variance, WorkingState


def latest_state(snapshot: Snapshot, agent: AgentOf) -> WorkingState | None:
    """The state that an agent works with; None without one, or when it was erased.

    Raises:
        NotFoundError: ``package.not-found``.

    """
    find_package(snapshot, agent.package_id)
    entry = snapshot.get(SHORT_TERM.name, (agent.package_id, agent.agent_id))
    if entry is None:
        return None
    key = (cast("ShortTerm", entry).state_id,)
    row = cast("WorkingState", snapshot.get(WORKING_STATE.name, key))
    return row if WORKING_STATE.has_body(row) else None


@attrs.frozen
class VarianceReport:
    """How behaviour diverged from a persona from an instant on until before another.

    ``variances`` are in the order of time, erased ones without their texts.
    ``by_cause`` and ``by_path`` count them; the path goes with the erasure.
    Where the page is full, ``next_after`` is what the next one is asked for after.
    """

    package_id: str
    from_at: int
    to_at: int
    variances: tuple[Variance, ...]
    next_after: tuple[int, str] | None = None

    @property
    def by_cause(self) -> dict[str, int]:
        """How often each cause comes."""
        return _counted([row.cause for row in self.variances])

    @property
    def by_path(self) -> dict[str, int]:
        """How often each file of the persona comes."""
        return _counted([row.path for row in self.variances if row.path is not None])


def _counted(names: Sequence[str]) -> dict[str, int]:
    return {name: names.count(name) for name in sorted(set(names))}


def variance_report(
    snapshot: Snapshot,
    package_id: str,
    between: tuple[int, int],
    *,
    after: tuple[int, str] | None,
    limit: int,
) -> VarianceReport:
    """The report of a range of time, or its next page.

    Raises:
        NotFoundError: ``package.not-found``.
        CallerError: ``variance.range`` when the range ends before it begins,
            ``instant.range``.
        LimitError: a limit out of 1 to 1,000.

    """
    from_at, to_at = map(check_instant, between)
    if from_at > to_at:
        raise CallerError(
            "a range begins before it ends", code="variance.range", path="to_at"
        )
    find_package(snapshot, package_id)
    begin: tuple[int] | tuple[int, str] | None = after
    if begin is None and from_at > EARLIEST:
        begin = (from_at - 1,)
    rows = cast(
        "Sequence[Variance]",
        snapshot.scan(
            VARIANCE.name, "by_time", (package_id,), after=begin, limit=limit
        ),
    )
    within = tuple(row for row in rows if row.occurred_at < to_at)
    is_cut = len(within) == limit
    last = (within[-1].occurred_at, within[-1].variance_id) if is_cut else None
    return VarianceReport(package_id, from_at, to_at, within, last)


@attrs.frozen
class ProposalView:
    """A proposal as it stands; its texts are None once it was erased."""

    entry: ProposalEntry
    sources: tuple[TierRef, ...]
    reason: str | None = attrs.field(repr=False)
    title: str | None = attrs.field(repr=False)
    locator: str | None = attrs.field(repr=False)
    digest: str | None
    path: str | None
    expected_revision: str | None
    manifest_entry: dict[str, Any] | None = attrs.field(repr=False)
    content: bytes | None = attrs.field(repr=False)


def read_proposal(snapshot: Snapshot, proposal_id: str) -> ProposalView:
    """A proposal; NotFoundError (``proposal.not-found``) without one."""
    row = find_proposal(snapshot, proposal_id)
    entry = cast("ProposalEntry", snapshot.get(PROPOSAL_ENTRY.name, (proposal_id,)))
    is_file = row.kind == "file"
    return ProposalView(
        entry,
        sources_of(snapshot, proposal_id),
        row.reason,
        row.title or None,
        row.locator or None,
        row.digest or None,
        row.path or None,
        row.expected_revision or None,
        json.loads(row.entry or "null"),
        row.content if is_file else None,
    )


@attrs.frozen
class PointerView:
    """A line of the ledger, and what it was made from; erased ones have no text."""

    pointer: Pointer
    sources: tuple[TierRef, ...]


def view_of(snapshot: Snapshot, pointer: Pointer) -> PointerView:
    """A pointer with its sources."""
    return PointerView(pointer, sources_of(snapshot, pointer.proposal_id))


def find_pointer(snapshot: Snapshot, pointer_id: str) -> PointerView:
    """A pointer; NotFoundError (``pointer.not-found``) without one."""
    row = snapshot.get(POINTER.name, (pointer_id,))
    if row is None:
        raise NotFoundError(
            "no such pointer in this scope", code="pointer.not-found", path=pointer_id
        )
    return view_of(snapshot, cast("Pointer", row))
