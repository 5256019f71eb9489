"""The disposable cache of a scope: its rows as they stood at one place of its chain.

Opening a long segment means verifying every commit of it. The cache is the outcome, in
blocks that are read when somebody looks into them. It may be removed at any time, and
counts only when every byte of it is as it was written, when library and schema are
those that wrote it, and when the segment still holds the commit at which it stood, at
the same place. An erasure removes it first, since it holds bodies.
"""

from __future__ import annotations

import hashlib
import json
import struct
from binascii import a2b_base64, b2a_base64
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import zstandard

import uaix_core
from uaix_core.schema.commits import Mark
from uaix_core.schema.kinds import Kind
from uaix_core.schema.relations import Keep, Ref, Relation, values_of
from uaix_core.store.log import Log, Logged, StoredEntries
from uaix_core.store.sorted_rows import SortedRows, Stored
from uaix_core.store.tables import Tables
from uaix_core.values.canonical import sha256_hex
from uaix_core.values.errors import IntegrityError, SchemaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from uaix_core.schema.relations import Key
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.store.sorted_rows import Block
    from uaix_core.values.ids import ScopeId

FORMAT: Final = "uaix.cache.v1"

#: The end of a cache: where its index begins, and the SHA-256 of all before it.
_START: Final = struct.Struct("<Q")
_DIGEST_BYTES: Final = 32
#: No block is longer when unpacked: it may hold the bodies of one commit.
_LONGEST: Final = 512 * 2**20
#: Commits in one part of the log.
_ENTRIES: Final = 256
_KEPT: Final = (Keep.HISTORY, Keep.VIEW)
#: What reading something else than a cache may raise.
NOT_OURS: Final = (
    SchemaError,
    ValueError,
    ArithmeticError,
    LookupError,
    TypeError,
    AttributeError,
    RecursionError,
    struct.error,
    zstandard.ZstdError,
)


class Place(NamedTuple):
    """Where the last commit of a cache stands in the segment, and what it is there."""

    start: int
    end: int
    sha256: str


def encoded(tables: Tables, place: Place) -> bytes:
    """The cache of a state whose last commit stands at a place of the segment.

    Blocks that nobody has looked into since they were read are taken as they are.
    """
    parts: list[bytes | memoryview] = []
    at = 0

    def put(data: bytes | memoryview) -> list[int]:
        nonlocal at
        parts.append(data)
        at += len(data)
        return [at - len(data), len(data)]

    maps = []
    for relation, path, rows in tables.maps(*_KEPT):
        codec = _Codec(relation, path)
        blocks = [[list(top), *put(codec.data(block))] for top, block in rows.blocks()]
        maps.append([relation.name, path, blocks])
    index = {
        **_identity(tables.schema, tables.scope),
        "mark": [tables.mark.seq, tables.mark.recorded_at, tables.mark.digest],
        "place": list(place),
        "maps": maps,
        "log": [[*put(data), count] for data, count in _log_parts(tables)],
    }
    start = at
    put(_packed(index))
    put(_START.pack(start))
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return b"".join((*parts, digest.digest()))


def decoded(schema: Schema, scope: ScopeId, data: bytes) -> tuple[Tables, Place] | None:
    """The state in a cache and where it stood; None when it doesn't count."""
    whole = memoryview(data)
    sealed, digest = whole[:-_DIGEST_BYTES], whole[-_DIGEST_BYTES:]
    if hashlib.sha256(sealed).digest() != digest:
        return None
    # From here on all bytes are those that were written, but perhaps not by us.
    try:
        body, end = sealed[: -_START.size], sealed[-_START.size :]
        index = _unpacked(body[_START.unpack(end)[0] :])
        identity = _identity(schema, scope)
        if {name: index[name] for name in identity} != identity:
            return None
        return _decoded(schema, scope, body, index), Place(*index["place"])
    except NOT_OURS:
        return None


def _decoded(
    schema: Schema, scope: ScopeId, body: memoryview, index: dict[str, Any]
) -> Tables:
    maps = {}
    for name, path, blocks in index["maps"]:
        codec = _Codec(schema.relation(name), path)
        maps[name, path] = SortedRows(
            [Stored(body[at : at + size], codec.block) for _top, at, size in blocks],
            [tuple(top) for top, _at, _size in blocks],
        )
    parts = []
    seq = 0
    for at, size, count in index["log"]:
        read = partial(_read_entries, seq)
        parts.append(StoredEntries(body[at : at + size], count, read))
        seq += count
    return Tables.restored(schema, scope, Mark(*index["mark"]), maps, Log(parts))


