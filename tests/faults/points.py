"""Which points of a work are struck: all, or a share that a seed spreads.

``UAIX_FAULTS=all`` strikes every point. Otherwise the works share `KILL_POINTS` kills,
and ``UAIX_FAULTS_SEED`` says which; without it the day does, so that the runs of one
day repeat each other and those of another day see other points.
"""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

IS_ALL: Final = os.environ.get("UAIX_FAULTS") == "all"
SEED: Final = os.environ.get("UAIX_FAULTS_SEED") or datetime.now(UTC).date().isoformat()

#: Kills in an ordinary run, over all works and backends.
KILL_POINTS: Final = 200
#: At least so many of each backend.
FEWEST: Final = 20

_P = TypeVar("_P")


def chosen(name: str, points: Iterable[_P], share: int) -> list[_P]:
    """All points of what is called so, or a share of them in a short run."""
    found = list(points)
    return found if IS_ALL else spread(name, found, share)


def spread(name: str, points: Sequence[_P], share: int) -> list[_P]:
    """As many points as this, in their order; the seed says which."""
    ranks = {
        number: hashlib.sha256(f"{SEED} {name} {number}".encode()).digest()
        for number in range(len(points))
    }
    return [
        points[number]
        for number in sorted(sorted(ranks, key=ranks.__getitem__)[:share])
    ]
