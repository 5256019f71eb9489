"""Laws of opening under a token: one way to say who acts, and the store is closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.access.places import KEYS

from uaix_backends import open_authority, open_session
from uaix_core import CallerError, Principal
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
