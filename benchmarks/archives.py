"""Archives: reading them with every structural check, and writing them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import data, floor, product
from benchmarks.figures import TARGETS, Figure
from benchmarks.timing import in_turns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.plan import Plan


def archives(plan: Plan) -> Iterator[Figure]:
    """Verified reading and writing, of many small files and of a few large ones."""
    sizes = {
        f"{plan.entries:,} x {data.FILE_BYTES} B": data.small_files(plan.entries),
        f"{plan.large_bytes / 1e6:g} MB": data.large_files(plan.large_bytes),
    }
    for size, files in sizes.items():
        archive = product.write_files(files)
        assert product.read_files(archive) == floor.read_zip(archive)
        reads = [
            lambda _, archive=archive: product.read_files(archive),
            lambda _, archive=archive: floor.read_zip(archive),
        ]
        ours, theirs = in_turns(reads, rounds=plan.rounds)
        target = TARGETS["archive read"]
        yield Figure("archives", f"verified read, {size}", ours, theirs, target)
        writes = [
            lambda _, files=files: product.write_files(files),
            lambda _, files=files: floor.write_zip(files),
        ]
        ours, theirs = in_turns(writes, rounds=plan.rounds)
        yield Figure("archives", f"write, {size}", ours, theirs)
