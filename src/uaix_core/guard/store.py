"""A store in front of a store: every call shows its token, and gets what it stands for.

Nothing of a standing is kept between calls, so what was revoked or withdrawn before a
call began counts in it.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import attrs

from uaix_core.access.denials import READ, denial_commit
from uaix_core.access.standing import authenticated, authority_scope
from uaix_core.access.tokens import invalid
from uaix_core.guard.bound import without_deleted
from uaix_core.guard.fencing import fences_of
from uaix_core.guard.sight import Sight
from uaix_core.guard.snapshot import GuardedSnapshot
from uaix_core.guard.writes import keeps_keys, refusal_of
from uaix_core.history.receipts import Writing
from uaix_core.schema.commits import Recorded
from uaix_core.store.forms import open_snapshot
from uaix_core.store.port import Holding
from uaix_core.values.errors import (
    AccessError,
    ConflictError,
    NotFoundError,
    StorageError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from uaix_core.access.denials import DenialCode
    from uaix_core.access.keys import KeyRing
    from uaix_core.access.standing import Standing
    from uaix_core.access.tokens import Token
    from uaix_core.schema.commits import Commit
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.store.port import Capability, Snapshot, Store
    from uaix_core.values.ids import Ids, Random, ScopeId
    from uaix_core.values.instants import Clock


#: What a store answers that can't be written to.
_READ_ONLY: Final = "storage.readonly"


@attrs.frozen(eq=False)
class Holder:
    """Who shows which token where, and the sources that a check needs."""

    token: Token
    scope: ScopeId
    keys: KeyRing
    clock: Clock = attrs.field(repr=False)
    ids: Ids = attrs.field(repr=False)
    random: Random = attrs.field(repr=False)


class GuardedStore:
    """The port's `Store`, of which a holder sees and writes what a token covers.

    Closing it does nothing: the store behind it belongs to whoever opened it.
    """

    def __init__(
        self, inner: Store, holder: Holder, *, is_unveiled: bool = False
    ) -> None:
        self._inner, self._holder = inner, holder
        self._is_unveiled = is_unveiled

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the store behind it promises."""
        return self._inner.capabilities

    @property
    def schema(self) -> Schema:
        """The relations of the store behind it."""
        return self._inner.schema

    def standing(self) -> Standing:
        """Who the token stands for now.

        Raises:
            AccessError: ``credential.invalid``, ``keys.missing``.

        """
        holder = self._holder
        tenant, now = holder.scope.tenant, holder.clock.now()
        with open_snapshot(self._inner, authority_scope(tenant)) as authority:
            found = authenticated(authority, holder.token, holder.keys, tenant, now)
        if found.scope != holder.scope:
            # Whether there is such a scope makes no difference.
            self._deny(found, "not-found", READ, holder.scope.text)
            raise invalid()
        return found

    def current(self) -> Standing:
        """As `standing`, without what it had by personas that are gone.

        Raises:
            AccessError: ``credential.invalid``, ``keys.missing``.

        """
        standing = self.standing()
        with open_snapshot(self._inner, standing.scope) as inner:
            return _bound(inner, standing)

    @contextmanager
    def snapshot(self, scope: ScopeId) -> Iterator[Snapshot]:
        """What the holder may see of its scope.

        Raises:
            AccessError: ``credential.invalid``, ``keys.missing``, and
                ``access.disclosure`` while a hidden text is read.
            NotFoundError: ``scope.not-found`` for every other scope.

        """
        standing = self.standing()
        self._check_scope(standing, scope)
        try:
            with open_snapshot(self._inner, scope) as inner:
                current = _bound(inner, standing)
                sight = Sight(current, is_unveiled=self._is_unveiled)
                yield GuardedSnapshot(inner, self.schema, sight)
        except NotFoundError as error:
            # A missing thing and a foreign one are told, and recorded, alike.
            if not standing.is_wide:
                self._deny(standing, "not-found", READ, error.path)
            raise
        except AccessError as error:
            if error.code == "access.disclosure":
                self._deny(standing, "disclosure", READ, error.path)
            raise

    def append(self, commit: Commit | Recorded) -> Recorded:
        """Append what the holder may write.

        Raises:
            AccessError: ``access.denied``, ``credential.invalid``, ``keys.missing``.
            ConflictError: ``lease.needed``.
            UaixError: what the store behind it raises.

        """
        standing = self.standing()
        if isinstance(commit, Recorded):
            self._deny(standing, "operation", "replay")
            raise _denied()
        self._check_scope(standing, commit.scope)
        now = self._holder.clock.now()
        if standing.principal.kind == "agent":
            with open_snapshot(self._inner, commit.scope) as inner:
                standing = _bound(inner, standing)
                refusal = refusal_of(self.schema, standing, commit)
                if refusal is None:
                    # Only now: who is at work elsewhere is nobody's to learn.
                    expects = fences_of(self.schema, inner, commit, now)
                    commit = attrs.evolve(commit, expects=(*commit.expects, *expects))
        else:
            refusal = refusal_of(self.schema, standing, commit)
        if refusal is not None:
            self._deny(standing, refusal.code, refusal.operation, refusal.target)
            raise _denied()
        if commit.puts:
            with self._inner.snapshot(commit.scope) as inner:
                is_kept = keeps_keys(self.schema, inner, commit, now)
            if not is_kept:
                raise self.denied("keys")
        # The chain never goes back: whose clock runs ahead would take all with it.
        at = min(commit.recorded_at, now)
        try:
            return self._inner.append(attrs.evolve(commit, recorded_at=at))
        except ConflictError as error:
            error.current = self._shown(standing, error, commit.scope)
            raise

    def _shown(
        self, standing: Standing, error: ConflictError, scope: ScopeId
    ) -> object:
        """What stands in the way of a commit, where it is the holder's to see."""
        if error.current is None or error.relation is None:
            return None
        with self._inner.snapshot(scope) as inner:
            seen = GuardedSnapshot(inner, self.schema, Sight(standing))
            try:
                return seen.get(error.relation, error.key)
            except AccessError:
                return None

    def due(
        self,
        relation: str,  # noqa: ARG002 - as the port
        *,
        until: int,  # noqa: ARG002
        limit: int,  # noqa: ARG002
    ) -> Sequence[tuple[ScopeId, Row]]:
        """Nobody's who shows a token: workers are the host's own."""
        raise self.denied("due")

    def scopes(
        self,
        *,
        after: ScopeId | None = None,  # noqa: ARG002 - as the port
        limit: int,  # noqa: ARG002
    ) -> Sequence[ScopeId]:
        """Nobody's who shows a token: no listing crosses a scope."""
        raise self.denied("scopes")

    def rebuild(self, scope: ScopeId) -> int:  # noqa: ARG002 - as the port
        """Nobody's who shows a token."""
        raise self.denied("rebuild")

    def _unveiled(self) -> GuardedStore:
        return type(self)(self._inner, self._holder, is_unveiled=True)

    def close(self) -> None:
        """Do nothing: the store behind it is not the holder's to close."""

    def denied(self, operation: str) -> AccessError:
        """Record that the holder asked for what nobody's role has; the error of it."""
        self._deny(self.standing(), "operation", operation)
        return _denied()

    def _check_scope(self, standing: Standing, scope: ScopeId) -> None:
        if scope != self._holder.scope:
            self._deny(standing, "not-found", READ, scope.text)
            raise NotFoundError("no such scope", code="scope.not-found", path="scope")

    def _deny(
        self,
        standing: Standing,
        code: DenialCode,
        operation: str,
        target: str | None = None,
    ) -> None:
        holder = self._holder
        where = authority_scope(holder.scope.tenant)
        principal, now = standing.principal, holder.clock.now()
        writing = Writing(where, principal, now, holder.ids, holder.random)
        commit = denial_commit(
            writing,
            standing,
            holder.keys,
            code=code,
            operation=operation,
            target=target,
        )
        try:
            self._inner.append(commit)
        except StorageError as error:
            # Who reads a backup is answered as anywhere; nothing is kept there.
            if error.code != _READ_ONLY:
                raise


class HoldingGuardedStore(GuardedStore):
    """The same before a store that works inside a host's transaction."""

    def hold(self, scope: ScopeId) -> None:
        """Take the lock of the holder's scope until the transaction ends."""
        self._check_scope(self.standing(), scope)
        inner: Any = self._inner
        inner.hold(scope)


def guarded(inner: Store, holder: Holder) -> GuardedStore:
    """The guard before a store."""
    kind = HoldingGuardedStore if isinstance(inner, Holding) else GuardedStore
    return kind(inner, holder)


def unveiled(store: Store) -> Store:
    """A store for a start-up: it reads what is private in order to blank it."""
    return store._unveiled() if isinstance(store, GuardedStore) else store  # noqa: SLF001


def _bound(snapshot: Snapshot, standing: Standing) -> Standing:
    """The standing without what it had by personas that are gone."""
    current = without_deleted(snapshot, standing)
    if current is None:
        raise invalid()
    return current


def _denied() -> AccessError:
    return AccessError(
        "no role of the caller allows this",
        hint="whoever administers the project grants roles",
    )
