"""Principals, grants, revocations, bindings and reads at random, against a model."""

from __future__ import annotations

import attrs
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.access.places import APOLLO, GEMINI, OTHER, Places, settled
from tests.session.starting import ID

from uaix_backends import open_store
from uaix_core import ConflictError, NotFoundError, Principal, ScopeId
from uaix_core.values.errors import AccessError

PACKAGES = (ID, OTHER)
WHO = tuple(
    Principal(kind, name)
    for kind, name in (("human", "ann"), ("agent", "ada"), ("agent", "bob"))
)
SCOPES = (APOLLO, GEMINI)
whoever = st.sampled_from(WHO)
somewhere = st.sampled_from(SCOPES)
some_package = st.sampled_from((*PACKAGES, None))
named_package = st.sampled_from(PACKAGES)
spans = st.sampled_from([None, 1, 2, 5])
agents = st.sampled_from(["ada", "bob"])


@attrs.frozen
class Grant:
    """What the model knows of a grant."""

    principal: Principal
    scope: ScopeId
    package_id: str | None
    until_at: int | None


@attrs.frozen
class Pass:
    """What the model knows of a token."""

    principal: Principal
    scope: ScopeId
    until_at: int
    text: str = attrs.field(repr=False)


class AccessMachine(RuleBasedStateMachine):
    """Whoever shows a token reads what the model says, and not a row beyond it."""

    @initialize()
    def begin(self) -> None:
        """A settled tenant; the model knows its two bindings."""
        self.store = open_store("memory:", create=True)
        self.places: Places = settled(self.store)
        self.bound = {ID: "ada", OTHER: "bob"}
        self.grants: dict[str, Grant] = {}
        self.passes: dict[str, Pass] = {}

    @rule(who=whoever, scope=somewhere, package=some_package, span=spans)
    def grant(
        self, who: Principal, scope: ScopeId, package: str | None, span: int | None
    ) -> None:
        """Give somebody a reader's role."""
        until = None if span is None else self.places.clock.at + span
        given = self.places.authority().grant(
            who, "reader", scope=scope, package_id=package, until_at=until
        )
        self.grants[given.id] = Grant(who, scope, package, until)

    @rule(data=st.data())
    def withdraw(self, data: st.DataObject) -> None:
        """Take one of the grants back."""
        if self.grants:
            name = data.draw(st.sampled_from(sorted(self.grants)))
            self.places.authority().withdraw(name)
            del self.grants[name]

    @rule(agent=agents, package=named_package)
    def bind(self, agent: str, package: str) -> None:
        """Bind a package, or find it taken."""
        try:
            self.places.authority().bind(agent, package, scope=APOLLO)
        except ConflictError:
            assert self.bound.get(package) not in (None, agent)
        else:
            assert self.bound.setdefault(package, agent) == agent

    @rule(agent=agents, package=named_package)
    def unbind(self, agent: str, package: str) -> None:
        """Undo a binding, and with it the agent's tokens in the scope."""
        try:
            self.places.authority().unbind(agent, package, scope=APOLLO)
        except NotFoundError:
            assert self.bound.get(package) != agent
        else:
            assert agent == self.bound.pop(package)
            for name, one in list(self.passes.items()):
                if (one.principal, one.scope) == (Principal("agent", agent), APOLLO):
                    del self.passes[name]

    @rule(who=whoever, scope=somewhere, life=st.sampled_from([1, 3, 100]))
    def issue(self, who: Principal, scope: ScopeId, life: int) -> None:
        """Give somebody a token."""
        issued = self.places.authority().issue(who, scope=scope, life=life)
        self.passes[issued.credential_id] = Pass(
            who, scope, issued.until_at, issued.token.reveal()
        )

    @rule(data=st.data(), overlap=st.sampled_from([0, 1]))
    def rotate(self, data: st.DataObject, overlap: int) -> None:
        """Replace a token that is still good."""
        good = [name for name in sorted(self.passes) if self._is_good(name)]
        if good:
            name = data.draw(st.sampled_from(good))
            old = self.passes[name]
            issued = self.places.authority().rotate(name, life=10, overlap=overlap)
            until = min(old.until_at, self.places.clock.at + overlap)
            self.passes[name] = attrs.evolve(old, until_at=until)
            self.passes[issued.credential_id] = Pass(
                old.principal, old.scope, issued.until_at, issued.token.reveal()
            )

    @rule(data=st.data())
    def revoke(self, data: st.DataObject) -> None:
        """End a token."""
        if self.passes:
            name = data.draw(st.sampled_from(sorted(self.passes)))
            self.places.authority().revoke(name)
            del self.passes[name]

    @rule(by=st.sampled_from([1, 2]))
    def wait(self, by: int) -> None:
        """Let time go by."""
        self.places.clock.at += by

    @invariant()
    def everybody_sees_what_the_model_says(self) -> None:
        """For every token and scope: the packages, one by one and as a list."""
        if not hasattr(self, "places"):
            return
        authority = self.places.authority()
        for name, one in self.passes.items():
            for scope in SCOPES:
                is_good = self._is_good(name) and scope == one.scope
                try:
                    session = authority.session(one.text, scope=scope)
                except AccessError:
                    assert not is_good
                    continue
                assert is_good
                seen = [row.package_id for row in session.packages.list()]
                assert self._visible(one) == seen
                for package in PACKAGES:
                    try:
                        session.packages.show(package)
                    except NotFoundError:
                        assert package not in seen
                    else:
                        assert package in seen

    def teardown(self) -> None:
        """Close what was opened."""
        if hasattr(self, "store"):
            self.store.close()

    def _is_good(self, name: str) -> bool:
        return self.places.clock.at < self.passes[name].until_at

    def _visible(self, one: Pass) -> list[str]:
        if one.scope != APOLLO:
            return []
        now = self.places.clock.at
        held = [
            grant.package_id
            for grant in self.grants.values()
            if (grant.principal, grant.scope) == (one.principal, one.scope)
            and (grant.until_at is None or now < grant.until_at)
        ]
        if None in held:
            return sorted(PACKAGES)
        agent = one.principal.id if one.principal.kind == "agent" else None
        bound = [name for name, holder in self.bound.items() if holder == agent]
        return sorted({*filter(None, held), *bound})


AccessMachine.TestCase.settings = settings(
    max_examples=max(10, settings.default.max_examples // 5), stateful_step_count=20
)
TestAccess = AccessMachine.TestCase
TestAccess.__doc__ = "No token reads more, or less, than the model of all grants says."
