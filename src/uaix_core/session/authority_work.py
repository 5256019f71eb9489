"""How the authority verbs work: who administers, and how a decision is written."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import attrs

from uaix_core.access.deciding import Administering, Done, Made
from uaix_core.access.denials import ADMINISTER
from uaix_core.access.issuing import Issued
from uaix_core.access.rows import principal_of, scope_of
from uaix_core.access.standing import authority_scope
from uaix_core.access.tokens import Token, invalid
from uaix_core.guard.store import GuardedStore, Holder, guarded
from uaix_core.session.work import Work
from uaix_core.session.writes import write
from uaix_core.values.arguments import check_type
from uaix_core.values.errors import AccessError, CallerError, NotFoundError
from uaix_core.values.ids import ScopeId

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from uaix_core.access.issuing import Minted
    from uaix_core.access.keys import KeyRing
    from uaix_core.access.standing import Standing
    from uaix_core.schema.commits import Commit, Recorded
    from uaix_core.store.port import Snapshot, Store
    from uaix_core.values.ids import Ids, Principal, Random
    from uaix_core.values.instants import Clock

#: How an attempt ends that is beyond what a token administers.
_BEYOND: Final = (AccessError.default_code, "authority.person", "authority.scope")


class AuthorityWork:
    """The scope of a tenant's authority, and who works in it."""

    def __init__(  # noqa: PLR0913 - all but the store are named
        self,
        store: Store,
        *,
        tenant: str,
        principal: Principal,
        keys: KeyRing,
        clock: Clock,
        ids: Ids,
        random: Random,
        guard: GuardedStore | None = None,
    ) -> None:
        self._keys = keys
        self._work = Work(
            store,
            scope=authority_scope(tenant),
            principal=principal,
            clock=clock,
            ids=ids,
            random=random,
        )
        self._guard = guard

    @property
    def tenant(self) -> str:
        """The tenant whose authority this is."""
        return self._work.scope.tenant

    def _guarded(self, token: str, scope: ScopeId) -> GuardedStore:
        work = self._work
        if check_type(scope, ScopeId, "scope").tenant != self.tenant:
            raise invalid()
        holder = Holder(
            Token.parse(token), scope, self._keys, work.clock, work.ids, work.random
        )
        return guarded(work.store, holder)

    def _by(self) -> Administering:
        standing = self._standing()
        return Administering(self._work.writing(), standing)

    def _standing(self) -> Standing | None:
        return None if self._guard is None else self._guard.current()

    @contextmanager
    def _noticed(self) -> Iterator[None]:
        """Record it when the holder of a token asks for more than it administers."""
        try:
            yield
        except CallerError as error:
            # A foreign thing is answered like a missing one, so either is recorded.
            is_beyond = error.code in _BEYOND or isinstance(error, NotFoundError)
            if self._guard is not None and is_beyond:
                self._guard.denied(ADMINISTER)
            raise

    @contextmanager
    def _reading(self) -> Iterator[tuple[Snapshot, Administering]]:
        """What the authority's scope holds, and who asks."""
        by = self._by()
        with self._noticed(), self._work.snapshot() as snapshot:
            yield snapshot, by

    def _done(self, decide: Callable[[Snapshot, Administering], Made | Done]) -> Done:
        """Decide, write, and answer."""
        by = self._by()
        made: list[Made] = []

        def decided(snapshot: Snapshot) -> Commit | Done:
            decision = decide(snapshot, by)
            if isinstance(decision, Done):
                return decision
            made.append(decision)
            return decision.commit

        with self._noticed():
            outcome: Recorded | Done = write(
                self._work.store, self._work.scope, decided
            )
        is_staged = self._work.is_staged
        if isinstance(outcome, Done):
            return attrs.evolve(outcome, is_staged=is_staged)
        last = made[-1]
        return Done(last.operation, last.id, outcome.seq, last.receipt, is_staged)

    def _issued(self, decide: Callable[[Snapshot, Administering], Minted]) -> Issued:
        by = self._by()
        minted: list[Minted] = []

        def decided(snapshot: Snapshot) -> Commit:
            minted.append(decide(snapshot, by))
            return minted[-1].made.commit

        with self._noticed():
            recorded: Recorded = write(self._work.store, self._work.scope, decided)
        last = minted[-1]
        return Issued(
            credential_id=last.row.credential_id,
            token=last.token,
            principal=principal_of(last.row),
            scope=scope_of(last.row, self.tenant),
            until_at=last.row.until_at,
            seq=recorded.seq,
            receipt=last.made.receipt,
            is_staged=self._work.is_staged,
        )
