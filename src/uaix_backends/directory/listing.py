"""Which scopes a store holds, told by the first lines of their files."""

from __future__ import annotations

import contextlib
import enum
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from uaix_backends.directory.files import storage_error
from uaix_backends.directory.scope import folder_name
from uaix_backends.directory.scope_files import CACHE, NEW_CACHE, NEW_SEGMENT, SEGMENT
from uaix_backends.directory.work_log import INTENT, LOG, NEW_LOG, WORK, read_head
from uaix_core.store.segments import scope_in_head
from uaix_core.values.errors import IntegrityError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from uaix_backends.directory.files import Folder
    from uaix_backends.directory.root import Root
    from uaix_core.values.ids import ScopeId

_CHUNK: Final = 1 << 16
_IS_NAME: Final = re.compile(r"[0-9a-f]{64}").fullmatch


class Listing:
    """The scopes of a store. What was read once is not read again."""

    def __init__(self, root: Root, has_commit: Callable[[ScopeId], bool]) -> None:
        self._root = root
        #: Reads a scope whole, to tell whether there is a commit in it.
        self._has_commit = has_commit
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

    def readable(self) -> list[ScopeId]:
        """The scopes with at least one commit whose files name them."""
        found = []
        for name in self.names():
            with contextlib.suppress(IntegrityError):
                scope = self._committed.get(name) or self._look(name)
                if scope is not None:
                    found.append(scope)
        return found

    def error_of(self, name: str) -> IntegrityError | None:
        """Why a folder's scope can't be listed, None when it can or holds nothing."""
        try:
            self._look(name)
        except IntegrityError as error:
            return error
        return None

    def _look(self, name: str) -> ScopeId | None:
        with self._reported(), self._root.scopes() as scopes:
            folder = scopes.folder(name)
            if folder is None:
                return None
            with folder:
                return self._named_by_segment(name, folder, has_commit=True)

    def lost(self) -> list[str]:
        """The names of folders that hold more than their segment says."""
        found = []
        for name in self.names():
            with contextlib.suppress(IntegrityError):
                if self._committed.get(name) or self._look(name):
                    continue
                with self._reported(), self._root.scopes() as scopes:
                    folder = scopes.folder(name)
                    if folder is not None:
                        with folder:
                            if _says_more(folder):
                                found.append(name)
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
        line, rest = _first_line(folder, SEGMENT)
        if line is None:
            return None
        try:
            scope = _checked(name, scope_in_head(line))
        except IntegrityError as error:
            where = error.path or f"scopes/{name}/{SEGMENT}"
            raise IntegrityError(error.message, code=error.code, path=where) from None
        if has_commit and rest is not Rest.LINE:
            # What has no end was torn off and counts for nothing, or is damaged.
            return scope if rest is Rest.PART and self._has_commit(scope) else None
        return scope


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


class Rest(enum.Enum):
    """What follows the first line of a file."""

    NOTHING = enum.auto()
    #: Bytes without the end of a line.
    PART = enum.auto()
    #: At least one whole line.
    LINE = enum.auto()


def _first_line(folder: Folder, name: str) -> tuple[bytes | None, Rest]:
    """The first line of a file, and what follows it."""
    file = folder.file(name)
    if file is None:
        return None, Rest.NOTHING
    with file:
        data = file.read(_CHUNK, 0)
        line, newline, rest = data.partition(b"\n")
        if not newline:
            return None, Rest.NOTHING
        position = len(data)
        found = Rest.PART if rest else Rest.NOTHING
        while b"\n" not in rest:
            rest = file.read(_CHUNK, position)
            if not rest:
                return line, found
            found = Rest.PART
            position += len(rest)
    return line, Rest.LINE


def _says_more(folder: Folder) -> bool:
    """Whether a folder without a commit has files that follow commits."""
    return folder.status(CACHE) is not None or _has_any(folder, INTENT)
