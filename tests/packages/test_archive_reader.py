"""The strict reader: what it refuses, what it takes, and that it never breaks."""

from __future__ import annotations

import json
import mmap
import random
import struct
import zlib
from typing import TYPE_CHECKING

import pytest

from uaix_core.packages import archive_entries
from uaix_core.packages.archive_reader import read_archive
from uaix_core.packages.findings import Findings
from uaix_core.packages.limits import DEFAULT_LIMITS, KIB, MIB, Limits
from uaix_core.packages.rules.archives import ARCHIVE_RULES
from uaix_core.values.errors import CallerError

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

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

A = b"a.uai"
TEXT = b"text\n"
ONES = 0xFFFF_FFFF
FOLDER = 0o40755 << 16 | 0x10
TIMES = extra_field(0x5455, b"\x01abcd")
EMPTY_END = END.pack(b"PK\x05\x06", 0, 0, 0, 0, 0, 0, 0)
SMALL = Limits(
    archive_bytes=100 * KIB,
    entries=3,
    entry_bytes=4 * KIB,
    total_bytes=6 * KIB,
    ratio=20,
    ratio_floor_bytes=KIB,
)


def read(
    data: bytes,
    *,
    name: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    lenient: bool = False,
) -> tuple[dict[str, bytes | None], Findings]:
    """The files of an archive with their content, and what was found."""
    findings = Findings(ARCHIVE_RULES, lenient=lenient)
    contents = read_archive(data, findings, name=name, limits=limits)
    files = {
        entry.path: None if content is None else bytes(content)
        for entry, content in contents.bodies()
    }
    return files, findings


def codes(findings: Findings, severity: str = "error") -> set[str]:
    """The codes found of one severity."""
    return {finding.code for finding in findings if finding.severity == severity}


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


@pytest.mark.parametrize(
    ("code", "refused", "accepted"),
    CASES,
    ids=[f"{code}-{number}" for number, (code, *_) in enumerate(CASES)],
)
def test_rule_refuses_its_fixture_and_not_the_neighbour(code, refused, accepted):
    """Each rule has a fixture that it refuses and a close one that is accepted."""
    assert code in codes(read(refused)[1])
    assert codes(read(accepted)[1]) == set()


