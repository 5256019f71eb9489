"""One scope of a store: what is known of it, and the order of its writers."""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from uaix_backends.directory.caching import cache_of, is_worth_writing, write_cache
from uaix_backends.directory.catching_up import catch_up
from uaix_backends.directory.erasing import erase, finish, without_rows_about
from uaix_backends.directory.files import replaced, storage_error
from uaix_backends.directory.loaded import Loaded, Unsure
from uaix_backends.directory.locking import held, locked
from uaix_backends.directory.scope_tree import ScopeTree, TreeState
from uaix_backends.directory.writing import Writing
from uaix_core.schema.commits import Recorded
from uaix_core.store.advance import advance, drive, known
from uaix_core.store.tables import Tables
from uaix_core.store.views import rebuilt
from uaix_core.values.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from uaix_backends.directory.files import Folder
    from uaix_backends.directory.root import Root
    from uaix_backends.directory.tree_reading import TreeContents
    from uaix_core.schema.commits import Commit
    from uaix_core.schema.schema import Schema
    from uaix_core.store.advance import Advance
    from uaix_core.values.ids import ScopeId

#: How often a reader looks again before it waits for the writers.
_TRIES: Final = 3


def folder_name(scope: ScopeId) -> str:
    """The name of a scope's folder, which tells nothing of it."""
    return hashlib.sha256(scope.text.encode("utf-8")).hexdigest()


class Options(NamedTuple):
    """How a store was opened."""

    #: How long a writer waits for another one.
    busy_timeout_s: float
    #: Whether caches are read and written.
    uses_cache: bool = True
    #: Whether commits are shown in the working tree.
    shows_tree: bool = True


