"""The verbs of authority and leases, and sessions that show a token."""

from __future__ import annotations

import threading
from itertools import count
from typing import TYPE_CHECKING, Any

from uaix_core import PackageSource, Principal, ScopeId, Session
from uaix_core.access.keys import KeyRing
from uaix_core.packages.signatures import key_id
from uaix_core.session.authority import Authority
from uaix_core.values.ids import uuid7
from uaix_core.values.instants import DAY, SECOND, parse_instant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_conformance.scenarios.packages import Made
    from uaix_conformance.scenarios.playing import Json
    from uaix_core.store.port import Store

#: When a play begins; each command is a second later.
BEGIN = parse_instant("2026-06-01T12:00:00Z")
#: The key of the host, under which tokens are digested.
KEYS = KeyRing("host", {"host": b"a key of the host for scenarios."})


class Sources:
    """A clock that commands move, and ids and random bytes that count."""

    def __init__(self, at: int = BEGIN) -> None:
        self.at = at
        self._counted = count(1)
        self._lock = threading.Lock()

    def now(self) -> int:
        """The instant of the command that is carried out."""
        return self.at

    def new(self) -> str:
        """The next id."""
        return uuid7(self._next(), b"\0" * 10)

    def bytes(self, size: int) -> bytes:
        """The next bytes."""
        return self._next().to_bytes(size, "big")

    def _next(self) -> int:
        with self._lock:
            return next(self._counted)


class AccessVerbs:
    """Who may do what: the part of an application that a host's operator calls."""

    def __init__(self, store: Store, form: str, sources: Sources) -> None:
        self._store = store
        self._form = form
        self._sources = sources

    def _source(self, made: Made) -> PackageSource:
        if self._form == "archive" or made.is_archive_only:
            return PackageSource("scenario.uaix", archive=made.archive())
        return PackageSource(files=made.files)

    def _session(self, command: Mapping[str, Any]) -> Session:
        """A session of whoever acts: by a token, or by what the host says."""
        scope = ScopeId.parse(command["scope"])
        if "token" in command:
            return self._authority(command).session(command["token"], scope=scope)
        return Session(
            self._store,
            scope=scope,
            principal=Principal.parse(command["as"]),
            clock=self._sources,
            ids=self._sources,
            random=self._sources,
        )

    def _authority(self, command: Mapping[str, Any]) -> Authority:
        """The authority of the tenant, in the hands of the host's operator."""
        return Authority(
            self._store,
            tenant=ScopeId.parse(command["scope"]).tenant,
            principal=Principal.parse(command["as"]),
            keys=KEYS,
            clock=self._sources,
            ids=self._sources,
            random=self._sources,
        )

    def _governing(self, command: Mapping[str, Any]) -> tuple[Authority, ScopeId]:
        """The authority in the hands of whoever acts, and the scope it is about."""
        authority, scope = self._authority(command), ScopeId.parse(command["scope"])
        if "token" in command:
            authority = authority.under(command["token"], scope=scope)
        return authority, scope

    def _wait(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        self._sources.at += command["seconds"] * SECOND
        return {}, {}

    def _authority_enrol(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        authority, _ = self._governing(command)
        trusted = [bytes.fromhex(key) for key in command["trusted"]]
        issued = authority.enrol(
            self._source(command["package"]),
            trusted={key_id(key): key for key in trusted},
        )
        told = {"principal": issued.principal.text, "scope": issued.scope.text}
        ids = {"token": issued.token.reveal(), "credential": issued.credential_id}
        return told, ids

    def _authority_grant(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        authority, scope = self._governing(command)
        principal = Principal.parse(command["principal"])
        done = authority.grant(
            principal, command["role"], scope=scope, package_id=command.get("id")
        )
        return {}, {"entitlement": done.id}

    def _authority_bind(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        authority, scope = self._governing(command)
        authority.bind(command["agent"], command["id"], scope=scope)
        return {}, {}

    def _authority_issue(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        authority, scope = self._governing(command)
        principal = Principal.parse(command["principal"])
        life = command.get("days", 30) * DAY
        issued = authority.issue(principal, scope=scope, life=life)
        ids = {"token": issued.token.reveal(), "credential": issued.credential_id}
        return {}, ids

    def _authority_revoke(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        authority, _ = self._governing(command)
        authority.revoke(command["credential"])
        return {}, {}

    def _authority_denials(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        authority, _ = self._governing(command)
        found = authority.denials()
        told = [f"{one.principal.text} {one.code}" for one in found]
        return {"denials": told}, {}

    def _whoami(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        found = self._session(command).whoami()
        told = {"principal": found.principal.text, "packages": found.packages}
        return {**told, "roles": sorted({one.role for one in found.entitled})}, {}

    def _leases_acquire(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        lease = self._session(command).leases.acquire(
            command["id"],
            agent_id=command["agent"],
            session_id=command["session"],
            life=command["seconds"] * SECOND,
        )
        return {}, {"lease": lease.lease_id}

    def _leases_release(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        leases = self._session(command).leases
        return {"released": leases.release(leases.get(command["lease"])).outcome}, {}
