"""The form of a backup: compressed parts, an index of them, and an end of fixed size.

Every part is a whole Zstandard frame of canonical JSON lines: those of the segments
that the file projection has, then one line for each WORK and CACHE row. The index is
the last such frame, and the end is a frame that decompressors skip. So `zstd -dc`
prints a backup, and a file that was cut short is told by its end.
"""

from __future__ import annotations

import hashlib
import json
import struct
from typing import TYPE_CHECKING, Any, Final

import attrs
import zstandard

from uaix_core.schema.checks import check_row
from uaix_core.schema.codec import header_of, row_in
from uaix_core.schema.commits import Mark
from uaix_core.values.canonical import plain_bytes
from uaix_core.values.errors import (
    CallerError,
    IntegrityError,
    SchemaError,
    StoreOpenError,
)
from uaix_core.values.ids import ScopeId

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema

#: Names the form; a change of it is another kind of file.
FORMAT: Final = "uaix.backup.v1"

#: The end: a skippable frame (RFC 8878, section 3.1.2) with a name, where the index
#: begins, and its SHA-256.
_END: Final = struct.Struct("<II8sQ32s")
_SKIPPED, _NAME = 0x184D2A5D, b"UAIXBACK"
END_BYTES: Final = _END.size
#: No part is longer when unpacked: a commit has at most 256 MiB of bodies, which
#: base64url makes a third longer.
_LONGEST: Final = 512 * 2**20
_LEVEL: Final = 3

_UNREADABLE: Final = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    RecursionError,
    CallerError,
)


@attrs.frozen
class Part:
    """One frame: where it stands, its digest, and what it continues.

    ``previous`` is the mark before its first commit; None for local rows.
    """

    at: int
    size: int
    length: int
    sha256: str
    previous: Mark | None


@attrs.frozen
class Entry:
    """What a backup holds of one scope."""

    scope: ScopeId
    mark: Mark
    work: int
    parts: tuple[Part, ...]


@attrs.frozen
class Index:
    """All that a backup holds, and the instant at which it was begun."""

    made_at: int
    entries: tuple[Entry, ...]


def damaged(where: str) -> IntegrityError:
    """The error for bytes that are not those of a backup."""
    return IntegrityError("the backup is damaged", code="storage.backup", path=where)


def packed(data: bytes) -> bytes:
    """The bytes as one frame."""
    return zstandard.ZstdCompressor(level=_LEVEL).compress(data)


def unpacked(frame: bytes, length: int, where: str) -> bytes:
    """The bytes of a frame, which are ``length`` long.

    Raises:
        IntegrityError: they aren't, or the frame is none.

    """
    if not 0 <= length <= _LONGEST:
        raise damaged(where)
    reader = zstandard.ZstdDecompressor().stream_reader(frame)
    try:
        # One byte more than is said would show; no frame makes more than that.
        data = reader.read(length + 1)
    except (zstandard.ZstdError, MemoryError) as error:
        raise damaged(where) from error
    if len(data) != length:
        raise damaged(where)
    return bytes(data)


def part_of(data: bytes, at: int, previous: Mark | None) -> tuple[Part, bytes]:
    """The part that stands at ``at`` with these lines, and its frame."""
    frame = packed(data)
    digest = hashlib.sha256(frame).hexdigest()
    return Part(at, len(frame), len(data), digest, previous), frame


def index_frames(index: Index, at: int) -> bytes:
    """The index and the end, as they follow the parts; ``at`` is where they begin."""
    form = {"format": FORMAT, "made_at": index.made_at}
    entries = [_entry_out(entry) for entry in index.entries]
    data = plain_bytes({**form, "scopes": entries})
    head = struct.pack("<Q", len(data))
    frame = packed(head + data)
    digest = hashlib.sha256(frame).digest()
    size = END_BYTES - 8
    return frame + _END.pack(_SKIPPED, size, _NAME, at, digest)


def read_end(end: bytes) -> tuple[int, bytes] | None:
    """Where the index begins and its SHA-256; None when this is no end of a backup."""
    if len(end) != END_BYTES:
        return None
    magic, size, name, at, digest = _END.unpack(end)
    if (magic, size, name) != (_SKIPPED, END_BYTES - 8, _NAME):
        return None
    return at, digest


def read_index(frame: bytes, digest: bytes, where: str) -> Index:
    """The index in a frame.

    Raises:
        IntegrityError: ``storage.backup``.
        StoreOpenError: ``store.format``.

    """
    if hashlib.sha256(frame).digest() != digest:
        raise damaged(where)
    reader = zstandard.ZstdDecompressor().stream_reader(frame)
    try:
        (length,) = struct.unpack("<Q", reader.read(8))
        if length > _LONGEST:
            raise damaged(where)
        form = json.loads(reader.read(length))
        found = form["format"]
        if found == FORMAT:
            entries = tuple(_entry_in(entry) for entry in form["scopes"])
            return Index(int(form["made_at"]), entries)
    except (*_UNREADABLE, struct.error, zstandard.ZstdError) as error:
        raise damaged(where) from error
    raise StoreOpenError(
        "a backup of another format",
        code="store.format",
        path=where,
        hint=f"this version reads {FORMAT}",
    )


def _mark_out(mark: Mark | None) -> list[Any] | None:
    return None if mark is None else [mark.seq, mark.recorded_at, mark.digest]


def _mark_in(form: Sequence[Any] | None) -> Mark | None:
    if form is None:
        return None
    seq, recorded_at, digest = form
    return Mark(int(seq), int(recorded_at), str(digest))


def _entry_out(entry: Entry) -> dict[str, Any]:
    return {
        "scope": entry.scope.text,
        "mark": _mark_out(entry.mark),
        "work": entry.work,
        "parts": [
            [part.at, part.size, part.length, part.sha256, _mark_out(part.previous)]
            for part in entry.parts
        ],
    }


def _entry_in(form: dict[str, Any]) -> Entry:
    mark = _mark_in(form["mark"])
    if mark is None:
        raise ValueError
    parts = tuple(
        Part(int(at), int(size), int(length), str(sha256), _mark_in(previous))
        for at, size, length, sha256, previous in form["parts"]
    )
    return Entry(ScopeId.parse(form["scope"]), mark, int(form["work"]), parts)


def local_line(schema: Schema, row: Row) -> bytes:
    """The line of a WORK or CACHE row, newline included."""
    relation = schema.of(row)
    form = {
        "relation": relation.name,
        "row": header_of(relation, row),
        "work": row.version,
    }
    return plain_bytes(form) + b"\n"


def read_local(schema: Schema, line: bytes, where: str) -> Row:
    """The row of such a line, without its newline.

    Raises:
        IntegrityError: ``storage.backup``.
        SchemaError: it is of a relation that this schema doesn't declare.

    """
    try:
        form = json.loads(line)
        relation = schema.relation(form["relation"])
        row = row_in(relation, form["row"], None, int(form["work"]))
        check_row(relation, row)
    except SchemaError:
        raise
    except (IntegrityError, *_UNREADABLE) as error:
        raise damaged(where) from error
    return row
