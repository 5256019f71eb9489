"""Erasing bodies: a whole new segment takes the place of the old one by one rename.

Local rows about an erased row go in the same operation: an intent says so before the
rename, and the log is rewritten after it. Whoever finds such an intent in the chain,
or an erasure whose body is still there, finishes what was cut short.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from uaix_backends.directory.caching import remove_cache
from uaix_backends.directory.files import Seen, replaced
from uaix_backends.directory.lines import read_lines
from uaix_backends.directory.loaded import local_change
from uaix_backends.directory.scope_files import NEW_CACHE, NEW_SEGMENT, SEGMENT
from uaix_backends.directory.work_log import NEW_LOG, WORK, compacted
from uaix_core.store.advance import Find
from uaix_core.store.segments import commit_line, without_bodies

if TYPE_CHECKING:
    from collections.abc import Iterable

    from uaix_backends.directory.files import Folder
    from uaix_backends.directory.writing import Writing
    from uaix_core.schema.relations import Ref
    from uaix_core.store.advance import Advance
    from uaix_core.store.tables import Tables

#: Lines are written together up to this many bytes.
_CHUNK: Final = 1 << 20


def erase(writing: Writing, change: Advance) -> None:
    """Make a change durable that takes the bodies of some rows."""
    before = writing.now
    writing.settle()
    writing.sync_names()
    remove_cache(writing.folder)
    writing.now = writing.now._replace(cached=0, has_dead_cache=False)
    tables = before.tables.apply(change)
    has_work = bool(writing.now.log_end) or change.work > before.tables.work
    new_log = compacted(tables)
    line = commit_line(writing.schema, change.recorded)
    try:
        end = _write_new_segment(writing, change.erased, line)
        if has_work:
            writing.put_intent(writing.intent_of(change, is_erasure=True))
            with writing.work() as work:
                writing.write_new_log(work, new_log[0])
    except OSError:
        _remove_new_files(writing)
        raise
    try:
        _take_new_segment(writing, tables, end, len(line))
    except OSError as error:
        raise writing.unknown(change.mark.seq) from error
    if has_work:
        try:
            with writing.work() as work:
                writing.take_new_log(work, *new_log)
                seen = writing.clear_intent(work)
        except OSError as error:
            raise writing.unknown(change.mark.seq) from error
        writing.now = writing.now._replace(intent=seen, pending=None)
    writing.keep(writing.now)


def finish(writing: Writing) -> None:
    """Finish erasures that were cut short, and remove files that were on their way."""
    now = writing.now
    if now.has_dead_cache:
        # Whoever can't remove it finds it again at the next opening.
        with contextlib.suppress(OSError):
            remove_cache(writing.folder)
        writing.keep(now._replace(has_dead_cache=False))
        now = writing.now
    if now.is_unfinished:
        remove_cache(writing.folder)
        tables = without_rows_about(now.tables, now.unerased)
        writing.sync_lines()
        writing.sync_names()
        if now.log_end or tables.work:
            data, head = compacted(tables)
            with writing.work() as work:
                writing.write_new_log(work, data)
                writing.now = writing.now._replace(tables=tables)
                writing.take_new_log(work, data, head)
                seen = writing.clear_intent(work)
            writing.keep(writing.now._replace(intent=seen))
        if now.unerased:
            last = now.segment_end - now.last_start
            end = _write_new_segment(writing, now.unerased, b"")
            _take_new_segment(writing, tables, end, last)
        writing.keep(writing.now._replace(unerased=frozenset(), pending=None, cached=0))
    _remove_new_files(writing)


def without_rows_about(tables: Tables, refs: Iterable[Ref]) -> Tables:
    """The state once the local rows about these rows are gone."""
    schema = tables.schema
    drops = [
        relation.ref(row)
        for ref in refs
        for relation, path in schema.about.get(ref.relation, ())
        for row in tables.find(Find(relation.name, path, ref.key))
    ]
    if not drops:
        return tables
    return tables.apply(local_change(tables, tables.work + 1, (), drops))


def _write_new_segment(writing: Writing, erased: Iterable[Ref], line: bytes) -> int:
    """Write the segment without these bodies and with one more line; its length."""
    now, scope = writing.now, writing.scope
    # A row's version is the seq of its commit, and that is the number of its line.
    gone: dict[int, list[Ref]] = {}
    for ref in erased:
        row = now.tables.get(ref)
        if row is not None:
            gone.setdefault(row.version, []).append(ref)
    old = writing.folder.file(SEGMENT)
    if old is None:
        raise replaced(scope.text)
    length, parts, waiting = 0, list[bytes](), 0
    with old, writing.folder.new_file(NEW_SEGMENT) as new:
        for number, found in enumerate(read_lines(old, 0)):
            if found.start >= now.segment_end:
                break
            data = found.data
            if number in gone:
                data = without_bodies(writing.schema, data, gone[number])
            parts += (data, b"\n")
            waiting += len(data) + 1
            if waiting >= _CHUNK:
                new.write(b"".join(parts))
                length, waiting = length + waiting, 0
                parts.clear()
        data = b"".join((*parts, line))
        new.write(data)
        new.sync()
    return length + len(data)


def _take_new_segment(writing: Writing, tables: Tables, end: int, last: int) -> None:
    """Put the new segment in the place of the old one: the moment of the erasure.

    It is ``end`` long, and its last line ``last``.
    """
    folder = writing.folder
    folder.rename(NEW_SEGMENT, SEGMENT)
    folder.sync()
    status = folder.status(SEGMENT)
    writing.now = writing.now._replace(
        tables=tables,
        segment=None if status is None else Seen.of(status),
        segment_end=end,
        last_start=end - last,
        has_synced_lines=True,
    )


def _remove_new_files(writing: Writing) -> None:
    for name in (NEW_SEGMENT, NEW_CACHE):
        with contextlib.suppress(OSError):
            writing.folder.remove(name)
    with contextlib.suppress(OSError):
        work: Folder | None = writing.folder.folder(WORK)
        if work is not None:
            with work:
                work.remove(NEW_LOG)
