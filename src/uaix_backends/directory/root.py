"""The folder of a store: making it, recognising it, noticing that it was replaced."""

from __future__ import annotations

import json
import os
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from uaix_backends.directory.files import (
    FOLDER_MODE,
    Folder,
    open_folder,
    replaced,
    storage_error,
    unreachable,
)
from uaix_core.values.canonical import plain_bytes
from uaix_core.values.errors import ClosedError, StorageError, StoreOpenError

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMAT: Final = "uaix.directory.v1"
#: The file that makes a folder a store.
MARKER: Final = "uaix-store.json"
#: The folder of the scopes' folders.
SCOPES: Final = "scopes"
#: The folder of the scopes' working trees.
TREE: Final = "tree"

_NEW_MARKER: Final = "uaix-store.new"
_MARKER_BYTES: Final = plain_bytes({"format": FORMAT}) + b"\n"
_LONGEST_MARKER: Final = 4096


class Root:
    """The open folder of a store and the folder of its scopes."""

    def __init__(self, path: str, folder: Folder, scopes: Folder) -> None:
        self.path = path
        self._folder = folder
        self._scopes = scopes
        self._identities = folder.identity, scopes.identity
        self._lock = threading.Lock()
        self._users = 0
        self._is_closing = False

    @classmethod
    def open(cls, path: str, *, create: bool) -> Root:
        """The store at a path, made there when wanted and there is nothing."""
        folder = _folder_of(path, create=create)
        try:
            found = _marker(folder)
            if found is None and create and _is_empty(folder):
                _make(folder)
                found = _marker(folder)
            _check_marker(found, path)
            scopes = folder.folder(SCOPES)
        except BaseException as error:
            os.close(folder.fd)
            if isinstance(error, OSError):
                raise _cannot_open(error, path) from error
            raise
        if scopes is None:
            os.close(folder.fd)
            raise _no_store(path)
        return cls(path, folder, scopes)

    @contextmanager
    def scopes(self) -> Iterator[Folder]:
        """The folder of the scopes' folders; it stays open as long as this lasts.

        Raises:
            StorageError: ``storage.replaced`` when another folder stands there now,
                ``storage.denied`` when it can't be reached.

        """
        with self._lock:
            if self._is_closing:
                raise ClosedError("the store is closed")
            self._users += 1
        try:
            self._check()
            yield self._scopes
        finally:
            self._leave()

    def tree(self, *, create: bool = False) -> Folder | None:
        """The folder of the scopes' working trees, for whoever holds `scopes`.

        Raises:
            OSError: what stands there is no folder, or none can be made.

        """
        return self._folder.folder(TREE, create=create)

    def _leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._is_closing and not self._users:
                self._release()

    def _check(self) -> None:
        try:
            top = os.stat(self.path)  # noqa: PTH116 - no `Path` for each read
            inner = self._folder.status(SCOPES)
        except OSError as error:
            raise unreachable(error, self.path) from error
        if inner is None or self._identities != (
            (top.st_dev, top.st_ino),
            (inner.st_dev, inner.st_ino),
        ):
            raise replaced(self.path)

    def close(self) -> None:
        """Close both folders, or let the last user close them."""
        with self._lock:
            if not self._is_closing:
                self._is_closing = True
                if not self._users:
                    self._release()

    def _release(self) -> None:
        os.close(self._scopes.fd)
        os.close(self._folder.fd)


def _folder_of(path: str, *, create: bool) -> Folder:
    try:
        return open_folder(path)
    except FileNotFoundError:
        if not create:
            raise StoreOpenError(
                "there is no such folder",
                code="store.missing",
                path=path,
                hint="create it first",
            ) from None
    except NotADirectoryError:
        raise _no_store(path) from None
    except PermissionError as error:
        raise unreachable(error, path) from error
    except OSError as error:
        raise _cannot_open(error, path) from error
    try:
        Path(path).mkdir(FOLDER_MODE, parents=True, exist_ok=True)
        folder = open_folder(path)
        os.fchmod(folder.fd, FOLDER_MODE)
        with open_folder(str(Path(path).parent)) as parent:
            parent.sync()
    except OSError as error:
        raise _cannot_open(error, path) from error
    return folder


def _is_empty(folder: Folder) -> bool:
    """Whether nothing stands there but what `_make` left when it was cut short."""
    names = set(folder.names()) - {_NEW_MARKER}
    if names == {SCOPES}:
        scopes = folder.folder(SCOPES)
        if scopes is not None:
            with scopes:
                return not scopes.names()
    return not names


def _make(folder: Folder) -> None:
    import fcntl  # noqa: PLC0415 - not there on every platform

    # Two may make the same store at once.
    fcntl.flock(folder.fd, fcntl.LOCK_EX)
    try:
        if folder.status(MARKER) is not None:
            return
        scopes = folder.folder(SCOPES, create=True)
        if scopes is not None:
            os.close(scopes.fd)
        with folder.new_file(_NEW_MARKER) as file:
            file.write(_MARKER_BYTES)
            file.sync()
        folder.rename(_NEW_MARKER, MARKER)
        folder.sync()
    finally:
        fcntl.flock(folder.fd, fcntl.LOCK_UN)


def _marker(folder: Folder) -> bytes | None:
    file = folder.file(MARKER)
    if file is None:
        return None
    with file:
        return file.read(_LONGEST_MARKER, 0)


def _check_marker(found: bytes | None, path: str) -> None:
    if found == _MARKER_BYTES:
        return
    named = _value(found)
    other = named.get("format", FORMAT) if isinstance(named, dict) else FORMAT
    if other != FORMAT:
        raise StoreOpenError(
            "a store of another format",
            code="store.format",
            path=path,
            hint=f"this version reads {FORMAT}",
        )
    raise _no_store(path)


def _value(found: bytes | None) -> Any:
    try:
        return json.loads((found or b"").decode("utf-8"))
    except (ValueError, RecursionError):
        return None


def _no_store(path: str) -> StoreOpenError:
    return StoreOpenError(
        "what stands there is no directory store", code="store.not-a-store", path=path
    )


def _cannot_open(error: OSError, path: str) -> StorageError | StoreOpenError:
    found = storage_error(error, path)
    return _no_store(path) if found.code == "storage.file" else found
