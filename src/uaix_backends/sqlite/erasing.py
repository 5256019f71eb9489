"""What an erasure still has to do to the file once its commit is there.

``secure_delete`` overwrites what a page gives up, and frees pages as zeros. Two places
are left. The write-ahead log keeps earlier states of pages until it is cut off, which
an open reader prevents. And when SQLite spreads rows anew over neighbouring pages, it
leaves stale copies of them in the unallocated middle of a page, which nothing ever
overwrites. HISTORY tables have none (`layout`), the tables and indexes of views do.

So the log is cut off after the commit, and the unallocated middles are set to zero.
Whatever can't be done at once is noted in the file and done later.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from uaix_core.values.errors import IntegrityError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from uaix_backends.sqlite.connections import Connections
    from uaix_backends.sqlite.layout import Layout
    from uaix_backends.sqlite.staging import Statements

#: In files up to so many pages the middles are cleaned after each erasing commit, in
#: larger ones when the store is closed or opened, or by `SqliteStore.settle`.
_AT_ONCE = 2_048

_INNER = frozenset({2, 5})
_LEAVES = frozenset({10, 13})


def note_erasure(connection: Statements) -> None:
    """Note in the erasing transaction that the file is yet to be cleaned."""
    connection.execute(
        "INSERT OR REPLACE INTO uaix_meta (name, value) VALUES ('erasing', '1')"
    )


class Erasures:
    """The erasures of one store that have yet to reach every byte of its files."""

    def __init__(self, connections: Connections, layout: Layout) -> None:
        self._connections = connections
        self._layout = layout
        #: Whether erased bytes may still be in the files.
        self.is_pending = False
        self._log_is_cut = True

    def resume(self) -> None:
        """Do what a store that was open before had to leave."""
        text = "SELECT 1 FROM uaix_meta WHERE name = 'erasing'"
        with self._connections.writer() as connection:
            self.is_pending = connection.execute(text).get is not None
        if self.is_pending:
            self.settle(wholly=True)

    def begin(self) -> None:
        """After an erasing commit: do what can be done at once."""
        self.is_pending = True
        self._log_is_cut = False
        self.settle(wholly=False)

    def retry(self, *, wholly: bool) -> None:
        """After a reader has gone: it may have been in the way."""
        if wholly or not self._log_is_cut:
            self.settle(wholly=wholly, wait=False)

    def settle(self, *, wholly: bool, wait: bool = True) -> bool:
        """Cut off the log and clean the pages, as far as nobody is in the way.

        Args:
            wholly: clean the pages of a large file too.
            wait: wait for a thread that writes.

        Returns:
            Whether no erased byte is left in the files.

        """
        try:
            with self._connections.writer(wait=wait) as connection:
                self._log_is_cut = _cut_log(
                    connection, self._connections.busy_timeout_ms
                )
                if self._log_is_cut and (
                    wholly or connection.pragma("page_count") <= _AT_ONCE
                ):
                    self.is_pending = not self._clean()
        except OSError:
            # Every StorageError is one. The commit is there, and what is left of it
            # waits for another occasion.
            pass
        return not self.is_pending

    def _clean(self) -> bool:
        # A connection of its own: its commit makes all others forget the pages that
        # they hold in memory, stale copies included.
        connection = self._connections.connect(reads_only=False)
        try:
            connection.set_busy_timeout(0)
            connection.execute("BEGIN IMMEDIATE")
            log = Path(connection.filename_wal)
            if log.exists() and log.stat().st_size:
                # Another process has written since the log was cut off.
                return False
            self._clean_pages(connection)
            connection.execute("DELETE FROM uaix_meta WHERE name = 'erasing'")
            connection.execute("COMMIT")
        finally:
            connection.close()
        return True

    def _clean_pages(self, connection: apsw.Connection) -> None:
        """Set the unallocated bytes of the pages of moving tables to zero.

        With the log empty and its lock held, the file is all there is and nobody
        writes to it; and no reader looks at those bytes.
        """
        tables = [t.name for t in self._layout.tables.values() if t.moves_content]
        if not tables:
            return
        marks = ", ".join("?" * len(tables))
        roots = connection.execute(
            f"SELECT rootpage FROM sqlite_schema WHERE tbl_name IN ({marks}) "  # noqa: S608 - marks only
            "AND rootpage > 0",
            tables,
        )
        page_bytes = connection.pragma("page_size")
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_MAIN_DB
        # Through SQLite's own file layer, which knows of the locks on the file.
        file = apsw.VFSFile("", self._connections.path, [flags, 0])
        try:
            if clean_trees(file, page_bytes, [root for (root,) in roots]):
                file.xSync(apsw.SQLITE_SYNC_FULL)
        finally:
            file.xClose()


def _cut_log(connection: apsw.Connection, busy_timeout_ms: int) -> bool:
    """Move the log into the file and cut it off; False when a reader needs it."""
    connection.set_busy_timeout(0)
    try:
        # The first of the three columns says whether somebody was in the way.
        (found,) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except apsw.BusyError:
        return False
    finally:
        connection.set_busy_timeout(busy_timeout_ms)
    return int(found[0]) == 0


def clean_trees(file: apsw.VFSFile, page_bytes: int, roots: Iterable[int]) -> int:
    """Zero the gap between cell pointers and cells in every page of some B-trees.

    The page layout is the one of the SQLite file format, section 1.6.

    Returns:
        How many pages had something in their gap.

    Raises:
        IntegrityError: ``storage.corrupt`` when a page isn't one of a B-tree.

    """
    changed = 0
    left = list(roots)
    seen = set(left)
    while left:
        number = left.pop()
        offset = (number - 1) * page_bytes
        page = file.xRead(page_bytes, offset)
        head = 100 if number == 1 else 0
        kind = page[head]
        cells = int.from_bytes(page[head + 3 : head + 5], "big")
        top = int.from_bytes(page[head + 5 : head + 7], "big") or 65_536
        start = head + (12 if kind in _INNER else 8) + 2 * cells
        if kind not in _INNER | _LEAVES or not start <= top <= len(page):
            raise IntegrityError("a page is damaged", code="storage.corrupt")
        if page[start:top].strip(b"\0"):
            file.xWrite(bytes(top - start), offset + start)
            changed += 1
        if kind in _INNER:
            children = [int.from_bytes(page[head + 8 : head + 12], "big")]
            for at in range(head + 12, start, 2):
                cell = int.from_bytes(page[at : at + 2], "big")
                children.append(int.from_bytes(page[cell : cell + 4], "big"))
            if not seen.isdisjoint(children) or 0 in children:
                raise IntegrityError("a page is damaged", code="storage.corrupt")
            seen.update(children)
            left += children
    return changed
