"""How the package verbs judge and write: one engine for all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Unpack, cast

import attrs

from uaix_core.history.idempotency import check_key
from uaix_core.history.receipts import Writing
from uaix_core.packages.acceptance import judged_by_policy
from uaix_core.packages.answers import (
    Answered,
    PackageRefusedError,
    Refused,
    Stored,
    answer_of,
    receipt_in,
)
from uaix_core.packages.changes import refusal, without_room
from uaix_core.packages.export import find_package
from uaix_core.packages.findings import Findings
from uaix_core.packages.lint import Checks, Report, lint
from uaix_core.packages.rules.table import RULES
from uaix_core.packages.standing import same_persona
from uaix_core.schema.commits import Commit, Recorded
from uaix_core.session.package_reads import PackageReads
from uaix_core.session.writes import write
from uaix_core.store.port import Snapshot
from uaix_core.values.canonical import sha256_hex

if TYPE_CHECKING:
    from uaix_core.packages.source import PackageSource

#: What a verb comes to over one snapshot.
Decision = Commit | Answered | Refused

#: From what stands and what was judged to what to write.
Decide = Callable[[Snapshot, Writing, Report, str | None], Decision]


class PackageWrites(PackageReads):
    """Judging a package, and writing what was decided about it."""

    def lint(self, source: PackageSource, **checks: Unpack[Checks]) -> Report:
        """Judge a package without storing anything."""
        return lint(source, now=self._work.clock.now(), **checks)

    def _store(
        self,
        operation: str,
        source: PackageSource,
        checks: Checks,
        key: str | None,
        decide: Decide,
    ) -> Stored:
        check_key(key)
        report = self.lint(source, **checks)
        if report.package is None:
            raise self._refused(operation, report, source)

        def decided(snapshot: Snapshot, writing: Writing) -> Decision:
            decision = decide(snapshot, writing, report, key)
            if isinstance(decision, Commit):
                return self._under_policy(snapshot, report, decision)
            return decision

        stored = self._run(operation, decided, source)
        return attrs.evolve(stored, notices=(*report.findings, *stored.notices))

    def _under_policy(
        self, snapshot: Snapshot, report: Report, commit: Commit
    ) -> Commit | Refused:
        too_large = without_room(report)
        if too_large is not None:
            return too_large
        verdict = judged_by_policy(snapshot, report)
        if isinstance(verdict, Refused):
            return verdict
        return attrs.evolve(commit, expects=(*commit.expects, verdict))

    def _run(
        self,
        operation: str,
        decide: Callable[[Snapshot, Writing], Decision],
        source: PackageSource | None,
    ) -> Stored:
        """Decide and write until one goes through, and answer."""
        writing = self._work.writing()
        answers: list[Stored] = []

        def decided(snapshot: Snapshot) -> Commit | Refused | None:
            answers.clear()
            decision = decide(snapshot, writing)
            if isinstance(decision, Answered):
                answers.append(decision.answer)
                return decision.commit
            return decision

        outcome: Recorded | Refused | None = write(
            self._work.store, self._work.scope, decided
        )
        if isinstance(outcome, Refused):
            raise self._refused(operation, outcome.report, source)
        with self._work.snapshot() as snapshot:
            if answers:
                stored = answers[0]
            else:
                receipt_id = receipt_in(cast("Recorded", outcome)).receipt_id
                stored = answer_of(snapshot, receipt_id, is_first=True)
            package = find_package(snapshot, stored.package_id)
            findings = Findings(RULES)
            if same_persona(snapshot, stored.package_id):
                findings.add("package.same-persona")
        return attrs.evolve(
            stored,
            is_current=stored.checkpoint_id == package.checkpoint_id,
            is_staged=self._work.is_staged,
            notices=tuple(findings),
        )

    def _refused(
        self, operation: str, report: Report, source: PackageSource | None
    ) -> PackageRefusedError:
        archive = source.archive if source is not None else None
        digest = None if archive is None else sha256_hex(archive)
        commit = refusal(self._work.writing(), operation, report, digest)
        recorded = self._work.store.append(commit)
        return PackageRefusedError(report, receipt_in(recorded).receipt_id)
