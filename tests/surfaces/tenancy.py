"""A store with a persona, a key ring and tokens, for the verbs under a token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.session.starting import advanced

from uaix_backends import open_session

if TYPE_CHECKING:
    from pathlib import Path

SCOPE = "acme/project/apollo"
TENANT = ("--tenant", "acme")


def settled(kind: str, folder: Path) -> tuple[str, ...]:
    """Make a store that holds a persona; the options that name its scope."""
    url = f"{kind}:{folder / 'store'}"
    with open_session(
        url, scope=SCOPE, principal="human:maren", create=True
    ) as session:
        session.packages.install(advanced().archive())
    return ("--store", url, "--scope", SCOPE)


def ok(ran):
    """A call that was carried out."""
    assert 0 == ran.code, ran
    return ran


def token_of(run, place, who: str = "human:carol", name: str = "its.token") -> str:
    """The file of a fresh token."""
    ok(run("authority", "issue", who, "--to", name, *place))
    return name
