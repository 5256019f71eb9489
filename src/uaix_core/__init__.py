"""Governed, portable memory and persona for AI applications: the pure core.

Names are loaded on first use (PEP 562), so importing the package stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "26.1.0"

if TYPE_CHECKING:
    from uaix_core.access.keys import KeyRing
    from uaix_core.authority.answers import Registered
    from uaix_core.authority.documents import RegistryDocument, document_digest
    from uaix_core.authority.grants import OperatorGrant, OperatorGrants, read_grants
    from uaix_core.leases.holding import Lease
    from uaix_core.packages.anchors import Authorisation
    from uaix_core.packages.answers import PackageRefusedError, Stored
    from uaix_core.packages.deriving import Transformation
    from uaix_core.packages.diff import diff_packages
    from uaix_core.packages.edits import EditedFiles, EditStatus
    from uaix_core.packages.export import Exported
    from uaix_core.packages.findings import Finding
    from uaix_core.packages.limits import Limits
    from uaix_core.packages.lint import Report, lint
    from uaix_core.packages.outbox import (
        QueuedChange,
        Replayed,
        read_outbox,
        write_outbox,
    )
    from uaix_core.packages.policy import AcceptancePolicy
    from uaix_core.packages.revision_signatures import RevisionReport
    from uaix_core.packages.revisions import Revised, RevisionConflictError
    from uaix_core.packages.signatures import key_id, sign
    from uaix_core.packages.source import PackageSource
    from uaix_core.packages.templates.new import new_package
    from uaix_core.packages.templates.repack import repack
    from uaix_core.review.notes import ReviewNote
    from uaix_core.session.authority import Authority
    from uaix_core.session.conflict_reviews import Reviewed
    from uaix_core.session.package_edits import Adopted
    from uaix_core.session.schema import SCHEMA
    from uaix_core.session.session import Session
    from uaix_core.startup.assembling import Assembly, StartupRecord
    from uaix_core.startup.checks import StartupCheck, StartupError
    from uaix_core.startup.consents import ConsentPlace, ConsentView
    from uaix_core.startup.watermarks import IndexWatermark
    from uaix_core.store.port import Capability, Snapshot, Store
    from uaix_core.tiers.drafts import FileDraft, PointerDraft, TierRef
    from uaix_core.tiers.noting import CaseDraft
    from uaix_core.tiers.reading import PointerView, ProposalView, VarianceReport
    from uaix_core.values.decisions import Decision
    from uaix_core.values.errors import (
        AccessError,
        CallerError,
        ConflictError,
        IntegrityError,
        NotFoundError,
        StorageError,
        UaixError,
    )
    from uaix_core.values.ids import Principal, ScopeId

_HOMES = {
    "AcceptancePolicy": "packages.policy",
    "AccessError": "values.errors",
    "Adopted": "session.package_edits",
    "Assembly": "startup.assembling",
    "Authorisation": "packages.anchors",
    "Authority": "session.authority",
    "CallerError": "values.errors",
    "Capability": "store.port",
    "CaseDraft": "tiers.noting",
    "ConflictError": "values.errors",
    "ConsentPlace": "startup.consents",
    "ConsentView": "startup.consents",
    "Decision": "values.decisions",
    "EditStatus": "packages.edits",
    "EditedFiles": "packages.edits",
    "Exported": "packages.export",
    "FileDraft": "tiers.drafts",
    "Finding": "packages.findings",
    "IndexWatermark": "startup.watermarks",
    "IntegrityError": "values.errors",
    "KeyRing": "access.keys",
    "Lease": "leases.holding",
    "Limits": "packages.limits",
    "NotFoundError": "values.errors",
    "OperatorGrant": "authority.grants",
    "OperatorGrants": "authority.grants",
    "PackageRefusedError": "packages.answers",
    "PackageSource": "packages.source",
    "PointerDraft": "tiers.drafts",
    "PointerView": "tiers.reading",
    "Principal": "values.ids",
    "ProposalView": "tiers.reading",
    "QueuedChange": "packages.outbox",
    "Registered": "authority.answers",
    "RegistryDocument": "authority.documents",
    "Replayed": "packages.outbox",
    "Report": "packages.lint",
    "ReviewNote": "review.notes",
    "Reviewed": "session.conflict_reviews",
    "Revised": "packages.revisions",
    "RevisionConflictError": "packages.revisions",
    "RevisionReport": "packages.revision_signatures",
    "SCHEMA": "session.schema",
    "ScopeId": "values.ids",
    "Session": "session.session",
    "Snapshot": "store.port",
    "StartupCheck": "startup.checks",
    "StartupError": "startup.checks",
    "StartupRecord": "startup.assembling",
    "StorageError": "values.errors",
    "Store": "store.port",
    "Stored": "packages.answers",
    "TierRef": "tiers.drafts",
    "Transformation": "packages.deriving",
    "UaixError": "values.errors",
    "VarianceReport": "tiers.reading",
    "diff_packages": "packages.diff",
    "document_digest": "authority.documents",
    "key_id": "packages.signatures",
    "lint": "packages.lint",
    "new_package": "packages.templates.new",
    "read_grants": "authority.grants",
    "read_outbox": "packages.outbox",
    "repack": "packages.templates.repack",
    "sign": "packages.signatures",
    "write_outbox": "packages.outbox",
}

__all__ = [
    "AcceptancePolicy",
    "AccessError",
    "Adopted",
    "Assembly",
    "Authorisation",
    "Authority",
    "CallerError",
    "Capability",
    "CaseDraft",
    "ConflictError",
    "ConsentPlace",
    "ConsentView",
    "Decision",
    "EditStatus",
    "EditedFiles",
    "Exported",
    "FileDraft",
    "Finding",
    "IndexWatermark",
    "IntegrityError",
    "KeyRing",
    "Lease",
    "Limits",
    "NotFoundError",
    "OperatorGrant",
    "OperatorGrants",
    "PackageRefusedError",
    "PackageSource",
    "PointerDraft",
    "PointerView",
    "Principal",
    "ProposalView",
    "QueuedChange",
    "Registered",
    "RegistryDocument",
    "Replayed",
    "Report",
    "ReviewNote",
    "Reviewed",
    "Revised",
    "RevisionConflictError",
    "RevisionReport",
    "SCHEMA",
    "ScopeId",
    "Session",
    "Snapshot",
    "StartupCheck",
    "StartupError",
    "StartupRecord",
    "StorageError",
    "Store",
    "Stored",
    "TierRef",
    "Transformation",
    "UaixError",
    "VarianceReport",
    "diff_packages",
    "document_digest",
    "key_id",
    "lint",
    "new_package",
    "read_grants",
    "read_outbox",
    "repack",
    "sign",
    "write_outbox",
]


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name in _HOMES:
        return getattr(import_module("uaix_core." + _HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names."""
    return __all__
