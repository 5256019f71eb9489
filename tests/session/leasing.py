"""Packages that agents take turns at, and what the tests of leases ask of them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from tests.session.conftest import FrozenClock
from tests.session.package_kit import ID, package

from uaix_core import CallerError, ConflictError, Lease, Session
from uaix_core.values.instants import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from uaix_core import Store

AGENT = "ada"
#: Two runs of one agent, and one of another.
RUN, NEXT, OTHER_RUN = (AGENT, "run-1"), (AGENT, "run-2"), ("bob", "run-1")
OTHER_ID = "made-by-code-too"
LIFE = 60 * SECOND


def stored(session: Session, *package_ids: str) -> Session:
    """The session, with these packages installed."""
    for package_id in package_ids or (ID,):
        session.packages.install(package(packageId=package_id).folder())
    return session


def take(
    session: Session,
    who: tuple[str, str] = RUN,
    package_id: str = ID,
    life: int = LIFE,
) -> Lease:
    """Acquire a package for a session of an agent."""
    agent_id, session_id = who
    return session.leases.acquire(
        package_id, agent_id=agent_id, session_id=session_id, life=life
    )


def refused(code: str, call: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """The error of a call that is refused with this code."""
    with pytest.raises((CallerError, ConflictError)) as caught:
        call(*args, **named)
    assert code == caught.value.code
    return caught.value


def at_clock(session: Session, at: int) -> Session:
    """The same session on a machine whose clock stands elsewhere."""
    return attrs.evolve(session, clock=FrozenClock(at))


def says(session: Session, lease: Lease | None, text: str = "x") -> int:
    """Add a turn under a lease; its number."""
    talks = session.tiers.conversations
    return talks.add(ID, AGENT, "talk", "user", text, lease=lease).number or 0


def turns(session: Session) -> list[str | None]:
    """The texts of all turns."""
    return [one.text for one in session.tiers.conversations.turns(ID, AGENT, "talk")]


@attrs.define
class Overtaken:
    """A store in which somebody else is first, once, after a decision was made."""

    inner: Store
    first: Callable[[], object]
    is_done: bool = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    @contextmanager
    def snapshot(self, scope: Any) -> Iterator[Any]:
        """What the scope holds, which is old news once it was read."""
        with self.inner.snapshot(scope) as snapshot:
            yield snapshot
        if not self.is_done:
            self.is_done = True
            self.first()


def overtaken(session: Session, first: Callable[[], object]) -> Session:
    """The same session, whose first decision comes too late."""
    return attrs.evolve(session, store=Overtaken(session.store, first))
