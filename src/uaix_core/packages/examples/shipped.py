"""The files that lie beside this module, read as they were installed.

They are the one thing that the core reads for itself: data of its own distribution,
which is the same everywhere.
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

from uaix_core.packages.examples.making import SCHEMA_NAME, archive_name

if TYPE_CHECKING:
    from uaix_core.packages.templates.new import Kind


def example(kind: Kind) -> bytes:
    """The `.uaix` archive of a valid package of this kind.

    Raises:
        CallerError: ``template.kind``.

    """
    return _read(archive_name(kind))


def schema_text() -> str:
    """The JSON Schema (draft 2020-12) of a manifest under the default ruleset."""
    return _read(SCHEMA_NAME).decode("utf-8")


def _read(name: str) -> bytes:
    return resources.files("uaix_core.packages.examples").joinpath(name).read_bytes()
