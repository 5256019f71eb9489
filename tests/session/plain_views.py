"""The product's views, read off the surviving history in one go and in plain words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import attrs

from uaix_core.authority.relations import LatestRegistration, Registration
from uaix_core.history.relations import (
    Conflict,
    Head,
    Idempotency,
    Receipt,
    ReceiptEntry,
    Revision,
)
from uaix_core.packages.file_views import file_rows
from uaix_core.packages.relations import (
    PACKAGE_FILE,
    Acceptance,
    AcceptanceInForce,
    Checkpoint,
    CheckpointDigest,
    Package,
    PackageScope,
)
from uaix_core.review.relations import OpenConflict, Review
from uaix_core.session.schema import SCHEMA
from uaix_core.tiers.proposal_relations import Proposal, ProposalEntry
from uaix_core.tiers.relations import (
    Conversation,
    FidelityCase,
    FidelityEntry,
    ShortTerm,
    Turn,
    WorkingState,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.rows import Row

_COPIED = ("state", "ruleset", "file_count", "total_bytes")
_WORDS = ("profile_id", "issuer", "status", "created_utc", "declared_scopes")


class PlainViews:
    """What stands after some commits, by what each view says it shows."""

    def __init__(self, commits: Iterable[Recorded]) -> None:
        self._heads: dict[tuple[str, str], Head] = {}
        self._files: dict[tuple[str, str], tuple[Revision, int]] = {}
        self._packages: dict[str, Package] = {}
        self._single: list[Row] = []
        self._policy: list[Row] = []
        self._latest: dict[tuple[str, str], LatestRegistration] = {}
        self._open: dict[tuple[str, str, str], OpenConflict] = {}
        self._verdicts: dict[tuple[str, str], tuple[str | None, str, int]] = {}
        self._tiers: dict[tuple[str, ...], Row] = {}
        self._proposals: dict[str, ProposalEntry] = {}
        for recorded in commits:
            # A review speaks of what stands with its commit.
            rows = recorded.commit.adds
            for row in sorted(rows, key=lambda row: isinstance(row, Review)):
                self._take(row, recorded.recorded_at, recorded.seq)
            self._take_erased(recorded)
            for row in rows:
                if isinstance(row, Review) and row.proposal_id in self._proposals:
                    self._take_decision(row, recorded)

    def _take(self, row: Row, at: int, seq: int) -> None:
        match row:
            case Revision():
                place = (row.package_id, row.record_id)
                born = self._heads[place].created_at if place in self._heads else at
                named = (*place, row.revision_id, row.number, row.change)
                self._heads[place] = Head(*named, born, at, version=seq)
                self._files[place] = row, seq
            case Checkpoint():
                self._take_checkpoint(row, at, seq)
            case Receipt():
                self._take_receipt(row, at, seq)
            case Registration():
                place = (row.registry, row.namespace)
                number, receipt = row.document_version, row.receipt_id
                before = self._latest.get(place)
                if before is None or number > before.document_version:
                    self._latest[place] = LatestRegistration(
                        *place, number, receipt, at, version=seq
                    )
            case Conflict():
                self._open[row.package_id, row.record_id, row.conflict_id] = (
                    OpenConflict(
                        row.package_id,
                        row.record_id,
                        row.conflict_id,
                        at,
                        row.actor_kind,
                        row.actor_id,
                        row.path,
                        version=seq,
                    )
                )
            case Review():
                self._take_review(row, seq)
            case Acceptance():
                shown = ("packages", row.acceptance_id, row.number, row.policy)
                self._policy = [AcceptanceInForce(*shown, version=seq)]
            case _:
                self._take_tiers(row, at, seq)

    def _take_tiers(self, row: Row, at: int, seq: int) -> None:
        match row:
            case WorkingState():
                self._tiers["state", row.package_id, row.agent_id] = ShortTerm(
                    row.package_id,
                    row.agent_id,
                    row.state_id,
                    row.number,
                    at,
                    version=seq,
                )
            case Turn():
                place = row.package_id, row.agent_id, row.conversation_id
                before = self._tiers.get(("talk", *place))
                count, begun = 0, at
                if isinstance(before, Conversation):
                    count, begun = before.turn_count, before.begun_at
                self._tiers["talk", *place] = Conversation(
                    *place, count + 1, begun, at, version=seq
                )
            case FidelityCase():
                self._tiers["case", row.package_id, row.name] = FidelityEntry(
                    row.package_id, row.name, row.case_id, at, version=seq
                )
            case Proposal():
                self._proposals[row.proposal_id] = ProposalEntry(
                    row.proposal_id,
                    row.package_id,
                    row.kind,
                    "open",
                    at,
                    None,
                    row.actor_kind,
                    row.actor_id,
                    is_erased=False,
                    version=seq,
                )

    def _take_erased(self, recorded: Recorded) -> None:
        for relation, key in recorded.commit.erases:
            if relation == "proposal" and key[0] in self._proposals:
                before = self._proposals[key[0]]
                if not before.is_erased:
                    self._proposals[key[0]] = attrs.evolve(
                        before, is_erased=True, version=recorded.seq
                    )

    def _take_decision(self, row: Review, recorded: Recorded) -> None:
        before = self._proposals[row.proposal_id]
        if before.state == "open":
            self._proposals[row.proposal_id] = attrs.evolve(
                before,
                state=row.verdict,
                decided_at=recorded.recorded_at,
                version=recorded.seq,
            )

    def _take_checkpoint(self, row: Checkpoint, at: int, seq: int) -> None:
        before = self._packages.get(row.package_id)
        self._packages[row.package_id] = Package(
            package_id=row.package_id,
            checkpoint_id=row.checkpoint_id,
            number=row.number,
            installed_at=before.installed_at if before else at,
            modified_at=at,
            manifest_sha256=row.manifest_sha256,
            version=seq,
            **{name: getattr(row, name) for name in (*_COPIED, *_WORDS)},
        )
        if row.manifest_sha256 and row.files_sha256:
            digests = (row.manifest_sha256, row.files_sha256)
            named = (row.package_id, *digests, row.number, row.checkpoint_id)
            self._single.append(CheckpointDigest(*named))

    def _take_review(self, row: Review, seq: int) -> None:
        package = self._packages.get(row.package_id)
        if row.subject == "package" and package is not None:
            if package.checkpoint_id == row.checkpoint_id:
                self._packages[row.package_id] = attrs.evolve(
                    package, state=row.verdict, version=seq
                )
        elif row.subject == "record" and row.verdict != "restored":
            place = row.package_id, row.record_id or ""
            if self._files[place][0].revision_id == row.revision_id:
                self._verdicts[place] = row.revision_id, row.verdict, seq
        elif row.subject == "conflict":
            named = row.record_id or "", row.conflict_id or ""
            self._open.pop((row.package_id, *named), None)

    def _take_receipt(self, row: Receipt, at: int, seq: int) -> None:
        self._single.append(
            ReceiptEntry(
                row.receipt_id,
                at,
                row.package_id or "",
                row.operation,
                row.outcome,
                row.actor_kind,
                row.actor_id,
            )
        )
        if row.key_digest is not None:
            key = (row.operation, row.key_digest)
            self._single = [
                one
                for one in self._single
                if not isinstance(one, Idempotency)
                or (one.operation, one.key_digest) != key
            ]
            found = Idempotency(*key, row.receipt_id, at, version=seq)
            self._single.append(found)

    def rows(self) -> dict[str, list[tuple[object, int, Row]]]:
        """View -> key, version and row of all that stands, in order."""
        every: list[Row] = [*self._single, *self._policy, *self._heads.values()]
        every += [*self._latest.values(), *self._open.values()]
        every += [*self._tiers.values(), *self._proposals.values()]
        for package in self._packages.values():
            every.append(package)
            declared = json.loads(package.declared_scopes or "[]")
            every += [PackageScope(package.package_id, scope) for scope in declared]
        for revision, seq in self._files.values():
            if revision.path is not None and revision.change != "tombstone":
                written = seq
                first, *others = file_rows(revision)
                place = revision.package_id, revision.record_id
                about, verdict, at = self._verdicts.get(place, (None, "", 0))
                if about == revision.revision_id:
                    first = attrs.evolve(first, review_state=verdict)
                    written = at
                every += [PACKAGE_FILE.stamped(first, written), *others]
        return sorted_rows(every)


def sorted_rows(rows: Iterable[Row]) -> dict[str, list[tuple[object, int, Row]]]:
    """Rows by their relation, in the order of their keys, with their versions."""
    found: dict[str, list[tuple[object, int, Row]]] = {}
    for row in rows:
        relation = SCHEMA.of(row)
        entry = (relation.key_of(row), row.version, row)
        found.setdefault(relation.name, []).append(entry)
    return {name: sorted(found[name], key=lambda e: e[0]) for name in sorted(found)}
