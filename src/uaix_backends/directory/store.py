"""A store in a folder. Its bytes are a pure function of the ledger."""

from __future__ import annotations

import contextlib
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from uaix_backends.directory.examining import examine, lost
from uaix_backends.directory.files import storage_error
from uaix_backends.directory.listing import Listing
from uaix_backends.directory.root import Root
from uaix_backends.directory.scope import Scope
from uaix_backends.naming import named_store
from uaix_backends.ownership import Ownership
from uaix_core.schema.commits import Recorded
from uaix_core.session.schema import SCHEMA
from uaix_core.store.port import Capability
from uaix_core.store.reading import check_due, check_limit
from uaix_core.store.views import TablesSnapshot, due_rows
from uaix_core.values.errors import StorageError, StoreOpenError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from uaix_backends.examining import Condition
    from uaix_core.schema.commits import Commit
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.store.port import Snapshot
    from uaix_core.values.ids import ScopeId


class DirectoryStore:
    """The port over a folder: one append-only segment of canonical JSON per scope.

    Readers take no lock. Two store objects, also of two processes, may work on one
    folder of a local file system.
    """

    capabilities: frozenset[Capability] = frozenset(
        {Capability.DURABLE, Capability.SHARED, Capability.FILES}
    )

    def __init__(
        self,
        root: Root,
        schema: Schema,
        busy_timeout_s: float,
        *,
        uses_cache: bool = True,
    ) -> None:
        self.schema = schema
        self._root = root
        self._timeout_s = busy_timeout_s
        self._uses_cache = uses_cache
        self._owner = Ownership()
        self._listing = Listing(root, self._has_commit)
        self._lock = threading.Lock()
        self._scopes: dict[str, Scope] = {}

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        create: bool = False,
        schema: Schema = SCHEMA,
        busy_timeout_s: float = 5.0,
        cache: bool = True,
    ) -> Self:
        """The store in a folder.

        Args:
            path: the folder.
            create: make a store when the folder is missing or empty.
            schema: the relations to open it with.
            busy_timeout_s: how long a writer waits for another one.
            cache: whether to read the caches of long ledgers and to write them when
                the store is closed. They change no answer.

        Raises:
            StoreOpenError: ``store.path``, ``store.missing``,
                ``store.not-a-store``, ``store.format``, ``store.platform``; nothing
                was changed.
            StorageError: the medium failed.

        """
        try:
            import fcntl  # noqa: F401, PLC0415 - not there on every platform
        except ImportError:
            raise StoreOpenError(
                "this platform has no file locks that the directory store could use",
                code="store.platform",
                hint="use the SQLite store",
            ) from None
        root = Root.open(str(named_store(path).absolute()), create=create)
        store = cls(root, schema, busy_timeout_s, uses_cache=cache)
        try:
            store._finish()
        except BaseException:
            store.close()
            raise
        return store

    def _finish(self) -> None:
        """Finish what writers that were cut short left, where nobody is writing."""
        for scope in self._listing.unfinished():
            # Whoever can't write may still read.
            with contextlib.suppress(StorageError):
                self._scope(scope).finish()

    def _scope(self, scope: ScopeId) -> Scope:
        with self._lock:
            found = self._scopes.get(scope.text)
            if found is None:
                found = self._new_scope(scope, uses_cache=self._uses_cache)
                self._scopes[scope.text] = found
        return found

    def _has_commit(self, scope: ScopeId) -> bool:
        return self._scope(scope).current().mark.seq > 0

    def _new_scope(self, scope: ScopeId, *, uses_cache: bool) -> Scope:
        return Scope(
            self._root, self.schema, scope, self._timeout_s, uses_cache=uses_cache
        )

    def append(self, commit: Commit | Recorded) -> Recorded:
        """See `uaix_core.store.port.Store.append`."""
        self._owner.check()
        scope = commit.commit.scope if isinstance(commit, Recorded) else commit.scope
        return self._scope(scope).append(commit)

    @contextmanager
    def snapshot(self, scope: ScopeId) -> Iterator[Snapshot]:
        """See `uaix_core.store.port.Store.snapshot`."""
        self._owner.check()
        snapshot = TablesSnapshot(self._scope(scope).current())
        try:
            yield snapshot
        finally:
            snapshot.close()

    def due(
        self, relation: str, *, until: int, limit: int
    ) -> Sequence[tuple[ScopeId, Row]]:
        """See `uaix_core.store.port.Store.due`."""
        self._owner.check()
        declared, field = check_due(self.schema, relation, limit)
        states = [self._scope(scope).current() for scope in self._listing.with_work()]
        return due_rows(states, declared, field, until, limit)

    def scopes(self, *, after: ScopeId | None = None, limit: int) -> Sequence[ScopeId]:
        """See `uaix_core.store.port.Store.scopes`."""
        self._owner.check()
        check_limit(limit)
        start = after.text if after is not None else ""
        found = sorted((scope.text, scope) for scope in self._listing.with_commits())
        return [scope for text, scope in found if text > start][:limit]

    def rebuild(self, scope: ScopeId) -> int:
        """See `uaix_core.store.port.Store.rebuild`."""
        self._owner.check()
        return self._scope(scope).rebuild()

    def check_scopes(self) -> None:
        """See `uaix_backends.examining.check_scopes`."""
        self._owner.check()
        self._listing.with_commits()
        for name in self._listing.lost():
            raise lost(name)

    def readable_scopes(self) -> list[ScopeId]:
        """See `uaix_backends.examining.readable_scopes`."""
        self._owner.check()
        return sorted(self._listing.readable(), key=lambda scope: scope.text)

    def examine(self) -> Condition:
        """Read all ledgers anew; see `uaix_backends.examining.examine`."""
        self._owner.check()

        def unaided() -> Iterator[Scope]:
            for scope in self._listing.readable():
                yield self._new_scope(scope, uses_cache=False)

        try:
            return examine(self._root, self._listing, unaided)
        except StorageError:
            raise
        except OSError as error:
            raise storage_error(error, self._root.path) from error

    def close(self) -> None:
        """Write caches that are worth it and close the folders.

        Closing twice is allowed.
        """
        if self._owner.is_closed:
            return
        self._owner.is_closed = True
        scopes, self._scopes = self._scopes, {}
        try:
            if self._uses_cache and not self._owner.is_foreign:
                for scope in scopes.values():
                    scope.save()
        finally:
            self._root.close()
