"""A tenant with two projects, two agents, and an operator who administers it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
from tests.session.conftest import Counter, FrozenClock
from tests.session.starting import AGENT, ID, advanced, installed

from uaix_core import Principal, ScopeId, Session
from uaix_core.access.keys import KeyRing
from uaix_core.session.authority import Authority

if TYPE_CHECKING:
    from uaix_core import Store

APOLLO = ScopeId.parse("acme/project/apollo")
GEMINI = ScopeId.parse("acme/project/gemini")
ROOT = Principal("operator", "root")
ADA = Principal("agent", AGENT)
BOB = Principal("agent", "bob")
CAROL = Principal("human", "carol")
KEYS = KeyRing("k1", {"k1": b"\1" * 32})
#: The package of the other agent.
OTHER = "others-own"


@attrs.define
class Places:
    """One store, and everybody's way into it."""

    store: Store
    clock: FrozenClock = attrs.field(factory=FrozenClock)
    counter: Counter = attrs.field(factory=Counter)

    def host(self, scope: ScopeId = APOLLO, principal: Principal = ROOT) -> Session:
        """A session of the host's own."""
        return Session(
            self.store,
            scope=scope,
            principal=principal,
            clock=self.clock,
            ids=self.counter,
            random=self.counter,
        )

    def authority(self, keys: KeyRing = KEYS, principal: Principal = ROOT) -> Authority:
        """The authority of the tenant, for its operator."""
        return Authority(
            self.store,
            tenant="acme",
            principal=principal,
            keys=keys,
            clock=self.clock,
            ids=self.counter,
            random=self.counter,
        )

    def token(self, principal: Principal = ADA, scope: ScopeId = APOLLO) -> str:
        """A fresh token of a principal in a scope."""
        return self.authority().issue(principal, scope=scope).token.reveal()

    def of(self, principal: Principal = ADA, scope: ScopeId = APOLLO) -> Session:
        """A session under a fresh token."""
        return self.authority().session(self.token(principal, scope), scope=scope)


def settled(store: Store) -> Places:
    """Two active personas in one project, each bound to its own agent."""
    places = Places(store)
    host = places.host()
    installed(host, advanced())
    other = advanced()
    other.manifest["packageId"] = OTHER
    other.manifest["agentId"] = BOB.id
    installed(host, other)
    authority = places.authority()
    authority.bind(AGENT, ID, scope=APOLLO)
    authority.bind(BOB.id, OTHER, scope=APOLLO)
    return places
