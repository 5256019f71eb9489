"""The files of one folder of a working tree, as they lie there.

People work in it, so whatever can stand under a name is met here: nothing is followed
when it is a link, nothing is waited for, and only a plain file with one name is read.
What is written replaces a file by one rename, unsynced.
"""

from __future__ import annotations

import contextlib
import stat
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from uaix_backends.directory import files
from uaix_backends.directory.files import Seen, is_other
from uaix_backends.directory.tree_notes import NEW, parts_of
from uaix_core.values.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Collection

    from uaix_backends.directory.files import Folder

#: No path that is written has more parts.
DEEPEST: Final = 128


class Look(NamedTuple):
    """What stands under a path.

    ``sha256`` is None for what is no plain file, or of a size that wasn't asked for.
    ``is_blank`` says that its bytes, if any, are all zero. ``data`` are those that were
    read.
    """

    sha256: str | None
    seen: Seen | None
    is_blank: bool = False
    data: bytes | None = None


#: Something stands there that isn't ours to touch.
OTHER: Final = Look(None, None)


class TreeFiles:
    """The files of one folder by their logical paths; its folders stay open."""

    def __init__(self, tree: Folder, name: str) -> None:
        self._tree = tree
        self._name = name
        self._folders: dict[tuple[str, ...], Folder] = {}
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _folder(self, parts: tuple[str, ...], *, create: bool) -> Folder | None:
        found = self._folders.get(parts)
        if found is None:
            if not parts:
                around, name = self._tree, self._name
            else:
                outer = self._folder(parts[:-1], create=create)
                if outer is None:
                    return None
                around, name = outer, parts[-1]
            found = around.folder(name, create=create)
            if found is None:
                return None
            self._folders[parts] = self._stack.enter_context(found)
        return found

    def look(self, path: str, sizes: Collection[int]) -> Look | None:
        """What stands under a path; None when nothing does.

        Args:
            path: a logical path.
            sizes: only a file of one of these sizes, in bytes, is read.

        """
        parts = parts_of(path)
        if parts is None:
            return OTHER
        try:
            folder = self._folder(parts[:-1], create=False)
            return None if folder is None else looked(folder, parts[-1], sizes)
        except OSError as error:
            if is_other(error):
                return OTHER
            raise

    def put(self, path: str, data: bytes, before: Look | None) -> bool:
        """Let a file have this content, unless it no longer is as it was.

        Returns:
            Whether it has it now.

        """
        parts = parts_of(path)
        if parts is None:
            return False
        # What a killed writer left, or what somebody put there: it is none of ours.
        self._tree.remove(NEW)
        with self._tree.new_file(NEW) as file:
            file.write(data)
        is_put = False
        try:
            folder = self._folder(parts[:-1], create=True)
            if folder is not None and _is_still(folder, parts[-1], before):
                self._tree.rename(NEW, parts[-1], folder)
                is_put = True
        except OSError as error:
            if not is_other(error):
                raise
        if not is_put:
            self._tree.remove(NEW)
        return is_put

    def clear(self, path: str) -> bool:
        """Remove a folder from the place of a file, when it holds but folders.

        Returns:
            Whether nothing stands there now.

        """
        parts = parts_of(path)
        # A writer that was killed leaves such folders, and nothing is lost with them.
        with contextlib.suppress(OSError):
            folder = None if parts is None else self._folder(parts[:-1], create=False)
            if parts is not None and folder is not None:
                for inner in [p for p in self._folders if p[: len(parts)] == parts]:
                    del self._folders[inner]
                return _cleared(folder, parts[-1], len(parts))
        return False

    def remove(self, path: str, before: Look) -> bool:
        """Remove a file that is as it was, and the folders that it leaves empty.

        Returns:
            Whether nothing stands there now.

        """
        parts = parts_of(path)
        folder = None if parts is None else self._folder(parts[:-1], create=False)
        if parts is None or folder is None:
            return parts is not None
        if not _is_still(folder, parts[-1], before):
            return False
        folder.remove(parts[-1])
        self._remove_empty(parts[:-1])
        return True

    def _remove_empty(self, parts: tuple[str, ...]) -> None:
        """Remove folders from the inside out, as long as nothing is in them."""
        # Somebody may be at work there, and an empty folder harms nobody.
        with contextlib.suppress(OSError):
            for length in range(len(parts), -1, -1):
                outer = self._folders[parts[: length - 1]] if length else self._tree
                name = parts[length - 1] if length else self._name
                files.calls.rmdir(name, dir_fd=outer.fd)
                # It stays open until all of them are closed, under no name.
                self._folders.pop(parts[:length], None)


def looked(folder: Folder, name: str, sizes: Collection[int]) -> Look | None:
    """What stands under a name; None when nothing does.

    Raises:
        OSError: it can't be told, or something stands there that can't be opened.

    """
    status = folder.status(name)
    if status is None:
        return None
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        return OTHER
    seen = Seen.of(status)
    if seen.size not in sizes:
        return Look(None, seen, is_blank=not seen.size)
    file = folder.file(name)
    if file is None:
        return None
    with file:
        seen = file.seen()
        data = file.read(seen.size + 1, 0)
    is_blank = not data.strip(b"\0")
    if len(data) != seen.size:
        return Look(None, seen, is_blank)
    return Look(sha256_hex(data), seen, is_blank, data)


def inner_folder(folder: Folder, name: str, depth: int) -> Folder | None:
    """The folder of this name to look into.

    None when none stands there, or when it is so deep that nothing in it is ours.

    Raises:
        OSError: the medium failed, or the folder is closed to us.

    """
    if depth >= DEEPEST:
        return None
    try:
        return folder.folder(name)
    except OSError as error:
        if is_other(error):
            return None
        raise


def _cleared(around: Folder, name: str, depth: int) -> bool:
    """Remove a folder that holds but folders; False when it is none."""
    folder = inner_folder(around, name, depth)
    if folder is None:
        return False
    with folder:
        if not all(_cleared(folder, inner, depth + 1) for inner in folder.names()):
            return False
    files.calls.rmdir(name, dir_fd=around.fd)
    return True


def _is_still(folder: Folder, name: str, before: Look | None) -> bool:
    """Whether a name stands for what it stood for: an edit is seen up to here."""
    status = folder.status(name)
    if status is None or before is None:
        return status is None and before is None
    return before.seen == Seen.of(status)
