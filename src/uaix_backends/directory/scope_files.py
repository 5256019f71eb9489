"""The names of the files of a scope; those of local state are in `work_log`."""

from __future__ import annotations

from typing import Final

#: The ledger, as `uaix_core.store.segments` writes it.
SEGMENT: Final = "segment.jsonl"
#: A whole new segment on its way to `SEGMENT`.
NEW_SEGMENT: Final = "segment.new"
#: What may be removed at any time: see `cache`.
CACHE: Final = "tables.cache"
#: A whole new cache on its way to `CACHE`.
NEW_CACHE: Final = "cache.new"
