"""The registration verbs: register under an operator's grant, get, list, history."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import attrs

from uaix_core.authority.answers import Registered, registered
from uaix_core.authority.registering import (
    DOCUMENTS,
    decide_granted,
    granted_document,
)
from uaix_core.authority.relations import LATEST_REGISTRATION, REGISTRATION
from uaix_core.authority.stored import latest_registration, registered_document
from uaix_core.gate.said import check_identities
from uaix_core.gate.scan import scan_fields
from uaix_core.schema.commits import Recorded
from uaix_core.schema.relations import BY_KEY
from uaix_core.session.writes import write
from uaix_core.values.errors import CallerError
from uaix_core.values.ids import check_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uaix_core.authority.documents import DocumentSource, RegistryDocument
    from uaix_core.authority.grants import OperatorGrants
    from uaix_core.authority.registering import Check
    from uaix_core.authority.relations import LatestRegistration, Registration
    from uaix_core.schema.commits import Commit
    from uaix_core.session.work import Work
    from uaix_core.store.port import Snapshot


class Registrations:
    """One registry of a session's scope; made by it, not by hand.

    Args:
        work: the session.
        registry: whose documents these are.
        check: what the registry's owner asks of a document.

    """

    def __init__(
        self, work: Work, *, registry: str = DOCUMENTS, check: Check | None = None
    ) -> None:
        self._work = work
        self._registry = check_id(registry, "registry")
        self._check = check

    def register(self, document: DocumentSource, grants: OperatorGrants) -> Registered:
        """Put one version of a namespace's document into the scope.

        The same version with the same content writes nothing. A refusal writes nothing
        either; its error carries the decision that denies, as ``decisions``.

        Args:
            document: a JSON object with ``namespace`` and ``version``, or its text.
            grants: the operator's configuration, which names the document's digest.

        Raises:
            CallerError: ``registration.document``, ``registration.reserved``,
                ``registration.not-granted``, ``registration.digest``,
                ``registration.erased``, ``registration.secret``, ``grants.value``,
                ``text.secret`` for the operator.
            ConflictError: ``registration.version-conflict``,
                ``registration.not-after-latest``.

        """
        work = self._work
        writing = work.writing()
        # Who has no grant has the scope neither looked at nor locked.
        wanted = granted_document(writing, document, grants, registry=self._registry)
        check_identities({"operator": grants.operator.id})

        def decided(snapshot: Snapshot) -> Commit | Registered:
            return decide_granted(
                snapshot,
                writing,
                wanted,
                grants,
                registry=self._registry,
                check=self._judge,
            )

        outcome: Recorded | Registered = write(work.store, work.scope, decided)
        answer = registered(outcome) if isinstance(outcome, Recorded) else outcome
        return attrs.evolve(answer, is_staged=work.is_staged)

    def _judge(
        self, document: RegistryDocument, previous: RegistryDocument | None
    ) -> None:
        """Refuse a secret as in everything that is written, then ask the owner."""
        # A grant says who wants these bytes, and not that somebody has read them all.
        for hit in scan_fields({"document": document.value()}):
            raise CallerError(
                "the document holds a secret",
                code="registration.secret",
                path=hit.field,
                hint=f"{hit.detector} at byte {hit.offset}",
            )
        if self._check is not None:
            self._check(document, previous)

    def get(self, namespace: str, version: int | None = None) -> RegistryDocument:
        """The document of a version, without one of the latest.

        Raises:
            NotFoundError: ``registration.not-found``.
            CallerError: ``registration.erased``.
            IntegrityError: ``registration.broken``.

        """
        with self._work.snapshot() as snapshot:
            if version is None:
                latest = latest_registration(snapshot, self._registry, namespace)
                version = latest.document_version
            return registered_document(snapshot, self._registry, namespace, version)

    def list(
        self, *, after: str | None = None, limit: int = 100
    ) -> Sequence[LatestRegistration]:
        """The latest version of each namespace, in their order, page by page."""
        with self._work.snapshot() as snapshot:
            page = snapshot.scan(
                LATEST_REGISTRATION.name,
                BY_KEY,
                (self._registry,),
                after=None if after is None else (after,),
                limit=limit,
            )
        return cast("Sequence[LatestRegistration]", page)

    def history(
        self, namespace: str, *, after: int | None = None, limit: int = 100
    ) -> Sequence[Registration]:
        """The versions of a namespace from the lowest up, page by page.

        An erased one stands there without its document. ``after`` is the last version
        of the page before.

        Raises:
            NotFoundError: ``registration.not-found``.

        """
        with self._work.snapshot() as snapshot:
            latest_registration(snapshot, self._registry, namespace)
            page = snapshot.scan(
                REGISTRATION.name,
                BY_KEY,
                (self._registry, namespace),
                after=None if after is None else (after,),
                limit=limit,
            )
        return cast("Sequence[Registration]", page)
