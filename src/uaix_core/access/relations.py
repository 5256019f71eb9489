"""The relations of the access room, in the scope ``tenant/shared/authority``.

A scope is told by its kind and key; its tenant is that of the scope that says so.
"""

from __future__ import annotations

from typing import Annotated

from uaix_core.access.roles import GRANTED_ROLES
from uaix_core.history.relations import ActorKind
from uaix_core.schema.relations import Keep, Relation
from uaix_core.schema.rows import BodyRow, Bytes, Id, Instant, Int, Row, Word, row
from uaix_core.values.ids import SCOPE_KINDS

ScopeWord = Annotated[str, Word(*SCOPE_KINDS)]
GrantedWord = Annotated[str, Word(*GRANTED_ROLES)]
EndCause = Annotated[str, Word("revoked", "rotated", "unbound", "withdrawn")]
DenialCode = Annotated[str, Word("not-found", "operation", "package", "disclosure")]


@row
class Entitlement(Row):
    """That a principal has a role over a scope, or over one package of it.

    It lets nobody do anything from ``until_at`` on, or once it was withdrawn.
    """

    entitlement_id: Id
    principal_kind: ActorKind
    principal_id: Id
    role: GrantedWord
    scope_kind: ScopeWord
    scope_key: Id
    package_id: Id | None
    until_at: Instant | None
    receipt_id: Id
    actor_kind: ActorKind
    actor_id: Id


@row
class EntitlementEnd(Row):
    """That an entitlement was withdrawn."""

    entitlement_id: Id
    receipt_id: Id
    actor_kind: ActorKind
    actor_id: Id


@row
class HeldEntitlement(Row):
    """An entitlement that nobody has withdrawn, found by who holds it."""

    principal_kind: ActorKind
    principal_id: Id
    entitlement_id: Id
    role: GrantedWord
    scope_kind: ScopeWord
    scope_key: Id
    package_id: Id | None
    since_at: Instant
    until_at: Instant | None


@row
class AgentBinding(Row):
    """That a package is an agent's: the agent may start it, and nobody else's."""

    binding_id: Id
    agent_id: Id
    scope_kind: ScopeWord
    scope_key: Id
    package_id: Id
    receipt_id: Id
    actor_kind: ActorKind
    actor_id: Id


@row
class AgentUnbinding(Row):
    """That a binding was undone."""

    binding_id: Id
    receipt_id: Id
    actor_kind: ActorKind
    actor_id: Id


@row
class BoundPackage(Row):
    """A package and the one agent that it is bound to."""

    scope_kind: ScopeWord
    scope_key: Id
    package_id: Id
    agent_id: Id
    binding_id: Id
    bound_at: Instant


@row
class Credential(Row):
    """That a token stands for a principal in one scope, for a time.

    ``token_digest`` is HMAC-SHA-256 of the token's secret under the host's key of this
    name; the token itself is kept nowhere. ``replaces`` is the credential that it
    was rotated from.
    """

    credential_id: Id
    principal_kind: ActorKind
    principal_id: Id
    scope_kind: ScopeWord
    scope_key: Id
    key_id: Id
    token_digest: Id
    until_at: Instant
    replaces: Id | None
    receipt_id: Id
    actor_kind: ActorKind
    actor_id: Id


@row
class CredentialEnd(Row):
    """That a credential stands for nobody from an instant on.

    Of several the first instant counts. ``end_id`` names this one word.
    """

    end_id: Id
    credential_id: Id
    cause: EndCause
    from_at: Instant
    receipt_id: Id
    actor_kind: ActorKind
    actor_id: Id


@row
class IssuedCredential(Row):
    """A credential as it stands: it is good before ``until_at``, unless it was ended.

    ``ended_at`` is when it was revoked or its principal unbound: from that commit on it
    is good at no instant, whatever a clock says.
    """

    credential_id: Id
    principal_kind: ActorKind
    principal_id: Id
    scope_kind: ScopeWord
    scope_key: Id
    key_id: Id
    token_digest: Id
    issued_at: Instant
    until_at: Instant
    ended_at: Instant | None

    def is_over(self, now: int) -> bool:
        """Whether it is good for nothing at an instant."""
        return self.ended_at is not None or now >= self.until_at


@row
class Enrolment(Row):
    """That a master package enrolled one project, once; nothing of it is kept.

    ``files_sha256`` is the digest of its files, ``key_id`` the key that signed it.
    """

    package_id: Id
    files_sha256: Id
    key_id: Id
    scope_kind: ScopeWord
    scope_key: Id
    receipt_id: Id
    actor_kind: ActorKind
    actor_id: Id


