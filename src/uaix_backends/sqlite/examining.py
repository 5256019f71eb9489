"""What the file of a store says of itself: versions, modes, sizes, damaged pages."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Final

import apsw

from uaix_backends.examining import Advice, Condition
from uaix_backends.sqlite.versions import is_faulty, version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_backends.examining import Fact
    from uaix_backends.sqlite.connections import Connections

#: Findings of SQLite about its pages that are told; the first says enough.
_TOLD: Final = 10
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_SYNCHRONOUS: Final = {0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA"}
#: A log that is longer than this has not been moved into the file for a long time.
_LONG_LOG: Final = 64 * 2**20


def examine(connections: Connections, *, is_erasing: bool) -> Condition:
    """Read every page of the file and look at the files beside it.

    Raises:
        StorageError: the medium failed.

    """
    reader = connections.lend()
    try:
        facts = _facts(reader, connections.path, is_erasing=is_erasing)
        advice = (*_about_pages(reader), *_about_facts(facts, connections.path))
    finally:
        connections.give_back(reader)
    return Condition(facts, advice)


def _facts(reader: apsw.Connection, path: str, *, is_erasing: bool) -> dict[str, Fact]:
    found = os.stat(path)  # noqa: PTH116 - as everywhere in this backend
    return {
        "sqlite": ".".join(map(str, version())),
        "apsw": apsw.apsw_version(),
        "wal_reset_fault": "held off by a lock" if is_faulty() else "not in it",
        "journal_mode": str(reader.pragma("journal_mode")),
        "synchronous": _SYNCHRONOUS.get(reader.pragma("synchronous"), "unknown"),
        "file_bytes": found.st_size,
        "log_bytes": _size(reader.filename_wal),
        "free_pages": int(reader.pragma("freelist_count")),
        "mode": f"{stat.S_IMODE(found.st_mode):04o}",
        "erasing": is_erasing,
    }


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116 - as above
    except OSError:
        return 0


def _about_pages(reader: apsw.Connection) -> Iterator[Advice]:
    try:
        found = [text for (text,) in reader.execute("PRAGMA integrity_check")]
    except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError):
        found = ["a page can't be read"]
    for text in [] if found == ["ok"] else found[:_TOLD]:
        yield Advice(
            "sqlite.integrity",
            "error",
            # Its findings name tables, indexes and pages, and quote no value.
            f"SQLite finds the file damaged: {text}",
            hint="uaix store copy saves what can be read; or restore a backup",
        )


def _about_facts(facts: dict[str, Fact], path: str) -> Iterator[Advice]:
    if is_faulty():
        yield Advice(
            "sqlite.wal-reset",
            "warning",
            "this version of SQLite may lose commits of several processes; writers "
            "pass a lock of ours, which other programs on the file don't know",
            hint="install apsw 3.51.3 or later",
        )
    if facts["journal_mode"] != "wal":
        yield Advice(
            "sqlite.journal",
            "warning",
            "the write-ahead log is off, so readers and writers wait for each other",
            path,
        )
    if int(str(facts["mode"]), 8) & _OTHERS:
        yield Advice(
            "store.mode",
            "warning",
            "other users of this machine can reach the file",
            path,
            "chmod 600",
        )
    if facts["erasing"]:
        yield Advice(
            "store.erasing",
            "warning",
            "erased bytes may still be in the files: a reader was in the way",
            path,
            "open the store once more when nobody reads",
        )
    if int(facts["log_bytes"] or 0) > _LONG_LOG:
        yield Advice(
            "sqlite.log",
            "info",
            "the write-ahead log is long: a reader has been open for a long time",
            path,
        )
