"""A backup as a store: everything but writing."""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn, Self

from uaix_backends.backup.form import (
    END_BYTES,
    damaged,
    read_end,
    read_index,
    read_local,
    unpacked,
)
from uaix_backends.naming import named_store
from uaix_backends.ownership import Ownership
from uaix_core.session.schema import SCHEMA
from uaix_core.store.reading import check_due, check_limit
from uaix_core.store.replayed import Replayed
from uaix_core.store.seal import genesis
from uaix_core.store.segments import read_commit, scope_in_head
from uaix_core.store.tables import Tables
from uaix_core.store.views import TablesSnapshot, due_rows
from uaix_core.values.errors import ClosedError, StorageError, StoreOpenError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from uaix_backends.backup.form import Entry, Index, Part
    from uaix_core.schema.commits import Commit, Recorded
    from uaix_core.schema.relations import Key
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.store.port import Capability, Snapshot
    from uaix_core.values.ids import ScopeId

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)


class BackupStore:
    """The port's reading verbs over a backup; every writing verb is refused.

    Commits are read part by part and checked as they come. Rows and views are made of
    them, in memory, when they are first asked for.
    """

    capabilities: frozenset[Capability] = frozenset()

    def __init__(self, file: _File, index: Index, schema: Schema) -> None:
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
        name = str(named_store(path))
        try:
            fd = os.open(name, _FLAGS)
        except FileNotFoundError:
            raise StoreOpenError(
                "there is no backup", code="store.missing", path=name
            ) from None
        except OSError as error:
            raise _failed(name) from error
        file = _File(fd, name)
        try:
            return cls(file, file.index(), schema)
        except BaseException:
            file.close()
            raise

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
        parts = [part for part in entry.parts if part.previous is not None]
        for number, part in enumerate(parts):
            following = parts[number + 1].previous if number + 1 < len(parts) else None
            if following is None or following.seq > after:
                for recorded in self._commits(entry, part):
                    if recorded.seq > after:
                        yield recorded

    def _commits(self, entry: Entry, part: Part) -> Iterator[Recorded]:
        mark = part.previous
        assert mark is not None  # noqa: S101 - this is a part with commits
        lines = self._file.lines(part, entry.scope)
        if not mark.seq:
            head, *lines = lines
            if scope_in_head(head) != entry.scope:
                raise damaged(entry.scope.text)
        for line in lines:
            recorded = read_commit(self.schema, entry.scope, line, mark)
            mark = recorded.mark
            yield recorded

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
        if state.mark != entry.mark:
            raise damaged(f"{scope.text}#{state.mark.seq + 1}")
        tables = state.tables().with_rows(self.local_rows(scope), ())
        tables.work = entry.work
        return tables

    def local_rows(self, scope: ScopeId) -> Iterator[Row]:
        """The WORK and CACHE rows of a scope, each checked."""
        entry = self._entries.get(scope.text)
        for part in entry.parts if entry is not None else ():
            if part.previous is None:
                for line in self._file.lines(part, scope):
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


class _File:
    """The open file of a backup."""

    def __init__(self, fd: int, name: str) -> None:
        self._fd = fd
        self.name = name
        self._lock = threading.Lock()

    def _bytes(self, count: int, start: int) -> bytes:
        parts = []
        try:
            with self._lock:
                os.lseek(self._fd, start, os.SEEK_SET)
                while count > 0 and (data := os.read(self._fd, count)):
                    parts.append(data)
                    count -= len(data)
        except (OSError, OverflowError) as error:
            raise _failed(self.name) from error
        return b"".join(parts)

    def index(self) -> Index:
        """The index, after a look at the end."""
        status = os.fstat(self._fd)
        size, end = status.st_size, None
        if stat.S_ISREG(status.st_mode):
            end = read_end(self._bytes(END_BYTES, max(size - END_BYTES, 0)))
        if end is None:
            raise StoreOpenError(
                "what lies there is no whole backup",
                code="store.not-a-store",
                path=self.name,
            )
        at, digest = end
        if at > size - END_BYTES:
            raise damaged(self.name)
        frame = self._bytes(size - END_BYTES - at, at)
        return read_index(frame, digest, self.name)

    def lines(self, part: Part, scope: ScopeId) -> list[bytes]:
        """The lines of a part, without their newlines."""
        seq = part.previous.seq + 1 if part.previous is not None else 0
        where = f"{scope.text}#{seq}" if seq else scope.text
        size = os.fstat(self._fd).st_size
        frame = self._bytes(min(part.size, size), part.at)
        if hashlib.sha256(frame).hexdigest() != part.sha256:
            raise damaged(where)
        data = unpacked(frame, part.length, where)
        if not data.endswith(b"\n"):
            raise damaged(where)
        return data[:-1].split(b"\n")

    def close(self) -> None:
        """Close it."""
        os.close(self._fd)


def _failed(name: str) -> StorageError:
    return StorageError("reading the backup failed", code="storage.io", path=name)
