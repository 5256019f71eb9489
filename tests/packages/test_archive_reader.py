"""The strict reader: what it refuses, what it takes, and that it never breaks."""

from __future__ import annotations

import json
import mmap
import random
import struct
from typing import TYPE_CHECKING

import pytest

from uaix_core.packages.archive import entries
from uaix_core.packages.archive.reader import read_archive
from uaix_core.packages.findings import Findings
from uaix_core.packages.limits import DEFAULT_LIMITS, KIB, MIB, Limits
from uaix_core.packages.rules.archives import ARCHIVE_RULES
from uaix_core.values.errors import CallerError

from .archive_cases import CASES, LIMIT_CASES, TEXT, TIMES, A
from .archive_maker import (
    Item,
    described,
    extra_field,
    make,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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


@pytest.mark.parametrize(
    ("code", "refused", "accepted"),
    CASES,
    ids=[f"{code}-{number}" for number, (code, *_) in enumerate(CASES)],
)
def test_rule_refuses_its_fixture_and_not_the_neighbour(code, refused, accepted):
    """Each rule has a fixture that it refuses and a close one that is accepted."""
    assert code in codes(read(refused)[1])
    assert codes(read(accepted)[1]) == set()


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

    monkeypatch.setattr(entries, "_explain", fail)
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
