"""What every verb works with: a store, a scope, who acts, and the injected sources."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import attrs

from uaix_core.gate.said import check_identities, unnamed_secrets
from uaix_core.history.receipts import Writing
from uaix_core.store.forms import open_snapshot
from uaix_core.store.port import Capability
from uaix_core.values.arguments import check_type
from uaix_core.values.ids import Principal, ScopeId

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core.store.port import Snapshot, Store
    from uaix_core.values.ids import Ids, Random
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

    Raises:
        CallerError: ``input.type``, ``text.secret`` for a principal or a scope that is
            one.

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

    def __attrs_post_init__(self) -> None:
        check_type(self.scope, ScopeId, "scope")
        check_type(self.principal, Principal, "principal")
        check_identities(
            {
                "principal": self.principal.id,
                "scope.tenant": self.scope.tenant,
                "scope.key": self.scope.key,
            }
        )

    def writing(self) -> Writing:
        """Who writes where, when, and with which sources of ids and salts."""
        now = self.clock.now()
        return Writing(self.scope, self.principal, now, self.ids, self.random)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """What the scope holds now; no error leaves it that names a secret.

        Raises:
            AccessError: ``scope.sealed`` when the store lacks the scope's keys.

        """
        with unnamed_secrets(), open_snapshot(self.store, self.scope) as snapshot:
            yield snapshot
