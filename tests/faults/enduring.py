"""Works that meet an error of the medium, and go on when the medium does."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from tests.backends.ledger import COMMITS, opened, same_descriptors, state_of, states
from tests.faults.metering import Meter, Plan, meter_system
from tests.faults.package_works import (
    FILES,
    OLD,
    Export,
    Install,
    as_read,
    install,
    session_at,
    target_content,
)
from tests.faults.sqlite_files import MeteredFiles
from tests.faults.works import BODIES, Commits, Creation, Erasure

from uaix_core.values.errors import OutcomeUnknownError, StorageError, StoreOpenError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faults.works import Say, Struck


def endured(say: Say, work: Struck, path: Path, plan: Plan) -> tuple[list[str], int]:
    """Do a work under errors, in a child; calls met, syncs repeated.

    Every error that comes out is one of ours. Any other ends the child.
    """
    meter = Meter(plan)
    meter_system(meter)
    files = MeteredFiles(meter)
    with same_descriptors():
        try:
            work.act(say, path, meter)
        except (StorageError, StoreOpenError) as error:
            say(error.code)
        meter.is_armed = False
    files.unregister()
    return meter.met, meter.second_syncs


class EnduringCommits(Commits):
    """Commits of one store object that is never opened anew."""

    def act(self, say: Say, path: Path, meter: Meter) -> None:
        """Append; after an error let the medium recover and go on."""
        expected = states()
        with contextlib.closing(opened(self.backend, path)) as store:
            meter.is_armed = True
            for number, commit in enumerate(COMMITS, 1):
                old, new = expected[number - 1 : number + 1]
                try:
                    store.append(commit)
                except StorageError as error:
                    with contextlib.suppress(StorageError):
                        assert state_of(store) in (old, new)
                    meter.is_armed = False
                    state = state_of(store)
                    assert state in (old, new)
                    if not isinstance(error, OutcomeUnknownError):
                        assert state == old
                    if state == old:
                        store.append(commit)
                assert new == _seen(store, meter)

    def check(self, path: Path, said: list[Any]) -> None:
        """All of it is there."""
        super().check(path, [len(COMMITS)])


def _seen(store: Any, meter: Meter) -> Any:
    """The state, once the medium can be read."""
    try:
        return state_of(store)
    except StorageError:
        meter.is_armed = False
        return state_of(store)


class EnduringErasure(Erasure):
    """An erasure whose store is closed whatever happens."""

    def act(self, say: Say, path: Path, meter: Meter) -> None:
        """Erase; the error goes through."""
        with contextlib.closing(opened(self.backend, path)) as store:
            meter.is_armed = True
            state_of(store)
            store.append(BODIES[1])
            say(1)

    def check(self, path: Path, said: list[Any]) -> None:
        """As ever; the code of an error is no acknowledgement."""
        super().check(path, [one for one in said if one == 1])


class EnduringCreation(Creation):
    """Making a store on a medium that fails."""

    def act(self, say: Say, path: Path, meter: Meter) -> None:
        """Make it; the error goes through."""
        path.mkdir()
        meter.is_armed = True
        opened(self.backend, path).close()


class EnduringInstall(Install):
    """An install that is repeated under its key after an error."""

    def act(self, say: Say, path: Path, meter: Meter) -> None:
        """Install; after an error let the medium recover and install again."""
        with session_at(self.backend, path) as session:
            meter.is_armed = True
            try:
                receipt = install(session)
            except StorageError:
                meter.is_armed = False
                receipt = install(session)
            say(receipt)


class EnduringExport(Export):
    """An export that is tried once."""

    def check(self, path: Path, said: list[Any]) -> None:
        """After an error nothing was written, unless its outcome is unknown."""
        (ending,) = said
        old = OLD if self.has_old else None
        allowed = {1: [FILES], "files.io": [old]}.get(ending, [FILES, old])
        assert ending in (1, "files.io", OutcomeUnknownError.default_code)
        assert target_content(path / self.target) in [
            as_read(path / self.target, files) for files in allowed
        ]
        super().check(path, [])
