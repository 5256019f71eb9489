"""One valid package of each kind and the manifest's schema, as files that ship."""

from __future__ import annotations

from uaix_core.packages.examples.shipped import example, schema_text

__all__ = ["example", "schema_text"]
