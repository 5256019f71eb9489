"""The records of a ZIP archive as laid out on disk (APPNOTE 4.3), and their words.

All numbers are little-endian. Only what the UAIX package format v0.1 allows has a
name here: no ZIP64, no encryption, methods stored and deflate.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

LOCAL_SIGNATURE: Final = b"PK\x03\x04"
CENTRAL_SIGNATURE: Final = b"PK\x01\x02"
END_SIGNATURE: Final = b"PK\x05\x06"
DESCRIPTOR_SIGNATURE: Final = b"PK\x07\x08"
ZIP64_SIGNATURES: Final = (b"PK\x06\x06", b"PK\x06\x07")

#: Signature, version needed, flags, method, time, date, CRC-32, compressed size,
#: size, length of name, length of extra field (APPNOTE 4.3.7).
LOCAL: Final = Struct("<4s5H3I2H")
#: Signature, version made by, the nine fields from version needed to length of extra
#: field as in `LOCAL`, length of comment, disk, internal attributes, external
#: attributes, offset of the local header (APPNOTE 4.3.12).
CENTRAL: Final = Struct("<4s6H3I5H2I")
#: Signature, this disk, disk of the directory, entries on this disk, entries, size
#: and offset of the directory, length of the comment (APPNOTE 4.3.16).
END: Final = Struct("<4s4H2IH")
#: Signature, CRC-32, compressed size, size (APPNOTE 4.3.9).
DESCRIPTOR: Final = Struct("<4s3I")

#: Where the fields that both headers share lie in a directory record: from version
#: needed to length of extra field.
SHARED: Final = slice(6, 32)

STORED: Final = 0
DEFLATED: Final = 8

#: General purpose flags (APPNOTE 4.4.4).
FLAG_DESCRIPTOR: Final = 1 << 3
FLAG_UTF8: Final = 1 << 11
ENCRYPTION_FLAGS: Final = 1 << 0 | 1 << 6 | 1 << 13
ALLOWED_FLAGS: Final = 1 << 1 | 1 << 2 | FLAG_DESCRIPTOR | FLAG_UTF8

#: Folders and deflate need 2.0 (APPNOTE 4.4.3).
MAX_VERSION: Final = 20

#: A field of all ones refers to a ZIP64 record (APPNOTE 4.4.1.4).
ONES_16: Final = 0xFFFF
ONES_32: Final = 0xFFFF_FFFF

#: External attributes, low half: volume label, folder, device, reparse point.
DOS_FOLDER: Final = 0x10
DOS_SPECIAL: Final = 0x08 | DOS_FOLDER | 0x40 | 0x400
#: External attributes, topmost four bits: the file type of Unix.
UNIX_NONE: Final = 0
UNIX_FOLDER: Final = 4
UNIX_REGULAR: Final = 8
