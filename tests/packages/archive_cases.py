"""One table: for each rule of archives a fixture that it refuses, and a neighbour."""

from __future__ import annotations

import random
import zlib

from .archive_maker import (
    DESCRIPTOR,
    END,
    REGULAR,
    Item,
    deflate,
    described,
    extra_field,
    make,
    unicode_path,
)

A = b"a.uai"
TEXT = b"text\n"
ONES = 0xFFFF_FFFF
FOLDER = 0o40755 << 16 | 0x10
TIMES = extra_field(0x5455, b"\x01abcd")
EMPTY_END = END.pack(b"PK\x05\x06", 0, 0, 0, 0, 0, 0, 0)

#: Per row: the code, an archive that breaks the rule, a neighbour that doesn't.
CASES: list[tuple[str, bytes, bytes]] = [
    ("zip.not-zip", b"\x1f\x8b\x08" + bytes(60), EMPTY_END),
    ("zip.not-zip", b"", EMPTY_END),
    ("zip.truncated", make(Item(A))[:-1], make(Item(A))),
    ("zip.truncated", make(Item(A))[:40], make(Item(A))),
    ("zip.truncated", EMPTY_END[:10], EMPTY_END),
    ("zip.truncated", make(Item(A), end={"offset": 5000}), make(Item(A))),
    (
        "zip.truncated",
        make(Item(A), Item(b"b", both={"compressed_size": 900, "size": 900})),
        make(Item(A), Item(b"b", bytes(900))),
    ),
    (
        "zip.truncated",
        make(Item(A), Item(b"b", central={"offset": 9999})),
        make(Item(A), Item(b"b")),
    ),
    ("zip.truncated", make(Item(A), comment=b"note")[:-2], make(Item(A))),
    ("zip.framing", make(Item(A), prefix=b"%PDF"), make(Item(A))),
    ("zip.framing", make(Item(A), prefix=b"%PDF", shift=4), make(Item(A))),
    ("zip.framing", make(Item(A), trailing=bytes(100)), make(Item(A))),
    ("zip.framing", make(Item(A), trailing=bytes(70_000)), make(Item(A))),
    ("zip.framing", make(Item(A), trailing=b"PK\x05\x06"), make(Item(A))),
    ("zip.framing", make(Item(A), comment=b"note"), make(Item(A))),
    ("zip.framing", make(Item(A), Item(b"b", before=b"\0")), make(Item(A), Item(b"b"))),
    ("zip.framing", make(Item(A), before_directory=b"xxxx"), make(Item(A))),
    ("zip.framing", make(Item(A), after_directory=b"PK\x05\x05\0\0"), make(Item(A))),
    ("zip.framing", make(Item(A), end={"count": 2, "here": 2}), make(Item(A))),
    ("zip.framing", make(Item(A), end={"count": 0, "here": 0}), make(Item(A))),
    ("zip.framing", make(Item(A), end={"here": 0}), make(Item(A))),
    ("zip.framing", make(Item(A), end={"size": 50}), make(Item(A))),
    ("zip.framing", make(Item(A), end={"size": 52}), make(Item(A))),
    ("zip.framing", make(Item(A), end={"offset": 39}), make(Item(A))),
    ("zip.framing", make(Item(A), end={"offset": 41}), make(Item(A))),
    ("zip.framing", make(Item(A, central={"comment": b"note"})), make(Item(A))),
    ("zip.framing", make(Item(A, central={"signature": b"PK\x01\x03"})), make(Item(A))),
    ("zip.framing", make(Item(A, local={"signature": b"PK\x03\x05"})), make(Item(A))),
    ("zip.multi-disk", make(Item(A), end={"disk": 1}), make(Item(A))),
    ("zip.multi-disk", make(Item(A), end={"directory_disk": 1}), make(Item(A))),
    ("zip.multi-disk", make(Item(A, central={"disk": 1})), make(Item(A))),
    ("zip.multi-disk", make(Item(A), prefix=b"PK\x07\x08"), make(Item(A))),
    ("zip.multi-end", make(Item(A), comment=make(Item(A))), make(Item(A))),
    ("zip.multi-end", make(Item(A), trailing=make(Item(A))), make(Item(A))),
    (
        "zip.multi-end",
        make(Item(A), prefix=make(Item(b"b"))),
        make(Item(A, b"PK\x05\x06 in words, far from a directory")),
    ),
    (
        "zip.multi-end",
        make(Item(A), Item(b"b", bytes(80_000)), prefix=make(Item(b"c"))),
        make(Item(A), Item(b"b", bytes(80_000))),
    ),
    (
        # The inner record gives the place of its directory, and lies not behind it.
        "zip.multi-end",
        make(Item(A, make(Item(b"b"), after_directory=b"Z", shift=-30 - len(A)))),
        make(Item(A, make(Item(b"b"), after_directory=b"Z"))),
    ),
    ("zip.zip64", make(Item(A), end={"offset": ONES}), make(Item(A))),
    ("zip.zip64", make(Item(A), end={"count": 0xFFFF}), make(Item(A))),
    (
        "zip.zip64",
        make(Item(A), after_directory=b"PK\x06\x06" + bytes(52)),
        make(Item(A)),
    ),
    (
        "zip.zip64",
        make(Item(A), after_directory=b"PK\x06\x07" + bytes(16)),
        make(Item(A)),
    ),
    (
        "zip.zip64",
        make(Item(A, both={"extra": extra_field(1, bytes(16))})),
        make(Item(A)),
    ),
    ("zip.zip64", make(Item(A, local={"size": ONES})), make(Item(A))),
    ("zip.zip64", make(Item(A, central={"offset": ONES})), make(Item(A))),
    ("zip.zip64", make(Item(A, central={"disk": 0xFFFF})), make(Item(A))),
    ("zip.encrypted", make(Item(A, flags=1)), make(Item(A, flags=2))),
    ("zip.encrypted", make(Item(A, flags=1 << 6)), make(Item(A, flags=4))),
    ("zip.encrypted", make(Item(A, flags=1 << 13)), make(Item(A, flags=6))),
    ("zip.encrypted", make(Item(A, local={"flags": 1})), make(Item(A))),
    ("zip.version", make(Item(A, flags=1 << 5)), make(Item(A, flags=1 << 11))),
    ("zip.version", make(Item(A, both={"version": 21})), make(Item(A))),
    (
        "zip.version",
        make(Item(A, both={"version": 45})),
        make(Item(A, both={"version": 10})),
    ),
    ("zip.method", make(Item(A, method=9, data=TEXT)), make(Item(A, method=8))),
    ("zip.method", make(Item(A, method=93, data=TEXT)), make(Item(A))),
    ("zip.header-mismatch", make(Item(A, local={"name": b"b.uai"})), make(Item(A))),
    ("zip.header-mismatch", make(Item(A, local={"name": b"bb.uai"})), make(Item(A))),
    ("zip.header-mismatch", make(Item(A, local={"version": 10})), make(Item(A))),
    ("zip.header-mismatch", make(Item(A, local={"flags": 2})), make(Item(A))),
    ("zip.header-mismatch", make(Item(A, local={"method": 8})), make(Item(A))),
    ("zip.header-mismatch", make(Item(A, local={"time": 1})), make(Item(A))),
    ("zip.header-mismatch", make(Item(A, local={"date": 34})), make(Item(A))),
    ("zip.header-mismatch", make(Item(A, local={"crc": 0})), make(Item(A))),
    ("zip.header-mismatch", make(Item(A, local={"compressed_size": 0})), make(Item(A))),
    ("zip.header-mismatch", make(Item(A, local={"size": 4})), make(Item(A))),
    (
        "zip.header-mismatch",
        make(described(A, local={"crc": 7})),
        make(described(A, local={"crc": zlib.crc32(TEXT)})),
    ),
    ("zip.size", make(Item(A, both={"size": 4})), make(Item(A))),
    ("zip.size", make(Item(A, method=8, both={"size": 4})), make(Item(A, method=8))),
    ("zip.size", make(Item(A, method=8, both={"size": 6})), make(Item(A, method=8))),
    (
        "zip.size",
        make(Item(A, method=8, data=deflate(TEXT) + b"\0")),
        make(Item(A, method=8)),
    ),
    (
        "zip.size",
        make(Item(A, method=8, data=deflate(TEXT)[:-1])),
        make(Item(A, method=8)),
    ),
    (
        "zip.size",
        make(Item(A, b"", method=8, data=b"")),
        make(Item(A, b"", method=8, data=b"\x03\x00")),
    ),
    ("zip.crc", make(Item(A, both={"crc": 1})), make(Item(A))),
    ("zip.crc", make(Item(A, method=8, both={"crc": 1})), make(Item(A, method=8))),
    ("zip.deflate", make(Item(A, method=8, data=b"\xff\xff")), make(Item(A, method=8))),
    ("zip.descriptor", make(Item(A, flags=8)), make(described(A))),
    ("zip.descriptor", make(described(A, descriptor=b"")), make(described(A))),
    (
        "zip.descriptor",
        make(described(A, descriptor=DESCRIPTOR.pack(b"PK\x07\x08", 1, 2, 3))),
        make(described(A)),
    ),
    (
        "zip.descriptor",
        make(described(A, descriptor=described(A).descriptor[4:])),
        make(described(A)),
    ),
    (
        "zip.overlap",
        make(Item(A), Item(b"b", is_written=False, central={"offset": 0, "name": A})),
        make(Item(A), Item(b"b")),
    ),
    (
        "zip.overlap",
        make(Item(A, both={"compressed_size": 60, "size": 60})),
        make(Item(A, bytes(60))),
    ),
    (
        "zip.overlap",
        make(
            Item(A, make(Item(b"b"))),
            Item(b"b", is_written=False, central={"offset": 35}),
        ),
        make(Item(A), Item(b"b")),
    ),
    (
        "zip.hidden-entry",
        make(Item(A), Item(b"b", is_listed=False)),
        make(Item(A), Item(b"b")),
    ),
    (
        "zip.hidden-entry",
        make(Item(b"b", is_listed=False), Item(A)),
        make(Item(b"b"), Item(A)),
    ),
    (
        "zip.hidden-entry",
        make(Item(A), described(b"b", is_listed=False), Item(b"c")),
        make(Item(A), described(b"b"), Item(b"c")),
    ),
    (
        "zip.special-file",
        make(Item(A, central={"attributes": 0o120777 << 16})),
        make(Item(A)),
    ),
    (
        "zip.special-file",
        make(Item(A, central={"attributes": 0o010644 << 16, "made_by": 20})),
        make(Item(A, central={"attributes": 0o644 << 16, "made_by": 20})),
    ),
    (
        "zip.special-file",
        make(Item(A, central={"attributes": REGULAR | 0x10})),
        make(Item(A, central={"attributes": REGULAR | 0x21})),
    ),
    ("zip.special-file", make(Item(A, central={"attributes": FOLDER})), make(Item(A))),
    (
        "zip.directory-entry",
        make(Item(b"d/", b"", central={"attributes": FOLDER}), Item(A)),
        make(Item(b"d/", b"", central={"attributes": FOLDER}), Item(b"d/a")),
    ),
    (
        "zip.directory-entry",
        make(Item(b"d/", b"text"), Item(b"d/a")),
        make(Item(b"d/", b""), Item(b"d/e/a")),
    ),
    (
        "zip.directory-entry",
        make(Item(b"d/", b"", method=8), Item(b"d/a")),
        make(Item(b"d/", b""), Item(b"d/a")),
    ),
    (
        "zip.extra-field",
        make(Item(A, both={"extra": unicode_path(b"../b", crc_of=A)})),
        make(Item(A, both={"extra": unicode_path(A, crc_of=A)})),
    ),
    (
        "zip.extra-field",
        make(Item(A, both={"extra": unicode_path(A, crc_of=b"b")})),
        make(Item(A, central={"extra": unicode_path(A, crc_of=A)})),
    ),
    (
        "zip.extra-field",
        make(Item(A, local={"extra": unicode_path(A, crc_of=A, version=2)})),
        make(Item(A, local={"extra": TIMES})),
    ),
    (
        "zip.extra-field",
        make(Item(A, local={"extra": extra_field(0x000D)})),
        make(Item(A)),
    ),
    (
        "zip.extra-field",
        make(Item(A, central={"extra": extra_field(0x6375)})),
        make(Item(A)),
    ),
    ("zip.extra-field", make(Item(A, both={"extra": b"UT\x09"})), make(Item(A))),
    (
        "zip.extra-field",
        make(Item(A, both={"extra": b"UT\x09\0abc"})),
        make(Item(A, both={"extra": b"UT\x03\0abc"})),
    ),
    (
        "zip.extra-unknown",
        make(Item(A, both={"extra": extra_field(0x9999, b"x")})),
        make(Item(A, both={"extra": extra_field(0x7875, b"x")})),
    ),
    (
        "zip.limit-extra",
        make(Item(A, both={"extra": extra_field(0x5455, bytes(1021))})),
        make(Item(A, both={"extra": extra_field(0x5455, bytes(1020))})),
    ),
    (
        "path.encoding",
        make(Item("é".encode())),
        make(Item("é".encode(), flags=1 << 11)),
    ),
    ("path.encoding", make(Item(b"\xe9", flags=1 << 11)), make(Item(A))),
    ("path.encoding", make(Item(b"\xc0\xae", flags=1 << 11)), make(Item(A))),
    ("path.encoding", make(Item(b"\xed\xa0\x80", flags=1 << 11)), make(Item(A))),
    ("path.duplicate", make(Item(A), Item(A)), make(Item(A), Item(b"aa"))),
    (
        "path.duplicate",
        make(Item(b"d/", b""), Item(b"d/", b""), Item(b"d/a")),
        make(Item(b"d/", b""), Item(b"d/a")),
    ),
    ("path.alias", make(Item(b"a"), Item(b"A")), make(Item(b"a"), Item(b"b"))),
    ("path.conflict", make(Item(b"a"), Item(b"a/b")), make(Item(b"b"), Item(b"a/b"))),
    ("path.shape", make(Item(b"")), make(Item(b"a"))),
    ("path.shape", make(Item(b"d//", b"")), make(Item(b"a"))),
    ("path.traversal", make(Item(b"../a")), make(Item(b"..a"))),
    ("path.backslash", make(Item(b"a\\b")), make(Item(b"a/b"))),
]

