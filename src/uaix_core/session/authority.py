"""The authority verbs of a tenant: who may do what, and sessions under a token."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

from uaix_core.access.binding import Binding, decide_bind, decide_unbind
from uaix_core.access.denials import denials_in
from uaix_core.access.enrolling import decide_enrolment
from uaix_core.access.granting import Granting, decide_grant, decide_withdrawal
from uaix_core.access.issuing import (
    CredentialView,
    Issuing,
    credentials_of,
    decide_issue,
    decide_revocation,
)
from uaix_core.access.key_uses import keys_used
from uaix_core.access.relations import BOUND_PACKAGE
from uaix_core.access.standing import held_by
from uaix_core.gate.said import check_identities
from uaix_core.packages.lint import lint
from uaix_core.session.authority_work import AuthorityWork
from uaix_core.session.enrolments import enrolling
from uaix_core.session.secrets import Secrets
from uaix_core.session.session import Session
from uaix_core.store.scanning import all_rows
from uaix_core.values.arguments import check_mapping, check_type
from uaix_core.values.errors import AccessError
from uaix_core.values.ids import Principal, ScopeId
from uaix_core.values.instants import DAY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from uaix_core.access.deciding import Administering, Done
    from uaix_core.access.denials import DenialView
    from uaix_core.access.issuing import Issued, Minted
    from uaix_core.access.key_uses import KeyUse
    from uaix_core.access.relations import BoundPackage
    from uaix_core.access.roles import GrantedRole
    from uaix_core.access.standing import Entitled
    from uaix_core.packages.source import PackageSource
    from uaix_core.store.port import Snapshot

#: How long a credential lives when nothing else is said, in microseconds.
DEFAULT_LIFE = 30 * DAY


class Authority(AuthorityWork):
    """The authority of one tenant: all that says who may do what in its scopes.

    The host makes one for an operator of its own, who may administer the whole tenant.
    `under` is the same for the holder of an administrator's token, who may administer
    the project of that token and nothing else.

    Args:
        store: where it is kept, beside the tenant's other scopes; never closed here.
        tenant: whose it is.
        principal: who administers, a human or an operator.
        keys: the host's keys, under which tokens are digested.
        clock: where the present comes from.
        ids: where new ids come from.
        random: where tokens come from.

    """

    def under(self, token: str, *, scope: ScopeId) -> Authority:
        """The same verbs for the holder of a token; each call checks it anew.

        Raises:
            AccessError: ``credential.invalid``, ``keys.missing``.

        """
        guard = self._guarded(token, scope)
        work = self._work
        return Authority(
            work.store,
            tenant=self.tenant,
            principal=guard.standing().principal,
            keys=self._keys,
            clock=work.clock,
            ids=work.ids,
            random=work.random,
            guard=guard,
        )

    def session(self, token: str, *, scope: ScopeId) -> Session:
        """A session in which every call shows the token, and gets what it stands for.

        Args:
            token: as it was issued.
            scope: the scope that it is good in; never guessed from the token.

        Raises:
            AccessError: ``credential.invalid`` for a token that is unknown, mistyped,
                revoked, past its time, or of another scope; ``keys.missing``.

        """
        guard, work = self._guarded(token, scope), self._work
        return Session(
            guard,
            scope=scope,
            principal=guard.standing().principal,
            clock=work.clock,
            ids=work.ids,
            random=work.random,
        )

    @cached_property
    def secrets(self) -> Secrets:
        """The secrets of the tenant's host: put, get, list, reseal, forget."""
        return Secrets(self._keys, self._reading, self._done)

    def grant(
        self,
        principal: Principal,
        role: GrantedRole,
        *,
        scope: ScopeId,
        package_id: str | None = None,
        until_at: int | None = None,
    ) -> Done:
        """Give a principal a role over a scope, or over one package of it.

        Args:
            principal: who gets it.
            role: ``reader``, ``writer``, ``reviewer`` or ``admin``.
            scope: a scope of this tenant.
            package_id: one package; None for all of the scope, those to come too.
            until_at: the instant (microseconds UTC) from which it counts no more.

        Raises:
            CallerError: ``grant.*``, ``authority.*``, ``id.syntax``.
            AccessError: ``access.denied`` for who doesn't administer the scope.

        """
        who, where = _principal(principal), _scope(scope)
        check_identities({"package_id": package_id or ""})
        wanted = Granting(who, role, where, package_id, until_at)
        return self._done(lambda s, by: decide_grant(s, by, wanted))

    def withdraw(self, entitlement_id: str) -> Done:
        """Take an entitlement back, from the next call on; again it changes nothing.

        Raises:
            NotFoundError: ``entitlement.not-found``.
            CallerError: ``authority.person``.
            AccessError: ``access.denied``.

        """
        return self._done(lambda s, by: decide_withdrawal(s, by, entitlement_id))

    def entitlements(self, principal: Principal) -> Sequence[Entitled]:
        """All that a principal was granted or bound to, also what is past its time.

        Raises:
            AccessError: ``access.denied`` for who doesn't administer; under a token
                only what is of its scope is told.

        """
        with self._reading() as (snapshot, by):
            by.check_any(snapshot)
            found = held_by(snapshot, _principal(principal), self.tenant)
        return [one for one in found if by.knows_of(one.scope)]

    def bind(self, agent_id: str, package_id: str, *, scope: ScopeId) -> Done:
        """Make a package an agent's own: it may start it, and nobody else's.

        Raises:
            ConflictError: ``binding.taken`` when it is another agent's.
            CallerError: ``authority.*``, ``id.syntax``.
            AccessError: ``access.denied``.

        """
        wanted = _binding(agent_id, package_id, scope)
        return self._done(lambda s, by: decide_bind(s, by, wanted))

    def unbind(self, agent_id: str, package_id: str, *, scope: ScopeId) -> Done:
        """Undo a binding, and end the agent's credentials in the scope with it.

        Raises:
            NotFoundError: ``binding.not-found``.
            CallerError: ``authority.*``, ``id.syntax``.
            AccessError: ``access.denied``.

        """
        wanted = _binding(agent_id, package_id, scope)
        return self._done(lambda s, by: decide_unbind(s, by, wanted))

    def bindings(self, scope: ScopeId) -> Sequence[BoundPackage]:
        """The bound packages of a scope, by package.

        Raises:
            AccessError: ``access.denied``.

        """
        with self._reading() as (snapshot, by):
            by.check_over(snapshot, _scope(scope))
            where = (scope.kind, scope.key)
            rows = all_rows(snapshot, BOUND_PACKAGE, prefix=where)
            return cast("list[BoundPackage]", list(rows))

    def issue(
        self, principal: Principal, *, scope: ScopeId, life: int = DEFAULT_LIFE
    ) -> Issued:
        """Issue a token for a principal in one scope. It is told once, in the answer.

        Args:
            principal: for whom; what it may do follows from its entitlements.
            scope: the one scope that the token is good in.
            life: for how long, in microseconds.

        Raises:
            CallerError: ``credential.life``, ``authority.*``.
            AccessError: ``access.denied``, ``keys.missing``.

        """
        wanted = Issuing(_principal(principal), _scope(scope), life)
        return self._issued(lambda s, by: decide_issue(s, by, wanted, self._keys))

    def rotate(
        self, credential_id: str, *, life: int | None = None, overlap: int = 0
    ) -> Issued:
        """Issue the token that follows another one, which then comes to its end.

        The holder of a credential may rotate its own, into one that lives no longer.

        Args:
            credential_id: which one is replaced.
            life: how long the new one lives, in microseconds; None for as long as
                the one before was to live.
            overlap: how long the old one stays good, in microseconds.

        Raises:
            NotFoundError: ``credential.not-found``.
            CallerError: ``credential.ended``, ``credential.life``, ``authority.*``.
            AccessError: ``access.denied``, ``keys.missing``.

        """

        def decided(snapshot: Snapshot, by: Administering) -> Minted:
            wanted = Issuing.after(
                snapshot, by, credential_id, life=life, overlap=overlap
            )
            return decide_issue(snapshot, by, wanted, self._keys)

        return self._issued(decided)

    def revoke(self, credential_id: str) -> Done:
        """End a credential now: every call that begins after this is refused.

        What its holder rotated it into ends with it, whatever a clock says. A holder
        may end its own.

        Raises:
            NotFoundError: ``credential.not-found``.
            CallerError: ``authority.*``.
            AccessError: ``access.denied``.

        """
        return self._done(lambda s, by: decide_revocation(s, by, credential_id))

    def credentials(self, principal: Principal) -> Sequence[CredentialView]:
        """All credentials of a principal, those that are over too.

        Raises:
            AccessError: ``access.denied``; under a token only what is of its scope is
                told.

        """
        now = self._work.clock.now()
        with self._reading() as (snapshot, by):
            by.check_any(snapshot)
            found = list(credentials_of(snapshot, _principal(principal)))
        views = [CredentialView.of(row, self.tenant, now) for row in found]
        return [one for one in views if by.knows_of(one.scope)]

    def enrol(
        self,
        source: PackageSource,
        *,
        trusted: Mapping[str, bytes],
        life: int = DEFAULT_LIFE,
    ) -> Issued:
        """Open the one project that a signed master package names, once.

        The package is judged and its signature verified; nothing of it is kept but
        digests. The answer holds the first token of the project's administrator.

        Args:
            source: the master package.
            trusted: the public keys that may enrol, by key id.
            life: how long the first credential lives, in microseconds.

        Raises:
            AccessError: ``enrolment.signature`` without a verified signature over all
                of it, ``enrolment.tenant``, ``access.denied``.
            ConflictError: ``enrolment.used``.
            CallerError: ``enrolment.package`` when it doesn't pass its checks,
                ``enrolment.document``, ``authority.person``, ``credential.life``.

        """
        keys = check_mapping(trusted, "trusted")
        report = lint(source, trusted=keys, now=self._work.clock.now())
        wanted = enrolling(report)
        return self._issued(
            lambda s, by: decide_enrolment(s, by, wanted, self._keys, life)
        )

    def keys_used(self) -> Sequence[KeyUse]:
        """The keys that tokens or secrets still need; every other one can be dropped.

        Scopes that rest sealed under the same ring aren't looked into: seal them anew
        before.

        Raises:
            AccessError: ``access.denied`` under a token; keys are of all scopes.

        """
        with self._reading() as (snapshot, by):
            _check_host(by, "keys")
            return keys_used(snapshot, self._work.clock.now())

    def denials(
        self, *, after: tuple[int, str] | None = None, limit: int = 100
    ) -> Sequence[DenialView]:
        """Who was refused what, oldest first, page by page; targets are digests.

        ``after`` is (denied_at, denial_id) of the last one of the page before.

        Raises:
            AccessError: ``access.denied`` under a token; they are of all scopes.

        """
        with self._reading() as (snapshot, by):
            _check_host(by, "denials")
            return denials_in(snapshot, self.tenant, after=after, limit=limit)


def _check_host(by: Administering, what: str) -> None:
    if by.standing is not None:
        raise AccessError(f"only the host's own operator reads {what}")


def _principal(principal: Principal) -> Principal:
    """Somebody whose name holds no secret (``input.type``, ``text.secret``)."""
    check_identities({"principal": check_type(principal, Principal, "principal").id})
    return principal


def _binding(agent_id: str, package_id: str, scope: ScopeId) -> Binding:
    check_identities({"agent_id": agent_id, "package_id": package_id})
    return Binding(agent_id, _scope(scope), package_id)


def _scope(scope: ScopeId) -> ScopeId:
    """A scope whose name holds no secret (``input.type``, ``text.secret``)."""
    check_identities({"scope": check_type(scope, ScopeId, "scope").key})
    return scope
