"""The package verb that replays what was queued offline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Unpack

import attrs

from uaix_core.packages.anchors import (
    Authorisation,
    check_authorisations,
    check_authoriser,
)
from uaix_core.packages.answers import PackageRefusedError
from uaix_core.packages.outbox import QueuedChange, Replayed, check_queued
from uaix_core.packages.revisions import Revised, RevisionConflictError
from uaix_core.session.package_signatures import PackageSignatures
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from uaix_core.packages.lint import Checks

#: The findings by which a change lacks an authorisation.
_PROTECTED: Final = frozenset(("anchor.mutation", "persona.mutation"))


class PackageOutbox(PackageSignatures):
    """Replaying changes that were queued offline."""

    def replay(
        self,
        changes: Iterable[QueuedChange],
        *,
        authorisations: Collection[Authorisation] = (),
        **checks: Unpack[Checks],
    ) -> list[Replayed]:
        """Apply queued changes in their order, each by itself; what became of each.

        A change that was applied before writes nothing and answers so. One that loses
        is kept as a conflict, one that lacks an authorisation names it, and those that
        follow either are skipped. The medium's own errors end the replay; repeating it
        goes on where it ended.

        Args:
            changes: as `uaix_core.packages.outbox.read_outbox` gives them.
            authorisations: which changes of protected files whoever replays wants; what
                the changes say of themselves doesn't count.
            checks: ruleset, strictness and limits, as `uaix_core.lint`.

        Raises:
            CallerError: ``input.list``, ``input.type``, ``outbox.repeated``,
                ``anchor.authoriser``; then nothing is applied.

        """
        queued = check_queued(changes)
        allowed = check_authorisations(authorisations)
        check_authoriser(self._work.principal, allowed)
        made: dict[str, str] = {}
        outcomes = []
        for change in queued:
            outcome = self._replayed(change, made, allowed, checks)
            if outcome.revised is not None:
                made[change.command_id] = outcome.revised.revision_id
            outcomes.append(
                attrs.evolve(outcome, claims_authorisation=change.claims_authorisation)
            )
        return outcomes

    def _replayed(
        self,
        change: QueuedChange,
        made: dict[str, str],
        allowed: tuple[Authorisation, ...],
        checks: Checks,
    ) -> Replayed:
        name, expected = change.command_id, change.expected_revision
        if change.after is not None:
            if change.after not in made:
                return Replayed(name, "skipped", code="outbox.after")
            expected = made[change.after]
        try:
            revised = self._queued(change, expected, allowed, checks)
        except RevisionConflictError as error:
            (kept,) = error.conflict_ids or (None,)
            return Replayed(name, "conflict", code=error.code, conflict_id=kept)
        except PackageRefusedError as error:
            for finding in error.report.findings:
                if finding.code in _PROTECTED:
                    needs = Authorisation(change.path, change.operation)
                    return Replayed(
                        name, "unauthorised", code=finding.code, needs=needs
                    )
            return Replayed(name, "refused", code=error.code)
        except CallerError as error:
            return Replayed(name, "refused", code=error.code)
        return Replayed(name, "applied" if revised.is_first else "already", revised)

    def _queued(
        self,
        change: QueuedChange,
        expected: str | None,
        allowed: tuple[Authorisation, ...],
        checks: Checks,
    ) -> Revised:
        if change.content is None:
            return self.tombstone(
                change.package_id,
                change.path,
                expected_revision=expected or "",
                reason=change.reason or "",
                authorisations=allowed,
                **checks,
            )
        return self.revise(
            change.package_id,
            change.path,
            change.content,
            expected_revision=expected,
            entry=change.entry,
            authorisations=allowed,
            **checks,
        )
