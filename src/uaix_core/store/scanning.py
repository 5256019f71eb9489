"""Reading all rows of a path, however many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_core.schema.relations import BY_KEY, values_of
from uaix_core.store.port import MAX_SCAN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from uaix_core.schema.relations import Relation
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot


def all_rows(
    snapshot: Snapshot,
    relation: Relation,
    path: str = BY_KEY,
    prefix: Sequence[str | int] = (),
    *,
    page: int | None = None,
) -> Iterator[Row]:
    """Every row of a relation in the order of a path, read page by page.

    ``prefix`` are values of the first fields of the path; only rows with these come.
    ``page`` is how many rows are read at a time: fewer where they are large.
    """
    limit = page or MAX_SCAN
    after = None
    place = values_of(relation.orders[path][len(prefix) :])
    while True:
        rows = snapshot.scan(
            relation.name, path, tuple(prefix), after=after, limit=limit
        )
        yield from rows
        if len(rows) < limit:
            return
        after = place(rows[-1])
