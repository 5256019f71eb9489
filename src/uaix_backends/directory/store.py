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
from uaix_backends.directory.scope import Options, Scope
from uaix_backends.naming import named_store
from uaix_backends.ownership import Ownership
from uaix_core.schema.commits import Recorded
from uaix_core.session.schema import SCHEMA
from uaix_core.store.port import Capability
from uaix_core.store.reading import check_due, check_limit
from uaix_core.store.views import TablesSnapshot, due_rows
from uaix_core.values.errors import StorageError, StoreOpenError
from uaix_core.values.ids import check_id

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from uaix_backends.directory.tree_reading import TreeContents
    from uaix_backends.examining import Condition
    from uaix_core.schema.commits import Commit
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.store.port import Snapshot
    from uaix_core.values.ids import ScopeId


class DirectoryStore:
    """The port over a folder: one append-only segment of canonical JSON per scope.

    Readers take no lock. Two store objects, also of two processes, may work on one
    folder of a local file system. Rows whose relation declares a tree also stand as
    plain files under ``tree``, which people may edit.
    """

    capabilities: frozenset[Capability] = frozenset(
        {Capability.DURABLE, Capability.SHARED, Capability.FILES}
    )

    def __init__(self, root: Root, schema: Schema, options: Options) -> None:
        self.schema = schema
        self._root = root
        self._options = options
        self._owner = Ownership()
        self._listing = Listing(root, self._has_commit)
        self._lock = threading.Lock()
        self._scopes: dict[str, Scope] = {}

    @classmethod
    def open(  # noqa: PLR0913 - all but the path are named
        cls,
        path: str | os.PathLike[str],
        *,
        create: bool = False,
        schema: Schema = SCHEMA,
        busy_timeout_s: float = 5.0,
        cache: bool = True,
        tree: bool = True,
    ) -> Self:
        """The store in a folder.

        Args:
            path: the folder.
            create: make a store when the folder is missing or empty.
            schema: the relations to open it with.
            busy_timeout_s: how long a writer waits for another one.
            cache: whether to read the caches of long ledgers and to write them when
                the store is closed. They change no answer.
            tree: whether to show packages as plain files in the folder ``tree``. It
                changes no answer either; erasures reach the tree in any case.

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
        store = cls(root, schema, Options(busy_timeout_s, cache, tree))
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
                found = Scope(self._root, self.schema, scope, self._options)
                self._scopes[scope.text] = found
        return found

    def _has_commit(self, scope: ScopeId) -> bool:
        return self._scope(scope).current().mark.seq > 0

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

    def tree_folder(self, scope: ScopeId, folder: str) -> Path | None:
        """The folder of a package in the working tree, for people to work in.

        The tree is brought up to date first, as far as that is possible.

        Args:
            scope: the scope.
            folder: the package id.

        Returns:
            None where there is no such folder, or the store shows no tree.

        Raises:
            CallerError: ``id.syntax`` when ``folder`` is no id.
            StorageError: the medium failed.

        """
        self._owner.check()
        return self._scope(scope).tree_folder(check_id(folder, "folder"))

    def read_tree(self, scope: ScopeId, folder: str) -> TreeContents | None:
        """What stands in that folder now, people's edits included.

        No link is followed, nothing is waited for, and what is larger than a package
        may hold isn't read.

        Args:
            scope: the scope.
            folder: the package id.

        Returns:
            None where there is no such folder, or the store shows no tree.

        Raises:
            CallerError: ``id.syntax`` when ``folder`` is no id.
            StorageError: the medium failed.

        """
        self._owner.check()
        return self._scope(scope).read_tree(check_id(folder, "folder"))

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
            options = self._options._replace(uses_cache=False)
            for scope in self._listing.readable():
                yield Scope(self._root, self.schema, scope, options)

        try:
            return examine(self._root, self._listing, unaided)
        except StorageError:
            raise
        except OSError as error:
            raise storage_error(error, self._root.path) from error

    def close(self) -> None:
        """Write what helps the next opening and close the folders.

        Closing twice is allowed.
        """
        if self._owner.is_closed:
            return
        self._owner.is_closed = True
        scopes, self._scopes = self._scopes, {}
        try:
            if not self._owner.is_foreign:
                for scope in scopes.values():
                    scope.save()
        finally:
            self._root.close()
