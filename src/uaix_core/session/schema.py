"""The schema of the product: the rooms' relations and reducers, composed."""

from __future__ import annotations

from uaix_core.history.reducer import HISTORY_ROOM
from uaix_core.packages.reducer import ACCEPTANCE_ROOM, PACKAGES_ROOM
from uaix_core.schema.schema import Schema

#: Every backend's default schema. Rooms are listed from the bottom up, because a
#: reducer sees what those before it have put.
SCHEMA = Schema(HISTORY_ROOM, PACKAGES_ROOM, ACCEPTANCE_ROOM)
