"""Archives made field by field, so that every field can lie."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import attrs

LOCAL = struct.Struct("<4s5H3I2H")
CENTRAL = struct.Struct("<4s6H3I5H2I")
END = struct.Struct("<4s4H2IH")
DESCRIPTOR = struct.Struct("<4s3I")

REGULAR = 0o100644 << 16


def deflate(content: bytes) -> bytes:
    """A raw deflate stream."""
    stream = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return stream.compress(content) + stream.flush()


@attrs.define
class Item:
    """One entry; ``local`` and ``central`` replace fields of one header by name.

    Names of fields: signature, version, flags, method, time, date, crc,
    compressed_size, size, name, extra; of central also made_by, comment, disk,
    internal, attributes, offset. ``before`` and ``after`` are stray bytes around the
    local entry; ``descriptor`` are the bytes behind the content (None: none).
    """

    name: bytes
    content: bytes = b"text\n"
    method: int = 0
    flags: int = 0
    data: bytes | None = None
    both: dict[str, Any] = attrs.Factory(dict)
    local: dict[str, Any] = attrs.Factory(dict)
    central: dict[str, Any] = attrs.Factory(dict)
    before: bytes = b""
    after: bytes = b""
    descriptor: bytes | None = None
    is_listed: bool = True
    is_written: bool = True

    def fields(self) -> dict[str, Any]:
        """What both headers say unless told otherwise."""
        return {
            "version": 20,
            "flags": self.flags,
            "method": self.method,
            "time": 0,
            "date": 33,
            "crc": zlib.crc32(self.content),
            "compressed_size": len(self.stored()),
            "size": len(self.content),
            "name": self.name,
            "extra": b"",
            **self.both,
        }

    def stored(self) -> bytes:
        """The bytes between the headers."""
        if self.data is not None:
            return self.data
        return deflate(self.content) if self.method else self.content


def described(name: bytes, content: bytes = b"text\n", **changes: Any) -> Item:
    """A deflated entry with a data descriptor, as a stream writer makes it."""
    item = Item(name, content, method=8, flags=8, **changes)
    item.local = {"crc": 0, "compressed_size": 0, "size": 0, **item.local}
    if item.descriptor is None:
        size = len(item.stored())
        item.descriptor = DESCRIPTOR.pack(
            b"PK\x07\x08", zlib.crc32(content), size, len(content)
        )
    return item


def make(
    *items: Item,
    prefix: bytes = b"",
    before_directory: bytes = b"",
    after_directory: bytes = b"",
    comment: bytes = b"",
    trailing: bytes = b"",
    shift: int = 0,
    end: dict[str, int] | None = None,
) -> bytes:
    """An archive of these entries; ``end`` replaces fields of the end record.

    Names of those: disk, directory_disk, here, count, size, offset. ``shift`` is
    taken from every offset.
    """
    out = bytearray(prefix)
    directory = bytearray()
    count = 0
    for item in items:
        offset = len(out)
        if item.is_written:
            out += item.before
            offset = len(out)
            out += _local(item) + item.stored() + (item.descriptor or b"") + item.after
        if item.is_listed:
            directory += _central(item, offset - shift)
            count += 1
    out += before_directory
    numbers = {
        "disk": 0,
        "directory_disk": 0,
        "here": count,
        "count": count,
        "size": len(directory),
        "offset": len(out) - shift,
        **(end or {}),
    }
    out += directory + after_directory
    out += END.pack(b"PK\x05\x06", *numbers.values(), len(comment))
    return bytes(out + comment + trailing)


def _local(item: Item) -> bytes:
    fields = {"signature": b"PK\x03\x04", **item.fields(), **item.local}
    name, extra = fields.pop("name"), fields.pop("extra")
    return LOCAL.pack(*fields.values(), len(name), len(extra)) + name + extra


def _central(item: Item, offset: int) -> bytes:
    fields = {
        "signature": b"PK\x01\x02",
        "made_by": 0x0314,
        **item.fields(),
        "comment": b"",
        "disk": 0,
        "internal": 0,
        "attributes": REGULAR,
        "offset": offset,
        **item.central,
    }
    name, extra = fields.pop("name"), fields.pop("extra")
    comment = fields.pop("comment")
    tail = [fields.pop(key) for key in ("disk", "internal", "attributes", "offset")]
    head = CENTRAL.pack(*fields.values(), len(name), len(extra), len(comment), *tail)
    return head + name + extra + comment


def extra_field(kind: int, data: bytes = b"") -> bytes:
    """One extra field."""
    return struct.pack("<2H", kind, len(data)) + data


def unicode_path(name: bytes, *, crc_of: bytes, version: int = 1) -> bytes:
    """The extra field that gives an entry another name (APPNOTE 4.6.9)."""
    data = struct.pack("<BI", version, zlib.crc32(crc_of)) + name
    return extra_field(0x7075, data)