def place_of(start: int, line: bytes) -> Place:
    """The place of a line with its newline."""
    return Place(start, start + len(line), sha256_hex(line))


def _identity(schema: Schema, scope: ScopeId) -> dict[str, str]:
    """What must be the same for a cache to count: reducers belong to a version."""
    return {
        "format": FORMAT,
        "library": uaix_core.__version__,
        "schema": schema.fingerprint,
        "scope": scope.text,
    }


def _packed(form: Any) -> bytes:
    text = json.dumps(form, ensure_ascii=False, separators=(",", ":"))
    return zstandard.ZstdCompressor(level=1).compress(text.encode())


def _unpacked(data: memoryview) -> Any:
    # A frame says how long its content is; what says more than a block can is none.
    if zstandard.frame_content_size(data) > _LONGEST:
        raise ValueError
    return json.loads(zstandard.ZstdDecompressor().decompress(data))


class _Codec:
    """Blocks of one order as bytes and back: rows as lists of their values."""

    def __init__(self, relation: Relation, path: str) -> None:
        self._relation = relation
        self._order: Callable[[Row], Key] = values_of(relation.orders[path])
        # Everything but raw bytes is a JSON value as it is.
        self._raw = [
            at for at, field in enumerate(relation.ordered) if field.kind is Kind.BYTES
        ]

    def data(self, block: Block | Stored) -> bytes | memoryview:
        """The bytes of a block."""
        if isinstance(block, Stored):
            return block.data
        values = self._relation.values
        rows = [[row.version, *values(row)] for row in block[1]]
        for at in self._raw:
            for row in rows:
                raw = row[at + 1]
                if raw is not None:
                    row[at + 1] = b2a_base64(raw, newline=False).decode()
        return _packed(rows)

    def block(self, data: memoryview) -> Block:
        """The block of these bytes.

        Raises:
            IntegrityError: ``storage.cache`` when somebody else has made it.

        """
        try:
            rows = [self._row(values) for values in _unpacked(data)]
            return [self._order(row) for row in rows], rows
        except NOT_OURS as error:
            raise _forged(self._relation.name) from error

    def _row(self, found: list[Any]) -> Row:
        version, *values = found
        for at in self._raw:
            if values[at] is not None:
                values[at] = a2b_base64(values[at])
        row = self._relation.make(values, version)
        for holds, value in zip(self._relation.holds, values, strict=True):
            if not holds(value):
                raise ValueError
        return row


def _log_parts(tables: Tables) -> Iterator[tuple[bytes | memoryview, int]]:
    """The log in parts of one length, the last one shorter."""
    log, length = tables.log, tables.mark.seq
    at = 0
    for part in log.parts:
        if part.count != _ENTRIES:
            break
        yield part.data, part.count
        at += part.count
    entries = (log.entry(i) for i in range(at, length))
    while some := list(islice(entries, _ENTRIES)):
        yield _packed([_entry_out(entry) for entry in some]), len(some)


def _entry_out(entry: Logged) -> list[Any]:
    return [entry.mark.recorded_at, entry.mark.digest, entry.adds, entry.erases]


def _read_entries(seq: int, data: memoryview) -> list[Logged]:
    try:
        return [
            Logged(Mark(number, recorded_at, digest), _refs(adds), _refs(erases))
            for number, (recorded_at, digest, adds, erases) in enumerate(
                _unpacked(data), seq + 1
            )
        ]
    except NOT_OURS as error:
        raise _forged("log") from error


def _forged(what: str) -> IntegrityError:
    """The error for a block that is no block, although its digest is right."""
    return IntegrityError(
        "the cache holds what this library doesn't write",
        code="storage.cache",
        path=what,
        hint="remove the files named tables.cache; nothing is lost with them",
    )


def _refs(found: list[Any]) -> tuple[Ref, ...]:
    # The values of keys are the same in JSON.
    return tuple(Ref(name, tuple(key)) for name, key in found)
