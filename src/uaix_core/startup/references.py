"""Pointers from one file of a package to another, and whether they lead somewhere.

A pointer is what stands under one of a few labels: a path below ``.uai/`` or
``evidence/``, or ``record:`` and the stable id of one. Other words there are words:
addresses of the web, and the files of a project, lie outside of the package.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, cast

from uaix_core.packages.dimensions import REVIEWED_EXCERPTS
from uaix_core.packages.relations import DIMENSION
from uaix_core.store.scanning import all_rows
from uaix_core.values.ids import ID_PATTERN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core.packages.relations import Dimension
    from uaix_core.store.port import Snapshot

#: The labels, in folded spelling, under which a file points to others.
LABELS: Final = (
    "applies_to",
    "depends_on",
    "points_to",
    "reference",
    "references",
    "refers_to",
    REVIEWED_EXCERPTS,
    "see",
    "see_also",
)

#: What may stand beside a path in a sentence; whatever else does is part of another
#: name, such as an address.
_path = re.compile(
    r"(?<![^\s\"'`(<\[,;])(?:\.uai|evidence)/[^\s\"'`)>\],;#]*[^\s\"'`)>\],;#.:!?]"
).findall
_record = re.compile(rf"(?<![\w:])record:({ID_PATTERN})").findall


def pointing_rows(snapshot: Snapshot, package_id: str) -> Iterator[Dimension]:
    """The values of a package that stand under a label which points."""
    for label in LABELS:
        rows = all_rows(snapshot, DIMENSION, "by_field", (package_id, label))
        yield from cast("Iterator[Dimension]", rows)


def pointed_at(text: str) -> tuple[list[str], list[str]]:
    """The paths and the stable ids that a text points to."""
    return _path(text), [found.rstrip(".") for found in _record(text)]


def line_of(body: bytes, label: str, target: str) -> int:
    """The line of a body, from 1 on, in which a pointer under a label stands.

    It is 0 where the target isn't written as it is read, as in JSON with escapes.
    """
    lines = body.decode("utf-8", "replace").split("\n")
    below = next((n for n, line in enumerate(lines) if label in line), 0)
    for number, line in enumerate(lines[below:], below + 1):
        if target in line:
            return number
    return 0
