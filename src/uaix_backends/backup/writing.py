"""Writing a backup: consistent while others write, and verified by reopening it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from uaix_backends.backup.form import Entry, Index, index_frames, local_line, part_of
from uaix_backends.backup.store import BackupStore
from uaix_backends.file_writing import write_archive_file
from uaix_core.schema.relations import Keep
from uaix_core.store.copying import all_rows, all_scopes
from uaix_core.store.seal import genesis
from uaix_core.store.segments import commit_line, head_line
from uaix_core.values.errors import IntegrityError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from uaix_backends.backup.form import Part
    from uaix_core.schema.commits import Mark
    from uaix_core.store.port import Snapshot, Store
    from uaix_core.values.ids import ScopeId

    #: Told the scope, and how many of its commits of how many are written or verified.
    Progress = Callable[[ScopeId, int, int], None]

#: Lines are packed together once they have this many bytes.
_PART_BYTES: Final = 1 << 20


@attrs.frozen
class BackedUp:
    """What a backup holds: scopes with their positions and heads, and its bytes."""

    marks: tuple[tuple[ScopeId, Mark], ...]
    bytes: int

    @property
    def commits(self) -> int:
        """How many commits it holds in all."""
        return sum(mark.seq for _scope, mark in self.marks)


def write_backup(
    store: Store,
    path: str | os.PathLike[str],
    *,
    made_at: int,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> BackedUp:
    """Write every scope of a store into one file of mode 0600.

    Each scope is read in one snapshot, so writers go on meanwhile and the backup has
    a state that each scope was in; commits that come later may be missing. WORK and
    CACHE rows go along. The file gets its name only after it was read back whole,
    every digest and chain checked.

    Args:
        store: any store.
        path: the file; an existing one is replaced only with ``overwrite``.
        made_at: the instant that the backup names as its own.
        overwrite: whether to replace a file.
        progress: told how far it has come.

    Raises:
        CallerError: ``files.exists``, ``files.parent``, ``files.name``.
        IntegrityError: what the store holds is damaged, or what was read back isn't
            what was written; no file was written then.
        StorageError: the medium failed; no file was written.
        OutcomeUnknownError: written, maybe not durably.

    """
    writer = _Writer(store, made_at, progress)

    def verified(temporary: Path) -> None:
        _verify(store, temporary, writer, progress)

    write_archive_file(path, writer.frames(), overwrite=overwrite, check=verified)
    marks = tuple((entry.scope, entry.mark) for entry in writer.entries)
    return BackedUp(marks, writer.at)


class _Writer:
    """The frames of a backup, one after the other."""

    def __init__(self, store: Store, made_at: int, progress: Progress | None) -> None:
        self.entries: list[Entry] = []
        self.at = 0
        self._store = store
        self._schema = store.schema
        self._made_at = made_at
        self._progress = progress

    def frames(self) -> Iterator[bytes]:
        """All bytes of the file."""
        for scope in all_scopes(self._store):
            with self._store.snapshot(scope) as snapshot:
                yield from self._scope(scope, snapshot)
        end = index_frames(Index(self._made_at, tuple(self.entries)), self.at)
        self.at += len(end)
        yield end

    def _scope(self, scope: ScopeId, snapshot: Snapshot) -> Iterator[bytes]:
        parts: list[Part] = []
        mark = genesis(scope)
        for lines, first, mark in self._history(scope, snapshot):
            yield self._packed(lines, first, parts)
            if self._progress is not None:
                self._progress(scope, mark.seq, snapshot.position)
        if (mark.seq, mark.digest) != (snapshot.position, snapshot.head):
            raise IntegrityError(
                "the chain doesn't end where the scope stands",
                code="chain.gap",
                path=f"{scope.text}#{mark.seq + 1}",
            )
        work = 0
        for lines, last in self._local(snapshot):
            work = max(work, last)
            yield self._packed(lines, None, parts)
        self.entries.append(Entry(scope, mark, work, tuple(parts)))

    def _packed(self, data: bytes, previous: Mark | None, parts: list[Part]) -> bytes:
        part, frame = part_of(data, self.at, previous)
        parts.append(part)
        self.at += len(frame)
        return frame

    def _history(
        self, scope: ScopeId, snapshot: Snapshot
    ) -> Iterator[tuple[bytes, Mark, Mark]]:
        """Lines of commits, the mark before them and the one after them."""
        lines, size = [head_line(scope)], 0
        first = mark = genesis(scope)
        for recorded in snapshot.commits():
            line = commit_line(self._schema, recorded)
            lines.append(line)
            size += len(line)
            mark = recorded.mark
            if size >= _PART_BYTES:
                yield b"".join(lines), first, mark
                lines, size, first = [], 0, mark
        if lines:
            yield b"".join(lines), first, mark

    def _local(self, snapshot: Snapshot) -> Iterator[tuple[bytes, int]]:
        """Lines of local rows and the highest work number of them."""
        lines, size, work = list[bytes](), 0, 0
        for relation in self._schema.kept(Keep.WORK, Keep.CACHE):
            for row in all_rows(snapshot, relation):
                line = local_line(self._schema, row)
                lines.append(line)
                size += len(line)
                work = max(work, row.version)
                if size >= _PART_BYTES:
                    yield b"".join(lines), work
                    lines, size = [], 0
        if lines:
            yield b"".join(lines), work


def _verify(
    store: Store, path: Path, writer: _Writer, progress: Progress | None
) -> None:
    """Read back all that was written."""
    backup = BackupStore.open(path, schema=store.schema)
    try:
        found = {scope.text: scope for scope in all_scopes(backup)}
        if list(found) != [entry.scope.text for entry in writer.entries]:
            raise _not_as_written(path)
        for entry in writer.entries:
            mark = genesis(entry.scope)
            with backup.snapshot(entry.scope) as snapshot:
                for recorded in snapshot.commits():
                    mark = recorded.mark
                    if progress is not None:
                        progress(entry.scope, mark.seq, entry.mark.seq)
            works = [row.version for row in backup.local_rows(entry.scope)]
            if mark != entry.mark or max(works, default=0) != entry.work:
                raise _not_as_written(path)
    finally:
        backup.close()


def _not_as_written(path: Path) -> IntegrityError:
    return IntegrityError(
        "what was read back is not what was written",
        code="storage.backup",
        path=str(path),
    )