class Scope:
    """The state of one scope, shared by the threads of a store object."""

    def __init__(
        self, root: Root, schema: Schema, scope: ScopeId, options: Options
    ) -> None:
        self.scope = scope
        self._name = folder_name(scope)
        self._root = root
        self._timeout_s = options.busy_timeout_s
        self._uses_cache = options.uses_cache
        # Writers hold the first for as long as they write, whoever changes what is
        # known holds the second for a moment.
        self._writers = threading.Lock()
        self._knowing = threading.Lock()
        self._is_writing = False
        self._identity: tuple[int, int] | None = None
        self._nothing = Loaded(Tables(schema, scope))
        self._loaded: Loaded | None = None
        self._schema = schema
        #: None where nothing stands as files.
        self.tree: ScopeTree | None = None
        if schema.trees:
            self.tree = ScopeTree(root, self._name, is_on=options.shows_tree)

    @property
    def _known(self) -> Loaded:
        return self._loaded or self._nothing

    # Reading

    def current(self) -> Tables:
        """The state as it is now."""
        try:
            loaded = self._read()
            if loaded.is_unfinished:
                # Who can't write may still read.
                with contextlib.suppress(StorageError):
                    self.finish()
                loaded = self._read()
        except OSError as error:
            raise storage_error(error, self.scope.text) from error
        if self.tree is not None and not self.tree.is_checked:
            self._look_at_tree(self.tree, loaded.tables)
        return without_rows_about(loaded.tables, loaded.unerased)

    def _look_at_tree(self, tree: ScopeTree, tables: Tables) -> None:
        """Find out whether the tree lags behind, and bring it up to date."""
        tree.is_checked = True
        # Who can't write may still read, and whoever is writing does it as well.
        with contextlib.suppress(OSError, MemoryError):
            with self._root.scopes():
                lags = tree.lags(tables)
            if lags:
                with self._exclusive(timeout_s=0) as writing:
                    if writing is not None and not writing.now.is_unfinished:
                        tree.catch_up(writing.now.tables)

    def tree_folder(self, name: str) -> Path | None:
        """See `DirectoryStore.tree_folder`."""
        tree = self._current_tree()
        if tree is None:
            return None
        try:
            with self._root.scopes():
                return tree.path(name)
        except OSError as error:
            raise storage_error(error, self.scope.text) from error

    def read_tree(self, name: str) -> TreeContents | None:
        """See `DirectoryStore.read_tree`."""
        tree = self._current_tree()
        if tree is None:
            return None
        try:
            # Files and notes agree only while nobody writes them.
            with self._exclusive() as writing:
                return None if writing is None else tree.read(name, writing.now.tables)
        except OSError as error:
            found = storage_error(error, self.scope.text)
            if found.code != "storage.readonly":
                raise found from error
        try:
            with self._root.scopes():
                return tree.read(name, self._known.tables)
        except OSError as error:
            raise storage_error(error, self.scope.text) from error

    def tree_state(self) -> TreeState | None:
        """What there is to say of the tree, once all of the scope was read.

        None when there is nothing to show, or it isn't to be shown.
        """
        tree = self._current_tree()
        if tree is None:
            return None
        try:
            with self._root.scopes():
                return TreeState(
                    tree.name, tree.lags(self._known.tables), tree.edited()
                )
        except OSError:
            return TreeState(tree.name, is_behind=True)

    def _current_tree(self) -> ScopeTree | None:
        """The tree, up to date as far as that is possible; None when it is off."""
        tables = self.current()
        if self.tree is None or not self.tree.is_on:
            return None
        self._look_at_tree(self.tree, tables)
        return self.tree

    def _read(self) -> Loaded:
        for _ in range(_TRIES):
            with self._knowing:
                # An interrupt may have come before the mark was taken back.
                if self._is_writing and self._writers.locked():
                    # This process has the scope's lock: nobody else can have written.
                    return self._known
                with (
                    contextlib.suppress(Unsure),
                    self._root.scopes() as parent,
                    self._folder(parent) as folder,
                ):
                    if folder is None:
                        return self._known
                    self._loaded = self._caught_up(folder, is_locked=False)
                    return self._loaded
        with self._exclusive() as writing:
            return writing.now if writing is not None else self._nothing

    def _caught_up(self, folder: Folder, *, is_locked: bool) -> Loaded:
        return catch_up(
            self._known, folder, is_locked=is_locked, reads_cache=self._uses_cache
        )

    @contextmanager
    def _folder(
        self, parent: Folder, *, create: bool = False
    ) -> Iterator[Folder | None]:
        """The scope's folder, None when there is none; refused when it is another."""
        # Read before looking: a thread that makes the folder meanwhile sets it.
        known = self._identity
        folder = parent.folder(self._name, create=create and known is None)
        if folder is None:
            if known is not None:
                raise replaced(self.scope.text)
            yield None
            return
        with folder:
            identity = folder.identity
            if self._identity is None:
                self._identity = identity
            elif self._identity != identity:
                raise replaced(self.scope.text)
            yield folder

    # Writing

    @contextmanager
    def _exclusive(
        self, *, create: bool = False, timeout_s: float | None = None
    ) -> Iterator[Writing | None]:
        """The files while nobody else writes them, caught up with.

        None when the scope has no folder. What was written is known afterwards, also
        when an error ends it.
        """
        where = self.scope.text
        timeout_s = self._timeout_s if timeout_s is None else timeout_s
        deadline = time.monotonic() + timeout_s
        with (
            held(self._writers, timeout_s, where),
            self._root.scopes() as parent,
            self._folder(parent, create=create) as folder,
        ):
            if folder is None:
                yield None
                return
            with locked(folder, deadline, where):
                with self._knowing:
                    self._loaded = self._caught_up(folder, is_locked=True)
                    self._is_writing = True
                writing = Writing(self._loaded, folder, parent)
                try:
                    yield writing
                finally:
                    with self._knowing:
                        self._loaded = writing.loaded
                        self._is_writing = False

    def append(self, submitted: Commit | Recorded) -> Recorded:
        """See `uaix_core.store.port.Store.append`."""
        try:
            if self._is_new():
                # A commit that is refused leaves no folder behind.
                self._decide(submitted, self._nothing.tables)
            with self._exclusive(create=True) as writing:
                assert writing is not None  # noqa: S101 - it was created
                if writing.now.is_unfinished:
                    self._finish(writing)
                change = self._decide(submitted, writing.now.tables)
                if isinstance(change, Recorded):
                    writing.sync_lines()
                    writing.sync_names()
                    return change
                self._write(writing, change)
                return change.recorded
        except OSError as error:
            raise storage_error(error, self.scope.text) from error

    def _write(self, writing: Writing, change: Advance) -> None:
        """Make a change durable, and show it."""
        before, tree = writing.now.tables, self.tree
        try:
            if change.erased:
                if tree is not None:
                    tree.forget(before, change.erased)
                erase(writing, change)
            else:
                writing.write(change)
        except BaseException:
            if tree is not None:
                tree.distrust()
            raise
        if tree is not None:
            tree.follow(before, change, writing.now.tables)

    def _finish(self, writing: Writing) -> None:
        if self.tree is not None:
            self.tree.forget(writing.now.tables, writing.now.unerased)
        finish(writing)

    def _is_new(self) -> bool:
        if self._identity is not None:
            return False
        with self._root.scopes() as parent, self._folder(parent) as folder:
            return folder is None

    def _decide(
        self, submitted: Commit | Recorded, tables: Tables
    ) -> Advance | Recorded:
        """The change that a commit makes; the commit itself when it is there."""
        if isinstance(submitted, Recorded) and known(
            submitted, tables.mark, tables.digest_at
        ):
            return submitted
        steps = advance(self._schema, submitted, tables.mark, tables.work)
        return drive(steps, tables.answer)

    def save(self) -> None:
        """Write what helps the next opening, when nobody is in the way."""
        tree = self.tree
        if tree is not None and not tree.is_noted:
            with (
                contextlib.suppress(OSError),
                self._exclusive(timeout_s=0) as writing,
            ):
                if writing is not None:
                    tree.note(writing.now.tables)
        self._save_cache()

    def _save_cache(self) -> None:
        """Write the cache, when it is worth it."""
        loaded = self._loaded if self._uses_cache else None
        if loaded is None or not is_worth_writing(loaded):
            return
        with contextlib.suppress(OSError, MemoryError):
            with self._root.scopes() as parent, self._folder(parent) as folder:
                made = cache_of(loaded, folder) if folder is not None else None
            # What takes long was done without the lock.
            with self._exclusive() as writing:
                if writing is not None and made is not None:
                    writing.keep(write_cache(writing.now, writing.folder, made))

    def finish(self) -> None:
        """Finish what a writer left when it was cut short."""
        try:
            with self._exclusive() as writing:
                if writing is not None:
                    self._finish(writing)
        except OSError as error:
            raise storage_error(error, self.scope.text) from error

    def rebuild(self) -> int:
        """See `uaix_core.store.port.Store.rebuild`."""
        try:
            with self._exclusive() as writing:
                if writing is None:
                    return 0
                tables = rebuilt(writing.now.tables)
                writing.keep(writing.now._replace(tables=tables))
                if self.tree is not None and not writing.now.is_unfinished:
                    # Who can't write may still rebuild what is in memory.
                    with contextlib.suppress(OSError, MemoryError):
                        self.tree.catch_up(tables, looks=True)
                return tables.mark.seq
        except OSError as error:
            raise storage_error(error, self.scope.text) from error
