"""Documents, their grants and sessions to register them with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.session.conftest import Counter, FrozenClock

from uaix_core import (
    OperatorGrant,
    OperatorGrants,
    Principal,
    ScopeId,
    Session,
    document_digest,
)

if TYPE_CHECKING:
    from uaix_core import Store

SCOPE = ScopeId.parse("acme/project/apollo")


def document(
    version: int, content: str = "words", *, namespace: str = "travel"
) -> dict[str, Any]:
    """One version of a namespace's document."""
    return {"namespace": namespace, "version": version, "content": content}


def granting(*documents: dict[str, Any]) -> OperatorGrants:
    """The configuration that grants exactly these."""
    grants = (
        OperatorGrant(d["namespace"], d["version"], document_digest(d))
        for d in documents
    )
    return OperatorGrants(Principal("operator", "ops"), tuple(grants))


def session_over(store: Store, principal: str = "human:alice") -> Session:
    """A session with sources that count."""
    counter = Counter()
    return Session(
        store,
        scope=SCOPE,
        principal=Principal.parse(principal),
        clock=FrozenClock(),
        ids=counter,
        random=counter,
    )
