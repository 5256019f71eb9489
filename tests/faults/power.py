"""What a disk holds of SQLite's files when the power goes.

The files are written through at once, and beside them it is remembered what a disk
would hold for certain: content counts once its file was synced, names once the folder
was. Whatever came later is there or not, sector by sector.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import apsw
import attrs

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

#: What a disk writes at once.
SECTOR: Final = 512


class PowerCutError(Exception):
    """The power is gone."""


@attrs.define
class Content:
    """One file: what is certain of it, and what may have reached the disk since."""

    certain: bytes = b""
    #: Writes ``(offset, data)`` and cuts ``(length, None)`` since the last sync.
    since: list[tuple[int, bytes | None]] = attrs.field(factory=list)
    was_synced: bool = False

    def left(self, draw: random.Random) -> bytes:
        """What the disk holds: of what is not certain some sectors, in no order."""
        data = bytearray(self.certain)
        share = draw.choice((0.0, 0.1, 0.5, 0.9, 1.0))
        for at, piece in self.since:
            if piece is None:
                if draw.random() < share:
                    del data[at:]
                continue
            for start, end in _sectors(at, at + len(piece)):
                if draw.random() < share:
                    data.extend(bytes(max(end - len(data), 0)))
                    data[start:end] = piece[start - at : end - at]
        return bytes(data)


def _sectors(start: int, end: int) -> list[tuple[int, int]]:
    edges = [start, *range((start // SECTOR + 1) * SECTOR, end, SECTOR), end]
    return list(pairwise(edges))


@attrs.define
class PoweredDisk:
    """The files of one folder, and after how many changes the power goes."""

    folder: Path
    cut_at: int | None = None
    changes: int = 0
    #: By name: what is there now, and what a disk shows for certain.
    now: dict[str, Content] = attrs.field(factory=dict)
    certain: dict[str, Content] = attrs.field(factory=dict)

    @property
    def is_cut(self) -> bool:
        """Whether the power is gone, so that nobody can say anything any more."""
        return self.cut_at is not None and self.changes > self.cut_at

    def changed(self) -> None:
        """One more change; or the power is gone before it."""
        self.changes += 1
        if self.is_cut:
            raise PowerCutError

    def opened(self, name: str) -> Content:
        """The content under a name, which may be new."""
        if name not in self.now:
            self.now[name] = Content()
            if "-" not in name:
                # The store has made the file itself, and has synced the folder.
                self.now[name].was_synced = True
                self.certain[name] = self.now[name]
        return self.now[name]

    def synced(self, name: str, content: Content) -> None:
        """Content is certain from here on; with the first sync all names are too."""
        content.certain = (self.folder / name).read_bytes()
        content.since.clear()
        if not content.was_synced and self.now.get(name) is content:
            # SQLite syncs the folder after the first sync of a file that it made.
            self.certain = dict(self.now)
        content.was_synced = True

    def leave(self, target: Path, draw: random.Random) -> None:
        """Write what is left of the folder into another one."""
        target.mkdir()
        for name in sorted({*self.now, *self.certain}):
            found = draw.choice((self.now, self.certain)).get(name)
            if found is not None:
                (target / name).write_bytes(found.left(draw))


class PoweredFiles(apsw.VFS):
    """The default file layer of the process, over such a disk."""

    def __init__(self, disk: PoweredDisk) -> None:
        super().__init__("powered", "", makedefault=True)
        self._disk = disk

    def excepthook(self, *_error: object) -> None:
        """Say nothing: without power nobody listens."""

    def xOpen(self, name: Any, flags: list[int]) -> PoweredFile:  # noqa: N802 - SQLite's
        """Open a file; that alone changes nothing that a disk would keep."""
        # The name is only lent for this call.
        text = Path(str(name.filename() if hasattr(name, "filename") else name)).name
        return PoweredFile(self._disk, text, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802 - SQLite's
        """Remove a file; a disk may still show it until its folder is synced."""
        self._disk.changed()
        super().xDelete(filename, syncdir)
        name = Path(filename).name
        self._disk.now.pop(name, None)
        if syncdir:
            self._disk.certain.pop(name, None)


class PoweredFile(apsw.VFSFile):
    """An open file on such a disk."""

    def __init__(
        self, disk: PoweredDisk, text: str, name: Any, flags: list[int]
    ) -> None:
        content = disk.opened(text)
        super().__init__("unix", name, flags)
        self._disk, self._text, self._content = disk, text, content

    def excepthook(self, *_error: object) -> None:
        """Say nothing, as above."""

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's
        """Write through, and remember."""
        self._change(lambda: super(PoweredFile, self).xWrite(data, offset))
        self._content.since.append((offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - SQLite's
        """Cut, and remember."""
        self._change(lambda: super(PoweredFile, self).xTruncate(newsize))
        self._content.since.append((newsize, None))

    def xSync(self, _flags: int) -> None:  # noqa: N802 - SQLite's
        """Make certain."""
        self._change(lambda: None)
        self._disk.synced(self._text, self._content)

    def _change(self, do: Callable[[], None]) -> None:
        self._disk.changed()
        do()
