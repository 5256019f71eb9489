"""Writing a change into the files of a scope, whole or not at all.

The line of the segment is the commit: history is there once its line is, and local
rows that belong to it stand in the intent before. Local rows alone are there once
their line of the log is.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from uaix_backends.directory.files import Seen, outcome_unknown
from uaix_backends.directory.scope_files import SEGMENT
from uaix_backends.directory.work_log import (
    INTENT,
    LOG,
    NEW_LOG,
    WORK,
    Head,
    Intent,
    compacted,
    entry_line,
    intent_bytes,
    local_half,
    log_head_line,
)
from uaix_core.store.segments import commit_line, head_line

if TYPE_CHECKING:
    from uaix_backends.directory.files import File, Folder
    from uaix_backends.directory.loaded import Loaded
    from uaix_core.store.advance import Advance
    from uaix_core.values.errors import StorageError

#: A log that has grown by less than this is not worth rewriting.
_SMALL: Final = 1 << 16


class _SyncError(OSError):
    """A sync failed: what was written before may or may not be durable."""


class Writing:
    """The files of one scope while its lock is held and all of them were read.

    ``loaded`` is a state that the files hold, at every moment; None once a failed sync
    means that nobody can tell what they hold.
    """

    def __init__(self, loaded: Loaded, folder: Folder, parent: Folder) -> None:
        self.loaded: Loaded | None = loaded
        self.now = loaded
        self.folder = folder
        self.parent = parent
        self.schema = loaded.tables.schema
        self.scope = loaded.tables.scope

    def keep(self, now: Loaded) -> None:
        """Go on from this state."""
        self.now = self.loaded = now

    def unknown(self, seq: int) -> StorageError:
        """Forget the state, because a sync failed; the error that says so."""
        self.loaded = None
        return outcome_unknown(f"{self.scope.text}#{seq}")

    def write(self, change: Advance) -> None:
        """Make a change that erases nothing durable."""
        if change.mark.seq > self.now.tables.mark.seq:
            self._write_history(change)
        else:
            self._write_local(change)
        self._compact_when_dead()

    def _write_history(self, change: Advance) -> None:
        tables = self.now.tables
        intent, seen = self.now.pending, self.now.intent
        if change.work > tables.work:
            self.settle()
            intent = self.intent_of(change, is_erasure=False)
            seen = self.put_intent(intent)
        line = commit_line(self.schema, change.recorded)
        self._append_to_segment(line, change.mark.seq)
        now = self.now._replace(
            tables=tables.apply(change), pending=intent, intent=seen
        )
        self.keep(now)

    def _append_to_segment(self, line: bytes, seq: int) -> None:
        """Write a line; afterwards only the tables are still those of before."""
        end, size = self.now.segment_end, len(line)
        if end:
            self.sync_names()
        else:
            line = head_line(self.scope) + line
        with self.folder.file_to_append(SEGMENT) as file:
            file.append(line, end)
            try:
                file.sync()
                if not end:
                    self.sync_names(are_new=True)
                seen = file.seen()
            except OSError as error:
                raise self.unknown(seq) from error
        self.now = self.now._replace(
            segment=seen,
            segment_end=end + len(line),
            last_start=end + (len(line) - size),
            has_synced_lines=True,
        )

    def _write_local(self, change: Advance) -> None:
        entry = local_half(self.schema, change)
        lines = entry_line(self.schema, self.scope, entry)
        pending = self.now.pending
        if pending is not None:
            lines = pending.line + lines
        try:
            self._append_to_log(lines, change.work)
        except _SyncError as error:
            raise self.unknown(change.mark.seq) from error
        tables = self.now.tables.apply(change)
        self.keep(self.now._replace(tables=tables, pending=None))

    def settle(self) -> None:
        """Move the rows of the last intent into the log, before it is overwritten."""
        pending = self.now.pending
        if pending is None or pending.number <= self.now.log_number:
            return
        end = self.now.log_end
        try:
            self._append_to_log(pending.line, pending.number)
        except _SyncError:
            # What may not be durable must not be taken for it: the intent still
            # holds it and is settled again.
            self.loaded = None
            with (
                contextlib.suppress(OSError),
                self.work() as work,
                work.file_to_append(LOG) as file,
            ):
                file.cut(end)
            raise
        self.keep(self.now._replace(pending=None))

    def _append_to_log(self, lines: bytes, number: int) -> None:
        """Write lines; afterwards only the tables are still those of before."""
        self.sync_lines()
        self.sync_names()
        now = self.now
        if not now.log_end:
            head = log_head_line(Head(self.scope))
            now = now._replace(log_head=head.removesuffix(b"\n"), log_base=len(head))
            lines = head + lines
        with self.work() as work, work.file_to_append(LOG) as file:
            file.append(lines, now.log_end)
            try:
                file.sync()
                if not now.log_end:
                    self.sync_names(are_new=True)
            except OSError as error:
                raise _SyncError(*error.args) from error
            seen = file.seen()
        self.now = now._replace(
            log=seen,
            log_end=now.log_end + len(lines),
            log_number=number,
            has_synced_log=True,
            has_synced_names=True,
        )

    def work(self) -> Folder:
        """The folder of local state, made when it is missing."""
        work = self.folder.folder(WORK, create=True)
        assert work is not None  # noqa: S101 - it was just made; told to type checkers
        return work

    # The intent

    def intent_of(self, change: Advance, *, is_erasure: bool) -> Intent:
        """The intent of a chained change."""
        line = entry_line(self.schema, self.scope, local_half(self.schema, change))
        return Intent(
            change.mark.digest, change.mark.seq, change.work, is_erasure, line
        )

    def put_intent(self, intent: Intent) -> Seen:
        """Make an intent durable; it counts once its commit is in the chain.

        It is not noted in ``loaded``: when the commit fails, whoever comes next sees
        a file that it doesn't know, and clears it.
        """
        self._sync_log()
        with self.work() as work:
            is_new = work.status(INTENT) is None
            try:
                with work.new_file(INTENT) as file:
                    file.write(intent_bytes(self.scope, intent))
                    file.sync()
                    seen = file.seen()
                self.sync_names(are_new=is_new)
            except OSError:
                with contextlib.suppress(OSError):
                    self.clear_intent(work)
                raise
        return seen

    def clear_intent(self, work: Folder) -> Seen:
        """Empty the intent. The file stays, so that its name is made durable once."""
        with work.new_file(INTENT) as file:
            file.sync()
            return file.seen()

    # Durability of what another writer left

    def sync_lines(self) -> None:
        """Make the lines of the segment durable, before local rows rely on them."""
        if not self.now.has_synced_lines:
            self._sync(self.folder.file(SEGMENT))
            self.keep(self.now._replace(has_synced_lines=True))

    def _sync_log(self) -> None:
        """Make the lines of the log durable, before an intent follows them."""
        if not self.now.has_synced_log and self.now.log_end:
            with self.work() as work:
                self._sync(work.file(LOG))
            self.keep(self.now._replace(has_synced_log=True))

    def _sync(self, file: File | None) -> None:
        if file is not None:
            with file:
                try:
                    file.sync()
                except OSError:
                    self.loaded = None
                    raise

    def sync_names(self, *, are_new: bool = False) -> None:
        """Make the names of files and folders durable, when they may not be."""
        if self.now.has_synced_names and not are_new:
            return
        work = self.folder.folder(WORK)
        if work is not None:
            with work:
                work.sync()
        self.folder.sync()
        self.parent.sync()
        self.now = self.now._replace(has_synced_names=True)

    # Compaction

    def _compact_when_dead(self) -> None:
        """Rewrite the log when most of its rows no longer stand."""
        now = self.now
        if now.log_end < 2 * now.log_base + _SMALL:
            return
        try:
            data, head = compacted(now.tables)
            if 2 * len(data) > now.log_end:
                # Most of it stands: look again when it has doubled.
                self.keep(now._replace(log_base=now.log_end))
                return
            with self.work() as work:
                self.write_new_log(work, data)
                self.take_new_log(work, data, head)
        except OSError:
            # The commit is durable all the same; what the log is now is read anew.
            self.loaded = None

    def write_new_log(self, work: Folder, data: bytes) -> None:
        """Write a whole log beside the one that stands."""
        with work.new_file(NEW_LOG) as file:
            file.write(data)
            file.sync()

    def take_new_log(self, work: Folder, data: bytes, head: Head) -> None:
        """Put that log, which holds all local rows, in the place of the other."""
        work.rename(NEW_LOG, LOG)
        work.sync()
        status = work.status(LOG)
        first = data.partition(b"\n")[0]
        self.keep(
            self.now._replace(
                log=None if status is None else Seen.of(status),
                log_end=len(data),
                log_head=first,
                log_base=len(data),
                log_number=head.number,
                pending=None,
                has_synced_log=True,
            )
        )
