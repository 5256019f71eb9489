"""The sample packages with verdicts, installed on every backend."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING

import pytest

from uaix_core import PackageRefusedError, PackageSource, Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

#: Bodies shorter than this occur by chance.
_TELLING = 24


def bodies(path: Path) -> Iterator[bytes]:
    """The contents of an archive, as far as a lenient reader finds any."""
    yield path.read_bytes()[:4096]
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if info.file_size < 1 << 20:
                    yield archive.read(info)
    except Exception:  # noqa: BLE001, S110 - hostile archives break it in any way
        pass


def test_refused_samples_leave_no_content(
    session_of: Callable[[str], Session], sample_packages: Path, tmp_path: Path
) -> None:
    """Every rejected sample is refused for its reason and nothing of it is stored."""
    index = (sample_packages / "index.jsonl").read_text(encoding="utf-8")
    rejected = [
        e for e in map(json.loads, index.splitlines()) if e["expect"] == "reject"
    ]
    assert len(rejected) > 60
    telling = set()
    session = session_of("acme/project/samples")

    for entry in rejected:
        path = sample_packages / entry["name"]
        source = PackageSource(name=entry["name"], archive=path.read_bytes())
        with pytest.raises(PackageRefusedError) as caught:
            session.packages.install(source)
        families = {
            f.family for f in caught.value.report.findings if f.severity == "error"
        }
        assert families & {entry["family"], *entry["also"]}, entry["name"]
        telling |= {b[:_TELLING] for b in bodies(path) if len(b) >= _TELLING}

    assert len(rejected) == len(session.packages.receipts(limit=1_000))
    assert [] == list(session.packages.list())
    session.store.close()
    files = [
        p.read_bytes() for p in (tmp_path / "store").parent.rglob("*") if p.is_file()
    ]
    assert len(telling) > 60
    assert not [piece for piece in telling for data in files if piece in data]
