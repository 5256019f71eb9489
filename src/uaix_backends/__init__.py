"""The I/O around the core: stores, files, and the system's clock, ids and random."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uaix_backends.files import read_package, write_folder, write_package
    from uaix_backends.judging import lint_path
    from uaix_backends.migration_scripts import migrations
    from uaix_backends.opening import open_authority, open_session, open_store
    from uaix_backends.sealed import Sealing
    from uaix_backends.secret_files import read_keys, read_token, write_keys

__all__ = [
    "Sealing",
    "lint_path",
    "migrations",
    "open_authority",
    "open_session",
    "open_store",
    "read_keys",
    "read_package",
    "read_token",
    "write_folder",
    "write_keys",
    "write_package",
]

_HOMES = {
    "Sealing": "uaix_backends.sealed",
    "lint_path": "uaix_backends.judging",
    "migrations": "uaix_backends.migration_scripts",
    "open_authority": "uaix_backends.opening",
    "open_session": "uaix_backends.opening",
    "open_store": "uaix_backends.opening",
    "read_keys": "uaix_backends.secret_files",
    "read_package": "uaix_backends.files",
    "read_token": "uaix_backends.secret_files",
    "write_folder": "uaix_backends.files",
    "write_keys": "uaix_backends.secret_files",
    "write_package": "uaix_backends.files",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use (PEP 562)."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names."""
    return __all__
