"""The view of the review room: the conflicts that wait for a person.

An erasure takes the path back and nothing else: a candidate whose content is gone is
still a conflict that somebody has to close.
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


def reduce_reviews(recorded: Recorded, erased: Mapping[Ref, Row]) -> Steps:
    """Open what lost, and close what was decided."""
    lost = [row for row in erased.values() if isinstance(row, Conflict)]
    before = yield {_ref(row) for row in lost}
    adds = recorded.commit.adds
    opened = [
        OpenConflict(
            package_id=row.package_id,
            record_id=row.record_id,
            conflict_id=row.conflict_id,
            opened_at=recorded.recorded_at,
            actor_kind=row.actor_kind,
            actor_id=row.actor_id,
            path=row.path,
        )
        for row in adds
        if isinstance(row, Conflict)
    ]
    closed = [
        Ref(OPEN_CONFLICT.name, (row.package_id, row.record_id, row.conflict_id))
        for row in adds
        if isinstance(row, Review) and row.conflict_id is not None
    ]
    blank = [_without_path(row) for ref, row in before.items() if ref not in closed]
    return Changes(puts=[*opened, *blank], drops=closed)


def _ref(row: Conflict) -> Ref:
    return Ref(OPEN_CONFLICT.name, (row.package_id, row.record_id, row.conflict_id))


def _without_path(row: Row) -> Row:
    # The version stays: nobody has decided anything.
    values = zip(OPEN_CONFLICT.columns, OPEN_CONFLICT.values(row), strict=True)
    kept = tuple(None if name == "path" else value for name, value in values)
    return OPEN_CONFLICT.make(kept, row.version)


REVIEW_ROOM = Room("review", (REVIEW, OPEN_CONFLICT), reduce_reviews)
