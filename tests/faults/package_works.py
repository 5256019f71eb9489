"""What is struck: installing a package through a session, and writing packages."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final

import attrs
from tests.backends.ledger import (
    COMMITS,
    check_file,
    opened,
    same_descriptors,
    state_of,
    states,
    strays,
)
from tests.faults.works import Work

from uaix_backends import read_package, write_package
from uaix_backends.backup import BackupStore, write_backup
from uaix_backends.directory import DirectoryStore
from uaix_backends.sqlite import SqliteStore
from uaix_backends.system import SystemClock, SystemIds, SystemRandom
from uaix_conformance.schema import KIT
from uaix_core import PackageSource, Principal, ScopeId, Session
from uaix_core.packages.archive.writer import write_archive
from uaix_core.packages.examples import example
from uaix_core.packages.examples.making import example_files
from uaix_core.store.scanning import all_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.faults.metering import Meter
    from tests.faults.works import Say

ARCHIVE: Final = example("advanced-persona")
PACKAGE_ID: Final = "example-advanced-persona"
KEY: Final = "install-once"


@contextlib.contextmanager
def session_at(backend: str, path: Path) -> Iterator[Session]:
    """A session over a store of the library's own schema."""
    if backend == "directory":
        store: Any = DirectoryStore.open(path, create=True)
    else:
        path.mkdir(exist_ok=True)
        store = SqliteStore.open(path / "store.sqlite", create=True)
    with contextlib.closing(store):
        yield session_over(store)


def session_over(store: Any) -> Session:
    """A session over an open store."""
    return Session(
        store,
        scope=ScopeId.parse("acme/project/apollo"),
        principal=Principal.parse("human:alice"),
        clock=SystemClock(),
        ids=SystemIds(),
        random=SystemRandom(),
    )


def install(session: Session) -> str:
    """Install the example of 31 files; the receipt."""
    source = PackageSource("example.uaix", archive=ARCHIVE)
    return session.packages.install(source, key=KEY).receipt


def rows_in(session: Session) -> dict[str, int]:
    """How many rows each relation has, those with none left out."""
    with session.store.snapshot(session.scope) as snapshot:
        counted = {
            relation.name: sum(1 for _ in all_rows(snapshot, relation))
            for relation in session.store.schema.relations.values()
        }
    return {name: count for name, count in counted.items() if count}


class Install(Work):
    """Installing a package of 31 files through a session, under a key."""

    def prepare(self, path: Path) -> None:
        """An empty store."""
        with session_at(self.backend, path):
            pass

    def act(self, say: Say, path: Path, meter: Meter) -> None:
        """Install and say the receipt."""
        with session_at(self.backend, path) as session:
            meter.is_armed = True
            say(install(session))

    def check(self, path: Path, said: list[Any]) -> None:
        """No row or all rows; the same key again ends in exactly one install."""
        with same_descriptors(), session_at(self.backend, path) as session:
            before = rows_in(session)
            assert before or not said
            receipt = install(session)
            assert said in ([receipt], [])
            after = rows_in(session)
            assert before in ({}, after)
            assert receipt == install(session)
            assert after == rows_in(session)
            exported = session.packages.export(PACKAGE_ID)
            assert ("quarantined", ARCHIVE) == (exported.state, exported.archive)
        assert [] == strays(path)
        check_file(path)


FILES: Final = example_files("advanced-persona")
OLD: Final = {"AGENTS.md": b"what stood there before\n"}


@attrs.frozen
class Export(Work):
    """Writing a package to a file or folder, with or without something there."""

    target: str
    has_old: bool = False

    @property
    def name(self) -> str:
        """The target tells them apart."""
        return f"export {self.target}{' over another' * self.has_old}"

    def prepare(self, path: Path) -> None:
        """A folder to write into, and perhaps an earlier export."""
        path.mkdir()
        if self.has_old:
            write_package(path / self.target, OLD)

    def act(self, say: Say, path: Path, meter: Meter) -> None:
        """Write and say so."""
        meter.is_armed = True
        write_package(path / self.target, FILES, overwrite=self.has_old)
        say(1)

    def check(self, path: Path, said: list[Any]) -> None:
        """The old package, none, or the new one; the next export clears the rest."""
        target = path / self.target
        allowed = [FILES] if said else [FILES, OLD if self.has_old else None]
        with same_descriptors():
            assert target_content(target) in [
                as_read(target, files) for files in allowed
            ]
            write_package(path / "next.uaix", FILES)
        assert {"next.uaix", self.target} >= {found.name for found in path.iterdir()}
        assert write_archive(FILES) == (path / "next.uaix").read_bytes()


def target_content(target: Path) -> Any:
    """What an export has left: an archive's bytes, a folder's files, or None."""
    if not target.exists():
        return None
    source = read_package(target)
    return source.archive or dict(source.files or {})


def as_read(target: Path, files: dict[str, bytes] | None) -> Any:
    """What these files are once they are written there."""
    is_archive = files is not None and target.suffix == ".uaix"
    return write_archive(files) if is_archive else files


class Backup(Work):
    """Backing a store up over an earlier backup of it."""

    def prepare(self, path: Path) -> None:
        """A store, and a backup of its first commit."""
        path.mkdir()
        with contextlib.closing(opened(self.backend, path / "store")) as store:
            store.append(COMMITS[0])
            write_backup(store, path / "backup", made_at=0)
            for commit in COMMITS[1:]:
                store.append(commit)

    def act(self, say: Say, path: Path, meter: Meter) -> None:
        """Back up and say so."""
        with contextlib.closing(opened(self.backend, path / "store")) as store:
            meter.is_armed = True
            write_backup(store, path / "backup", made_at=1, overwrite=True)
            say(1)

    def check(self, path: Path, said: list[Any]) -> None:
        """The earlier backup or the new one, whole; the next one clears the rest."""
        with same_descriptors():
            found = backed_up(path / "backup")
            expected = states()
            assert found in ([expected[-1][:3]] if said else [s[:3] for s in expected])
            with contextlib.closing(opened(self.backend, path / "store")) as store:
                write_backup(store, path / "next", made_at=2)
            assert expected[-1][:3] == backed_up(path / "next")
        assert ["backup", "next", "store"] == sorted(p.name for p in path.iterdir())


def backed_up(path: Path) -> Any:
    """What a backup holds."""
    with contextlib.closing(BackupStore.open(path, schema=KIT)) as store:
        return state_of(store)[:3]


PACKAGE_WORKS: Final = (
    Install("directory", 8),
    Install("sqlite", 14),
    Export("files", 8, "out.uaix"),
    Export("files", 8, "out.uaix", has_old=True),
    Export("files", 12, "out"),
    Backup("directory", 4),
    Backup("sqlite", 4),
)
