"""The store in front of a store: scopes that are chosen rest sealed in it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING

from uaix_backends.ownership import Ownership
from uaix_backends.sealed.rotating import reseal
from uaix_backends.sealed.scope import SealedScope
from uaix_backends.system import SystemRandom
from uaix_core.schema.commits import Recorded
from uaix_core.store.port import Capability
from uaix_core.values.errors import CallerError, SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from uaix_backends.sealed.sealing import Sealing
    from uaix_core.schema.commits import Commit
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.store.port import Snapshot, Store
    from uaix_core.values.ids import Random, ScopeId


class SealedStore:
    """The port over a store in which the history of chosen scopes is sealed.

    Reading opens a scope as a whole and holds it in memory; other scopes are read and
    written as ever. Closing it closes the store behind it.

    Args:
        inner: the store behind it, of any backend; not one inside a host's
            transaction.
        sealing: which scopes, and the keys.
        schema: the relations it shows; without it those of the store behind it.
        random: where salts and nonces come from: never twice the same.

    Raises:
        SchemaError: ``sealing.schema`` when the store behind has no place for it.
        CallerError: ``sealing.joined``.

    """

    def __init__(
        self,
        inner: Store,
        sealing: Sealing,
        *,
        schema: Schema | None = None,
        random: Random | None = None,
    ) -> None:
        if inner.schema.wrapper is None:
            raise SchemaError(
                "the store keeps no sealed parts: its schema lacks the room",
                code="sealing.schema",
            )
        promised = inner.capabilities
        if Capability.JOINS in promised and Capability.DURABLE not in promised:
            raise CallerError(
                "a scope isn't sealed inside a host's transaction",
                code="sealing.joined",
                hint="seal scopes in a store of their own",
            )
        self.schema = schema or inner.schema
        self.capabilities = promised - {Capability.JOINS}
        self._inner, self._sealing = inner, sealing
        self._random = random or SystemRandom()
        self._owner = Ownership()
        self._lock = threading.Lock()
        self._held: OrderedDict[ScopeId, SealedScope] = OrderedDict()

    def append(self, commit: Commit | Recorded) -> Recorded:
        """See `uaix_core.store.port.Store.append`.

        Raises:
            AccessError: ``keys.missing``, ``sealed.broken``.
            CallerError: ``scope.plain`` when the scope has history that isn't sealed.

        """
        self._owner.check()
        scope = commit.commit.scope if isinstance(commit, Recorded) else commit.scope
        if not self._sealing.scopes(scope):
            return self._inner.append(commit)
        return self._scope(scope).append(commit)

    @contextmanager
    def snapshot(self, scope: ScopeId) -> Iterator[Snapshot]:
        """See `uaix_core.store.port.Store.snapshot`.

        Raises:
            AccessError: ``keys.missing``, ``sealed.broken``.
            CallerError: ``scope.plain``.
            IntegrityError: what was opened is no chain of commits.

        """
        self._owner.check()
        is_sealed = self._sealing.scopes(scope)
        shown = self._scope(scope) if is_sealed else None
        with shown.snapshot() if shown else self._inner.snapshot(scope) as snapshot:
            yield snapshot

    def due(
        self, relation: str, *, until: int, limit: int
    ) -> Sequence[tuple[ScopeId, Row]]:
        """See `uaix_core.store.port.Store.due`."""
        self._owner.check()
        return self._inner.due(relation, until=until, limit=limit)

    def scopes(self, *, after: ScopeId | None = None, limit: int) -> Sequence[ScopeId]:
        """See `uaix_core.store.port.Store.scopes`."""
        self._owner.check()
        return self._inner.scopes(after=after, limit=limit)

    def rebuild(self, scope: ScopeId) -> int:
        """See `uaix_core.store.port.Store.rebuild`."""
        self._owner.check()
        if not self._sealing.scopes(scope):
            return self._inner.rebuild(scope)
        held = self._scope(scope)
        held.forget()
        with held.snapshot() as snapshot:
            return snapshot.position

    def reseal(self, scope: ScopeId) -> int:
        """Seal under the active key whatever of a scope rests under another one.

        Others may read and write meanwhile. Repeating it, also after a break, goes on
        where it stood.

        Returns:
            How many rows were sealed anew; 0 once none is left.

        Raises:
            AccessError: ``keys.missing``, ``sealed.broken``.
            CallerError: ``scope.plain`` when the scope isn't sealed.

        """
        self._owner.check()
        return reseal(self._scope(scope), self._random)

    def at_rest(self) -> Store:
        """The store behind it; it is closed with this one."""
        return self._inner

    def close(self) -> None:
        """Forget what was opened, and close the store behind."""
        self._owner.is_closed = True
        self._held.clear()
        self._inner.close()

    def _scope(self, scope: ScopeId) -> SealedScope:
        with self._lock:
            found = self._held.pop(scope, None)
            if found is None:
                keys = self._sealing.keys
                found = SealedScope(self._inner, self.schema, scope, keys, self._random)
            self._held[scope] = found
            while len(self._held) > self._sealing.held:
                # Who works with it goes on, as another store object would.
                self._held.popitem(last=False)
        return found
