"""Catching up with the local state: the intent first, then the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_backends.directory.files import replaced
from uaix_backends.directory.lines import is_unwritten, read_lines
from uaix_backends.directory.loaded import (
    Loaded,
    Place,
    Unsure,
    completed,
    local_change,
)
from uaix_backends.directory.work_log import (
    INTENT,
    LOG,
    WORK,
    Entry,
    Intent,
    damaged,
    local_rows,
    read_entry,
    read_head,
    read_intent,
    verifies,
)

if TYPE_CHECKING:
    from uaix_backends.directory.files import File, Folder
    from uaix_backends.directory.lines import Line

#: A first line of a log is shorter.
_HEAD_BYTES = 4096
#: An intent holds the local rows of one commit; four times their limit is none.
_LONGEST_INTENT = 1 << 30


def read_work(known: Loaded, folder: Folder, *, is_locked: bool) -> Loaded:
    """The state with the local rows of all commits that the segment showed.

    The intent is read before the log, because its rows are in the log before another
    intent takes its place: so they are met in one or in the other.
    """
    work = folder.folder(WORK)
    where = known.tables.scope.text
    if work is None:
        if known.log_end:
            raise replaced(where)
        return known
    with work:
        reading = _Reading(known, Place(work, LOG, where, is_locked))
        intent = reading.intent()
        file = work.file(LOG)
        if file is not None:
            with file:
                reading.take_log(file)
        elif known.log_end:
            raise replaced(where)
        reading.take_intent(intent)
    return reading.now


class _Reading:
    """Taking the intent and line after line of the log."""

    def __init__(self, known: Loaded, place: Place) -> None:
        self.now = known
        self.place = place
        self.schema = known.tables.schema
        self.scope = known.tables.scope
        self._base_left = 0

    def intent(self) -> Intent | None:
        """The intent, when its commit is in view; one that never counted is cleared."""
        work, tables = self.place.folder, self.now.tables
        file = work.file(INTENT)
        if file is None:
            return None
        with file:
            seen = file.seen()
            if seen.size > _LONGEST_INTENT:
                raise damaged(self.scope)
            data = file.read(seen.size, 0)
        intent = read_intent(self.scope, data)
        if intent is not None and (
            intent.seq > tables.mark.seq
            or tables.digest_at(intent.seq) != intent.digest
        ):
            intent = None
        if intent is None and data and self.place.is_locked:
            # A later commit may have the same digest and no local rows.
            with work.new_file(INTENT) as empty:
                empty.sync()
                seen = empty.seen()
        self.now = self.now._replace(intent=seen)
        return intent

    def take_log(self, file: File) -> None:
        """Take the new lines of the log, or all when it was begun anew."""
        seen, before = file.seen(), self.now.log
        if before is None or seen.inode != before.inode:
            self.now = self.now._replace(has_synced_names=False)
        first = file.read(_HEAD_BYTES, 0).partition(b"\n")[0]
        if self.now.log_end and (
            first != self.now.log_head or seen.size < self.now.log_end
        ):
            self._drop_all()
        for line in read_lines(file, self.now.log_end):
            whole: Line | None = line
            if not line.is_ended:
                whole = completed(self.place, line, self._verifies)
            elif is_unwritten(line) and line.end >= file.seen().size:
                whole = None
            if whole is None or not self._take(whole):
                break
        self.now = self.now._replace(log=seen)

    def _verifies(self, line: bytes) -> bool:
        return verifies(line, self.scope)

    def _drop_all(self) -> None:
        """Forget all local rows, to read another log from its beginning."""
        tables = self.now.tables
        drops = [self.schema.of(row).ref(row) for row in local_rows(tables)]
        self.now = self.now._replace(
            tables=tables.apply(local_change(tables, 0, (), drops)),
            log_end=0,
            log_head=b"",
            log_base=0,
            log_number=0,
        )

    def _take(self, line: Line) -> bool:
        """Take one line; False when its commit is not in view yet."""
        if not line.start:
            return self._take_head(line)
        now = self.now
        entry = read_entry(self.schema, self.scope, line.data)
        if not self._is_in_view(entry.seq):
            return False
        if self._base_left:
            self._base_left -= 1
            if entry.number > now.log_number:
                raise damaged(self.scope)
            self._apply(entry)
            self.now = self.now._replace(log_end=line.end, log_base=line.end)
            return True
        if entry.number != now.log_number + 1:
            raise damaged(self.scope)
        if entry.number > now.tables.work:
            self._apply(entry)
        self.now = self.now._replace(
            log_end=line.end, log_number=entry.number, has_synced_log=False
        )
        return True

    def _take_head(self, line: Line) -> bool:
        head = read_head(line.data)
        if head.scope != self.scope:
            raise damaged(self.scope)
        if not self._is_in_view(head.seq):
            # The rows that stand in this log are not those of the commits in view.
            raise Unsure
        self._base_left = head.base
        tables = self.now.tables
        self.now = self.now._replace(
            tables=tables.apply(local_change(tables, head.number, (), ())),
            log_end=line.end,
            log_head=line.data,
            log_base=line.end,
            log_number=head.number,
            has_synced_log=False,
        )
        return True

    def _is_in_view(self, seq: int) -> bool:
        if seq <= self.now.tables.mark.seq:
            return True
        if self.place.is_locked:
            # Local rows never become durable before their commit.
            raise damaged(self.scope)
        return False

    def _apply(self, entry: Entry) -> None:
        tables = self.now.tables
        work = max(entry.number, tables.work)
        change = local_change(tables, work, entry.puts, entry.drops)
        self.now = self.now._replace(tables=tables.apply(change))

    def take_intent(self, intent: Intent | None) -> None:
        """Take the rows of the intent, unless the log has them."""
        now = self.now
        if intent is None or (
            intent.number <= now.log_number and not intent.is_erasure
        ):
            self.now = now._replace(pending=None)
            return
        if intent.number > now.tables.work:
            if intent.number != now.log_number + 1:
                raise damaged(self.scope)
            line = intent.line.removesuffix(b"\n")
            self._apply(read_entry(self.schema, self.scope, line))
        self.now = self.now._replace(pending=intent)
