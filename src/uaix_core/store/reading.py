"""What every backend checks before it reads, and how an order reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from uaix_core.schema.checks import check_key, check_value
from uaix_core.store.port import MAX_KEYS, MAX_SCAN
from uaix_core.values.errors import CallerError, LimitError, SchemaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uaix_core.schema.relations import Key, Relation
    from uaix_core.schema.schema import Schema


@attrs.frozen
class Scan:
    """A checked scan: the full order of its path and the values that bound it."""

    relation: Relation
    path: str
    order: tuple[str, ...]
    prefix: Key
    after: Key
    reverse: bool
    limit: int


def check_limit(limit: int) -> int:
    """Refuse a limit outside 1..`MAX_SCAN` (``limit.scan``)."""
    if type(limit) is not int or not 1 <= limit <= MAX_SCAN:
        raise LimitError(
            f"a limit is between 1 and {MAX_SCAN}", code="limit.scan", path="limit"
        )
    return limit


def check_get(schema: Schema, name: str, key: Key) -> Relation:
    """The relation, when the key fits it."""
    relation = schema.relation(name)
    check_key(relation, key)
    return relation


def check_get_many(schema: Schema, name: str, keys: Sequence[Key]) -> Relation:
    """The relation, when there are at most `MAX_KEYS` keys and all fit it."""
    relation = schema.relation(name)
    if len(keys) > MAX_KEYS:
        raise LimitError(
            f"more than {MAX_KEYS} keys at once", code="limit.keys", path=name
        )
    for key in keys:
        check_key(relation, key)
    return relation


def check_scan(  # noqa: PLR0913 - mirrors Snapshot.scan
    schema: Schema,
    name: str,
    path: str,
    prefix: Sequence[Any],
    *,
    after: Sequence[Any] | None,
    reverse: bool,
    limit: int,
) -> Scan:
    """Refuse a scan that the relation can't answer; return it with its order."""
    relation = schema.relation(name)
    order = relation.path_fields(path)
    check_limit(limit)
    rest = tuple(after) if isinstance(after, (tuple, list)) else ()
    if after is not None and not rest:
        raise CallerError(
            "after names at least one value", code="scan.after", path=name
        )
    if len(prefix) + len(rest) > len(order):
        raise CallerError(
            f"the order has {len(order)} fields", code="scan.values", path=name
        )
    for field, value in zip(order, (*prefix, *rest), strict=False):
        check_value(relation.fields[field], value, name)
    return Scan(relation, path, order, tuple(prefix), rest, reverse, limit)


def check_due(schema: Schema, name: str, limit: int) -> tuple[Relation, str]:
    """The relation and its due field; refuse one that declares none."""
    relation = schema.relation(name)
    check_limit(limit)
    if relation.due is None:
        raise SchemaError("the relation has no due instant", code="scan.due", path=name)
    return relation, relation.due
