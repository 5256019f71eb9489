"""Catching up with a segment: from its new lines to rows and views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_backends.directory.files import replaced
from uaix_backends.directory.lines import is_unwritten, read_lines
from uaix_backends.directory.loaded import Loaded, Place, completed
from uaix_backends.directory.segment import SEGMENT, read_commit, scope_in_head
from uaix_core.store.advance import Advance, advance, drive, replay_views
from uaix_core.store.tables import Tables
from uaix_core.values.errors import IntegrityError

if TYPE_CHECKING:
    from uaix_backends.directory.files import File, Folder
    from uaix_backends.directory.lines import Line
    from uaix_core.schema.commits import Recorded


def read_segment(known: Loaded, folder: Folder, *, is_locked: bool) -> Loaded:
    """The state once all whole lines of the segment are taken."""
    file = folder.file(SEGMENT)
    where = known.tables.scope.text
    if file is None:
        if known.segment_end:
            raise replaced(where)
        return known
    with file:
        seen, before = file.seen(), known.segment
        if before is not None and (
            seen.inode != before.inode or seen.size < known.segment_end
        ):
            known = anew(known)
        if before is None or seen.inode != before.inode:
            known = known._replace(has_synced_names=False)
        reading = _Reading(known, Place(folder, SEGMENT, where, is_locked))
        reading.take_all(file)
        return reading.now._replace(segment=seen)


def anew(known: Loaded) -> Loaded:
    """The same scope with nothing read."""
    return Loaded(Tables(known.tables.schema, known.tables.scope))


class _Reading:
    """Taking line after line."""

    def __init__(self, known: Loaded, place: Place) -> None:
        self.now = known
        self.place = place
        self.schema = known.tables.schema
        self.scope = known.tables.scope

    def take_all(self, file: File) -> None:
        for line in read_lines(file, self.now.segment_end):
            if not line.is_ended:
                self._take_last(line)
                return
            try:
                self._take(line)
            except IntegrityError:
                if is_unwritten(line) and line.end >= file.seen().size:
                    return
                raise

    def _take_last(self, line: Line) -> None:
        if not line.start:
            return  # A first line that was cut short: no commit was acknowledged.
        mark = self.now.tables.mark

        def verifies(data: bytes) -> bool:
            try:
                read_commit(self.schema, self.scope, data, mark)
            except IntegrityError:
                return False
            return True

        place = self.place._replace(where=f"{self.scope.text}#{mark.seq + 1}")
        whole = completed(place, line, verifies)
        if whole is not None:
            self._take(whole)

    def _take(self, line: Line) -> None:
        now = self.now
        if not line.start:
            if scope_in_head(line.data) != self.scope:
                raise IntegrityError(
                    "a segment of another scope",
                    code="storage.segment",
                    path=self.scope.text,
                )
            self.now = now._replace(segment_end=line.end, has_synced_lines=False)
            return
        tables = now.tables
        recorded = read_commit(self.schema, self.scope, line.data, tables.mark)
        unerased = [
            ref
            for ref in recorded.commit.erases
            if (row := tables.get(ref)) is not None
            and self.schema.relation(ref.relation).has_body(row)
        ]
        change = self._erased(recorded) if unerased else self._added(recorded)
        self.now = now._replace(
            tables=tables.apply(change),
            segment_end=line.end,
            unerased=now.unerased.union(unerased) if unerased else now.unerased,
            has_synced_lines=False,
        )

    def _added(self, recorded: Recorded) -> Advance:
        """The change of a commit of the history that survives."""
        tables = self.now.tables
        for row in recorded.commit.adds:
            if tables.get(self.schema.of(row).ref(row)) is not None:
                raise IntegrityError(
                    "a stored commit adds a row that exists",
                    code="storage.segment",
                    path=f"{self.scope.text}#{recorded.seq}",
                )
        puts, drops = drive(replay_views(self.schema, recorded), tables.answer)
        return Advance(
            recorded,
            recorded.mark,
            tables.work,
            adds=recorded.commit.adds,
            puts=tuple(puts),
            drops=tuple(drops),
        )

    def _erased(self, recorded: Recorded) -> Advance:
        """The change of an erasure that the segment does not show yet."""
        tables = self.now.tables
        steps = advance(self.schema, recorded, tables.mark, tables.work)
        return drive(steps, tables.answer)
