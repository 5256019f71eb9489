"""What one store object knows of a scope and how far it has read the files for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from uaix_backends.directory.files import replaced
from uaix_backends.directory.lines import Tail, judge_tail
from uaix_core.schema.commits import Commit, Recorded
from uaix_core.store.advance import Advance
from uaix_core.values.errors import IntegrityError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from uaix_backends.directory.files import Folder, Seen
    from uaix_backends.directory.lines import Line
    from uaix_backends.directory.work_log import Intent
    from uaix_core.schema.relations import Ref
    from uaix_core.schema.rows import Row
    from uaix_core.store.tables import Tables


class Unsure(Exception):  # noqa: N818 - a signal inside this backend, not an error
    """A reader without the lock met what may be on its way or may be damage."""


class Loaded(NamedTuple):
    """A scope's state and how far the files were read for it."""

    tables: Tables
    segment: Seen | None = None
    segment_end: int = 0
    #: Where the last line of the segment that was read begins.
    last_start: int = 0
    intent: Seen | None = None
    log: Seen | None = None
    log_end: int = 0
    #: The first line of the log, which no other log of this scope has.
    log_head: bytes = b""
    #: How long the log was when it was begun.
    log_base: int = 0
    #: The work number of the log's last line.
    log_number: int = 0
    #: The intent, while its commit is in the chain and the log lacks its rows.
    pending: Intent | None = None
    #: Rows whose erasure is in the chain while the segment still has their bodies.
    unerased: frozenset[Ref] = frozenset()
    #: Whether all lines of the segment that were read are known to be durable.
    has_synced_lines: bool = False
    #: Whether all lines of the log that were read are known to be durable.
    has_synced_log: bool = False
    #: Whether the names of the files and folders are known to be durable.
    has_synced_names: bool = False
    #: The seq up to which there is a cache, 0 without one.
    cached: int = 0
    #: Whether there is a cache that doesn't count; it may hold erased bodies.
    has_dead_cache: bool = False

    @property
    def is_unfinished(self) -> bool:
        """Whether an erasure was cut short, so that some of its bytes may be left."""
        pending = self.pending
        return (
            bool(self.unerased)
            or self.has_dead_cache
            or (pending is not None and pending.is_erasure)
        )


def local_change(
    tables: Tables, work: int, puts: Sequence[Row], drops: Sequence[Ref]
) -> Advance:
    """A change of local rows alone, for `Tables.apply`."""
    mark = tables.mark
    commit = Commit(tables.scope, mark.recorded_at)
    recorded = Recorded(mark.seq, mark.recorded_at, mark.digest, commit)
    return Advance(recorded, mark, work, puts=tuple(puts), drops=tuple(drops))


class Place(NamedTuple):
    """A file that is read, and what an error about it names."""

    folder: Folder
    name: str
    where: str
    is_locked: bool


def completed(
    place: Place, line: Line, verifies: Callable[[bytes], bool]
) -> Line | None:
    """A last line without its newline, when it was whole and has it now.

    None when the line is torn: its writer acknowledged nothing.

    Raises:
        Unsure: without the lock, when it isn't torn: its newline may be on its way.
        IntegrityError: its newline has become another byte.

    """
    tail = judge_tail(line.data, verifies)
    if tail is Tail.TORN:
        return None
    if not place.is_locked:
        raise Unsure
    if tail is Tail.DAMAGED:
        raise IntegrityError(
            "the last line of a file is damaged", code="storage.line", path=place.where
        )
    data = line.data.rstrip(b"\0")
    file = place.folder.file(place.name, write=True)
    if file is None:
        raise replaced(place.where)
    with file:
        file.append(b"\n", line.start + len(data))
        file.sync()
    return line._replace(data=data, is_ended=True)
