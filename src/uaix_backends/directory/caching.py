"""When the cache of a scope is read, written and removed.

It is read when nothing of the scope is known yet, and written when a store is closed
that has come far beyond it. Both are done by whoever can: without a cache everything
works, and what fails here changes no answer.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final, NamedTuple

from uaix_backends.directory.cache import NOT_OURS, decoded, encoded, place_of
from uaix_backends.directory.loaded import Loaded
from uaix_backends.directory.scope_files import CACHE, NEW_CACHE, SEGMENT
from uaix_core.store.segments import commit_line, mark_in
from uaix_core.values.canonical import sha256_hex

if TYPE_CHECKING:
    from uaix_backends.directory.cache import Place
    from uaix_backends.directory.files import Folder
    from uaix_core.schema.commits import Mark

#: A cache is written once so many commits, and this part of those in the last one,
#: would have to be read without it.
_COMMITS: Final = 1_000
_PART: Final = 1 / 12
#: A cache is not longer than the segment by more than this factor and rest; what is
#: longer isn't ours and is not read.
_FACTOR: Final = 4
_REST: Final = 1 << 24


def is_worth_writing(loaded: Loaded) -> bool:
    """Whether opening the scope without a new cache would take long."""
    beyond = loaded.tables.mark.seq - loaded.cached
    return (
        beyond >= _COMMITS + loaded.cached * _PART
        and not loaded.is_unfinished
        and loaded.segment is not None
    )


def read_cache(nothing: Loaded, folder: Folder) -> Loaded:
    """The state in the cache, or ``nothing`` with what is known of a bad cache."""
    try:
        found = _read(nothing, folder)
    except (OSError, MemoryError, *NOT_OURS):
        found = None
    if found is not None:
        return found
    with contextlib.suppress(OSError):
        return nothing._replace(has_dead_cache=folder.status(CACHE) is not None)
    return nothing


def _read(nothing: Loaded, folder: Folder) -> Loaded | None:
    data = _bytes(folder)
    if data is None:
        return None
    tables = nothing.tables
    found = decoded(tables.schema, tables.scope, data)
    if found is None:
        return None
    state, place = found
    if not _stands(folder, place, state.mark):
        return None
    return Loaded(
        state,
        segment_end=place.end,
        last_start=place.start,
        cached=state.mark.seq,
    )


def _bytes(folder: Folder) -> bytes | None:
    """All bytes of the cache, when it is of a size that it can have."""
    segment, file = folder.status(SEGMENT), folder.file(CACHE)
    if file is None:
        return None
    with file:
        size = file.seen().size
        if segment is None or size > _FACTOR * segment.st_size + _REST:
            return None
        data = file.read(size, 0)
    return data if len(data) == size else None


def _stands(folder: Folder, place: Place, mark: Mark) -> bool:
    """Whether the segment holds the last commit of a cache where it was."""
    file = folder.file(SEGMENT)
    if file is None:
        return False
    with file:
        line = file.read(place.end - place.start, place.start)
    if sha256_hex(line) != place.sha256:
        return False
    # What follows is chained to this mark, so it is not taken on trust.
    return mark_in(line) == mark


class Made(NamedTuple):
    """A cache that is to be written: its bytes, and of which state they are."""

    data: bytes
    mark: Mark
    place: Place


def cache_of(loaded: Loaded, folder: Folder) -> Made | None:
    """The cache of a state; None when the segment doesn't end so any more."""
    tables = loaded.tables
    (last,) = tables.commits(tables.mark.seq - 1)
    place = place_of(loaded.last_start, commit_line(tables.schema, last))
    if place.end != loaded.segment_end or not _stands(folder, place, tables.mark):
        return None
    return Made(encoded(tables, place), tables.mark, place)


def write_cache(now: Loaded, folder: Folder, made: Made) -> Loaded:
    """Put a cache in its place, under the scope's lock.

    When bodies were erased since it was made, its last commit no longer stands where
    it did, and the cache would bring them back: then nothing is written.
    """
    if not _stands(folder, made.place, made.mark):
        return now
    try:
        with folder.new_file(NEW_CACHE) as file:
            file.write(made.data)
        folder.rename(NEW_CACHE, CACHE)
    except OSError:
        with contextlib.suppress(OSError):
            folder.remove(NEW_CACHE)
        return now
    return now._replace(cached=made.mark.seq, has_dead_cache=False)


def remove_cache(folder: Folder) -> None:
    """Remove the cache and one on its way, because they hold what must go.

    Raises:
        StorageError: the medium failed.

    """
    for name in (CACHE, NEW_CACHE):
        # A folder of that name is none of ours and holds nothing of ours.
        with contextlib.suppress(IsADirectoryError):
            folder.remove(name)
