"""Rows as canonical JSON: headers for the chain, whole rows for the file projection.

A field that is None is absent from the JSON, so that a relation can gain optional
fields and old digests still hold. An erased body is the absence of ``body``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from uaix_core.schema.relations import Key, Relation
from uaix_core.schema.rows import Field, Kind, Row
from uaix_core.values.canonical import (
    MAX_SAFE_INTEGER,
    from_base64url,
    to_base64url,
)
from uaix_core.values.errors import CallerError, IntegrityError
from uaix_core.values.instants import format_instant, parse_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_format = lru_cache(maxsize=4096)(format_instant)


def _int_out(value: int) -> int | str:
    return value if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER else str(value)


_OUT: Mapping[Kind, Callable[[Any], Any]] = {
    Kind.INSTANT: _format,
    Kind.INT: _int_out,
    Kind.BYTES: to_base64url,
}
_IN: Mapping[Kind, Callable[[Any], Any]] = {
    Kind.INSTANT: parse_instant,
    Kind.INT: int,
    Kind.BYTES: from_base64url,
}


def header_of(relation: Relation, row: Row) -> dict[str, Any]:
    """What the chain covers: every field but body and salt, as JSON values."""
    return _members(relation, row, relation.header)


def body_of(relation: Relation, row: Row) -> dict[str, Any] | None:
    """The body and its salt as JSON values, or None when there is none (any more)."""
    if not relation.has_body(row):
        return None
    return _members(relation, row, (*relation.body, "salt"))


def _members(relation: Relation, row: Row, names: Iterable[str]) -> dict[str, Any]:
    fields = relation.fields
    members = {}
    for name in names:
        value = getattr(row, name)
        if value is not None:
            out = _OUT.get(fields[name].kind)
            members[name] = out(value) if out else value
    return members


def key_out(relation: Relation, key: Key) -> list[Any]:
    """A key as JSON values."""
    return [
        _OUT[kind](value)
        if (kind := relation.fields[name].kind) in _OUT
        else value
        for name, value in zip(relation.key, key, strict=True)
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
        values = [
            _read(relation.fields[name], members.get(name)) for name in relation.columns
        ]
        return relation.make(values, version)
    except (CallerError, TypeError, ValueError) as error:
        raise IntegrityError(
            "a stored row can't be read", code="storage.row", path=relation.name
        ) from error


def _read(field: Field, value: Any) -> Any:
    if value is None:
        return None
    read = _IN.get(field.kind)
    return read(value) if read else value