LIMIT_CASES = [
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


@pytest.mark.parametrize(("code", "refused", "accepted"), LIMIT_CASES)
def test_limit_ends_the_reading(code, refused, accepted):
    """One beyond a limit is refused and ends the reading; the limit itself is fine."""
    files, findings = read(make(*refused), limits=SMALL)
    assert code in codes(findings)
    assert findings.halted
    assert len(files) < len(refused)
    files, findings = read(make(*accepted), limits=SMALL)
    assert codes(findings) == set()
    assert len(files) == len(accepted)


def test_many_small_bombs_are_one_bomb():
    """The ratio is judged of all entries together as well."""
    items = [Item(b"%d" % n, bytes(MIB), 8) for n in range(8)]
    limits = Limits(ratio=800)
    assert "zip.bomb" in codes(read(make(*items), limits=limits)[1])


def test_entries_that_share_bytes_are_a_bomb():
    """Overlapping entries can't make the reader read more than an archive may hold."""
    shared = Item(A, bytes(4000))
    again = Item(A, bytes(4000), is_written=False, central={"offset": 0})
    limits = Limits(entries=99, archive_bytes=20_000)
    assert "zip.bomb" not in codes(read(make(shared, again), limits=limits)[1])
    found = codes(read(make(shared, *[again] * 5), limits=limits)[1])
    assert {"zip.bomb", "zip.overlap"} <= found


def test_streams_that_break_off_use_up_the_limits():
    """Overlong streams that end in damage cost no more than the limits allow."""
    # One stored block of 2,000 bytes, then a block of a type that doesn't exist.
    stream = b"\0" + struct.pack("<HH", 2000, 2000 ^ 0xFFFF) + bytes(2000) + b"\x07"
    items = [Item(b"%d" % n, b"", 8, data=stream, both={"size": 5}) for n in range(3)]
    findings = read(make(*items), limits=SMALL)[1]
    assert codes(findings) == {"zip.size", "zip.deflate", "zip.limit-total"}
    assert findings.halted


def test_want_of_memory_is_a_finding(monkeypatch):
    """When there is no memory for an entry, that is told as a limit."""

    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(archive_entries, "_explain", fail)
    data = make(Item(A, method=8, both={"size": 1}))
    assert codes(read(data)[1]) == {"zip.limit-entry"}


def test_every_rule_has_a_case():
    """No row of the table is without a test here or in the tests of paths."""
    here = {code for code, *_ in (*CASES, *LIMIT_CASES)}
    warned = {"zip.parent-folder", "zip.wrapping-folder", "zip.macosx"}
    named = {"zip.extension"}
    paths = {code for code in ARCHIVE_RULES if code.startswith("path.")}
    assert set(ARCHIVE_RULES) == here | warned | named | paths


@pytest.mark.parametrize("name", ["a.zip", "a.uaix.zip", "uaix", "a.UAIX", ""])
def test_extension_is_judged_of_names_only(name):
    """A name must end in .uaix; without a name there is nothing to judge."""
    assert codes(read(make(Item(A)), name=name)[1]) == {"zip.extension"}
    assert codes(read(make(Item(A)), name="a.uaix")[1]) == set()
    assert codes(read(make(Item(A)))[1]) == set()


def test_unknown_extra_field_is_a_warning_when_lenient():
    """Lenient reading softens unknown extra-field ids and nothing else of archives."""
    data = make(Item(A, both={"extra": extra_field(0x9999)}))
    files, findings = read(data, lenient=True)
    assert files == {"a.uai": TEXT}
    assert codes(findings, "warning") == {"zip.extra-unknown"}
    assert [rule.code for rule in ARCHIVE_RULES.values() if rule.lenient] == [
        "zip.extra-unknown"
    ]


def test_parent_folder_is_dropped_with_a_warning():
    """An empty entry of a folder that files lie in is left out, not an error."""
    files, findings = read(make(Item(b"d/", b""), Item(b"d/a")))
    assert set(files) == {"d/a"}
    assert [finding.code for finding in findings] == ["zip.parent-folder"]


@pytest.mark.parametrize(
    ("data", "code", "hint"),
    [
        (make(Item(A, flags=8)), "zip.descriptor", "seekable"),
        (make(Item("é".encode())), "path.encoding", "uaix pack"),
        (make(Item(b"p/.uai/a"), Item(b"p/b")), "zip.wrapping-folder", "uaix pack"),
        (make(Item(b".uai/a"), Item(b"__MACOSX/b")), "zip.macosx", "uaix pack"),
        (make(Item(b"a\\b")), "path.backslash", "uaix pack"),
        (make(Item(A), end={"count": 0xFFFF}), "zip.zip64", "turn ZIP64 off"),
        (make(Item(A), trailing=b"\0"), "zip.framing", "write to a file"),
    ],
)
def test_honest_tools_get_a_hint(data, code, hint):
    """What honest tools do wrong is told with what to do about it."""
    messages = [finding.message for finding in read(data)[1] if finding.code == code]
    assert any(hint in message for message in messages)


def test_findings_go_on_after_a_structural_fault():
    """A fault of the frame doesn't keep the faults of the entries from being told."""
    data = make(
        Item(b"CON"), Item(b"b", both={"crc": 1}), prefix=b"%PDF", trailing=b"\n"
    )
    files, findings = read(data)
    assert set(files) == {"CON", "b"}
    assert {"zip.framing", "path.device", "zip.crc"} <= codes(findings)


def test_entries_are_in_archive_order_and_read_again():
    """The order is that of the archive, and content can be read more than once."""
    findings = Findings(ARCHIVE_RULES)
    contents = read_archive(make(Item(b"b"), Item(b"a", b"x" * 90, 8)), findings)
    assert list(contents.entries) == ["b", "a"]
    assert contents.complete
    entry = contents.entries["a"]
    assert bytes(entry.read()) == bytes(entry.read()) == b"x" * 90
    assert (entry.method, entry.size, entry.header_offset) == (8, 90, 36)
    assert not len(findings)


def test_incomplete_contents_say_so():
    """What can't be listed whole is not complete, so that absence proves nothing."""
    for data in (
        make(Item(A))[:40],
        make(Item(A), Item(b"b", central={"offset": 99999})),
    ):
        assert not read_archive(data, Findings(ARCHIVE_RULES)).complete


def test_unreadable_name_is_checked_but_not_given():
    """An entry whose name is no text has no path, but its content is still tested."""
    files, findings = read(make(Item(b"\xff", both={"crc": 1}), Item(A)))
    assert files == {"a.uai": TEXT}
    assert codes(findings) == {"path.encoding", "zip.crc"}


def test_stored_content_is_not_copied():
    """A stored entry gives a view into the archive."""
    contents = read_archive(make(Item(A)), Findings(ARCHIVE_RULES))
    assert isinstance(contents.entries["a.uai"].read(), memoryview)


def test_any_buffer_of_bytes_is_read(tmp_path):
    """Bytes, bytearray, memoryview and mmap give the same; other types are refused."""
    data = make(Item(A), Item(b"b", b"y" * 99, 8))
    expected = read(data)[0]
    path = tmp_path / "a.uaix"
    path.write_bytes(data)
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
    ):
        assert read(mapped)[0] == expected
    for buffer in (bytearray(data), memoryview(data), memoryview(data).cast("b")):
        assert read(buffer)[0] == expected
    for wrong in ("text", None, memoryview(data)[::2]):
        with pytest.raises(CallerError) as caught:
            read(wrong)
        assert caught.value.code == "archive.type"


