"""Read, decide, append: the only loop of its kind.

A decision is made over one snapshot. When another writer was first and the conflict
is over rows that the caller did not name, it is made again over a newer one; an
expectation that the caller named is never retried. Inside a host's transaction the
scope is locked before it is read, so the decision is made once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from uaix_core.gate.said import unnamed_secrets
from uaix_core.leases.holding import check_held, fenced
from uaix_core.schema.commits import Commit, Recorded
from uaix_core.store.forms import open_snapshot
from uaix_core.store.port import Holding
from uaix_core.values.errors import ConflictError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from uaix_core.leases.holding import Lease
    from uaix_core.schema.relations import Ref
    from uaix_core.store.port import Snapshot, Store
    from uaix_core.values.ids import ScopeId

#: How often a decision is made anew before the conflict reaches the caller. Each time
#: somebody else went through, so many writers lose often and none of them for ever.
ATTEMPTS = 64

_R = TypeVar("_R")


def write(
    store: Store,
    scope: ScopeId,
    decide: Callable[[Snapshot], Commit | _R],
    *,
    named: Collection[Ref] = (),
    lease: Lease | None = None,
) -> Recorded | _R:
    """Decide and append until one goes through.

    Args:
        store: where to.
        scope: the one scope that is read and written.
        decide: returns the commit to write, or an answer that needs none.
        named: rows whose expected versions the caller gave.
        lease: one that has to be held, or nothing is written.

    Raises:
        ConflictError: over a named row, or after `ATTEMPTS` tries; ``lease.lost``.

    No error leaves it that names a secret.
    """
    with unnamed_secrets():
        return _written(store, scope, decide, named, lease)


def _written(
    store: Store,
    scope: ScopeId,
    decide: Callable[[Snapshot], Commit | _R],
    named: Collection[Ref],
    lease: Lease | None,
) -> Recorded | _R:
    if isinstance(store, Holding):
        store.hold(scope)
    for attempt in range(ATTEMPTS):
        with open_snapshot(store, scope) as snapshot:
            if lease is not None:
                check_held(snapshot, lease)
            decision = decide(snapshot)
        if not isinstance(decision, Commit):
            return decision
        if lease is not None:
            decision = fenced(decision, lease)
        try:
            return store.append(decision)
        except ConflictError as error:
            is_named = (error.relation, error.key) in named
            if is_named or attempt == ATTEMPTS - 1:
                raise
    raise AssertionError  # pragma: no cover - the loop returns or raises