@row
class EnrolledProject(Row):
    """A project that was enrolled."""

    scope_kind: ScopeWord
    scope_key: Id
    package_id: Id
    enrolled_at: Instant


@row
class Denial(Row):
    """That somebody was refused; of what it was about only keyed digests are here.

    ``operation`` is the word of the receipt that was to be written, or ``read``.
    """

    denial_id: Id
    code: DenialCode
    operation: Id
    principal_kind: ActorKind
    principal_id: Id
    credential_id: Id
    scope_kind: ScopeWord
    scope_key: Id
    target_digest: Id | None


@row
class DenialEntry(Row):
    """Finds denials by time and by who was refused."""

    denial_id: Id
    denied_at: Instant
    principal_kind: ActorKind
    principal_id: Id


@row
class StoredSecret(BodyRow):
    """A secret of the host's, sealed under the key of this name.

    ``sealed`` is a nonce of 12 bytes and AES-256-GCM of the secret, bound to scope,
    name and number; it goes when a later number takes its place.
    """

    secret_name: Id
    number: Int
    key_id: Id
    receipt_id: Id
    actor_kind: ActorKind
    actor_id: Id
    sealed: Bytes | None


@row
class CurrentSecret(Row):
    """The newest number of a secret that wasn't forgotten."""

    secret_name: Id
    number: Int
    key_id: Id
    sealed_at: Instant


ENTITLEMENT = Relation(
    "entitlement", Entitlement, ("entitlement_id",), keep=Keep.HISTORY
)
ENTITLEMENT_END = Relation(
    "entitlement_end", EntitlementEnd, ("entitlement_id",), keep=Keep.HISTORY
)
HELD_ENTITLEMENT = Relation(
    "held_entitlement",
    HeldEntitlement,
    ("principal_kind", "principal_id", "entitlement_id"),
    keep=Keep.VIEW,
    paths={"by_scope": ("scope_kind", "scope_key")},
    versioned=True,
)
AGENT_BINDING = Relation(
    "agent_binding", AgentBinding, ("binding_id",), keep=Keep.HISTORY
)
AGENT_UNBINDING = Relation(
    "agent_unbinding", AgentUnbinding, ("binding_id",), keep=Keep.HISTORY
)
BOUND_PACKAGE = Relation(
    "bound_package",
    BoundPackage,
    ("scope_kind", "scope_key", "package_id"),
    keep=Keep.VIEW,
    paths={"by_agent": ("agent_id",)},
    versioned=True,
)
CREDENTIAL = Relation("credential", Credential, ("credential_id",), keep=Keep.HISTORY)
CREDENTIAL_END = Relation(
    "credential_end",
    CredentialEnd,
    ("end_id",),
    keep=Keep.HISTORY,
    paths={"by_credential": ("credential_id",)},
)
ISSUED_CREDENTIAL = Relation(
    "issued_credential",
    IssuedCredential,
    ("credential_id",),
    keep=Keep.VIEW,
    paths={"by_principal": ("principal_kind", "principal_id")},
    versioned=True,
)
ENROLMENT = Relation("enrolment", Enrolment, ("package_id",), keep=Keep.HISTORY)
ENROLLED_PROJECT = Relation(
    "enrolled_project",
    EnrolledProject,
    ("scope_kind", "scope_key"),
    keep=Keep.VIEW,
    versioned=True,
)
DENIAL = Relation("denial", Denial, ("denial_id",), keep=Keep.HISTORY)
DENIAL_ENTRY = Relation(
    "denial_entry",
    DenialEntry,
    ("denial_id",),
    keep=Keep.VIEW,
    paths={
        "by_time": ("denied_at",),
        "by_principal": ("principal_kind", "principal_id", "denied_at"),
    },
)

STORED_SECRET = Relation(
    "stored_secret",
    StoredSecret,
    ("secret_name", "number"),
    keep=Keep.HISTORY,
    body=("sealed",),
)
CURRENT_SECRET = Relation(
    "current_secret", CurrentSecret, ("secret_name",), keep=Keep.VIEW, versioned=True
)

RELATIONS = (
    ENTITLEMENT,
    ENTITLEMENT_END,
    HELD_ENTITLEMENT,
    AGENT_BINDING,
    AGENT_UNBINDING,
    BOUND_PACKAGE,
    CREDENTIAL,
    CREDENTIAL_END,
    ISSUED_CREDENTIAL,
    ENROLMENT,
    ENROLLED_PROJECT,
    DENIAL,
    DENIAL_ENTRY,
    STORED_SECRET,
    CURRENT_SECRET,
)
