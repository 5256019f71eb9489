"""What rows and commits must be before any store sees them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from uaix_core.schema.commits import MAX_BODY_BYTES, MAX_ROWS, Commit
from uaix_core.schema.relations import Keep, Key, Relation
from uaix_core.schema.rows import Kind, Row
from uaix_core.values.canonical import canonical_bytes, plain_bytes
from uaix_core.values.errors import (
    CallerError,
    ConflictError,
    LimitError,
    SchemaError,
)
from uaix_core.values.ids import is_id
from uaix_core.values.instants import EARLIEST, FOREVER
from uaix_core.values.text import is_storable

if TYPE_CHECKING:
    from collections.abc import Callable

    from uaix_core.schema.rows import Field
    from uaix_core.schema.schema import Schema

_INT64 = 2**63


def _is_canonical_json(value: Any) -> bool:
    if type(value) is not str or not is_storable(value):
        return False
    data = value.encode("utf-8")
    try:
        parsed = json.loads(value)
        return plain_bytes(parsed) == data or canonical_bytes(parsed) == data
    except (ValueError, RecursionError):
        return False


_HOLDS: dict[Kind, Callable[[Any], bool]] = {
    Kind.ID: is_id,
    Kind.INSTANT: lambda v: type(v) is int and EARLIEST <= v <= FOREVER,
    Kind.INT: lambda v: type(v) is int and -_INT64 <= v < _INT64,
    Kind.BOOL: lambda v: type(v) is bool,
    Kind.TEXT: lambda v: type(v) is str and is_storable(v),
    Kind.BYTES: lambda v: type(v) is bytes,
    Kind.JSON: _is_canonical_json,
}


def check_value(field: Field, value: Any, path: str) -> None:
    """Refuse a value that the field can't hold (``schema.value``)."""
    if value is None:
        if field.optional:
            return
    elif field.kind is Kind.WORD:
        if value in field.words:
            return
    elif _HOLDS[field.kind](value):
        return
    elif field.kind is Kind.TEXT and type(value) is str:
        raise CallerError(
            "text with a NUL or a lone surrogate can't be stored",
            code="text.not-storable",
            path=f"{path}.{field.name}",
        )
    raise CallerError(
        f"not a value of kind {field.kind.value}",
        code="schema.value",
        path=f"{path}.{field.name}",
    )


def check_row(relation: Relation, row: Row) -> int:
    """Refuse a row that breaks its relation; return the bytes of its body."""
    name = relation.name
    body = relation.body
    for field in relation.fields.values():
        check_value(field, getattr(row, field.name), name)
    if not body:
        return 0
    present = [getattr(row, n) is not None for n in (*body, "salt")]
    if not any(present):
        return 0
    if not all(present):
        raise CallerError(
            "a body is there whole, its salt included, or not at all",
            code="schema.body",
            path=name,
        )
    if relation.digest_body(row) != getattr(row, "body_digest"):  # noqa: B009
        raise CallerError(
            "the body doesn't agree with its digest", code="schema.body", path=name
        )
    return sum(len(getattr(row, n)) for n in body)


def check_key(relation: Relation, key: Key) -> None:
    """Refuse a key of another shape or with values of another kind."""
    if len(key) != len(relation.key):
        raise CallerError(
            f"a key of {relation.name} has {len(relation.key)} values",
            code="schema.key",
            path=relation.name,
        )
    for name, value in zip(relation.key, key, strict=True):
        check_value(relation.fields[name], value, relation.name)


def check_commit(schema: Schema, commit: Commit, *, replayed: bool = False) -> None:
    """Refuse a commit that breaks the contract, before anything is read or written.

    A replayed one may hold rows whose bodies were erased before; a new one brings its
    bodies along.

    Raises:
        LimitError: ``limit.rows``, ``limit.bodies``.
        CallerError: ``schema.*``, ``text.not-storable``.

    """
    lists = (commit.expects, commit.adds, commit.puts, commit.drops, commit.erases)
    if sum(map(len, lists)) > MAX_ROWS:
        raise LimitError(f"more than {MAX_ROWS} rows in one commit", code="limit.rows")
    if not any(lists[1:]):
        raise CallerError("a commit that changes nothing", code="schema.empty")
    bodies = 0
    added = set()
    for row in commit.adds:
        relation = schema.of(row)
        _check_keep(relation, Keep.HISTORY)
        bodies += check_row(relation, row)
        if relation.body and not replayed and not relation.has_body(row):
            raise CallerError(
                "a new row brings its body", code="schema.body", path=relation.name
            )
        added.add(relation.ref(row))
    if bodies > MAX_BODY_BYTES:
        raise LimitError(
            f"more than {MAX_BODY_BYTES} bytes of bodies in one commit",
            code="limit.bodies",
        )
    put = set()
    for row in commit.puts:
        relation = schema.of(row)
        _check_keep(relation, Keep.WORK, Keep.CACHE)
        check_row(relation, row)
        put.add(relation.ref(row))
    for ref in commit.drops:
        relation = schema.relation(ref.relation)
        _check_keep(relation, Keep.WORK, Keep.CACHE)
        check_key(relation, ref.key)
    for ref in commit.erases:
        relation = schema.relation(ref.relation)
        _check_keep(relation, Keep.HISTORY)
        check_key(relation, ref.key)
        if not relation.body:
            raise CallerError(
                "the relation has no body to erase",
                code="schema.erase",
                path=relation.name,
            )
    _check_twice(commit, added, put)
    for expect in commit.expects:
        relation = schema.relation(expect.relation)
        check_key(relation, expect.key)
        if relation.keep is Keep.VIEW and not relation.versioned:
            raise CallerError(
                "rows of this relation carry no version to expect",
                code="schema.expect",
                path=relation.name,
            )
        if type(expect.version) is not int or expect.version < 0:
            raise CallerError(
                "a version is a seq, or 0 for absent",
                code="schema.expect",
                path=relation.name,
            )


def _check_twice(commit: Commit, added: set[Any], put: set[Any]) -> None:
    drops, erases = set(commit.drops), set(commit.erases)
    expected = {(e.relation, e.key) for e in commit.expects}
    if len(added) < len(commit.adds):
        raise ConflictError("a commit adds one key twice", code="conflict.exists")
    if (
        len(put) < len(commit.puts)
        or len(drops) < len(commit.drops)
        or len(erases) < len(commit.erases)
        or len(expected) < len(commit.expects)
        or drops & put
        or erases & added
    ):
        raise CallerError("a commit names one row twice", code="schema.twice")


def _check_keep(relation: Relation, *allowed: Keep) -> None:
    if relation.keep not in allowed:
        raise SchemaError(
            f"a commit can't do this to a {relation.keep.name} relation",
            code="schema.keep",
            path=relation.name,
        )
