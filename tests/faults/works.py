"""What is struck: works on stores, and what must hold whatever struck them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final, Protocol

import attrs
import pytest
from tests.backends.ledger import (
    COMMITS,
    ERASED_AT,
    NEXT,
    check_file,
    holding,
    opened,
    same_descriptors,
    state_at,
    state_of,
    states,
    strays,
)

from uaix_conformance.examples import SCOPE, note
from uaix_conformance.schema import ROOMS
from uaix_core.schema.commits import Commit
from uaix_core.schema.relations import Ref
from uaix_core.schema.schema import Schema
from uaix_core.values.errors import StoreOpenError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.faults.metering import Meter

    Say = Callable[[Any], None]

#: The schema before it grew: notes and local state, no facts and no ranks.
SMALLER: Final = Schema(ROOMS[0], ROOMS[3])


class Struck(Protocol):
    """What may be done in a child and struck there."""

    @property
    def name(self) -> str:
        """How failures and the seed call it."""
        ...

    def prepare(self, path: Path) -> None:
        """What stands before; done once."""
        ...

    def act(self, say: Say, path: Path, meter: Meter) -> None:
        """The work, in a child. It says how far it has come, and arms the meter."""
        ...

    def check(self, path: Path, said: list[Any]) -> None:
        """What holds afterwards, whatever happened."""
        ...


@attrs.frozen
class Work:
    """One work on one backend; ``share`` is how many kills it gets in a short run."""

    backend: str
    share: int

    @property
    def name(self) -> str:
        """How failures and the seed call it."""
        return f"{type(self).__name__.lower()} {self.backend}"

    def prepare(self, path: Path) -> None:
        """Nothing stands before."""


class Commits(Work):
    """All kinds of commits, one after the other, and closing."""

    def prepare(self, path: Path) -> None:
        """An empty store."""
        opened(self.backend, path).close()

    def act(self, say: Say, path: Path, meter: Meter) -> None:
        """Append and say each number once it was acknowledged."""
        store = opened(self.backend, path)
        meter.is_armed = True
        for number, commit in enumerate(COMMITS, 1):
            store.append(commit)
            say(number)
        store.close()

    def check(self, path: Path, said: list[Any]) -> None:
        """What was acknowledged is there, the next one whole or not; work goes on."""
        done = max(said, default=0)
        expected = states()
        with same_descriptors():
            state = state_at(self.backend, path)
        # An equal state may stand at two places: local rows that come and go.
        assert state in expected[done : done + 2]
        at = done + expected[done : done + 2].index(state)
        assert [] == strays(path)
        check_file(path)
        if at >= ERASED_AT:
            assert [] == holding(path)
        with contextlib.closing(opened(self.backend, path)) as store:
            for commit in COMMITS[at:]:
                store.append(commit)
            assert expected[-1] == state_of(store)
        assert expected[-1] == state_at(self.backend, path)
        assert [] == holding(path)


#: Many bodies on many pages, half of which go at once.
BODIES: Final = (
    Commit(
        SCOPE,
        1,
        adds=[note(n, title=f"body-{n:03}", text="x" * 150) for n in range(60)],
    ),
    Commit(SCOPE, 2, erases=[Ref("note", ("t0", n)) for n in range(0, 60, 2)]),
)


class Erasure(Work):
    """Erasing bodies of many pages, down to the last byte, and closing."""

    def prepare(self, path: Path) -> None:
        """A store of many bodies."""
        with contextlib.closing(opened(self.backend, path)) as store:
            store.append(BODIES[0])

    def act(self, say: Say, path: Path, meter: Meter) -> None:
        """Erase, say so, close."""
        store = opened(self.backend, path)
        meter.is_armed = True
        store.append(BODIES[1])
        say(1)
        store.close()

    def check(self, path: Path, said: list[Any]) -> None:
        """Erased or not; once it shows erased no byte is left after the next open."""
        before, after = states(BODIES)[1:]
        state = state_at(self.backend, path)
        assert state in ([after] if said else [before, after])
        assert [] == strays(path)
        check_file(path)
        with contextlib.closing(opened(self.backend, path)) as store:
            if state == before:
                store.append(BODIES[1])
            store.append(NEXT)
        for number in range(60):
            assert bool(number % 2) == bool(holding(path, f"body-{number:03}"))


class Creation(Work):
    """Making a store where nothing is."""

    def act(self, say: Say, path: Path, meter: Meter) -> None:
        """Make and close it."""
        path.mkdir(exist_ok=True)
        meter.is_armed = True
        store = opened(self.backend, path)
        say(1)
        store.close()

    def check(self, path: Path, said: list[Any]) -> None:
        """What was made is a store; what was cut short becomes one when asked."""
        expected = states()
        with contextlib.closing(opened(self.backend, path)) as store:
            assert expected[0] == state_of(store)
            store.append(COMMITS[0])
        assert expected[1] == state_at(self.backend, path)
        assert [] == strays(path)
        check_file(path)


class Growth(Work):
    """Opening a store with a larger schema, which adds tables and fills views."""

    def prepare(self, path: Path) -> None:
        """A store of the smaller schema."""
        with contextlib.closing(opened(self.backend, path, SMALLER)) as store:
            for commit in COMMITS[:4]:
                store.append(commit)

    def act(self, say: Say, path: Path, meter: Meter) -> None:
        """Open it with the larger one."""
        meter.is_armed = True
        store = opened(self.backend, path)
        say(1)
        store.close()

    def check(self, path: Path, said: list[Any]) -> None:
        """The schema is the old or the new one; opening with the new one is enough."""
        with contextlib.suppress(StoreOpenError):
            old = state_at(self.backend, path, SMALLER)
            assert not said
            assert states(COMMITS[:4], SMALLER)[-1] == old
        assert states()[4] == state_at(self.backend, path)
        with pytest.raises(StoreOpenError):
            state_at(self.backend, path, SMALLER)
        check_file(path)


class Rebuilding(Work):
    """Computing all views of a scope anew."""

    def prepare(self, path: Path) -> None:
        """A store with history and views."""
        with contextlib.closing(opened(self.backend, path)) as store:
            for commit in COMMITS:
                store.append(commit)

    def act(self, say: Say, path: Path, meter: Meter) -> None:
        """Rebuild and close."""
        store = opened(self.backend, path)
        meter.is_armed = True
        store.rebuild(SCOPE)
        store.close()

    def check(self, path: Path, said: list[Any]) -> None:
        """No answer changes, whatever was cut short."""
        assert states()[-1] == state_at(self.backend, path)
        check_file(path)


@attrs.frozen
class Repair:
    """Opening, reading and closing a store that a killed work has left."""

    work: Commits | Erasure
    #: What the work had said.
    said: list[Any]

    @property
    def name(self) -> str:
        """That of the work, and that this came after it."""
        return f"repair after {self.work.name}"

    def prepare(self, path: Path) -> None:
        """The killed work has done that."""

    def act(self, say: Say, path: Path, meter: Meter) -> None:
        """Use the store once."""
        meter.is_armed = True
        state_at(self.work.backend, path)

    def check(self, path: Path, said: list[Any]) -> None:
        """What held after the first kill holds after the second."""
        self.work.check(path, self.said)


#: The shares of a short run; with those of packages and recoveries, 200 in all.
WORKS: Final = (
    Commits("directory", 24),
    Commits("sqlite", 24),
    Erasure("directory", 10),
    Erasure("sqlite", 22),
    Creation("directory", 8),
    Creation("sqlite", 12),
    Growth("sqlite", 12),
    Rebuilding("sqlite", 6),
)
