"""The schema of the product: the rooms' relations and reducers, composed."""

from __future__ import annotations

from uaix_core.access.reducer import ACCESS_ROOM
from uaix_core.access.sealed_rows import SEALED_ROOM
from uaix_core.authority.reducer import AUTHORITY_ROOM
from uaix_core.history.reducer import HISTORY_ROOM
from uaix_core.leases.relations import LEASES_ROOM
from uaix_core.packages.reducer import ACCEPTANCE_ROOM, PACKAGES_ROOM
from uaix_core.review.reducer import REVIEW_ROOM
from uaix_core.schema.migrations import Migration
from uaix_core.schema.schema import Schema
from uaix_core.startup.relations import STARTUP_ROOM
from uaix_core.tiers.reducer import TIERS_ROOM

#: From the bottom up, because a reducer sees what those before it have put.
ROOMS = (
    HISTORY_ROOM,
    AUTHORITY_ROOM,
    ACCESS_ROOM,
    REVIEW_ROOM,
    PACKAGES_ROOM,
    ACCEPTANCE_ROOM,
    STARTUP_ROOM,
    TIERS_ROOM,
    LEASES_ROOM,
    SEALED_ROOM,
)

#: How a store comes to hold them: what is published is never edited.
MIGRATIONS = (
    Migration(
        1, "base", [relation.name for room in ROOMS for relation in room.relations]
    ),
)

#: Every backend's default schema.
SCHEMA = Schema(*ROOMS, migrations=MIGRATIONS)
