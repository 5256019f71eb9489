"""Which scopes a store holds, told by the first lines of their files."""

from __future__ import annotations

import contextlib
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from uaix_backends.directory.files import storage_error
from uaix_backends.directory.scope import folder_name
from uaix_backends.directory.scope_files import NEW_CACHE, NEW_SEGMENT, SEGMENT
from uaix_backends.directory.work_log import INTENT, LOG, NEW_LOG, WORK, read_head
from uaix_core.store.segments import scope_in_head
from uaix_core.values.errors import IntegrityError, StorageError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from uaix_backends.directory.files import Folder
    from uaix_backends.directory.root import Root
    from uaix_core.values.ids import ScopeId

_CHUNK: Final = 1 << 16
_IS_NAME: Final = re.compile(r"[0-9a-f]{64}").fullmatch


class Listing:
    """The scopes of a store. What was read once is not read again."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._named: dict[str, ScopeId] = {}
        self._committed: dict[str, ScopeId] = {}

    def with_commits(self) -> list[ScopeId]:
        """The scopes with at least one commit."""
        found = []
        with (
            self._reported(),
            contextlib.closing(self._folders(self._committed)) as folders,
        ):
            for name, folder in folders:
                scope = self._committed.get(name)
                if folder is not None:
                    scope = self._named_by_segment(name, folder, has_commit=True)
                if scope is not None:
                    self._committed[name] = scope
                    found.append(scope)
        return found

    def with_work(self) -> list[ScopeId]:
        """The scopes that may have local rows."""
        found = []
        with self._reported(), contextlib.closing(self._folders({})) as folders:
            for name, folder in folders:
                if folder is not None and _has_any(folder, LOG, INTENT):
                    scope = self._name_of(name, folder)
                    if scope is not None:
                        found.append(scope)
        return found

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Turn the system's errors into ours."""
        try:
            yield
        except StorageError:
            raise
        except OSError as error:
            raise storage_error(error, self._root.path) from error

    def unfinished(self) -> list[ScopeId]:
        """The scopes where a writer that was cut short left files on their way."""
        found = []
        for name in self.names():
            # A scope that is damaged is none of the others' business.
            with contextlib.suppress(OSError), self._root.scopes() as scopes:
                folder = scopes.folder(name)
                if folder is not None:
                    with folder:
                        scope = self._unfinished(name, folder)
                    if scope is not None:
                        found.append(scope)
        return found

    def _unfinished(self, name: str, folder: Folder) -> ScopeId | None:
        strays = (NEW_SEGMENT, NEW_CACHE, f"{WORK}/{NEW_LOG}")
        if all(folder.status(name) is None for name in strays):
            return None
        return self._name_of(name, folder)

    def names(self) -> list[str]:
        """The names of the scopes' folders; what else may lie there is not ours."""
        with self._reported(), self._root.scopes() as scopes:
            return [name for name in scopes.names() if _IS_NAME(name)]

    def _folders(
        self, known: dict[str, ScopeId]
    ) -> Generator[tuple[str, Folder | None], None, None]:
        """The folders of all scopes; those that are known need not be opened."""
        with self._root.scopes() as scopes:
            for name in self.names():
                if name in known:
                    yield name, None
                    continue
                folder = scopes.folder(name)
                if folder is not None:
                    with folder:
                        yield name, folder

    def _name_of(self, name: str, folder: Folder) -> ScopeId | None:
        """The scope of a folder, None while neither file names it."""
        scope = self._named.get(name) or self._named_by_segment(name, folder)
        if scope is None:
            work = folder.folder(WORK)
            if work is not None:
                with work:
                    line, _ = _first_line(work, LOG)
                if line is not None:
                    scope = _checked(name, read_head(line).scope)
        if scope is not None:
            self._named[name] = scope
        return scope

    def _named_by_segment(
        self, name: str, folder: Folder, *, has_commit: bool = False
    ) -> ScopeId | None:
        line, has_second = _first_line(folder, SEGMENT)
        if line is None or (has_commit and not has_second):
            return None
        return _checked(name, scope_in_head(line))


def _has_any(folder: Folder, *names: str) -> bool:
    return any(folder.status(f"{WORK}/{name}") is not None for name in names)


def _checked(name: str, scope: ScopeId) -> ScopeId:
    if folder_name(scope) != name:
        raise IntegrityError(
            "a folder holds the files of another scope",
            code="storage.segment",
            path=scope.text,
        )
    return scope


def _first_line(folder: Folder, name: str) -> tuple[bytes | None, bool]:
    """The first line of a file, and whether a second whole line follows."""
    file = folder.file(name)
    if file is None:
        return None, False
    with file:
        data = file.read(_CHUNK, 0)
        line, newline, rest = data.partition(b"\n")
        if not newline:
            return None, False
        position = len(data)
        while b"\n" not in rest:
            rest = file.read(_CHUNK, position)
            if not rest:
                return line, False
            position += len(rest)
    return line, True
