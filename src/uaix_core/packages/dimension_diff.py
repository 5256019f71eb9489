"""Matching the labelled fields of two states of a file.

Source: UAIX package format v0.1, "Bodies".
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from uaix_core.packages.difference import DimensionDiff

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from uaix_core.packages.dimensions import DimensionField

#: What makes two values of a field the same one: first all of it, then what is said,
#: then the place alone.
_SAMENESS: Final[tuple[Callable[[DimensionField], object], ...]] = (
    lambda row: (row.value, row.disclosure, row.depth_level),
    lambda row: row.value,
    lambda _row: None,
)


def dimension_diffs(
    before: Sequence[DimensionField], after: Sequence[DimensionField]
) -> Iterator[DimensionDiff]:
    """What differs between the labelled fields of two states of a file.

    Fields are the same ones by section and name. Of several values of one field those
    that are equal go first, then those that say the same under other marks, and the
    rest in order: so a changed value stands beside what came in its place.
    """
    groups: dict[tuple[str, str], tuple[list[DimensionField], list[DimensionField]]]
    groups = {}
    for side, rows in enumerate((before, after)):
        for row in rows:
            groups.setdefault((row.section, row.field), ([], []))[side].append(row)
    for (section, field), (olds, news) in groups.items():
        for old, new in _matched(olds, news):
            yield DimensionDiff(field, section, old, new)


def _matched(
    olds: list[DimensionField], news: list[DimensionField]
) -> Iterator[tuple[DimensionField | None, DimensionField | None]]:
    """The values of one field that are not the same, each beside its successor."""
    matched: list[tuple[DimensionField, DimensionField]] = []
    for is_same_by, key in enumerate(_SAMENESS):
        waiting: dict[object, deque[DimensionField]] = {}
        for new in news:
            waiting.setdefault(key(new), deque()).append(new)
        left = []
        for old in olds:
            same = waiting.get(key(old))
            if not same:
                left.append(old)
            elif is_same_by:
                matched.append((old, same.popleft()))
            else:
                same.popleft()
        olds = left
        news = [new for rows in waiting.values() for new in rows]
        news.sort(key=lambda row: row.ordinal)
    yield from sorted(matched, key=lambda pair: pair[0].ordinal)
    yield from ((old, None) for old in olds)
    yield from ((None, new) for new in news)
