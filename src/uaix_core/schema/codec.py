"""Rows as canonical JSON: headers for the chain, whole rows for the file projection.

A field that is None is absent from the JSON, so that a relation can gain optional
fields and old digests still hold. An erased body is the absence of ``body``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uaix_core.values.errors import CallerError, IntegrityError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.schema.relations import Key, Plan, Relation
    from uaix_core.schema.rows import Field, Row


def header_of(relation: Relation, row: Row) -> dict[str, Any]:
    """What the chain covers: every field but body and salt, as JSON values."""
    return _members(relation.header_plan, relation.header_values(row))


def body_of(relation: Relation, row: Row) -> dict[str, Any] | None:
    """The body and its salt as JSON values, or None when there is none (any more)."""
    if not relation.has_body(row):
        return None
    values = (*relation.body_values(row), row.salt)  # type: ignore[attr-defined]
    return _members(relation.body_plan, values)


def _members(plan: Plan, values: tuple[Any, ...]) -> dict[str, Any]:
    return {
        name: out(value) if out else value
        for (name, out), value in zip(plan, values, strict=True)
        if value is not None
    }


def key_out(relation: Relation, key: Key) -> list[Any]:
    """A key as JSON values."""
    rules = (relation.fields[name].rules for name in relation.key)
    return [
        rule.to_json(value) if rule.to_json else value
        for rule, value in zip(rules, key, strict=True)
    ]


def key_in(relation: Relation, values: list[Any]) -> Key:
    """A key from JSON values."""
    return tuple(
        _read(relation.fields[name], value)
        for name, value in zip(relation.key, values, strict=True)
    )


def row_in(
    relation: Relation,
    header: Mapping[str, Any],
    body: Mapping[str, Any] | None = None,
    version: int = 0,
) -> Row:
    """The row of a header and a body as `header_of` and `body_of` wrote them.

    Raises:
        IntegrityError: ``storage.row`` when they aren't that.

    """
    members = {**header, **(body or {})}
    if not members.keys() <= relation.fields.keys():
        raise IntegrityError(
            "a stored row has unknown fields", code="storage.row", path=relation.name
        )
    try:
        values = [_read(field, members.get(field.name)) for field in relation.ordered]
        return relation.make(values, version)
    except (CallerError, TypeError, ValueError) as error:
        raise IntegrityError(
            "a stored row can't be read", code="storage.row", path=relation.name
        ) from error


def with_body(relation: Relation, row: Row, body: Mapping[str, Any]) -> Row:
    """An erased row with its body again, as `body_of` wrote it.

    Raises:
        IntegrityError: ``storage.row`` when it is the body of no such row.

    """
    values = [
        _read(field, body[field.name]) if field.name in body else value
        for field, value in zip(relation.ordered, relation.values(row), strict=True)
    ]
    whole = relation.make(values, row.version)
    is_its_body = body.keys() == {*relation.body, "salt"}
    if not is_its_body or relation.digest_body(whole) != row.body_digest:  # type: ignore[attr-defined]
        raise IntegrityError(
            "a stored body is that of another row",
            code="storage.row",
            path=relation.name,
        )
    return whole


def _read(field: Field, value: Any) -> Any:
    read = field.rules.from_json
    return value if value is None or read is None else read(value)
