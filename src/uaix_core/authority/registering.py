"""Registering a document: what the operator's grant lets into a scope's registry.

The order of the checks is the rule. First what needs no store: that the grants are the
operator's, the document's shape, its namespace, its grant, its digest; so whoever has
no grant learns nothing of what stands. Then what stands of the namespace, and last what
the owner of the registry says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, cast

from uaix_core.authority.answers import Registered, denied, unchanged
from uaix_core.authority.documents import (
    DocumentSource,
    RegistryDocument,
    read_document,
)
from uaix_core.authority.grants import OperatorGrant, OperatorGrants
from uaix_core.authority.reducer import latest_ref
from uaix_core.authority.relations import (
    LATEST_REGISTRATION,
    REGISTRATION,
    LatestRegistration,
    Registration,
)
from uaix_core.authority.stored import newest_document, stored_registration
from uaix_core.history.receipts import Writing, receipt_row
from uaix_core.schema.commits import Commit, Expect
from uaix_core.values.canonical import SALT_BYTES
from uaix_core.values.errors import CallerError, ConflictError

if TYPE_CHECKING:
    from uaix_core.store.port import Snapshot

#: The registry of documents that no room of this library owns.
DOCUMENTS: Final = "documents"
#: The namespace of the library itself, in whatever case; no grant reaches it.
RESERVED: Final = "uaix"

#: What the owner of a registry says of a document and the newest one before it that is
#: still there: nothing, or an error of its own.
Check = Callable[[RegistryDocument, RegistryDocument | None], None]


def decide_registration(  # noqa: PLR0913 - each is a fact that the decision rests on
    snapshot: Snapshot,
    writing: Writing,
    document: DocumentSource,
    grants: OperatorGrants,
    *,
    registry: str = DOCUMENTS,
    check: Check | None = None,
) -> Commit | Registered:
    """The commit that registers a document, or the answer of its first time.

    Nothing is written for a refusal; its error carries the decision that denies.

    Args:
        snapshot: the scope as it stands.
        writing: who registers, when; who granted it is in the grants.
        document: a JSON object or its text.
        grants: the operator's configuration.
        registry: whose documents these are.
        check: what the registry's owner asks of a document.

    Raises:
        CallerError: in this order ``grants.value``, ``registration.document``,
            ``registration.reserved``, ``registration.not-granted``,
            ``registration.digest``, ``registration.erased``.
        ConflictError: after those ``registration.version-conflict`` when the version
            stands with other content, ``registration.not-after-latest``.
        UaixError: at last what ``check`` raises.

    """
    wanted = granted_document(writing, document, grants, registry=registry)
    return decide_granted(
        snapshot, writing, wanted, grants, registry=registry, check=check
    )


def granted_document(
    writing: Writing,
    document: DocumentSource,
    grants: OperatorGrants,
    *,
    registry: str = DOCUMENTS,
) -> RegistryDocument:
    """A document that an operator's grant names, whatever the scope holds.

    Raises:
        CallerError: in this order ``grants.value``, ``registration.document``,
            ``registration.reserved``, ``registration.not-granted``,
            ``registration.digest``.

    """
    with denied(writing, registry):
        wanted = read_document(_of_an_operator(grants, document))
        grant = _grant_of(wanted, grants)
    with denied(writing, registry, (wanted.namespace, wanted.version)):
        _check_digest(wanted, grant)
    return wanted


def decide_granted(  # noqa: PLR0913 - each is a fact that the decision rests on
    snapshot: Snapshot,
    writing: Writing,
    wanted: RegistryDocument,
    grants: OperatorGrants,
    *,
    registry: str = DOCUMENTS,
    check: Check | None = None,
) -> Commit | Registered:
    """The part of `decide_registration` that follows `granted_document`."""
    named = (wanted.namespace, wanted.version)
    same = stored_registration(snapshot, registry, *named)
    latest = snapshot.get(LATEST_REGISTRATION.name, (registry, wanted.namespace))
    latest = cast("LatestRegistration | None", latest)
    with denied(writing, registry, named):
        if same is not None:
            return _as_stands(wanted, same)
        _check_after(wanted, latest)
    if check is not None:
        previous = newest_document(snapshot, registry, wanted.namespace)
        with denied(writing, registry, named):
            check(wanted, previous)
    return _commit(writing, registry, wanted, grants, latest)


def _of_an_operator(grants: OperatorGrants, document: DocumentSource) -> DocumentSource:
    # What merely looks like grants may have come from anywhere.
    if not isinstance(grants, OperatorGrants):
        raise CallerError(
            "grants are a value that the host's code makes",
            code="grants.value",
            hint="read the configuration with read_grants()",
        )
    return document


def _grant_of(wanted: RegistryDocument, grants: OperatorGrants) -> OperatorGrant:
    if wanted.namespace.lower() == RESERVED:
        raise CallerError(
            "this namespace is the library's own",
            code="registration.reserved",
            path="namespace",
        )
    grant = grants.find(wanted.namespace, wanted.version)
    if grant is None:
        raise CallerError(
            "the operator has not granted this version of this namespace",
            code="registration.not-granted",
            hint="a grant stands in the host's configuration and nowhere else",
        )
    return grant


def _check_digest(wanted: RegistryDocument, grant: OperatorGrant) -> None:
    if wanted.digest != grant.document_digest:
        raise CallerError(
            "the operator has granted another document of this version",
            code="registration.digest",
            path=_place(wanted),
            hint="document_digest() says what a grant of this document names",
        )


def _as_stands(wanted: RegistryDocument, same: Registration) -> Registered:
    if same.document is None:
        raise CallerError(
            "the document of this version was erased",
            code="registration.erased",
            path=_place(wanted),
            hint="register it as a later version",
        )
    if same.document != wanted.text:
        raise ConflictError(
            "this version was registered with other content",
            code="registration.version-conflict",
            relation=REGISTRATION.name,
            key=REGISTRATION.key_of(same),
            path=_place(wanted),
            hint="other content is a later version",
        )
    return unchanged(same)


def _check_after(wanted: RegistryDocument, latest: LatestRegistration | None) -> None:
    if latest is not None and wanted.version < latest.document_version:
        raise ConflictError(
            "a later version of this namespace is registered",
            code="registration.not-after-latest",
            relation=LATEST_REGISTRATION.name,
            key=LATEST_REGISTRATION.key_of(latest),
            current=latest,
            path=_place(wanted),
            hint="versions of a namespace only rise",
        )


def _place(wanted: RegistryDocument) -> str:
    return f"{wanted.namespace}@{wanted.version}"


def _commit(
    writing: Writing,
    registry: str,
    wanted: RegistryDocument,
    grants: OperatorGrants,
    latest: LatestRegistration | None,
) -> Commit:
    receipt_id = writing.ids.new()
    row = REGISTRATION.with_body(
        writing.random.bytes(SALT_BYTES),
        registry=registry,
        namespace=wanted.namespace,
        document_version=wanted.version,
        receipt_id=receipt_id,
        operator_id=grants.operator.id,
        actor_kind=writing.principal.kind,
        actor_id=writing.principal.id,
        document_digest=wanted.digest,
        document=wanted.text,
    )
    receipt = receipt_row(
        writing,
        receipt_id,
        operation="register",
        outcome="accepted",
        # No digest of the document: the receipt outlives it.
        details={
            "registry": registry,
            "namespace": wanted.namespace,
            "document_version": wanted.version,
            "operator_id": grants.operator.id,
        },
    )
    ref = latest_ref(registry, wanted.namespace)
    version = latest.version if latest is not None else 0
    return Commit(
        writing.scope,
        writing.now,
        # Of two that race the second one decides anew, over what the first one wrote.
        expects=(Expect(ref.relation, ref.key, version),),
        adds=(row, receipt),
    )