#: Per row: the code, entries beyond a small limit, entries within it.
LIMIT_CASES: list[tuple[str, list[Item], list[Item]]] = [
    ("zip.limit-archive", [Item(A, bytes(102_400))], [Item(A, bytes(99))]),
    ("zip.limit-entries", [Item(b"%d" % n) for n in range(4)], [Item(A), Item(b"b")]),
    (
        "zip.limit-entries",
        [Item(A), *(Item(b"%d" % n, is_listed=False) for n in range(4))],
        [Item(A)],
    ),
    ("zip.limit-entry", [Item(A, bytes(4097))], [Item(A, bytes(4096))]),
    (
        "zip.limit-entry",
        [Item(A, method=8, data=bytes(8193))],
        [Item(A, method=8)],
    ),
    (
        "zip.limit-entry",
        [Item(A, random.Random(0).randbytes(5000), 8, both={"size": 9})],
        [Item(A, random.Random(0).randbytes(4000), 8)],
    ),
    (
        "zip.limit-total",
        [Item(A, bytes(4096)), Item(b"b", bytes(2049))],
        [Item(A, bytes(4096)), Item(b"b", bytes(2048))],
    ),
    (
        "zip.limit-total",
        [
            Item(name, random.Random(0).randbytes(4000), 8, both={"size": 9})
            for name in (b"a", b"b")
        ],
        [Item(name, random.Random(0).randbytes(3000), 8) for name in (b"a", b"b")],
    ),
    ("zip.bomb", [Item(A, bytes(4000), 8)], [Item(A, bytes(1000), 8)]),
    (
        "zip.bomb",
        [Item(A, bytes(50_000), 8, both={"size": 9})],
        [Item(A, bytes(range(256)) * 10, 8)],
    ),
]
