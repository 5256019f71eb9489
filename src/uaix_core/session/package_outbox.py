"""The package verb that replays what was queued offline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from uaix_core.packages.outbox import QueuedChange, Replayed
from uaix_core.packages.revisions import Revised, RevisionConflictError
from uaix_core.session.package_signatures import PackageSignatures
from uaix_core.values.errors import CallerError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from uaix_core.packages.lint import Checks


class PackageOutbox(PackageSignatures):
    """Replaying changes that were queued offline."""

    def replay(
        self, changes: Iterable[QueuedChange], **checks: Unpack[Checks]
    ) -> list[Replayed]:
        """Apply queued changes in their order, each by itself; what became of each.

        A change that was applied before writes nothing and answers so. One that loses
        is kept as a conflict, and those that follow it are skipped. The medium's own
        errors end the replay; repeating it goes on where it ended.

        Args:
            changes: as `uaix_core.packages.outbox.read_outbox` gives them.
            checks: ruleset, strictness and limits, as `uaix_core.lint`.

        """
        made: dict[str, str] = {}
        outcomes = []
        for change in changes:
            outcome = self._replayed(change, made, checks)
            if outcome.revised is not None:
                made[change.command_id] = outcome.revised.revision_id
            outcomes.append(outcome)
        return outcomes

    def _replayed(
        self, change: QueuedChange, made: dict[str, str], checks: Checks
    ) -> Replayed:
        expected = change.expected_revision
        if change.after is not None:
            if change.after not in made:
                return Replayed(change.command_id, "skipped", code="outbox.after")
            expected = made[change.after]
        try:
            revised = self._queued(change, expected, checks)
        except RevisionConflictError as error:
            (kept,) = error.conflict_ids or (None,)
            return Replayed(
                change.command_id, "conflict", code=error.code, conflict_id=kept
            )
        except (CallerError, NotFoundError) as error:
            return Replayed(change.command_id, "refused", code=error.code)
        outcome = "applied" if revised.is_first else "already"
        return Replayed(change.command_id, outcome, revised)  # type: ignore[arg-type]

    def _queued(
        self, change: QueuedChange, expected: str | None, checks: Checks
    ) -> Revised:
        if change.content is None:
            return self.tombstone(
                change.package_id,
                change.path,
                expected_revision=expected or "",
                reason=change.reason or "",
                authorisations=change.authorisations,
                **checks,
            )
        return self.revise(
            change.package_id,
            change.path,
            change.content,
            expected_revision=expected,
            entry=change.entry,
            authorisations=change.authorisations,
            **checks,
        )
