"""Whom and what a row of this room names, as values."""

from __future__ import annotations

from typing import Any

from uaix_core.values.ids import Principal, ScopeId


def scope_of(row: Any, tenant: str) -> ScopeId:
    """The scope that a row names by its kind and key."""
    return ScopeId(tenant, row.scope_kind, row.scope_key)


def principal_of(row: Any) -> Principal:
    """The principal that a row names by its kind and id."""
    return Principal(row.principal_kind, row.principal_id)
