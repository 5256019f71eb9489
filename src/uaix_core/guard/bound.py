"""Bindings to a persona that is gone: they let nobody do anything.

An agent's credential is good for as long as one of the packages that it was bound to
is there: a package that a review rejected is gone. (A required file can't be taken
out of a package that is kept.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import attrs

from uaix_core.packages.relations import PACKAGE, Package

if TYPE_CHECKING:
    from uaix_core.access.standing import Standing
    from uaix_core.store.port import Snapshot


def without_deleted(snapshot: Snapshot, standing: Standing) -> Standing | None:
    """A standing without bindings to what was deleted; None when none is left.

    ``snapshot`` is of the standing's scope.
    """
    bound = [one for one in standing.entitled if one.role == "agent"]
    gone = {one.id for one in bound if _is_deleted(snapshot, one.package_id or "")}
    if not gone:
        return standing
    left = tuple(one for one in standing.entitled if one.id not in gone)
    return attrs.evolve(standing, entitled=left) if left else None


def _is_deleted(snapshot: Snapshot, package_id: str) -> bool:
    row = cast("Package | None", snapshot.get(PACKAGE.name, (package_id,)))
    return row is None or row.state == "rejected"
