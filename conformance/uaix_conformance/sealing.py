"""The chain as the contract describes it, written a second time (group 4).

Nothing of the core's sealing or its JSON forms is used: when the two disagree, one of
them has misread the contract.
"""

from __future__ import annotations

import base64
import hashlib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import rfc8785

from uaix_core.schema.kinds import Kind
from uaix_core.values.instants import EARLIEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from uaix_core.schema.commits import Commit
    from uaix_core.schema.relations import Relation
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.values.ids import ScopeId

FORMAT = "uaix.ledger.v1"

#: The recorded instant of a scope that has no commit yet.
BEFORE_ALL = EARLIEST

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SAFE = 2**53 - 1


def instant_text(instant: int) -> str:
    """RFC 3339 with six decimals and ``Z``."""
    moment = _EPOCH + timedelta(microseconds=instant)
    return moment.strftime(f"{moment.year:04d}-%m-%dT%H:%M:%S.%fZ")


def instant_of(text: str) -> int:
    """The instant that `instant_text` wrote."""
    moment = datetime.fromisoformat(text)
    return (moment - _EPOCH) // timedelta(microseconds=1)


def to_json(kind: Kind, value: Any) -> Any:
    """A field's value as a JSON value; 64-bit integers beyond 2**53 - 1 as text."""
    if value is None:
        return None
    if kind is Kind.INSTANT:
        return instant_text(value)
    if kind is Kind.INT:
        return value if abs(value) <= _SAFE else str(value)
    if kind is Kind.BYTES:
        return base64.urlsafe_b64encode(value).decode().rstrip("=")
    return value


def from_json(kind: Kind, value: Any) -> Any:
    """The value that `to_json` wrote."""
    if value is None:
        return None
    if kind is Kind.INSTANT:
        return instant_of(value)
    if kind is Kind.INT:
        return int(value)
    if kind is Kind.BYTES:
        return base64.urlsafe_b64decode(value + "=" * (-len(value) % 4))
    return value


def fields_json(relation: Relation, row: Row, names: Iterable[str]) -> dict[str, Any]:
    """These fields of a row as JSON members; one that is None is absent."""
    fields = relation.fields
    values = {name: to_json(fields[name].kind, getattr(row, name)) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def header_json(relation: Relation, row: Row) -> dict[str, Any]:
    """Every field that an erasure leaves."""
    gone = {*relation.body, "salt"} if relation.body else set()
    return fields_json(relation, row, [n for n in relation.fields if n not in gone])


def key_json(relation: Relation, key: Sequence[Any]) -> list[Any]:
    """A key as a JSON list."""
    return [
        to_json(relation.fields[name].kind, value)
        for name, value in zip(relation.key, key, strict=True)
    ]


def digest_of(value: Any) -> str:
    """SHA-256 (hex) of a value's RFC 8785 form."""
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()


def first_digest(scope: ScopeId) -> str:
    """The digest at position 0."""
    return digest_of({"format": FORMAT, "scope": scope.text})


def sealed_digest(
    schema: Schema, commit: Commit, seq: int, recorded_at: int, previous: str
) -> str:
    """The digest of a commit at its place."""
    relations = schema.relations
    return digest_of(
        {
            "format": FORMAT,
            "scope": commit.scope.text,
            "seq": seq,
            "recorded_at": instant_text(recorded_at),
            "previous": previous,
            "adds": [
                [(relation := schema.of(row)).name, header_json(relation, row)]
                for row in commit.adds
            ],
            "erases": [
                [ref.relation, key_json(relations[ref.relation], ref.key)]
                for ref in commit.erases
            ],
        }
    )


def body_digest(relation: Relation, row: Row, salt: bytes) -> str:
    """The salted digest by which a header names its body (hex)."""
    state = hashlib.sha256(salt)
    for name in relation.body:
        value = getattr(row, name)
        data = value if isinstance(value, bytes) else value.encode()
        state.update(len(data).to_bytes(8, "big") + data)
    return state.hexdigest()
