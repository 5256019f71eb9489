"""Writing a backup: consistent while others write, and verified by reopening it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from uaix_backends.backup.form import HEAD, local_line
from uaix_backends.backup.index import Entry, Index, index_frames, part_of
from uaix_backends.backup.store import BackupStore
from uaix_backends.backup.target import check_target
from uaix_backends.examining import check_scopes
from uaix_backends.file_writing import write_archive_file
from uaix_core.schema.relations import Keep
from uaix_core.store.copying import all_scopes
from uaix_core.store.port import Resting
from uaix_core.store.scanning import all_rows
from uaix_core.store.seal import genesis
from uaix_core.store.segments import commit_line, head_line
from uaix_core.values.errors import IntegrityError, NotFoundError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from uaix_backends.backup.index import Part
    from uaix_core.schema.commits import Mark
    from uaix_core.store.port import Snapshot, Store
    from uaix_core.values.ids import ScopeId

    #: Told the scope, and how many of its commits of how many are written or verified.
    Progress = Callable[[ScopeId, int, int], None]

#: What helps where one scope is in the way of the others.
ONE_DAMAGED: Final = "the other scopes can be backed up without it"
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


def write_backup(  # noqa: PLR0913 - each says something else
    store: Store,
    path: str | os.PathLike[str],
    *,
    made_at: int,
    overwrite: bool = False,
    scopes: Iterable[ScopeId] | None = None,
    progress: Progress | None = None,
) -> BackedUp:
    """Write the scopes of a store into one file of mode 0600.

    Each scope is read in one snapshot, so writers go on meanwhile and the backup has
    a state that each scope was in; commits that come later may be missing. WORK and
    CACHE rows go along. The file gets its name only after it was read back whole,
    every digest and chain checked.

    Args:
        store: any store; of one that seals scopes, what rests is written.
        path: the file; it lies in no store.
        made_at: the instant that the backup names as its own.
        overwrite: whether to replace what lies there: another backup, or an empty
            file, and never anything else.
        scopes: only these; all of them when None.
        progress: told how far it has come.

    Raises:
        CallerError: ``files.exists``, ``files.parent``, ``files.name``,
            ``files.target`` for what is never replaced and where no backup may lie.
        NotFoundError: ``scope.not-found``, the store holds no such scope.
        IntegrityError: what the store holds is damaged, or what was read back isn't
            what was written; no file was written then.
        StorageError: the medium failed; no file was written.
        OutcomeUnknownError: written, maybe not durably.

    """
    if isinstance(store, Resting):
        store = store.at_rest()
    check_target(store, path, overwrite=overwrite)
    writer = _Writer(store, made_at, scopes, progress)

    def verified(temporary: Path) -> None:
        _verify(store, temporary, writer, progress)
        # Much time may have passed.
        check_target(store, path, overwrite=overwrite)

    write_archive_file(path, writer.frames(), overwrite=overwrite, check=verified)
    marks = tuple((entry.scope, entry.mark) for entry in writer.entries)
    return BackedUp(marks, writer.at)


class _Writer:
    """The frames of a backup, one after the other."""

    def __init__(
        self,
        store: Store,
        made_at: int,
        scopes: Iterable[ScopeId] | None,
        progress: Progress | None,
    ) -> None:
        self.entries: list[Entry] = []
        self.at = len(HEAD)
        self._store = store
        self._only = None if scopes is None else {one.text: one for one in scopes}
        self._schema = store.schema
        self._made_at = made_at
        self._progress = progress

    def frames(self) -> Iterator[bytes]:
        """All bytes of the file."""
        yield HEAD
        for scope in self._scopes():
            try:
                with self._store.snapshot(scope) as snapshot:
                    yield from self._scope(scope, snapshot)
            except IntegrityError as error:
                raise _of_scope(scope, error) from error
        end = index_frames(Index(self._made_at, tuple(self.entries)), self.at)
        self.at += len(end)
        yield end

    def _scopes(self) -> Iterator[ScopeId]:
        """What is asked for, in the order in which stores list scopes."""
        if self._only is not None:
            yield from (scope for _text, scope in sorted(self._only.items()))
            return
        try:
            check_scopes(self._store)
        except IntegrityError as error:
            error.hint = ONE_DAMAGED
            raise
        yield from all_scopes(self._store)

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
        if not mark.seq:
            raise NotFoundError(
                "the store holds no such scope",
                code="scope.not-found",
                path=scope.text,
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


def _of_scope(scope: ScopeId, error: IntegrityError) -> IntegrityError:
    """The error of one scope, which it names."""
    path = error.path or ""
    if not path.startswith(scope.text):
        path = f"{scope.text} {path}".rstrip()
    return IntegrityError(error.message, code=error.code, path=path, hint=ONE_DAMAGED)


def _not_as_written(path: Path) -> IntegrityError:
    return IntegrityError(
        "what was read back is not what was written",
        code="storage.backup",
        path=str(path),
    )
