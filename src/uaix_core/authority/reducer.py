"""The view of the authority room: the latest version of each namespace.

It needs headers only, so an erasure leaves it as it is: a version whose document is
gone was registered all the same, and no lower one comes after it.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from uaix_core.authority.relations import (
    LATEST_REGISTRATION,
    REGISTRATION,
    LatestRegistration,
    Registration,
)
from uaix_core.schema.reducers import Changes
from uaix_core.schema.relations import Ref
from uaix_core.schema.schema import Room

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.reducers import Steps
    from uaix_core.schema.rows import Row


def latest_ref(registry: str, namespace: str) -> Ref:
    """The name of a namespace's row in the view."""
    return Ref(LATEST_REGISTRATION.name, (registry, namespace))


def reduce_registrations(recorded: Recorded, _erased: Mapping[Ref, Row]) -> Steps:
    """Follow the highest version of each namespace."""
    added = [row for row in recorded.commit.adds if isinstance(row, Registration)]
    refs = {latest_ref(row.registry, row.namespace) for row in added}
    latest: dict[Ref, Row] = dict((yield refs))
    for row in added:
        ref = latest_ref(row.registry, row.namespace)
        new = LatestRegistration(
            row.registry,
            row.namespace,
            row.document_version,
            row.receipt_id,
            recorded.recorded_at,
        )
        latest[ref] = max(latest.get(ref, new), new, key=_version_of)
    return Changes(puts=tuple(latest.values()))


_version_of = attrgetter("document_version")

AUTHORITY_ROOM = Room(
    "authority", (REGISTRATION, LATEST_REGISTRATION), reduce_registrations
)
