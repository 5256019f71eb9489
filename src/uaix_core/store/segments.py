"""The file projection: the ledger of one scope as canonical JSON lines, a segment.

The first line names format and scope; each other line is one chained commit, a pure
function of the `Recorded` and of which bodies were erased since.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from uaix_core.schema.checks import check_row
from uaix_core.schema.codec import body_of, key_in, key_out, row_in
from uaix_core.schema.commits import Commit, Mark, Recorded
from uaix_core.schema.relations import Ref
from uaix_core.schema.row_names import row_name
from uaix_core.store.seal import FORMAT as LEDGER_FORMAT
from uaix_core.values.canonical import plain_bytes, plain_text, sha256_hex
from uaix_core.values.errors import CallerError, IntegrityError, SchemaError
from uaix_core.values.ids import ScopeId
from uaix_core.values.instants import format_instant, parse_instant

if TYPE_CHECKING:
    from collections.abc import Collection

    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema

#: Names the form of the lines; a change of it is a new kind of store.
FORMAT: Final = "uaix.segment.v1"

_parse = json.JSONDecoder().decode
#: What reading something else than a commit may raise.
_NOT_A_COMMIT: Final = (
    IntegrityError,
    CallerError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    RecursionError,
)


class _BodyError(Exception):
    """The chain covers a header whose row can't be: its body is damaged."""

    def __init__(self, row: str) -> None:
        super().__init__(row)
        self.row = row


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


def commit_line(
    schema: Schema, recorded: Recorded, *, has_bodies: bool = True
) -> bytes:
    """The line of a chained commit, newline included; or without its bodies."""
    adds = []
    for row in recorded.commit.adds:
        relation = schema.of(row)
        body = body_of(relation, row) if has_bodies else None
        adds.append(_add_text(relation.name, relation.header_text(row), body))
    erases = plain_text(
        [
            [ref.relation, key_out(schema.relation(ref.relation), ref.key)]
            for ref in recorded.commit.erases
        ]
    )
    recorded_at = format_instant(recorded.recorded_at)
    line = _line_text(recorded.seq, recorded_at, recorded.digest, adds, erases)
    return line.encode() + b"\n"


def _add_text(name: str, header: str, body: dict[str, Any] | None) -> str:
    kept = f'"body":{plain_text(body)},' if body is not None else ""
    return f'{{{kept}"header":{header},"relation":"{name}"}}'


def _line_text(
    seq: int, recorded_at: str, digest: str, adds: list[str], erases: str
) -> str:
    return (
        f'{{"adds":[{",".join(adds)}],"digest":"{digest}",'
        f'"erases":{erases},"recorded_at":"{recorded_at}","seq":{seq}}}'
    )


def read_commit(schema: Schema, scope: ScopeId, line: bytes, last: Mark) -> Recorded:
    """The commit of a line (without its newline) that continues the chain at ``last``.

    The digest is taken over the texts of the line itself, which costs a third of
    writing the headers anew from their rows.

    Raises:
        IntegrityError: the line is not exactly what `commit_line` writes, or it
            doesn't agree with its digests or with the chain.
        SchemaError: it holds a relation that this schema doesn't declare.

    """
    try:
        return _read_commit(schema, scope, line, last)
    except SchemaError:
        raise
    except _BodyError as error:
        # The chain holds: it is this one row.
        raise _damaged(scope, last, error.row) from error
    except _NOT_A_COMMIT as error:
        raise _damaged(scope, last) from error


def _read_commit(schema: Schema, scope: ScopeId, line: bytes, last: Mark) -> Recorded:
    text = line.decode()
    entry = _parse(text)
    seq, digest, erases = entry["seq"], entry["digest"], entry["erases"]
    recorded_at = parse_instant(entry["recorded_at"])
    adds = entry["adds"]
    erased = plain_text(erases) if erases != [] else "[]"
    headers = [plain_text(add["header"]) for add in adds]
    chained = [
        f'["{add["relation"]}",{header}]'
        for add, header in zip(adds, headers, strict=True)
    ]
    form = (
        f'{{"adds":[{",".join(chained)}],"erases":{erased},'
        f'"format":"{LEDGER_FORMAT}","previous":"{last.digest}",'
        f'"recorded_at":"{entry["recorded_at"]}","scope":"{scope.text}","seq":{seq}}}'
    )
    kept = [
        _add_text(add["relation"], header, add.get("body"))
        for add, header in zip(adds, headers, strict=True)
    ]
    if (
        seq != last.seq + 1
        or recorded_at < last.recorded_at
        or sha256_hex(form.encode()) != digest
        # Equal ledgers are equal bytes: any other spelling of a commit is refused.
        or _line_text(seq, entry["recorded_at"], digest, kept, erased) != text
    ):
        raise _damaged(scope, last)
    rows = tuple(_row(schema, add, seq) for add in adds)
    refs = [Ref(name, key_in(schema.relation(name), key)) for name, key in erases]
    commit = Commit(scope, recorded_at, adds=rows, erases=tuple(refs))
    return Recorded(seq, recorded_at, digest, commit)


def _row(schema: Schema, add: dict[str, Any], seq: int) -> Row:
    relation = schema.relation(add["relation"])
    row = row_in(relation, add["header"], add.get("body"), seq)
    try:
        check_row(relation, row)
    except CallerError as error:
        raise _BodyError(row_name(relation, relation.key_of(row))) from error
    return row


def _damaged(scope: ScopeId, last: Mark, row: str = "") -> IntegrityError:
    where = f"{scope.text}#{last.seq + 1}"
    return IntegrityError(
        "a stored commit is damaged",
        code="storage.segment",
        path=f"{where} {row}" if row else where,
    )


def mark_in(line: bytes) -> Mark | None:
    """The place that the line of a commit gives itself; None when it is none."""
    try:
        entry = _parse(line.decode())
        mark = Mark(entry["seq"], parse_instant(entry["recorded_at"]), entry["digest"])
    except _NOT_A_COMMIT:
        return None
    return mark


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
