"""The writer: equal files give equal bytes, which every reader reads back."""

from __future__ import annotations

import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uaix_core.packages.archive.reader import read_archive
from uaix_core.packages.archive.writer import iter_archive, write_archive
from uaix_core.packages.findings import Findings
from uaix_core.packages.rules.archives import ARCHIVE_RULES
from uaix_core.values.errors import CallerError, LimitError

FILES = {"b/c.uai": b"gamma", "a.uai": b"alpha", "\xe9.uai": b"", "b/a": bytes(70_000)}

NAMES = st.text(alphabet="abcxyz\xe9\u4e2d\U0001f600 .-", min_size=1, max_size=8).map(
    lambda name: f"f{name}.uai"
)


def read_back(data: bytes) -> dict[str, bytes]:
    """The files of an archive in its order; any finding fails the test."""
    findings = Findings(ARCHIVE_RULES)
    contents = read_archive(data, findings, name="a.uaix")
    files = {entry.path: bytes(content) for entry, content in contents.bodies()}
    assert list(findings) == []
    return files


@given(st.dictionaries(NAMES, st.binary(max_size=200), max_size=8))
def test_round_trip(files):
    """What was written is read back by our reader and by the standard library's."""
    files = {name.casefold(): content for name, content in files.items()}
    data = write_archive(files)
    assert read_back(data) == files
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == files


@pytest.mark.parametrize(
    "mark", [b"\1\2", b"\3\4", b"\5\6", b"\6\6", b"\6\7", b"\7\x08"]
)
@pytest.mark.parametrize("follower", [None, b"", b"text", bytes(64)])
def test_bodies_may_hold_marks(mark, follower):
    """A body that ends in a mark of the format is a body, whatever stands behind it."""
    files = {"a.uai": b"PK" + mark, "b.uai": b"text PK" + mark}
    if follower is not None:
        files["c.uai"] = follower
    assert read_back(write_archive(files)) == files


def test_equal_files_give_equal_bytes():
    """Neither order, nor type of buffer, nor way of writing shows in the bytes."""
    data = write_archive(FILES)
    assert write_archive(dict(reversed(FILES.items()))) == data
    views = {path: memoryview(content) for path, content in FILES.items()}
    assert write_archive(views) == data
    assert b"".join(iter_archive(FILES)) == data
    assert list(read_back(data)) == sorted(FILES)


def test_layout_is_plain():
    """Entries are stored regular files with the flag for names that aren't ASCII."""
    with zipfile.ZipFile(io.BytesIO(write_archive(FILES))) as archive:
        infos = archive.infolist()
    assert {info.compress_type for info in infos} == {zipfile.ZIP_STORED}
    assert {info.external_attr for info in infos} == {0o100644 << 16}
    assert {info.date_time for info in infos} == {(1980, 1, 1, 0, 0, 0)}
    assert [info.flag_bits for info in infos] == [0, 0, 0, 1 << 11]
    assert {(info.extra, info.comment) for info in infos} == {(b"", b"")}


@pytest.mark.parametrize(
    ("timestamp", "expected"),
    [
        (None, (1980, 1, 1, 0, 0, 0)),
        (0, (1980, 1, 1, 0, 0, 0)),
        (-(10**20), (1980, 1, 1, 0, 0, 0)),
        (315_532_799, (1980, 1, 1, 0, 0, 0)),
        (315_532_800, (1980, 1, 1, 0, 0, 0)),
        (315_532_803, (1980, 1, 1, 0, 0, 2)),
        (1_767_323_045, (2026, 1, 2, 3, 4, 4)),
        (4_354_819_198, (2107, 12, 31, 23, 59, 58)),
        (4_354_819_199, (2107, 12, 31, 23, 59, 58)),
        (10**20, (2107, 12, 31, 23, 59, 58)),
    ],
)
def test_timestamp_is_brought_into_range(timestamp, expected):
    """A timestamp is UTC, even seconds, and between 1980 and 2107."""
    data = write_archive({"a": b""}, timestamp=timestamp)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.infolist()[0].date_time == expected
    assert read_back(data) == {"a": b""}


def test_no_files_are_an_archive_too():
    """The archive of nothing is an end record."""
    assert len(write_archive({})) == 22
    assert read_back(write_archive({})) == {}


@pytest.mark.parametrize(
    ("paths", "code"),
    [
        (["../a"], "path.traversal"),
        (["/a"], "path.absolute"),
        (["a/"], "path.shape"),
        (["CON"], "path.device"),
        (["a", "A"], "path.alias"),
        (["a", "a/b"], "path.conflict"),
        (["a\ud800"], "path.unicode"),
        (["a" * 2000], "path.limit"),
    ],
)
def test_unsafe_paths_are_not_written(paths, code):
    """No path is written that the reader would refuse; this is known beforehand."""
    with pytest.raises(CallerError) as caught:
        iter_archive(dict.fromkeys(paths, b""))
    assert caught.value.code == code


def test_more_than_an_archive_without_zip64_holds_is_refused():
    """65,535 files, or 4 GiB in all, are refused before anything is written."""
    with pytest.raises(LimitError) as caught:
        iter_archive({f"{number}": b"" for number in range(65_535)})
    assert caught.value.code == "archive.classic"
    block = bytes(1 << 24)
    with pytest.raises(LimitError) as caught:
        iter_archive({f"{number}": block for number in range(256)})
    assert caught.value.code == "archive.classic"
