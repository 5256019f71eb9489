"""Laws of authority in a host's transaction: all of it lives and dies with that."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from tests.access.places import ADA, APOLLO, CAROL, GEMINI, OTHER, Places, settled
from tests.backends.postgres_server import fresh_namespace
from tests.session.starting import AGENT, ID

from uaix_backends.postgres.testing import Host as PostgresHost
from uaix_backends.sqlite.testing import Host as SqliteHost
from uaix_core import NotFoundError
from uaix_core.access.standing import authority_scope
from uaix_core.session.schema import SCHEMA
from uaix_core.store.port import Holding
from uaix_core.values.errors import AccessError, NoTransactionError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=["sqlite", "postgres"])
def mine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """A connection of a host application whose database has the product's tables."""
    if request.param == "sqlite":
        host: Any = SqliteHost(tmp_path / "host.sqlite", SCHEMA)
    else:
        host = PostgresHost(fresh_namespace(), SCHEMA)
    with closing(host.connect()) as connection:
        yield connection


@pytest.fixture
def joined(mine: Any) -> Iterator[Places]:
    """The settled tenant, committed, over a store in the host's transactions."""
    with closing(mine.join(SCHEMA)) as store:
        mine.begin()
        places = settled(store)
        mine.commit()
        yield places


def positions(places: Places) -> list[int]:
    """How far the project and the authority have come."""
    found = []
    for scope in (APOLLO, authority_scope("acme")):
        with places.store.snapshot(scope) as snapshot:
            found.append(snapshot.position)
    return found


def test_a_token_lives_and_dies_with_the_hosts_transaction(
    mine: Any, joined: Places
) -> None:
    """It is good inside at once, for nothing after a rollback, and after a commit."""
    authority = joined.authority()
    kept = []
    for ends in (mine.rollback, mine.commit):
        mine.begin()
        before = positions(joined)
        issued = authority.issue(ADA, scope=APOLLO)
        assert issued.is_staged
        session = authority.session(issued.token.reveal(), scope=APOLLO)
        assert session.start(ID, agent_id=AGENT).is_staged
        assert session.tiers.short_term.put(ID, AGENT, "a text").is_staged
        kept.append(issued.token.reveal())
        ends()

        mine.begin()
        assert (positions(joined) == before) is (ends == mine.rollback)
        mine.commit()

    mine.begin()
    with pytest.raises(AccessError) as raised:
        authority.session(kept[0], scope=APOLLO)
    assert "credential.invalid" == raised.value.code
    assert [ID] == authority.session(kept[1], scope=APOLLO).whoami().packages
    mine.commit()
    with pytest.raises(NoTransactionError):
        authority.issue(ADA, scope=APOLLO)


def test_what_is_denied_stages_nothing_but_the_denial(
    mine: Any, joined: Places
) -> None:
    """The project stays as it was; the record of it is kept if the host commits."""
    mine.begin()
    joined.authority().grant(CAROL, "reader", scope=APOLLO, package_id=ID)
    agent, reader = joined.of(ADA), joined.of(CAROL)
    mine.commit()
    for ends, left in ((mine.rollback, 0), (mine.commit, 3)):
        mine.begin()
        mine.write("a")
        project, _ = positions(joined)
        with pytest.raises(NotFoundError):
            agent.packages.show(OTHER)
        with pytest.raises(AccessError):
            reader.tiers.notes.add(ID, kind="platform", title="t", text="t")
        with pytest.raises(NotFoundError):
            reader.tiers.notes.add(OTHER, kind="platform", title="t", text="t")
        assert project == positions(joined)[0]
        assert 3 == len(joined.authority().denials())
        ends()

        mine.begin()
        assert left == len(joined.authority().denials())
        assert (left > 0) is ("a" in mine.words())
        mine.commit()


def test_a_revocation_counts_inside_its_own_transaction(
    mine: Any, joined: Places
) -> None:
    """What the host staged is honoured by its next call, and undone with it."""
    authority = joined.authority()
    mine.begin()
    issued = authority.issue(ADA, scope=APOLLO)
    session = authority.session(issued.token.reveal(), scope=APOLLO)
    mine.commit()

    mine.begin()
    assert authority.revoke(issued.credential_id).is_staged
    with pytest.raises(AccessError):
        session.whoami()
    mine.rollback()

    mine.begin()
    assert [ID] == session.whoami().packages
    mine.commit()


def test_the_lock_of_a_scope_is_passed_on(mine: Any, joined: Places) -> None:
    """A holder's verbs lock the scope of its token, and it can lock no other one."""
    mine.begin()
    store = joined.of(ADA).store
    held: list[Any] = []
    inner = joined.store
    assert isinstance(store, Holding)
    assert isinstance(inner, Holding)
    joined.store = _Noting(inner, held)  # type: ignore[assignment]

    joined.of(ADA).tiers.short_term.put(ID, AGENT, "a text")
    joined.of(ADA).store.hold(APOLLO)  # type: ignore[attr-defined]

    assert 2 == held.count(APOLLO)
    before = len(held)
    with pytest.raises(NotFoundError):
        store.hold(GEMINI)
    assert [] == [scope for scope in held[before:] if scope == GEMINI]
    mine.commit()


class _Noting:
    """A store that notes which scopes are locked."""

    def __init__(self, inner: Any, held: list[Any]) -> None:
        self._inner, self._held = inner, held

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def hold(self, scope: Any) -> None:
        """Note it, and lock."""
        self._held.append(scope)
        self._inner.hold(scope)
