"""A backup as a store: everything but writing."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn, Self

from uaix_backends.backup.file import BackupFile
from uaix_backends.backup.form import damaged, read_local
from uaix_backends.ownership import Ownership
from uaix_core.session.schema import SCHEMA
from uaix_core.store.reading import check_due, check_limit
from uaix_core.store.replayed import Replayed
from uaix_core.store.seal import genesis
from uaix_core.store.segments import read_commit, scope_in_head
from uaix_core.store.tables import Tables
from uaix_core.store.views import TablesSnapshot, due_rows
from uaix_core.values.errors import ClosedError, StorageError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from uaix_backends.backup.index import Entry, Index, Part
    from uaix_core.schema.commits import Commit, Mark, Recorded
    from uaix_core.schema.relations import Key
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.store.port import Capability, Snapshot
    from uaix_core.values.ids import ScopeId


class BackupStore:
    """The port's reading verbs over a backup; every writing verb is refused.

    Commits are read part by part and checked as they come. Rows and views are made of
    them, in memory, when they are first asked for.
    """

    capabilities: frozenset[Capability] = frozenset()

    def __init__(self, file: BackupFile, index: Index, schema: Schema) -> None:
        self.schema = schema
        #: The instant at which the backup was begun.
        self.made_at = index.made_at
        self._file = file
        self._owner = Ownership()
        self._lock = threading.Lock()
        self._entries = {entry.scope.text: entry for entry in index.entries}
        self._states: dict[str, Tables] = {}

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, schema: Schema = SCHEMA) -> Self:
        """Open the backup in a file.

        Raises:
            StoreOpenError: ``store.path``, ``store.missing``, ``store.not-a-store``.
            IntegrityError: ``storage.backup``, its index is damaged.
            StorageError: the medium failed.

        """
        file = BackupFile.open(path)
        try:
            return cls(file, file.index(), schema)
        except BaseException:
            file.close()
            raise

    def is_at(self, path: str | os.PathLike[str]) -> bool:
        """Whether it is the file at this path that is read."""
        return self._file.is_at(path)

    def append(self, commit: Commit | Recorded) -> NoReturn:
        """Refuse: a backup is not written to (``storage.readonly``)."""
        del commit
        self._owner.check()
        raise self._read_only()

    def rebuild(self, scope: ScopeId) -> NoReturn:
        """Refuse, as `append`: views are made anew at every opening."""
        del scope
        self._owner.check()
        raise self._read_only()

    def _read_only(self) -> StorageError:
        return StorageError(
            "a backup is read-only",
            code="storage.readonly",
            path=self._file.name,
            hint="uaix store copy backup:F URL makes a store of it",
        )

    @contextmanager
    def snapshot(self, scope: ScopeId) -> Iterator[Snapshot]:
        """See `uaix_core.store.port.Store.snapshot`."""
        self._owner.check()
        snapshot = BackupSnapshot(self, scope, self._entries.get(scope.text))
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
        states = [self.state(entry.scope) for entry in self._entries.values()]
        return due_rows(states, declared, field, until, limit)

    def scopes(self, *, after: ScopeId | None = None, limit: int) -> Sequence[ScopeId]:
        """See `uaix_core.store.port.Store.scopes`."""
        self._owner.check()
        check_limit(limit)
        start = after.text if after is not None else ""
        entries = sorted(self._entries.items())
        found = [e.scope for text, e in entries if text > start and e.mark.seq]
        return found[:limit]

    def close(self) -> None:
        """Close the file; closing twice is allowed."""
        if not self._owner.is_closed:
            self._owner.is_closed = True
            self._states = {}
            self._file.close()

    # What snapshots read

    def commits(self, entry: Entry, after: int) -> Iterator[Recorded]:
        """The commits of a scope above ``after``, each checked against the chain."""
        for before, until, part in entry.chained:
            if until.seq > after:
                for recorded in self._commits(entry, part, before, until):
                    if recorded.seq > after:
                        yield recorded

    def _commits(
        self, entry: Entry, part: Part, mark: Mark, until: Mark
    ) -> Iterator[Recorded]:
        """The commits of a part, which begins behind a mark and ends at another."""
        scope = entry.scope
        lines = self._file.lines(part, f"{scope.text}#{mark.seq + 1}")
        if not mark.seq and scope_in_head(next(lines, b"")) != scope:
            raise damaged(scope.text)
        for line in lines:
            try:
                recorded = read_commit(self.schema, scope, line, mark)
            except (OverflowError, MemoryError) as error:
                raise damaged(f"{scope.text}#{mark.seq + 1}") from error
            mark = recorded.mark
            if mark.seq >= until.seq and mark != until:
                break
            yield recorded
        if mark != until:
            raise damaged(f"{scope.text}#{min(mark.seq, until.seq) + 1}")

    def state(self, scope: ScopeId) -> Tables:
        """All rows of a scope, made of its commits once."""
        with self._lock:
            found = self._states.get(scope.text)
            if found is None:
                found = self._loaded(scope)
                self._states[scope.text] = found
        return found

    def _loaded(self, scope: ScopeId) -> Tables:
        empty = Tables(self.schema, scope)
        entry = self._entries.get(scope.text)
        if entry is None:
            return empty
        state = Replayed(empty)
        for recorded in self.commits(entry, 0):
            state.add(recorded)
        rows = list(self.local_rows(scope))
        if max((row.version for row in rows), default=0) != entry.work:
            raise damaged(scope.text)
        tables = state.tables().with_rows(rows, ())
        tables.work = entry.work
        return tables

    def local_rows(self, scope: ScopeId) -> Iterator[Row]:
        """The WORK and CACHE rows of a scope, each checked."""
        entry = self._entries.get(scope.text)
        for part in entry.parts if entry is not None else ():
            if part.previous is None:
                for line in self._file.lines(part, scope.text):
                    yield read_local(self.schema, line, scope.text)


class BackupSnapshot:
    """The port's `Snapshot` over one scope of a backup."""

    def __init__(self, store: BackupStore, scope: ScopeId, entry: Entry | None) -> None:
        self._store = store
        self._scope = scope
        self._entry = entry
        self._mark = entry.mark if entry is not None else genesis(scope)
        self._rows: TablesSnapshot | None = None
        self._is_closed = False

    def _check(self) -> None:
        if self._is_closed:
            raise ClosedError("the snapshot is closed", code="snapshot.closed")

    def _read(self) -> TablesSnapshot:
        self._check()
        if self._rows is None:
            self._rows = TablesSnapshot(self._store.state(self._scope))
        return self._rows

    @property
    def position(self) -> int:
        """See `uaix_core.store.port.Snapshot.position`."""
        self._check()
        return self._mark.seq

    @property
    def head(self) -> str:
        """See `uaix_core.store.port.Snapshot.head`."""
        self._check()
        return self._mark.digest

    def get(self, relation: str, key: Key) -> Row | None:
        """See `uaix_core.store.port.Snapshot.get`."""
        return self._read().get(relation, key)

    def get_many(self, relation: str, keys: Sequence[Key]) -> Mapping[Key, Row]:
        """See `uaix_core.store.port.Snapshot.get_many`."""
        return self._read().get_many(relation, keys)

    def scan(  # noqa: PLR0913 - the port's signature
        self,
        relation: str,
        path: str,
        prefix: Key = (),
        *,
        after: Key | None = None,
        reverse: bool = False,
        limit: int,
    ) -> Sequence[Row]:
        """See `uaix_core.store.port.Snapshot.scan`."""
        return self._read().scan(
            relation, path, prefix, after=after, reverse=reverse, limit=limit
        )

    def commits(self, after: int = 0) -> Iterator[Recorded]:
        """See `uaix_core.store.port.Snapshot.commits`."""
        self._check()
        if self._entry is not None:
            for recorded in self._store.commits(self._entry, max(after, 0)):
                yield recorded
                # Whoever closed the snapshot meanwhile gets no further commit.
                self._check()

    def close(self) -> None:
        """Refuse further reads."""
        self._is_closed = True
