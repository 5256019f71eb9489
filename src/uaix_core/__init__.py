"""Governed, portable memory and persona for AI applications: the pure core.

Names are loaded on first use (PEP 562), so importing the package stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uaix_core.packages.anchors import Authorisation
    from uaix_core.packages.answers import PackageRefusedError
    from uaix_core.packages.limits import Limits
    from uaix_core.packages.lint import Report, lint
    from uaix_core.packages.policy import AcceptancePolicy
    from uaix_core.packages.source import PackageSource
    from uaix_core.packages.templates.new import new_package
    from uaix_core.packages.templates.repack import repack
    from uaix_core.session.schema import SCHEMA
    from uaix_core.session.session import Session
    from uaix_core.store.port import Capability, Snapshot, Store
    from uaix_core.values.errors import (
        CallerError,
        ConflictError,
        IntegrityError,
        NotFoundError,
        StorageError,
        UaixError,
    )
    from uaix_core.values.ids import Principal, ScopeId

_HOMES = {
    "CallerError": "values.errors",
    "AcceptancePolicy": "packages.policy",
    "Authorisation": "packages.anchors",
    "Capability": "store.port",
    "ConflictError": "values.errors",
    "IntegrityError": "values.errors",
    "Limits": "packages.limits",
    "NotFoundError": "values.errors",
    "PackageRefusedError": "packages.answers",
    "PackageSource": "packages.source",
    "Principal": "values.ids",
    "Report": "packages.lint",
    "SCHEMA": "session.schema",
    "ScopeId": "values.ids",
    "Session": "session.session",
    "Snapshot": "store.port",
    "StorageError": "values.errors",
    "Store": "store.port",
    "UaixError": "values.errors",
    "lint": "packages.lint",
    "new_package": "packages.templates.new",
    "repack": "packages.templates.repack",
}

__all__ = [
    "AcceptancePolicy",
    "Authorisation",
    "CallerError",
    "Capability",
    "ConflictError",
    "IntegrityError",
    "Limits",
    "NotFoundError",
    "PackageRefusedError",
    "PackageSource",
    "Principal",
    "Report",
    "SCHEMA",
    "ScopeId",
    "Session",
    "Snapshot",
    "StorageError",
    "Store",
    "UaixError",
    "lint",
    "new_package",
    "repack",
]


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name in _HOMES:
        return getattr(import_module("uaix_core." + _HOMES[name]), name)
    raise AttributeError(name)


def __dir__() -> list[str]:
    """The public names."""
    return __all__
