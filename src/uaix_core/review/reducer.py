"""The view of the review room: the conflicts that wait for a person.

It needs headers only, so an erasure leaves it as it is: a candidate whose content is
gone is still a conflict that somebody has to close.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_core.history.relations import Conflict
from uaix_core.review.relations import OPEN_CONFLICT, REVIEW, OpenConflict, Review
from uaix_core.schema.reducers import Changes
from uaix_core.schema.relations import Ref
from uaix_core.schema.schema import Room

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.reducers import Steps
    from uaix_core.schema.rows import Row


def reduce_reviews(recorded: Recorded, _erased: Mapping[Ref, Row]) -> Steps:
    """Open what lost, and close what was decided."""
    yield set()
    adds = recorded.commit.adds
    opened = [
        OpenConflict(
            package_id=row.package_id,
            record_id=row.record_id,
            conflict_id=row.conflict_id,
            opened_at=recorded.recorded_at,
            actor_kind=row.actor_kind,
            actor_id=row.actor_id,
        )
        for row in adds
        if isinstance(row, Conflict)
    ]
    closed = [
        Ref(OPEN_CONFLICT.name, (row.package_id, row.record_id, row.conflict_id))
        for row in adds
        if isinstance(row, Review) and row.conflict_id is not None
    ]
    return Changes(puts=opened, drops=closed)


REVIEW_ROOM = Room("review", (REVIEW, OPEN_CONFLICT), reduce_reviews)
