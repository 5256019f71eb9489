"""Catching up with the files of a scope, with or without its lock.

Readers take no lock. The order of reading makes that safe: the segment, the intent,
the log. Local rows of a commit that the segment did not show yet are left for the next
time; those of a commit that it showed stand in the intent or in the log. What looks
odd is read again, and in the end under the lock, where nothing is on its way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_backends.directory.caching import read_cache
from uaix_backends.directory.files import Seen, replaced
from uaix_backends.directory.loaded import Unsure
from uaix_backends.directory.scope_files import SEGMENT
from uaix_backends.directory.segment_reading import anew, read_segment
from uaix_backends.directory.work_log import INTENT, LOG, WORK
from uaix_backends.directory.work_reading import read_work
from uaix_core.values.errors import IntegrityError

if TYPE_CHECKING:
    from uaix_backends.directory.files import Folder
    from uaix_backends.directory.loaded import Loaded

_INTENT = f"{WORK}/{INTENT}"
_LOG = f"{WORK}/{LOG}"


def catch_up(
    known: Loaded, folder: Folder, *, is_locked: bool, reads_cache: bool = True
) -> Loaded:
    """The scope as the files are now.

    Args:
        known: what was known before; fresh tables when nothing was.
        folder: the scope's folder.
        is_locked: whether the caller holds the scope's lock. Only then is anything
            repaired: a last line completed, an intent that never counted cleared.
        reads_cache: whether a state in the cache may be the beginning.

    Raises:
        Unsure: only without the lock.
        IntegrityError: damage.
        StorageError: the files are not those that were read before.

    """
    if (
        _seen(folder, SEGMENT) == known.segment
        and _seen(folder, _INTENT) == known.intent
        and _seen(folder, _LOG) == known.log
    ):
        return known
    start = known
    if reads_cache and not known.segment_end and not known.log_end:
        start = read_cache(known, folder)
    try:
        return _read(start, known, folder, is_locked=is_locked)
    except IntegrityError:
        if not is_locked:
            raise Unsure from None
        if not start.segment_end and not start.log_end:
            raise
    # The files may be others than those of before: read them from their beginning.
    return _read(anew(known), known, folder, is_locked=True)


def _read(start: Loaded, before: Loaded, folder: Folder, *, is_locked: bool) -> Loaded:
    now = read_segment(start, folder, is_locked=is_locked)
    mark = before.tables.mark
    if mark.seq and (
        mark.seq > now.tables.mark.seq or now.tables.digest_at(mark.seq) != mark.digest
    ):
        raise replaced(before.tables.scope.text)
    now = read_work(now, folder, is_locked=is_locked)
    if now.tables.work < before.tables.work:
        raise replaced(before.tables.scope.text)
    return now


def _seen(folder: Folder, name: str) -> Seen | None:
    status = folder.status(name)
    return Seen.of(status) if status is not None else None
