"""What every verb works with: a store, a scope, who acts, and the injected sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from uaix_core.history.receipts import Writing
from uaix_core.store.port import Capability

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from uaix_core.store.port import Snapshot, Store
    from uaix_core.values.ids import Ids, Principal, Random, ScopeId
    from uaix_core.values.instants import Clock


@attrs.define(frozen=True, slots=False, eq=False)
class Work:
    """One principal at work in one scope.

    Args:
        store: where it is kept; it is never closed here.
        scope: whose it is: part of every read and write, never defaulted.
        principal: who acts; every receipt and revision says so.
        clock: where the present comes from.
        ids: where new ids come from.
        random: where salts and keys come from.

    """

    store: Store
    scope: ScopeId = attrs.field(kw_only=True)
    principal: Principal = attrs.field(kw_only=True)
    clock: Clock = attrs.field(kw_only=True, repr=False)
    ids: Ids = attrs.field(kw_only=True, repr=False)
    random: Random = attrs.field(kw_only=True, repr=False)

    @property
    def is_staged(self) -> bool:
        """Whether what is written is only staged, until the host commits."""
        declared = self.store.capabilities
        return Capability.JOINS in declared and Capability.DURABLE not in declared

    def writing(self) -> Writing:
        """Who writes where, when, and with which sources of ids and salts."""
        now = self.clock.now()
        return Writing(self.scope, self.principal, now, self.ids, self.random)

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """What the scope holds now."""
        return self.store.snapshot(self.scope)