def _mutations(data: bytes, draw: random.Random, count: int) -> list[bytes]:
    """Mostly single bytes, else a block overwritten, cut out or doubled."""
    mutated = []
    for number in range(count):
        out = bytearray(data)
        at = draw.randrange(len(data))
        size = draw.randrange(1, 24)
        kind = number % 8
        if kind < 4:
            out[at] = draw.choice((0, 1, 0x7F, 0xFF, out[at] ^ 1 << draw.randrange(8)))
        elif kind == 4:
            out[at : at + size] = draw.randbytes(size)
        elif kind == 5:
            del out[at : at + size]
        elif kind == 6:
            out[at:at] = out[at : at + size]
        else:
            other = draw.randrange(len(data))
            out[at : at + size] = data[other : other + size]
        mutated.append(bytes(out))
    return mutated


@pytest.mark.parametrize("seed", range(4))
def test_mutated_archives_give_equal_files_or_an_error(seed):
    """A changed archive gives the same files, or an error; never an exception."""
    draw = random.Random(seed)
    data = [
        make(Item(b".uai/a.uai", b"alpha\n" * 9), Item(b"b", b"beta")),
        make(Item(b"a", b"alpha\n" * 40, 8), described(b"b", b"beta" * 30), Item(b"c")),
        make(
            Item("é".encode(), flags=1 << 11, both={"extra": TIMES}),
            Item(b"d/", b""),
            Item(b"d/e", b"", 8),
        ),
        make(Item(A, random.Random(1).randbytes(300), 8), Item(b"b", b"")),
    ][seed]
    original, findings = read(data)
    assert codes(findings) == set()
    for changed in _mutations(data, draw, 400):
        files, findings = read(changed)
        assert findings.has_error or list(files.items()) == list(original.items())


def test_samples_of_archives_and_paths_are_judged(sample_packages: Path):
    """Samples that this layer alone decides are refused for their reason."""
    left_to_others = {
        "zip-empty.uaix",
        "zip-manifest-at-case.uaix",
        "unicode-cyrillic-totem.uaix",
    }
    index = (sample_packages / "index.jsonl").read_text("utf-8").splitlines()
    seen = 0
    for row in map(json.loads, index):
        name = row["name"]
        data = (sample_packages / name).read_bytes()
        if row["kind"] in ("zip", "path", "unicode") and name not in left_to_others:
            assert _families(data, name) & {row["family"], *row["also"]}, name
            seen += 1
        elif row["expect"] == "accept":
            assert _families(data, name) == set(), name
    assert seen


def _families(data: bytes, name: str) -> set[str]:
    return {
        finding.family
        for finding in read(data, name=name)[1]
        if finding.severity == "error"
    }


def test_families_are_words_of_the_corpus(sample_packages: Path):
    """The table uses no family word that the corpus does not know."""
    words: Mapping[str, str] = json.loads(
        (sample_packages / "families.json").read_text("utf-8")
    )
    assert {rule.family for rule in ARCHIVE_RULES.values()} <= set(words)
