"""A segment: the ledger of one scope as canonical JSON lines.

The first line names format and scope; each other line is one chained commit, a pure
function of the `Recorded` and of which bodies were erased since.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from uaix_core.schema.checks import check_row
from uaix_core.schema.codec import body_of, header_of, key_in, key_out, row_in
from uaix_core.schema.commits import Commit, Mark, Recorded
from uaix_core.schema.relations import Ref
from uaix_core.store.seal import FORMAT as LEDGER_FORMAT
from uaix_core.values.canonical import plain_bytes, sha256_hex
from uaix_core.values.errors import CallerError, IntegrityError, SchemaError
from uaix_core.values.ids import ScopeId
from uaix_core.values.instants import format_instant, parse_instant

if TYPE_CHECKING:
    from collections.abc import Collection

    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema

#: Names the form of the lines; a change of it is a new kind of store.
FORMAT: Final = "uaix.segment.v1"
#: The name of the file.
SEGMENT: Final = "segment.jsonl"
#: A whole new segment on its way to `SEGMENT`.
NEW_SEGMENT: Final = "segment.new"

_parse = json.JSONDecoder().decode
_MEMBERS: Final = {"adds", "digest", "erases", "recorded_at", "seq"}


def head_line(scope: ScopeId) -> bytes:
    """The first line of a scope's segment, newline included."""
    return plain_bytes({"format": FORMAT, "scope": scope.text}) + b"\n"


def scope_in_head(line: bytes) -> ScopeId:
    """The scope that a first line (without its newline) names."""
    try:
        scope = ScopeId.parse(_parse(line.decode("utf-8"))["scope"])
    except (CallerError, ValueError, KeyError, TypeError, RecursionError):
        raise IntegrityError(
            "the first line of a segment names no scope", code="storage.segment"
        ) from None
    if head_line(scope) != line + b"\n":
        raise IntegrityError(
            "the first line of a segment is damaged", code="storage.segment"
        )
    return scope


def commit_line(schema: Schema, recorded: Recorded) -> bytes:
    """The line of a chained commit, newline included."""
    commit = recorded.commit
    adds = []
    for row in commit.adds:
        relation = schema.of(row)
        add = {"relation": relation.name, "header": header_of(relation, row)}
        body = body_of(relation, row)
        if body is not None:
            add["body"] = body
        adds.append(add)
    entry = {
        "seq": recorded.seq,
        "recorded_at": format_instant(recorded.recorded_at),
        "digest": recorded.digest,
        "adds": adds,
        "erases": [
            [ref.relation, key_out(schema.relation(ref.relation), ref.key)]
            for ref in commit.erases
        ],
    }
    return plain_bytes(entry) + b"\n"


def read_commit(schema: Schema, scope: ScopeId, line: bytes, last: Mark) -> Recorded:
    """The commit of a line (without its newline) that continues the chain at ``last``.

    Raises:
        IntegrityError: the line is not exactly what `commit_line` wrote, or it
            doesn't agree with its digests or with the chain.
        SchemaError: it holds a relation that this schema doesn't declare.

    """
    where = f"{scope.text}#{last.seq + 1}"
    entry = _entry(line, where)
    form = {
        "format": LEDGER_FORMAT,
        "scope": scope.text,
        "seq": last.seq + 1,
        "recorded_at": entry["recorded_at"],
        "previous": last.digest,
        "adds": [[add["relation"], add["header"]] for add in entry["adds"]],
        "erases": entry["erases"],
    }
    if entry["seq"] != last.seq + 1:
        raise IntegrityError("a gap in the chain", code="chain.gap", path=where)
    if sha256_hex(plain_bytes(form)) != entry["digest"]:
        raise IntegrityError(
            "a stored commit doesn't agree with its digest",
            code="chain.digest",
            path=where,
        )
    try:
        recorded_at = parse_instant(entry["recorded_at"])
        adds = tuple(_row(schema, add, entry["seq"]) for add in entry["adds"])
        erases = tuple(
            Ref(name, key_in(schema.relation(name), key))
            for name, key in entry["erases"]
        )
    except SchemaError:
        raise
    except (IntegrityError, CallerError, ValueError, TypeError, KeyError) as error:
        raise _damaged(where) from error
    if recorded_at < last.recorded_at:
        raise IntegrityError("the chain goes back in time", code="chain.time", path=where)
    commit = Commit(scope, recorded_at, adds=adds, erases=erases)
    return Recorded(entry["seq"], recorded_at, entry["digest"], commit)


def _entry(line: bytes, where: str) -> dict[str, Any]:
    try:
        entry = _parse(line.decode("utf-8"))
        # Anything but the one spelling of the value is refused, unknown or repeated
        # members included, so that equal ledgers are equal bytes.
        if plain_bytes(entry) == line and entry.keys() == _MEMBERS:
            for add in entry["adds"]:
                if not add.keys() - {"body"} == {"relation", "header"}:
                    break
            else:
                return entry  # type: ignore[no-any-return]
    except (ValueError, TypeError, AttributeError, RecursionError):
        pass
    raise _damaged(where)


def _row(schema: Schema, add: dict[str, Any], seq: int) -> Row:
    relation = schema.relation(add["relation"])
    row = row_in(relation, add["header"], add.get("body"), seq)
    check_row(relation, row)
    return row


def _damaged(where: str) -> IntegrityError:
    return IntegrityError(
        "a stored commit is damaged", code="storage.segment", path=where
    )


def without_bodies(schema: Schema, line: bytes, refs: Collection[Ref]) -> bytes:
    """The same line (without its newline) once the bodies of these rows are gone."""
    keys = [
        (ref.relation, key_out(schema.relation(ref.relation), ref.key)) for ref in refs
    ]
    entry = _parse(line.decode("utf-8"))
    for add in entry["adds"]:
        header = add["header"]
        fields = schema.relation(add["relation"]).key
        if (add["relation"], [header.get(name) for name in fields]) in keys:
            add.pop("body", None)
    return plain_bytes(entry)
