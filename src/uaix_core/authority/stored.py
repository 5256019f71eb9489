"""Reading registrations back: one version, the latest, the newest that is still there.

What stands in a registry may have come with a copied ledger, so a document is read as
strictly as when it came in, and must be the one that its row names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from uaix_core.authority.documents import RegistryDocument, read_document
from uaix_core.authority.relations import LATEST_REGISTRATION, REGISTRATION
from uaix_core.schema.relations import BY_KEY
from uaix_core.values.errors import CallerError, IntegrityError, NotFoundError

if TYPE_CHECKING:
    from uaix_core.authority.relations import LatestRegistration, Registration
    from uaix_core.store.port import Snapshot


def stored_registration(
    snapshot: Snapshot, registry: str, namespace: str, version: int
) -> Registration | None:
    """The row of one version, None when it was never registered."""
    row = snapshot.get(REGISTRATION.name, (registry, namespace, version))
    return cast("Registration | None", row)


def latest_registration(
    snapshot: Snapshot, registry: str, namespace: str
) -> LatestRegistration:
    """The latest version of a namespace; NotFoundError when there is none."""
    row = snapshot.get(LATEST_REGISTRATION.name, (registry, namespace))
    if row is None:
        raise _not_found()
    return cast("LatestRegistration", row)


def registered_document(
    snapshot: Snapshot, registry: str, namespace: str, version: int
) -> RegistryDocument:
    """The document of one version.

    Raises:
        NotFoundError: ``registration.not-found``.
        CallerError: ``registration.erased``.
        IntegrityError: ``registration.broken``.

    """
    row = stored_registration(snapshot, registry, namespace, version)
    if row is None:
        raise _not_found()
    return document_of(row)


def newest_document(
    snapshot: Snapshot, registry: str, namespace: str
) -> RegistryDocument | None:
    """The document of the highest version that wasn't erased, None without any.

    Raises:
        IntegrityError: ``registration.broken``.

    """
    after = None
    # One at a time: a document may be large, and the first one nearly always stands.
    while page := snapshot.scan(
        REGISTRATION.name,
        BY_KEY,
        (registry, namespace),
        after=after,
        reverse=True,
        limit=1,
    ):
        row = cast("Registration", page[0])
        if row.document is not None:
            return document_of(row)
        after = (row.document_version,)
    return None


def document_of(row: Registration) -> RegistryDocument:
    """The document of a row, checked against what the row says of it."""
    if row.document is None:
        raise CallerError(
            "the document of this version was erased",
            code="registration.erased",
            path=f"{row.namespace}@{row.document_version}",
            hint="the history still says who registered it and when",
        )
    try:
        document = read_document(row.document)
    except CallerError:
        document = None
    if document is None or (
        (document.namespace, document.version, document.digest)
        != (row.namespace, row.document_version, row.document_digest)
    ):
        raise IntegrityError(
            "a registered document is not the one that its row names",
            code="registration.broken",
            path=f"{row.namespace}@{row.document_version}",
        )
    return document


def _not_found() -> NotFoundError:
    return NotFoundError(
        "no such registration in this scope", code="registration.not-found"
    )
