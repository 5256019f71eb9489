"""What the steps of the demonstration share: where files lie, and what a step is."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from uaix_backends.files import read_package
from uaix_backends.opening import open_session
from uaix_backends.system import SystemClock
from uaix_core.packages.lint import lint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from uaix_core.packages.lint import Report
    from uaix_core.session.session import Session

SCOPE: Final = "demo/personal/main"
_ACTOR: Final = "operator:demo"


class Shown(NamedTuple):
    """Whether a step holds, and what was seen of it in a sentence."""

    holds: bool
    what: str


class Places:
    """Where the demonstration keeps its files."""

    PACKAGE_ID: ClassVar = "demo-persona"
    SOURCE: ClassVar = "persona"
    PACKED: ClassVar = "persona.uaix"
    EXPORTED: ClassVar = "exported.uaix"
    EXPORTED_FOLDER: ClassVar = "exported"
    HOSTILE: ClassVar = "hostile"
    EDITED: ClassVar = "edited"
    EDITED_PACKED: ClassVar = "edited.uaix"
    CLONE_ID: ClassVar = "demo-clone"
    CLONED: ClassVar = "clone.uaix"
    SQLITE: ClassVar = "store.db"
    DIRECTORY: ClassVar = "store"

    def __init__(self, root: Path) -> None:
        self.root = root

    def at(self, name: str) -> Path:
        """The path of one of them."""
        return self.root / name

    @property
    def sqlite_url(self) -> str:
        """The store that the package is installed into."""
        return f"sqlite:{self.at(self.SQLITE)}"

    @property
    def directory_url(self) -> str:
        """The store that it is copied into."""
        return f"dir:{self.at(self.DIRECTORY)}"


class Step(NamedTuple):
    """One step: its name, its title, what it does, and the files it leaves."""

    name: str
    title: str
    run: Callable[[Places], Shown]
    files: tuple[str, ...] = ()


def judged(path: Path) -> Report:
    """The verdict on what lies at a path."""
    return lint(read_package(path), now=SystemClock().now())


def files_at(path: Path) -> Mapping[str, bytes]:
    """The files of a folder."""
    return read_package(path).files or {}


def session_at(
    places: Places, *, create: bool = False
) -> AbstractContextManager[Session]:
    """A session over the SQLite store."""
    return open_session(places.sqlite_url, scope=SCOPE, principal=_ACTOR, create=create)
