"""Local state on disk: a log of WORK and CACHE changes, and the intent of a commit.

The log begins with a line that names its scope and how far it stands; after it come
the rows that stood then, and then one line for each later change. The intent is the
change of the last commit that has both history and local rows: it counts when its
digest is in the chain, and is moved into the log before another takes its place.
"""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import attrs

from uaix_backends.directory.lines import Line, Tail, is_unwritten, judge_tail
from uaix_core.schema.codec import header_of, key_in, key_out, row_in
from uaix_core.schema.relations import Keep, Ref
from uaix_core.values.canonical import plain_bytes, sha256_hex
from uaix_core.values.errors import CallerError, IntegrityError, SchemaError
from uaix_core.values.ids import ScopeId

if TYPE_CHECKING:
    from collections.abc import Iterable

    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.store.advance import Advance
    from uaix_core.store.tables import Tables

FORMAT: Final = "uaix.work.v1"
#: The folder of local state, and the files in it.
WORK: Final = "work"
LOG: Final = "log.jsonl"
NEW_LOG: Final = "log.new"
INTENT: Final = "intent"

_LOCAL: Final = (Keep.WORK, Keep.CACHE)
_parse = json.JSONDecoder().decode


@attrs.frozen
class Head:
    """The first line: the work number and the seq at which the log was begun.

    ``base`` lines follow with the rows that stood then.
    """

    scope: ScopeId
    number: int = 0
    seq: int = 0
    base: int = 0


@attrs.frozen
class Entry:
    """One change of local rows: what was put and dropped under this work number.

    ``seq`` is the position of the scope once the change was made.
    """

    number: int
    seq: int
    puts: tuple[Row, ...] = ()
    drops: tuple[Ref, ...] = ()


@attrs.frozen
class Intent:
    """The local half of a chained commit; ``line`` is its entry as the log has it."""

    digest: str
    seq: int
    number: int
    is_erasure: bool
    line: bytes


def _sealed(form: dict[str, Any], scope: ScopeId) -> bytes:
    check = sha256_hex(plain_bytes({**form, "scope": scope.text}))
    return plain_bytes({**form, "check": check}) + b"\n"


def _opened(line: bytes, scope: ScopeId) -> dict[str, Any]:
    try:
        form: dict[str, Any] = _parse(line.decode("utf-8"))
        check = form.pop("check")
        if check == sha256_hex(plain_bytes({**form, "scope": scope.text})):
            return form
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise damaged(scope)


def damaged(scope: ScopeId) -> IntegrityError:
    """The error for local state that doesn't agree with itself."""
    return IntegrityError(
        "the stored local state is damaged", code="storage.work", path=scope.text
    )


def verifies(line: bytes, scope: ScopeId) -> bool:
    """Whether a line (without its newline) agrees with its checksum."""
    try:
        _opened(line, scope)
    except IntegrityError:
        return False
    return True


def log_head_line(head: Head) -> bytes:
    """The first line of a log, newline included."""
    form = {
        "format": FORMAT,
        "scope": head.scope.text,
        "number": head.number,
        "seq": head.seq,
        "base": head.base,
    }
    return _sealed(form, head.scope)


def read_head(line: bytes) -> Head:
    """The first line of a log, without its newline."""
    try:
        scope = ScopeId.parse(_parse(line.decode("utf-8"))["scope"])
    except (CallerError, ValueError, KeyError, TypeError, RecursionError):
        raise IntegrityError(
            "the first line of a work log is damaged", code="storage.work"
        ) from None
    form = _opened(line, scope)
    if form.get("format") != FORMAT:
        raise damaged(scope)
    return Head(scope, form["number"], form["seq"], form["base"])


def entry_line(schema: Schema, scope: ScopeId, entry: Entry) -> bytes:
    """The line of a change, newline included."""
    puts = []
    for row in entry.puts:
        relation = schema.of(row)
        puts.append([relation.name, header_of(relation, row)])
    form = {
        "number": entry.number,
        "seq": entry.seq,
        "puts": puts,
        "drops": [
            [ref.relation, key_out(schema.relation(ref.relation), ref.key)]
            for ref in entry.drops
        ],
    }
    return _sealed(form, scope)


def read_entry(schema: Schema, scope: ScopeId, line: bytes) -> Entry:
    """The change of a line, without its newline."""
    form = _opened(line, scope)
    try:
        number = form["number"]
        return Entry(
            number,
            form["seq"],
            tuple(
                row_in(schema.relation(name), members, None, number)
                for name, members in form["puts"]
            ),
            tuple(
                Ref(name, key_in(schema.relation(name), key))
                for name, key in form["drops"]
            ),
        )
    except SchemaError:
        raise
    except (IntegrityError, CallerError, ValueError, TypeError, KeyError) as error:
        raise damaged(scope) from error


def intent_bytes(scope: ScopeId, intent: Intent) -> bytes:
    """The two lines of an intent: what decides whether it counts, and its entry."""
    form = {
        "digest": intent.digest,
        "seq": intent.seq,
        "number": intent.number,
        "is_erasure": intent.is_erasure,
        "entry": sha256_hex(intent.line),
    }
    return _sealed(form, scope) + intent.line


def read_intent(scope: ScopeId, data: bytes) -> Intent | None:
    """The intent in these bytes, None when they are empty or were cut short.

    Raises:
        IntegrityError: the bytes have their end but don't agree with themselves.

    """
    if not data.endswith(b"\n"):
        tail = judge_tail(data, lambda whole: _is_intent(scope, whole + b"\n"))
        if tail is Tail.TORN:
            return None
        if tail is Tail.DAMAGED:
            raise damaged(scope)
        data = data.rstrip(b"\0") + b"\n"
    if is_unwritten(Line(0, data, is_ended=False)):
        return None
    first, _newline, line = data.partition(b"\n")
    if not line and verifies(first, scope):
        return None  # Cut short exactly between its lines.
    form = _opened(first, scope)
    if form.pop("entry") != sha256_hex(line):
        raise damaged(scope)
    return Intent(line=line, **form)


def _is_intent(scope: ScopeId, data: bytes) -> bool:
    try:
        return read_intent(scope, data) is not None
    except IntegrityError:
        return False


def local_half(schema: Schema, change: Advance) -> Entry:
    """The local half of a change."""
    return Entry(
        change.work,
        change.mark.seq,
        tuple(row for row in change.puts if schema.of(row).keep in _LOCAL),
        tuple(r for r in change.drops if schema.relation(r.relation).keep in _LOCAL),
    )


def local_rows(tables: Tables) -> Iterable[Row]:
    """Every WORK and CACHE row."""
    for relation in tables.schema.kept(*_LOCAL):
        yield from tables.all(relation.name)


def compacted(tables: Tables) -> tuple[bytes, Head]:
    """A new log that holds only what stands, and its head."""
    rows = sorted(local_rows(tables), key=lambda row: row.version)
    lines = [
        entry_line(
            tables.schema, tables.scope, Entry(number, tables.mark.seq, tuple(group))
        )
        for number, group in groupby(rows, key=lambda row: row.version)
    ]
    head = Head(tables.scope, tables.work, tables.mark.seq, len(lines))
    return log_head_line(head) + b"".join(lines), head
