"""Catching up with a segment: from its new lines to rows and views."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from uaix_backends.directory.files import replaced
from uaix_backends.directory.lines import is_unwritten, read_lines
from uaix_backends.directory.loaded import Loaded, Place, completed
from uaix_backends.directory.scope_files import SEGMENT
from uaix_core.store.advance import advance, drive
from uaix_core.store.replayed import Replayed
from uaix_core.store.segments import read_commit, scope_in_head
from uaix_core.store.tables import Tables
from uaix_core.values.errors import IntegrityError

if TYPE_CHECKING:
    from uaix_backends.directory.files import File, Folder
    from uaix_backends.directory.lines import Line
    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.relations import Ref


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
        return reading.take_all(file)._replace(segment=seen)


def anew(known: Loaded) -> Loaded:
    """The same scope with nothing read."""
    return Loaded(Tables(known.tables.schema, known.tables.scope))


class _Reading:
    """Taking line after line."""

    def __init__(self, known: Loaded, place: Place) -> None:
        self.known = known
        self.place = place
        self.schema = known.tables.schema
        self.scope = known.tables.scope
        self.state = Replayed(known.tables)
        self.end = known.segment_end
        self.last_start = known.last_start
        self.unerased = known.unerased

    def take_all(self, file: File) -> Loaded:
        """The state after all lines of the file that count."""
        for line in read_lines(file, self.end):
            if not line.is_ended:
                self._take_last(line)
                break
            try:
                self._take(line)
            except IntegrityError:
                if is_unwritten(line) and line.end >= file.seen().size:
                    break
                raise
        known = self.known
        return known._replace(
            tables=self.state.tables(),
            segment_end=self.end,
            last_start=self.last_start,
            unerased=self.unerased,
            has_synced_lines=known.has_synced_lines and self.end == known.segment_end,
        )

    def _take_last(self, line: Line) -> None:
        if not line.start:
            return  # A first line that was cut short: no commit was acknowledged.
        mark = self.state.mark

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
        if not line.start:
            if scope_in_head(line.data) != self.scope:
                raise IntegrityError(
                    "a segment of another scope",
                    code="storage.segment",
                    path=self.scope.text,
                )
        else:
            mark = self.state.mark
            recorded = read_commit(self.schema, self.scope, line.data, mark)
            erased = [ref for ref in recorded.commit.erases if self._has_body(ref)]
            if erased:
                self._erase(recorded, erased)
            else:
                self.state.add(recorded)
        self.end = line.end
        self.last_start = line.start

    def _has_body(self, ref: Ref) -> bool:
        row = self.state.get(ref)
        return row is not None and self.schema.relation(ref.relation).has_body(row)

    def _erase(self, recorded: Recorded, refs: list[Ref]) -> None:
        """Take an erasure that the segment does not show yet."""
        tables = self.state.tables()
        steps = advance(self.schema, recorded, tables.mark, tables.work)
        change = drive(steps, tables.answer)
        # Local rows are not there yet: those about the erased ones go later.
        change = attrs.evolve(change, work=tables.work)
        self.state = Replayed(tables.apply(change))
        self.unerased = self.unerased.union(refs)
