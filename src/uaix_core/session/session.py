"""The façade: a principal at work in one scope of a store."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import attrs

from uaix_core.session.work import Work

if TYPE_CHECKING:
    from uaix_core.packages.revisions import RevisionConflictError
    from uaix_core.session.packages import Packages
    from uaix_core.session.registrations import Registrations
    from uaix_core.session.reviews import Reviews


@attrs.define(frozen=True, slots=False, eq=False)
class Session(Work):
    """All that one principal does in one scope; cheap, make one whenever needed.

    Clock, ids and random bytes are handed in, so that every run can be repeated;
    `uaix_backends.open_session` hands in the system's. The arguments are those of
    `uaix_core.session.work.Work`.
    """

    @cached_property
    def packages(self) -> Packages:
        """The package verbs: lint, install, export, list, show, history."""
        from uaix_core.session.packages import Packages  # noqa: PLC0415 - on first use

        return Packages(self)

    @cached_property
    def registrations(self) -> Registrations:
        """The registration verbs: register under a grant, get, list, history."""
        from uaix_core.session.registrations import (  # noqa: PLC0415 - on first use
            Registrations,
        )

        return Registrations(self)

    @cached_property
    def review(self) -> Reviews:
        """The review verbs: package, records, keep, take, restore, waiting."""
        from uaix_core.session.reviews import Reviews  # noqa: PLC0415 - on first use

        return Reviews(self, self.packages)

    def keep_conflict(self, error: RevisionConflictError) -> tuple[str, ...]:
        """See `uaix_core.session.packages.Packages.keep_conflict`."""
        return self.packages.keep_conflict(error)
