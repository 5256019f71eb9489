"""Harnesses: how the kit opens a store, and where its bytes lie.

A backend's author writes one object with the members of `Harness` and names it under
the entry point group ``uaix.backends``.
"""

from __future__ import annotations

from contextlib import closing, contextmanager
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Protocol, cast

from uaix_conformance.schema import KIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from importlib.metadata import EntryPoint
    from pathlib import Path

    from uaix_core.schema.schema import Schema
    from uaix_core.store.port import Store

GROUP = "uaix.backends"

#: The name of the backend whose files are the yardstick for all others.
YARDSTICK = "directory"


class Harness(Protocol):
    """What a backend's author gives to the kit.

    A harness may also have ``host(path, schema)`` (see `Host`), which it must have
    when its stores declare JOINS; ``discard(path)``, which is told that nobody will
    ask for a folder's data again; and ``opened(content)`` (see `Sealed`), where its
    stores seal what they write. The yardstick has ``projection(path)`` (see
    `Yardstick`).
    """

    name: str

    def open(self, path: Path, schema: Schema) -> Store:
        """A store in this folder, which exists; the same path gives the same data."""
        ...

    def files(self, path: Path) -> Iterable[Path]:
        """Every file in which bytes of the store may lie; none without FILES."""
        ...


class Sealed(Harness, Protocol):
    """The harness of stores whose files show nothing to who lacks the keys."""

    def opened(self, content: bytes) -> Iterable[bytes]:
        """All texts that a holder of the keys could read in the bytes of a file."""
        ...


class Yardstick(Harness, Protocol):
    """The harness of the file projection, which every store must reproduce."""

    def projection(self, path: Path) -> Mapping[str, bytes]:
        """The bytes that follow from the history alone, by file name."""
        ...


class Host(Protocol):
    """A host application with a connection of its own and one table of its own."""

    def connect(self) -> HostConnection:
        """A new connection to the host's database."""
        ...


class HostConnection(Protocol):
    """One connection: the host begins and ends transactions, the store joins them."""

    def join(self, schema: Schema) -> Store:
        """A store that works inside this connection's transactions."""
        ...

    def begin(self) -> None:
        """Open a transaction."""
        ...

    def commit(self) -> None:
        """Commit it."""
        ...

    def rollback(self) -> None:
        """Roll it back."""
        ...

    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        ...

    def write(self, word: str) -> None:
        """Put one row into the host's own table, in the open transaction."""
        ...

    def words(self) -> list[str]:
        """The host's rows that this connection sees, in the order of writing."""
        ...

    def settings(self) -> Mapping[str, Any]:
        """Whatever of the connection a store might change: modes, factories, hooks."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class HarnessError(Exception):
    """A backend was named that can't be found or loaded."""


def installed() -> list[str]:
    """The names of the installed backends that can be loaded.

    One whose driver is an extra that isn't installed is not there; named, it is an
    error.
    """
    found = entry_points(group=GROUP)
    return sorted({entry.name for entry in found if _has_its_driver(entry)})


def _has_its_driver(entry: EntryPoint) -> bool:
    if not entry.extras:
        return True
    try:
        entry.load()
    except ImportError:
        return False
    return True


def load(name: str) -> Harness:
    """The harness of an installed backend, or the one at ``module:attribute``.

    Raises:
        HarnessError: there is no such backend, or loading it failed.

    """
    if ":" in name:
        return cast("Harness", _attribute(name))
    for entry in entry_points(group=GROUP, name=name):
        try:
            return cast("Harness", entry.load())
        except (ImportError, AttributeError) as error:
            raise HarnessError(
                f"the backend {name!r} is installed as {entry.value} and can't be "
                f"loaded: {error}"
            ) from error
    raise HarnessError(
        f"no installed backend is named {name!r}; there are: "
        + (", ".join(installed()) or "none")
        + f" (entry points of the group {GROUP!r}, or give module:attribute)"
    )


def load_yardstick() -> Yardstick:
    """The harness of the file projection.

    Raises:
        HarnessError: it is not installed, can't be loaded, or has no projection.

    """
    try:
        harness = load(YARDSTICK)
    except HarnessError as error:
        raise HarnessError(
            f"the kit compares every store with the backend {YARDSTICK!r}: {error}"
        ) from error
    if not hasattr(harness, "projection"):
        raise HarnessError(f"the harness of {YARDSTICK!r} has no projection(path)")
    return cast("Yardstick", harness)


def _attribute(name: str) -> object:
    import importlib  # noqa: PLC0415 - only for backends that are not installed

    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise HarnessError(f"{name} can't be loaded: {error}") from error


class Site:
    """A place where stores of one backend are opened, and closed again at the end."""

    def __init__(self, harness: Harness, path: Path) -> None:
        self.harness = harness
        self.path = path
        self._open: list[Store] = []

    def open(self, schema: Schema = KIT) -> Store:
        """Open a store; the same data each time when the backend is DURABLE."""
        store = self.harness.open(self.path, schema)
        self._open.append(store)
        return store

    def reopen(self, store: Store) -> Store:
        """Close a store and open it again."""
        store.close()
        return self.open(store.schema)

    def files(self) -> list[Path]:
        """The files that hold the stores' bytes now."""
        return sorted(file for file in self.harness.files(self.path) if file.is_file())

    def readable(self) -> list[tuple[str, bytes]]:
        """The bytes of each file, and the texts that a holder of keys reads in them."""
        found = []
        for file in self.files():
            content = file.read_bytes()
            found.append((file.name, content))
            if hasattr(self.harness, "opened"):
                texts = cast("Sealed", self.harness).opened(content)
                found += [(f"{file.name}, opened", text) for text in texts]
        return found

    def close(self) -> None:
        """Close whatever is still open."""
        for store in self._open:
            store.close()

    def discard(self) -> None:
        """Close it; what was kept here is of no use any more."""
        self.close()
        discard = getattr(self.harness, "discard", None)
        if discard is not None:
            discard(self.path)


@contextmanager
def site_of(harness: Harness, path: Path) -> Iterator[Site]:
    """A site that closes its stores."""
    path.mkdir(parents=True, exist_ok=True)
    site: AbstractContextManager[Site] = closing(Site(harness, path))
    with site as opened:
        yield opened


__all__ = [
    "Harness",
    "HarnessError",
    "Host",
    "HostConnection",
    "Sealed",
    "Site",
    "Yardstick",
    "installed",
    "load",
    "load_yardstick",
    "site_of",
]
