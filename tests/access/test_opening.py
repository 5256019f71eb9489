"""Laws of opening under a token: one way to say who acts, and the store is closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.access.places import ADA, APOLLO, KEYS, OTHER, Places
from tests.session.starting import AGENT, ID

from uaix_backends import open_authority, open_session, open_store
from uaix_backends.backup import write_backup
from uaix_core import CallerError, NotFoundError, Principal, StorageError
from uaix_core.values.errors import AccessError, ClosedError

if TYPE_CHECKING:
    from pathlib import Path

SCOPE = "acme/project/apollo"


@pytest.mark.parametrize("kind", ["dir", "sqlite"])
def test_a_token_opens_a_session_by_url(kind: str, tmp_path: Path) -> None:
    """What one process issued another one uses, until the store is closed."""
    url = f"{kind}:{tmp_path / 'store'}"
    opened = open_authority(
        url, tenant="acme", principal="operator:root", keys=KEYS, create=True
    )
    with opened as authority:
        carol = Principal("human", "carol")
        with open_session(url, scope=SCOPE, principal=carol) as host:
            scope = host.scope
        authority.grant(carol, "writer", scope=scope)
        token = authority.issue(carol, scope=scope).token.reveal()

    with open_session(url, scope=SCOPE, credential=token, keys=KEYS) as session:
        assert "human:carol" == session.whoami().principal.text
        assert [] == list(session.packages.list())
    with pytest.raises(ClosedError):
        session.packages.list()


@pytest.mark.parametrize(
    "who",
    [
        {},
        {"credential": "uaix_x"},
        {"keys": KEYS},
        {"principal": "human:x", "keys": KEYS},
        {"principal": "human:x", "credential": "uaix_x", "keys": KEYS},
    ],
)
def test_who_acts_is_said_once(who: dict[str, Any]) -> None:
    """Neither nobody nor two, and no token without keys."""
    opened = open_session("memory:", scope=SCOPE, **who)
    with pytest.raises(CallerError) as raised, opened:
        pass
    assert "session.who" == raised.value.code


def test_a_wrong_token_opens_nothing() -> None:
    """A store is closed again when the token stands for nobody."""
    opened = open_session("memory:", scope=SCOPE, credential="wrong", keys=KEYS)
    with pytest.raises(AccessError), opened:
        pass


def test_a_backup_is_read_under_a_token(quick: Places, tmp_path: Path) -> None:
    """It answers as the store that it was made of, though it keeps no denial."""
    token = quick.token(ADA)
    write_backup(quick.store, tmp_path / "backup", made_at=0)
    store = open_store(f"backup:{tmp_path / 'backup'}")
    try:
        session = Places(store, quick.clock).authority().session(token, scope=APOLLO)
        assert [ID] == [row.package_id for row in session.packages.list()]
        for package_id in (OTHER, "nowhere"):
            with pytest.raises(NotFoundError) as raised:
                session.packages.show(package_id)
            assert "package.not-found" == raised.value.code
        with pytest.raises(StorageError):
            session.start(ID, agent_id=AGENT)
    finally:
        store.close()
