"""The form of a backup: compressed parts, an index of them, and an end of fixed size.

Every part is a whole Zstandard frame of canonical JSON lines: those of the segments
that the file projection has, then one line for each WORK and CACHE row. The index is
the last such frame. Before and behind them stand frames that decompressors skip, so
`zstd -dc` prints a backup; its beginning tells what it is, its end that it is whole.
"""

from __future__ import annotations

import hashlib
import json
import struct
from typing import TYPE_CHECKING, Final

import zstandard

from uaix_core.schema.checks import check_row
from uaix_core.schema.codec import header_of, row_in
from uaix_core.values.canonical import plain_bytes
from uaix_core.values.errors import CallerError, IntegrityError, SchemaError

if TYPE_CHECKING:
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema

# Skippable frames (RFC 8878, section 3.1.2): a magic, the bytes that follow, and these.
_SKIPPED, _NAME, _PADDING = 0x184D2A5D, b"UAIXBACK", 0x184D2A5E
_SKIPPED_HEAD: Final = struct.Struct("<II")
#: The beginning: a name.
HEAD: Final = _SKIPPED_HEAD.pack(_SKIPPED, len(_NAME)) + _NAME
#: The end: the name, where the index begins, and its SHA-256.
_END: Final = struct.Struct("<II8sQ32s")
END_BYTES: Final = _END.size
#: No frame is longer when unpacked: a commit has at most 256 MiB of bodies, which
#: base64url makes a third longer.
LONGEST: Final = 512 * 2**20
#: Nor more times its size, so that a small file never asks for much memory. Frames
#: that are smaller get a skippable one as their end.
_RATIO: Final = 256
_LEVEL: Final = 3

#: What reading something else than our lines may raise.
UNREADABLE: Final = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
    MemoryError,
    CallerError,
    IntegrityError,
)


def damaged(where: str) -> IntegrityError:
    """The error for bytes that are not those of a backup."""
    return IntegrityError("the backup is damaged", code="storage.backup", path=where)


def packed(data: bytes) -> bytes:
    """The bytes as one frame, and a skippable one where that is too small."""
    frame = zstandard.ZstdCompressor(level=_LEVEL).compress(data)
    lacking = -(-len(data) // _RATIO) - len(frame)
    if lacking <= 0:
        return frame
    return frame + _SKIPPED_HEAD.pack(_PADDING, lacking) + bytes(lacking)


def unpacked(frame: bytes, length: int, where: str) -> bytes:
    """The bytes of a frame, which are ``length`` long.

    Raises:
        IntegrityError: they aren't, or the frame is none, or more than it can be.

    """
    if not 0 <= length <= min(LONGEST, _RATIO * len(frame)):
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


def end_frame(at: int, index: bytes) -> bytes:
    """The end of a backup whose index, these bytes, begins at ``at``."""
    digest = hashlib.sha256(index).digest()
    size = END_BYTES - _SKIPPED_HEAD.size
    return _END.pack(_SKIPPED, size, _NAME, at, digest)


def read_end(end: bytes) -> tuple[int, bytes] | None:
    """Where the index begins and its SHA-256; None when this is no end of a backup."""
    if len(end) != END_BYTES:
        return None
    magic, size, name, at, digest = _END.unpack(end)
    if (magic, size, name) != (_SKIPPED, END_BYTES - _SKIPPED_HEAD.size, _NAME):
        return None
    return at, digest


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
        row = row_in(relation, form["row"], None, whole(form["work"]))
        check_row(relation, row)
    except SchemaError:
        raise
    except UNREADABLE as error:
        raise damaged(where) from error
    return row


def whole(value: object) -> int:
    """A value as a whole number that every backend can hold.

    Raises:
        ValueError: it is none.

    """
    if type(value) is not int or not -(1 << 63) <= value < 1 << 63:
        raise ValueError
    return value
