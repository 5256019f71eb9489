"""What rows and commits must be before any store sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uaix_core.schema.commits import MAX_BODY_BYTES, MAX_ROWS, Commit, Expect
from uaix_core.schema.kinds import CONTENT
from uaix_core.schema.relations import Keep, Key, Ref, Relation
from uaix_core.values.errors import (
    CallerError,
    ConflictError,
    LimitError,
    SchemaError,
)
from uaix_core.values.instants import check_instant
from uaix_core.values.text import is_storable

if TYPE_CHECKING:
    from uaix_core.schema.rows import Field, Row
    from uaix_core.schema.schema import Schema


def check_value(field: Field, value: Any, path: str) -> None:
    """Refuse a value that the field can't hold (``schema.value``)."""
    if not field.rules.holds(value):
        raise _wrong(field, value, path)


def _wrong(field: Field, value: Any, path: str) -> CallerError:
    if field.kind in CONTENT and type(value) is str and not is_storable(value):
        return CallerError(
            "text with a NUL or a lone surrogate can't be stored",
            code="text.not-storable",
            path=f"{path}.{field.name}",
        )
    return CallerError(
        f"not a value of kind {field.kind.value}",
        code="schema.value",
        path=f"{path}.{field.name}",
    )


def check_row(relation: Relation, row: Row) -> int:
    """Refuse a row that breaks its relation; return the bytes of its body."""
    name = relation.name
    values = relation.values(row)
    for i, holds in enumerate(relation.holds):
        if not holds(values[i]):
            raise _wrong(relation.ordered[i], values[i], name)
    # A relation without a body has no salt either: it is absent as a whole.
    body = relation.body_values(row)
    absent = body.count(None) + (not relation.has_body(row))
    if absent == len(body) + 1:
        return 0
    if absent:
        raise CallerError(
            "a body is there whole, its salt included, or not at all",
            code="schema.body",
            path=name,
        )
    if row._body_size is not None:  # noqa: SLF001 - made by its relation
        return row._body_size  # noqa: SLF001
    if relation.digest_body(row) != row.body_digest:  # type: ignore[attr-defined]
        raise CallerError(
            "the body doesn't agree with its digest", code="schema.body", path=name
        )
    return sum(
        len(value if type(value) is bytes or value.isascii() else value.encode())
        for value in body
    )


def check_key(relation: Relation, key: Key) -> None:
    """Refuse a key of another shape or with values of another kind."""
    if len(key) != len(relation.key):
        raise CallerError(
            f"a key of {relation.name} has {len(relation.key)} values",
            code="schema.key",
            path=relation.name,
        )
    for i, holds in enumerate(relation.key_holds):
        if not holds(key[i]):
            raise _wrong(relation.fields[relation.key[i]], key[i], relation.name)


def check_commit(
    schema: Schema, commit: Commit, *, replayed: bool = False
) -> list[Ref]:
    """Refuse a commit that breaks the contract, before anything is read or written.

    A replayed one may hold rows whose bodies were erased before; a new one brings its
    bodies along.

    Returns:
        The names of the added rows, in their order.

    Raises:
        LimitError: ``limit.rows``, ``limit.bodies``.
        CallerError: ``schema.*``, ``text.not-storable``.

    """
    check_instant(commit.recorded_at)
    _check_size(schema, commit)
    added = _check_adds(schema, commit, replayed=replayed)
    put = _check_local(schema, commit)
    for ref in commit.erases:
        relation = schema.relation(ref.relation)
        check_key(relation, ref.key)
        # Only HISTORY has bodies.
        if not relation.body:
            raise SchemaError(
                "the relation has no body to erase",
                code="schema.erase",
                path=relation.name,
            )
    for expect in commit.expects:
        _check_expect(schema, expect)
    _check_twice(commit, set(added), put)
    return added


def _check_size(schema: Schema, commit: Commit) -> None:
    changes = (commit.adds, commit.puts, commit.drops, commit.erases)
    rows, expects = sum(map(len, changes)), len(commit.expects)
    if max(rows, expects) > MAX_ROWS:
        # What stands for rows that were counted isn't counted again.
        rows -= sum(schema.of(row).wraps for row in (*commit.adds, *commit.puts))
        for expect in commit.expects:
            expects -= schema.relation(expect.relation).wraps
    if max(rows, expects) > MAX_ROWS:
        raise LimitError(f"more than {MAX_ROWS} rows in one commit", code="limit.rows")
    if not any(changes):
        raise CallerError("a commit that changes nothing", code="schema.empty")


def _check_adds(schema: Schema, commit: Commit, *, replayed: bool) -> list[Ref]:
    bodies = 0
    added = []
    for row in commit.adds:
        relation = schema.of(row)
        _check_keep(relation, Keep.HISTORY)
        size = check_row(relation, row)
        bodies += 0 if relation.wraps else size
        if relation.body and not replayed and not relation.has_body(row):
            raise CallerError(
                "a new row brings its body", code="schema.body", path=relation.name
            )
        added.append(relation.ref(row))
    if bodies > MAX_BODY_BYTES:
        raise LimitError(
            f"more than {MAX_BODY_BYTES} bytes of bodies in one commit",
            code="limit.bodies",
        )
    return added


def _check_local(schema: Schema, commit: Commit) -> set[Ref]:
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
    return put


def _check_expect(schema: Schema, expect: Expect) -> None:
    relation = schema.relation(expect.relation)
    check_key(relation, expect.key)
    if relation.keep is Keep.VIEW and not relation.versioned:
        raise SchemaError(
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
